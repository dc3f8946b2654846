//! `karat key`: identity keys of findings.

use crate::args::KeyArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{note, notes, print, tell};
use karat::profile::request::resolve_for_suite;
use karat::submissions::{file_kind, open_lines};
use karat_core::identity::key;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::path::RepoPath;
use karat_core::profile::IdentityRules;
use karat_core::trial::Trial;
use karat_core::wording::{count, plural};
use karat_format::recorded::read_trials;
use karat_import::import_files::{FileKind, import_files};
use karat_import::sarif::write_keys;
use karat_io::atomic_write;
use karat_io::files::Files;
use karat_source::symbols::SymbolCache;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

pub(crate) fn run(args: &KeyArgs) -> Result<Exit, Failure> {
    let rules = resolve_for_suite(&(&args.rules).into(), None)?.identity;
    if let (Some(from), Some(to)) = (&args.sarif, &args.output) {
        return into_sarif(from, to, &rules);
    }
    if args.v3 && args.source.is_none() {
        return Err(Failure::usage("--v3 reads symbols from the code: set its folder with --source DIR"));
    }
    let mut trials = trials(args)?;
    if let Some(source) = &args.source {
        if !source.is_dir() {
            return Err(Failure::bad_input(format!("{}: no such folder", source.display())));
        }
        symbols(&mut trials, source);
    }
    let mut out = String::new();
    let (mut differing, mut keyless) = (0, 0);
    for trial in &trials {
        for finding in &trial.findings {
            let v2 = key::finding_key(finding, &rules);
            let v3 = key::symbol_key(finding, &rules);
            differing += usize::from(key::key_mismatch(finding, &rules).is_some());
            let shown = if args.v3 { &v3 } else { &v2 };
            keyless += usize::from(shown.is_none());
            if args.json {
                let line = serde_json::json!({
                    "case": trial.case, "tool": trial.tool, "trial": trial.number, "finding": finding.id, "v2": v2, "v3": v3,
                });
                out.push_str(&line.to_string());
            } else {
                let fields = [trial.case.as_str(), trial.tool.as_str(), &trial.number.to_string(), finding.id.as_str()];
                for field in fields {
                    out.push_str(&one_field(field));
                    out.push('\t');
                }
                out.push_str(&one_field(shown.as_deref().unwrap_or_default()));
            }
            out.push('\n');
        }
    }
    print(&out)?;
    if differing > 0 {
        note(&format!(
            "{} a key that differs from the computed one; the stated key is shown",
            plural(differing, "finding has", "findings have")
        ));
    }
    if keyless > 0 {
        let needs =
            if args.v3 { "a rule, and a location in readable code" } else { "file, rule_id, and lines or an anchor" };
        note(&format!("{} no key, which needs {needs}", plural(keyless, "finding has", "findings have")));
    }
    Ok(Exit::Ok)
}

/// Replaces characters that would break the line or the columns.
fn one_field(text: &str) -> String {
    karat_format::diagnostic::harmless(&text.replace(['\t', '\n', '\r'], " ")).into_owned()
}

fn into_sarif(from: &Path, to: &Path, rules: &IdentityRules) -> Result<Exit, Failure> {
    let mut result = Ok(0);
    let written = atomic_write::write(to, &mut |out| {
        result = write_keys(from, out, rules);
        match &result {
            Ok(_) => Ok(()),
            // The import's error is returned below; this only discards the incomplete file.
            Err(_) => Err(io::Error::other("not written")),
        }
    });
    let keys = result?;
    written.map_err(|error| Failure::unwritten(to.display(), error))?;
    tell(&format!("wrote {} ({})", to.display(), count(keys, "key")));
    Ok(Exit::Ok)
}

fn trials(args: &KeyArgs) -> Result<Vec<Trial>, Failure> {
    let mut trials = Vec::new();
    for path in &args.files {
        match file_kind(path, args.from.as_deref())? {
            FileKind::Submission => trials.extend(read_trials(vec![open_lines(path)?], None)?),
            FileKind::Foreign(importer) => {
                let harvest = import_files(importer, std::slice::from_ref(path), None, &|_| None)?;
                notes(&harvest.notes);
                trials.extend(harvest.trials);
                let mut own: BTreeMap<(CaseId, ToolName), Trial> = BTreeMap::new();
                for reported in harvest.findings {
                    // Without a suite, the case is unknown and the column stays empty.
                    let case = reported.case.unwrap_or_else(|| CaseId::new(""));
                    let tool = reported.tool.unwrap_or_else(|| ToolName::new(""));
                    let trial =
                        own.entry((case.clone(), tool.clone())).or_insert_with(|| Trial::reported(case, tool, 1));
                    let mut finding = reported.finding;
                    finding.id = FindingId::new(format!("f{}", trial.findings.len() + 1));
                    trial.findings.push(finding);
                }
                trials.extend(own.into_values());
            }
        }
    }
    Ok(trials)
}

/// Reads the symbol around each finding from a checkout or a suite folder.
fn symbols(trials: &mut [Trial], source: &Path) {
    let files = Files::Disk(source.to_owned());
    let mut caches: BTreeMap<CaseId, SymbolCache> = BTreeMap::new();
    for trial in trials {
        let case = trial.case.clone();
        let cache = caches.entry(case.clone()).or_default();
        let mut read = |path: &RepoPath| {
            let places = [format!("cases/{case}/after/{path}"), format!("{case}/after/{path}"), path.to_string()];
            let bytes = places.iter().find_map(|place| files.read(place).ok().flatten())?;
            String::from_utf8(bytes).ok()
        };
        for finding in &mut trial.findings {
            if let (Some(path), Some(lines)) = (&finding.file, finding.lines()) {
                finding.symbol = cache.symbol_of(&mut read, path, lines);
            }
        }
    }
}
