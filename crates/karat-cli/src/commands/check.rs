//! `karat check`.

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{draw_diagnostics, note, notes, show};
use karat::profile::resolve_for_suite;
use karat::suite::lint::lint as lint_suite;
use karat::suite::load_what_is_there;
use karat::tool::manifest::{faults_of_suite, grants_of_suite};
use karat_core::assessment::record::Compliance;
use karat_core::wording::count;
use karat_documents::assess::{Bundle, discover, holds_records, lint, load_all};
use karat_documents::ingest::{IngestLimits, ingest};
use karat_format::diagnostic::{Diagnostic, Level, harmless};
use karat_format::shipped_suites::locate;

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    if holds_records(&args.suite) {
        return check_records(args);
    }
    let (loaded, mut diagnostics) = load_what_is_there(locate(&args.suite));
    // If karat.toml itself is invalid, its tools cannot be checked.
    let config = loaded.files.display("karat.toml");
    let mut tools = Vec::new();
    if diagnostics.iter().all(|d| d.file != config) {
        tools.extend(faults_of_suite(&loaded, std::env::home_dir().as_deref()));
        tools.extend(grants_of_suite(&loaded));
    }
    let profile = resolve_for_suite(&(&args.rules).into(), Some(&loaded));
    let mut facts = None;
    match profile {
        Err(Failure::Faults(faults)) => diagnostics.extend(faults.0),
        Err(failure) if diagnostics.is_empty() => return Err(failure),
        Err(_) => {}
        Ok(profile) if diagnostics.is_empty() => {
            loaded.notes.iter().for_each(|text| note(text));
            let goldens = loaded.suite.cases.iter().map(|c| c.goldens.len()).sum();
            let (cases, goldens) = (count(loaded.suite.cases.len(), "case"), count(goldens, "golden"));
            facts = Some(format!("{}: {cases}, {goldens}, profile {}", loaded.suite.name, profile.name));
            diagnostics = lint_suite(&loaded, &profile);
        }
        // In a suite with errors, style lints would be guesses; errors are still reported.
        Ok(profile) => {
            diagnostics.extend(lint_suite(&loaded, &profile).into_iter().filter(|d| d.level == Level::Error));
        }
    }
    diagnostics.extend(tools);
    print_diagnostics(args, &diagnostics, facts)
}

fn print_diagnostics(args: &CheckArgs, diagnostics: &[Diagnostic], facts: Option<String>) -> Result<Exit> {
    let of = |level: Level| diagnostics.iter().filter(|d| d.level == level).count();
    let (errors, warnings) = (of(Level::Error), of(Level::Warning));
    show(args.json, &diagnostics, |_| {
        let verdict = match (errors, warnings) {
            (0, 0) => "no problems".to_owned(),
            (0, w) => count(w, "warning"),
            (e, 0) => count(e, "fault"),
            (e, w) => format!("{}, {}", count(e, "fault"), count(w, "warning")),
        };
        let facts = facts.map_or_else(String::new, |facts| format!("{facts}: "));
        format!("{}{}{verdict}\n", draw_diagnostics(diagnostics, &std::io::stdout()), harmless(&facts))
    })?;
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::BadInput } else { Exit::Ok })
}

fn check_records(args: &CheckArgs) -> Result<Exit> {
    if args.rules.profile.is_some() || !args.rules.sets.is_empty() {
        let message = "--profile and --set apply to findings; golden records have their rules in the template";
        return Err(Failure::usage(message));
    }
    let places = match discover(std::slice::from_ref(&args.suite), true) {
        Ok(places) => places,
        Err(faults) => return print_diagnostics(args, &faults.0, None),
    };
    let limits = IngestLimits::default();
    let bundles = match load_all(&places, &mut |name, bytes| ingest(name, bytes, &limits)) {
        Ok(bundles) => bundles,
        Err(faults) => return print_diagnostics(args, &faults.0, None),
    };
    notes(&bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect::<Vec<_>>());
    let remarks: Vec<_> = bundles.iter().flat_map(lint::lint).collect();
    print_diagnostics(args, &remarks, Some(facts(&bundles)))
}

fn facts(bundles: &[Bundle]) -> String {
    let sum = |of: fn(&Bundle) -> usize| bundles.iter().map(of).sum::<usize>();
    let requirements = || bundles.iter().flat_map(|bundle| &bundle.record.requirements);
    let of = |verdict: Compliance| requirements().filter(|requirement| requirement.assessment == verdict).count();
    let verdicts = Compliance::ALL.map(|verdict| format!("{} {}", of(verdict), verdict.name()));
    let primary: usize = requirements().map(|requirement| requirement.primary.len()).sum();
    let supporting: usize = requirements().map(|requirement| requirement.supporting.len()).sum();
    [
        count(bundles.len(), "bundle"),
        format!("{} ({})", count(requirements().count(), "requirement"), verdicts.join(", ")),
        format!("{} ({primary} primary, {supporting} supporting)", count(primary + supporting, "golden part")),
        count(sum(|bundle| bundle.documents.len()), "document"),
        count(sum(|bundle| bundle.documents.iter().map(|document| document.sections.len()).sum()), "section"),
    ]
    .join(", ")
}
