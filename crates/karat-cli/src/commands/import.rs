//! `karat import`, `expect` and `key`.

use crate::args::{ExpectArgs, ImportArgs, KeyArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save_with;
use crate::terminal::{note, notes, print, print_done, print_json, print_stderr, show};
use karat::expect::from_trials;
use karat::finding_keys::{KeyRequest, KeyedFile, KeyedFinding, add_keys_to_sarif, finding_keys, write_keys_back};
use karat::profile::{ProfileRequest, resolve_for_suite};
use karat::submissions::{describe_unplaced, find_importer, import_findings, open_lines};
use karat::suite::load_suite;
use karat::suite::write::refuse_links;
use karat::work::fill_symbols;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_core::wording::{count, plural};
use karat_format::case::CaseV1;
use karat_format::diagnostic::harmless;
use karat_format::recorded::{read_trials, write_judgements, write_trials};
use karat_import::placement::PlacementResult;
use karat_import::{IMPORTERS, Importer};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn run(args: &ImportArgs) -> Result<Exit> {
    if args.list {
        let entry = |i: &Importer| json!({ "name": i.name, "description": i.description });
        let line = |i: &Importer| format!("{:<20} {}\n", i.name, i.description);
        let entries: Vec<_> = IMPORTERS.iter().map(entry).collect();
        return show(args.json, &entries, |_| IMPORTERS.iter().map(line).collect());
    }
    let Some(format) = &args.place.from else {
        return Err(Failure::usage("no format given; use --from FORMAT (`karat import --list` shows them)"));
    };
    let importer = find_importer(format)?;
    let loaded = args.suite.as_deref().map(load_suite).transpose()?;
    let placed = import_findings(importer, &args.files, &(&args.place).into(), loaded.as_ref(), args.tool.as_deref())?;
    check_cases(&placed.cases)?;
    notes(describe_unplaced(&placed)?.as_slice());
    notes(&placed.notes);
    let of_trial = |t: &Trial| t.notes.iter().map(|note| format!("{}, {}: {note}", t.tool, t.case)).collect::<Vec<_>>();
    notes(&placed.trials.iter().flat_map(of_trial).collect::<Vec<_>>());
    if args.json {
        let findings: usize = placed.trials.iter().map(|t| t.findings.len()).sum();
        print_json(&json!({
            "trials": placed.trials.len(), "findings": findings, "cases": placed.cases.len(),
            "judgements": placed.judgements.len(), "without_case": placed.unplaced, "notes": placed.notes,
        }))?;
    }
    match &args.output {
        None => to_stdout(&placed)?,
        Some(path) if is_folder(path) => to_folder(&placed, path, importer)?,
        Some(path) => to_file(&placed, path)?,
    }
    Ok(Exit::Ok)
}

/// Refuses cases that would be invalid in a suite while their source file is known.
fn check_cases(cases: &[Case]) -> Result<()> {
    let mut ids = BTreeSet::new();
    let mut faults: Vec<String> = Vec::new();
    for case in cases {
        if !ids.insert(&case.id) {
            faults.push(format!("duplicate case id `{}`", case.id));
        }
        let (_, found) = CaseV1::from(case).into_case();
        faults.extend(
            found.iter().map(|fault| format!("case `{}`, {}: {}", case.id, fault.path.join("."), fault.message)),
        );
    }
    if faults.is_empty() {
        return Ok(());
    }
    let more = faults.len().saturating_sub(20);
    faults.truncate(20);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    Err(Failure::bad_input(format!("invalid cases:\n  {}", faults.join("\n  "))))
}

/// Whether a path has no extension, ends in a slash, or is an existing folder.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none() || path.to_string_lossy().ends_with(['/', '\\'])
}

