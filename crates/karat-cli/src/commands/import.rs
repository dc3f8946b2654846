//! `karat import`.

use crate::args::ImportArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{save_with, show};
use crate::terminal::{notes, print, print_json, tell};
use karat::submissions::{describe_unplaced, find_importer, import_findings, load_suite};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::case::CaseV1;
use karat_format::recorded::{write_judgements, write_trials};
use karat_import::placement::PlacementResult;
use karat_import::{IMPORTERS, Importer};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn run(args: &ImportArgs) -> Result<Exit, Failure> {
    if args.list {
        let entry = |i: &Importer| serde_json::json!({ "name": i.name, "description": i.description });
        let line = |i: &Importer| format!("{:<20} {}\n", i.name, i.description);
        let entries: Vec<_> = IMPORTERS.iter().map(entry).collect();
        return show(args.json, &entries, |_| IMPORTERS.iter().map(line).collect());
    }
    let Some(format) = &args.place.from else {
        return Err(Failure::usage("no format given; use --from FORMAT (`karat import --list` shows them)"));
    };
    let importer = find_importer(format)?;
    let loaded = args.suite.as_deref().map(load_suite).transpose()?;
    let placement = (&args.place).into();
    let placed = import_findings(importer, &args.files, &placement, loaded.as_ref(), args.tool.as_deref())?;
    check_cases(&placed.cases)?;
    notes(describe_unplaced(&placed)?.as_slice());
    notes(&placed.notes);
    let of_trial = |t: &Trial| t.notes.iter().map(|note| format!("{}, {}: {note}", t.tool, t.case)).collect::<Vec<_>>();
    notes(&placed.trials.iter().flat_map(of_trial).collect::<Vec<_>>());
    if args.json {
        let findings: usize = placed.trials.iter().map(|t| t.findings.len()).sum();
        print_json(&serde_json::json!({
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
pub(crate) fn check_cases(cases: &[Case]) -> Result<(), Failure> {
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
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none() || path.to_string_lossy().ends_with(['/', '\\'])
}

fn to_stdout(placed: &PlacementResult) -> Result<(), Failure> {
    let mut out = Vec::new();
    let written = if placed.trials.is_empty() {
        write_cases(&mut out, &placed.cases)
    } else {
        write_trials(&mut out, &placed.trials)
    };
    written.map_err(|error| Failure::io("standard output", error))?;
    print(&String::from_utf8_lossy(&out))?;
    if !placed.trials.is_empty() && !placed.cases.is_empty() || !placed.judgements.is_empty() {
        tell("note: only the submission was printed; -o DIR writes the cases and judgements too");
    }
    Ok(())
}

fn to_file(placed: &PlacementResult, path: &Path) -> Result<(), Failure> {
    let beside = |kind: &str| path.with_extension(format!("{kind}.jsonl"));
    if placed.trials.is_empty() && !placed.cases.is_empty() {
        return save(path, &count(placed.cases.len(), "case"), &mut |out| write_cases(out, &placed.cases));
    }
    save(path, &submission_facts(placed), &mut |out| write_trials(out, &placed.trials))?;
    if !placed.cases.is_empty() {
        save(&beside("cases"), &count(placed.cases.len(), "case"), &mut |out| write_cases(out, &placed.cases))?;
    }
    if !placed.judgements.is_empty() {
        let facts = count(placed.judgements.len(), "judgement");
        save(&beside("judgements"), &facts, &mut |out| write_judgements(out, &placed.judgements))?;
    }
    Ok(())
}

/// Writes a whole suite: cases, submissions and judgements, where `karat score` looks for them.
fn to_folder(placed: &PlacementResult, folder: &Path, importer: &Importer) -> Result<(), Failure> {
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

/// Writes `karat.toml` if there is none.
pub(crate) fn start_suite(folder: &Path, name: &str, profile: &str) -> Result<(), Failure> {
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

/// Writes cases, one per line.
pub(crate) fn write_cases(out: &mut dyn Write, cases: &[Case]) -> io::Result<()> {
    for case in cases {
        serde_json::to_writer(&mut *out, &CaseV1::from(case))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes a file of a suite, whose folders are created.
fn save_in_suite(
    path: &Path,
    facts: &str,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let created = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    created.map_err(|error| Failure::unwritten(path.display(), error))?;
    save(path, facts, content)
}

/// Writes a file atomically and reports it.
pub(crate) fn save(
    path: &Path,
    facts: &str,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    save_with(path, content)?;
    tell(&format!("wrote {} ({facts})", path.display()));
    Ok(())
}
