//! `karat check`.

mod records;

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{draw_on_stdout, note, print, print_json};
use karat::profile::request::resolve_for_suite;
use karat::suite::lint::lint;
use karat::suite::load_what_is_there;
use karat::tool::manifest::{faults_of_suite, grants_of_suite};
use karat_core::wording::count;
use karat_format::diagnostic::{Diagnostic, Level};
use karat_format::shipped_suites::locate;

pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    if karat_documents::assess::holds_records(&args.suite) {
        return records::run(args);
    }
    let (loaded, mut diagnostics) = load_what_is_there(locate(&args.suite));
    // If karat.toml itself is invalid, its tools cannot be checked.
    let config = loaded.files.display("karat.toml");
    let tools = if diagnostics.iter().any(|d| d.file == config) {
        Vec::new()
    } else {
        let mut found = faults_of_suite(&loaded, std::env::home_dir().as_deref());
        found.extend(grants_of_suite(&loaded));
        found
    };
    let profile = resolve_for_suite(&(&args.rules).into(), Some(&loaded));
    let mut facts = None;
    if let (true, Err(Failure::Faults(faults))) = (diagnostics.is_empty(), &profile) {
        diagnostics.extend(faults.0.clone());
    } else if diagnostics.is_empty() {
        let profile = profile?;
        loaded.notes.iter().for_each(|text| note(text));
        let goldens = loaded.suite.cases.iter().map(|c| c.goldens.len()).sum();
        facts = Some(format!(
            "{}: {}, {}, profile {}",
            loaded.suite.name,
            count(loaded.suite.cases.len(), "case"),
            count(goldens, "golden"),
            profile.name
        ));
        diagnostics = lint(&loaded, &profile);
    } else {
        match profile {
            // In a suite with errors, style lints would be guesses; errors are still reported.
            Ok(profile) => {
                diagnostics.extend(lint(&loaded, &profile).into_iter().filter(|d| d.level == Level::Error));
            }
            Err(Failure::Faults(faults)) => diagnostics.extend(faults.0),
            Err(_) => {}
        }
    }
    diagnostics.extend(tools);
    tell(args, &diagnostics, facts)
}

/// Prints the diagnostics and the summary.
fn tell(args: &CheckArgs, diagnostics: &[Diagnostic], facts: Option<String>) -> Result<Exit, Failure> {
    let of = |level: Level| diagnostics.iter().filter(|d| d.level == level).count();
    let (errors, warnings) = (of(Level::Error), of(Level::Warning));
    if args.json {
        print_json(&diagnostics)?;
    } else {
        let drawn = draw_on_stdout(diagnostics);
        let verdict = match (errors, warnings) {
            (0, 0) => "no problems".to_owned(),
            (0, w) => count(w, "warning"),
            (e, 0) => count(e, "fault"),
            (e, w) => format!("{}, {}", count(e, "fault"), count(w, "warning")),
        };
        let facts = facts.map_or_else(String::new, |facts| format!("{facts}: "));
        print(&format!("{drawn}{}{verdict}\n", karat_format::diagnostic::harmless(&facts)))?;
    }
    let bad = errors > 0 || (args.strict && warnings > 0);
    Ok(if bad { Exit::BadInput } else { Exit::Ok })
}
