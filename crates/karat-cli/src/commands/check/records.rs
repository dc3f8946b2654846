//! `karat check` of golden records: errors, warnings and a summary.

use super::tell;
use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::notes;
use karat_core::assessment::record::Compliance;
use karat_core::wording::count;
use karat_documents::assess::lint::lint;
use karat_documents::assess::{Bundle, discover, load_all};
use karat_documents::ingest::{IngestLimits, ingest};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    if args.rules.profile.is_some() || !args.rules.sets.is_empty() {
        let message = "--profile and --set apply to findings; golden records have their rules in the template";
        return Err(Failure::usage(message));
    }
    let places = match discover(std::slice::from_ref(&args.suite), true) {
        Ok(places) => places,
        Err(faults) => return tell(args, &faults.0, None),
    };
    let limits = IngestLimits::default();
    match load_all(&places, &mut |name, bytes| ingest(name, bytes, &limits)) {
        Err(faults) => tell(args, &faults.0, None),
        Ok(bundles) => {
            notes(&bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect::<Vec<_>>());
            let remarks: Vec<_> = bundles.iter().flat_map(lint).collect();
            tell(args, &remarks, Some(facts(&bundles)))
        }
    }
}

/// Summarises the bundles.
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