fn to_stdout(placed: &PlacementResult) -> Result<()> {
    let mut out = Vec::new();
    let written = if placed.trials.is_empty() {
        write_cases(&mut out, &placed.cases)
    } else {
        write_trials(&mut out, &placed.trials)
    };
    written.map_err(|error| Failure::io("standard output", error))?;
    print(&String::from_utf8_lossy(&out))?;
    if !placed.trials.is_empty() && !placed.cases.is_empty() || !placed.judgements.is_empty() {
        let printed = if placed.trials.is_empty() { "cases were" } else { "submission was" };
        print_stderr(&format!("note: only the {printed} printed; -o DIR writes everything, with cases and judgements"));
    }
    Ok(())
}

fn to_file(placed: &PlacementResult, path: &Path) -> Result<()> {
    let beside = |kind: &str| path.with_extension(format!("{kind}.jsonl"));
    let cases_only = placed.trials.is_empty() && !placed.cases.is_empty();
    if !cases_only {
        save(path, &submission_facts(placed), &mut |out| write_trials(out, &placed.trials))?;
    }
    if !placed.cases.is_empty() {
        let file = if cases_only { path.to_path_buf() } else { beside("cases") };
        save(&file, &count(placed.cases.len(), "case"), &mut |out| write_cases(out, &placed.cases))?;
    }
    if !placed.judgements.is_empty() {
        let facts = count(placed.judgements.len(), "judgement");
        save(&beside("judgements"), &facts, &mut |out| write_judgements(out, &placed.judgements))?;
    }
    Ok(())
}

/// Writes a whole suite: cases, submissions and judgements, where `karat score` looks for them.
fn to_folder(placed: &PlacementResult, folder: &Path, importer: &Importer) -> Result<()> {
    let judge = placed.judgements.first().map(|j| j.judge.to_string());
    let name: String = judge.unwrap_or_else(|| importer.name.to_owned());
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    if !placed.cases.is_empty() {
        start_suite(folder, importer.name, importer.suite_profile)?;
        let path = folder.join("cases.jsonl");
        save_in_suite(&path, &count(placed.cases.len(), "case"), &mut |out| write_cases(out, &placed.cases))?;
    }
    if !placed.trials.is_empty() {
        let path = folder.join("submissions").join(format!("{name}.jsonl"));
        save_in_suite(&path, &submission_facts(placed), &mut |out| write_trials(out, &placed.trials))?;
    }
    if !placed.judgements.is_empty() {
        let path = folder.join("judgements").join(format!("{name}.jsonl"));
        let facts = count(placed.judgements.len(), "judgement");
        save_in_suite(&path, &facts, &mut |out| write_judgements(out, &placed.judgements))?;
    }
    Ok(())
}

fn start_suite(folder: &Path, name: &str, profile: &str) -> Result<()> {
    let path = folder.join("karat.toml");
    if path.exists() {
        return Ok(());
    }
    let stem = folder.file_name().map_or_else(|| name.to_owned(), |n| n.to_string_lossy().into_owned());
    let quoted = serde_json::Value::String(stem).to_string();
    let text = format!("[suite]\nname = {quoted}\nkind = \"findings\"\n\n[scoring]\nprofile = \"{profile}\"\n");
    save_in_suite(&path, "settings", &mut |out| out.write_all(text.as_bytes()))
}

fn submission_facts(placed: &PlacementResult) -> String {
    let findings = placed.trials.iter().map(|t| t.findings.len()).sum();
    format!("{}, {}", count(placed.trials.len(), "trial"), count(findings, "finding"))
}

