//! `karat expect`.

use super::import::{check_cases, is_folder, save, start_suite, write_cases};
use crate::args::ExpectArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{note, notes, print, print_json, tell};
use karat::expect::from_trials;
use karat::profile::request::{ProfileRequest, resolve_for_suite};
use karat::scoring::fill_symbols;
use karat::submissions::{load_suite, open_lines};
use karat_core::wording::count;
use karat_format::recorded::read_trials;

pub(crate) fn run(args: &ExpectArgs) -> Result<Exit, Failure> {
    let loaded = args.suite.as_deref().map(load_suite).transpose()?;
    let mut trials = read_trials(vec![open_lines(&args.from)?], loaded.as_ref().map(|l| &l.suite))?;
    trials.retain(|t| t.number == args.trial && args.tool.as_ref().is_none_or(|tool| tool == t.tool.as_str()));
    let mut tools: Vec<&str> = trials.iter().map(|t| t.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    match tools.as_slice() {
        [_] => {}
        [] => return Err(Failure::usage(format!("{}: no such trial of that tool", args.from.display()))),
        several => {
            return Err(Failure::usage(format!("select a tool with --tool; available: {}", several.join(", "))));
        }
    }
    // A suite's expectations are checked by its own profile, and its symbol keys by the symbols of its own code.
    let named = if loaded.is_some() { None } else { Some("identity".to_owned()) };
    let rules = resolve_for_suite(&ProfileRequest { profile: named, sets: Vec::new() }, loaded.as_ref())?;
    if let Some(loaded) = &loaded {
        fill_symbols(loaded, &mut trials);
    }
    let known = loaded.as_ref().map_or(&[][..], |l| &l.suite.cases);
    let expected = from_trials(&trials, known, &rules.identity, args.prune);

    check_cases(&expected.cases)?;
    let tell_some = |what: &str, list: &[String]| {
        if !list.is_empty() {
            note(&format!("{} {what}:", list.len()));
            notes(list);
        }
    };
    tell_some("trials failed; their cases are unchanged", &expected.failed);
    tell_some("findings have no key and were skipped", &expected.keyless);
    if loaded.is_some() {
        tell_some("expectations are new", &expected.added);
        let fate = if args.prune {
            "are gone and were removed"
        } else {
            "are not met by this scan and were kept (--prune removes them)"
        };
        tell_some(&format!("expectations {fate}"), &expected.gone);
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
                start_suite(path, "expectations", "identity")?;
                path.join("cases.jsonl")
            } else {
                path.clone()
            };
            save(&file, &count(expected.cases.len(), "case"), &mut |out| write_cases(out, &expected.cases))?;
            if is_folder(path) {
                tell(&format!("\nNext:\n  karat score {} --submission {}", path.display(), args.from.display()));
            }
        }
    }
    if args.json {
        print_json(&serde_json::json!({
            "added": expected.added, "kept": expected.kept, "not_met": expected.gone,
            "without_key": expected.keyless, "failed": expected.failed,
        }))?;
    }
    tell(&format!("{} new, {} kept, {} not met", expected.added.len(), expected.kept, expected.gone.len()));
    Ok(Exit::Ok)
}