fn write_cases(out: &mut dyn Write, cases: &[Case]) -> io::Result<()> {
    for case in cases {
        serde_json::to_writer(&mut *out, &CaseV1::from(case))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn save_in_suite(path: &Path, facts: &str, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| Failure::unwritten(path.display(), error))?;
    save(path, facts, content)
}

fn save(path: &Path, facts: &str, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    save_with(path, content)?;
    print_stderr(&format!("wrote {} ({facts})", path.display()));
    Ok(())
}

pub(crate) fn expect(args: &ExpectArgs) -> Result<Exit> {
    let loaded = args.suite.as_deref().map(load_suite).transpose()?;
    let mut trials = read_trials(vec![open_lines(&args.from)?], loaded.as_ref().map(|l| &l.suite))?;
    trials.retain(|t| t.number == args.trial && args.tool.as_ref().is_none_or(|tool| tool == t.tool.as_str()));
    let tools: BTreeSet<&str> = trials.iter().map(|t| t.tool.as_str()).collect();
    match tools.len() {
        0 => return Err(Failure::usage(format!("{}: no such trial of that tool", args.from.display()))),
        1 => {}
        _ => {
            let tools = Vec::from_iter(tools).join(", ");
            return Err(Failure::usage(format!("select a tool with --tool; available: {tools}")));
        }
    }
    // A suite's expectations are checked by its own profile, and its symbol keys by the symbols of its own code.
    let named = if loaded.is_some() { None } else { Some("identity".to_owned()) };
    let rules = resolve_for_suite(&ProfileRequest { profile: named, sets: Vec::new() }, loaded.as_ref())?;
    if let Some(loaded) = &loaded {
        fill_symbols(loaded, &loaded.suite.cases, &mut trials);
    }
    let known = loaded.as_ref().map_or(&[][..], |l| &l.suite.cases);
    let expected = from_trials(&trials, known, &rules.identity, args.prune);

    check_cases(&expected.cases)?;
    let print_some = |what: &str, list: &[String]| {
        if !list.is_empty() {
            note(&format!("{} {what}:", list.len()));
            notes(list);
        }
    };
    print_some("trials failed; their cases are unchanged", &expected.failed);
    print_some("findings have no key and were skipped", &expected.keyless);
    if loaded.is_some() {
        print_some("expectations are new", &expected.added);
        let fate = if args.prune {
            "are gone and were removed"
        } else {
            "are not met by this scan and were kept (--prune removes them)"
        };
        print_some(&format!("expectations {fate}"), &expected.gone);
    }
    match &args.output {
        None => {
            let mut out = Vec::new();
            write_cases(&mut out, &expected.cases).map_err(|error| Failure::io("standard output", error))?;
            print(&String::from_utf8_lossy(&out))?;
        }
        Some(path) => {
            let file = if is_folder(path) {
                if loaded.is_none() && path.join("cases.jsonl").exists() {
                    let message = format!("{} already has expectations; update them with --suite", path.display());
                    return Err(Failure::bad_input(message));
                }
                let file = path.join("cases.jsonl");
                refuse_links(path, "cases.jsonl").map_err(|error| Failure::unwritten(file.display(), error))?;
                start_suite(path, "expectations", "identity")?;
                file
            } else {
                path.clone()
            };
            save(&file, &count(expected.cases.len(), "case"), &mut |out| write_cases(out, &expected.cases))?;
            if is_folder(path) {
                let (suite, scan) = (path.display(), args.from.display());
                print_stderr(&format!("\nNext:\n  karat score {suite} --submission {scan}"));
            }
        }
    }
    let value = json!({
        "added": expected.added, "kept": expected.kept, "not_met": expected.gone,
        "without_key": expected.keyless, "failed": expected.failed,
    });
    let (new, kept, gone) = (expected.added.len(), expected.kept, expected.gone.len());
    print_done(args.json, &value, &format!("{new} new, {kept} kept, {gone} not met"))
}

pub(crate) fn key(args: KeyArgs) -> Result<Exit> {
    if let (Some(from), Some(to)) = (&args.sarif, &args.output) {
        let keys = add_keys_to_sarif(from, to, &(&args.rules).into())?;
        print_stderr(&format!("wrote {} ({})", to.display(), count(keys, "key")));
        return Ok(Exit::Ok);
    }
    if args.v3 && args.source.is_none() {
        return Err(Failure::usage("--v3 reads symbols from the code: set its folder with --source DIR"));
    }
    let profile = (&args.rules).into();
    let request = KeyRequest { files: args.files, format: args.from, source: args.source, profile };
    if args.write {
        return write_keys(&request, args.json);
    }
    let keys = finding_keys(&request, &mut notes)?;
    let shown = |own: &KeyedFinding| if args.v3 { own.v3.clone() } else { own.v2.clone() };
    let mut out = String::new();
    for own in &keys {
        out.push_str(&match args.json {
            true => serde_json::to_string(own).unwrap_or_default(),
            false => {
                let (trial, key) = (own.trial.to_string(), shown(own).unwrap_or_default());
                [own.case.as_str(), own.tool.as_str(), &trial, own.finding.as_str(), &key].map(one_field).join("\t")
            }
        });
        out.push('\n');
    }
    print(&out)?;
    let differing = keys.iter().filter(|own| own.differs).count();
    if differing > 0 {
        let findings = plural(differing, "finding has", "findings have");
        note(&format!("{findings} a key that differs from the computed one; the stated key is shown"));
    }
    let keyless = keys.iter().filter(|own| shown(own).is_none()).count();
    if keyless > 0 {
        let needs = if args.v3 { "a rule, and a location in readable code" } else { NEEDED };
        note(&format!("{} no key, which needs {needs}", plural(keyless, "finding has", "findings have")));
    }
    Ok(Exit::Ok)
}

fn write_keys(request: &KeyRequest, json: bool) -> Result<Exit> {
    let files = write_keys_back(request)?;
    for KeyedFile { file, added, replaced, kept, keyless } in &files {
        let verb = if added + replaced > 0 { "wrote" } else { "unchanged:" };
        let counts = [(*added, "added"), (*replaced, "replaced"), (*kept, "kept"), (*keyless, "without a key")];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        print_stderr(&harmless(&format!("{verb} {} ({counts})", file.display())));
    }
    let keyless: usize = files.iter().map(|file| file.keyless).sum();
    if keyless > 0 {
        note(&format!("{} no key, which needs {NEEDED}", plural(keyless, "finding has", "findings have")));
    }
    if json { print_json(&files) } else { Ok(Exit::Ok) }
}

/// What a v2 key is built from.
const NEEDED: &str = "file, rule_id, and lines or an anchor";

/// Replaces characters that would break the line or the columns.
fn one_field(text: &str) -> String {
    harmless(&text.replace(['\t', '\n', '\r'], " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::judgement::{Decision, ExtraDecision, Judgement};

    #[test]
    fn every_part_of_an_import_is_written_to_a_file() {
        let judgement = Judgement {
            case: "c".into(),
            tool: "t".into(),
            trial: 1,
            judge: "j".into(),
            decision: Decision::Extra(ExtraDecision {
                finding: "f".into(),
                valid: true,
                explanation: None,
                probability: None,
            }),
            exchange: None,
        };
        let check = |trials: usize, cases: usize, judgements: usize, expect: &[(&str, usize)]| {
            let placed = PlacementResult {
                trials: vec![Trial::default(); trials],
                cases: (0..cases).map(|at| Case::new(format!("c{at}"))).collect(),
                judgements: vec![judgement.clone(); judgements],
                ..PlacementResult::default()
            };
            let folder = tempfile::tempdir().unwrap();
            to_file(&placed, &folder.path().join("in.jsonl")).unwrap();
            let lines = |file: std::fs::DirEntry| {
                let text = std::fs::read_to_string(file.path()).unwrap();
                (file.file_name().to_string_lossy().into_owned(), text.lines().count())
            };
            let mut found: Vec<_> =
                std::fs::read_dir(folder.path()).unwrap().map(|file| lines(file.unwrap())).collect();
            found.sort();
            let expect: Vec<_> = expect.iter().map(|(name, lines)| ((*name).to_owned(), *lines)).collect();
            assert_eq!(found, expect, "{trials} {cases} {judgements}");
        };
        check(1, 0, 0, &[("in.jsonl", 1)]);
        check(1, 2, 3, &[("in.cases.jsonl", 2), ("in.jsonl", 1), ("in.judgements.jsonl", 3)]);
        check(0, 2, 0, &[("in.jsonl", 2)]);
        check(0, 2, 3, &[("in.jsonl", 2), ("in.judgements.jsonl", 3)]);
        check(0, 0, 3, &[("in.jsonl", 0), ("in.judgements.jsonl", 3)]);
    }
}
