//! One case with thousands of goldens and findings in one file: every pair counts, and nothing can be taken apart.

use crate::random::Random;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::Trial;

/// What the goldens and findings of the one file look like.
#[derive(Clone, Copy)]
pub(crate) enum Variant {
    /// Each on its own line; all share their keywords.
    Lines,
    /// All the same.
    Identical,
    /// Each with four keywords out of forty, on a line of its own.
    Keywords,
    /// As `Keywords`, and every third golden acceptable, every seventh a trap.
    Tiers,
}

/// The case and the trial.
pub(crate) fn draw(variant: Variant, size: usize) -> (Suite, Vec<Trial>) {
    let mut random = Random::new(7);
    let mut case = Case::new("crowd");
    case.verdict = Verdict::Vulnerable;
    let mut trial = Trial::reported(CaseId::new("crowd"), ToolName::new("bench"), 1);
    for number in 0..size {
        let mut keywords = || match variant {
            Variant::Lines | Variant::Identical => "lock cache token query".to_owned(),
            Variant::Keywords | Variant::Tiers => {
                (0..4).map(|_| format!("word{:02}", random.below(40))).collect::<Vec<_>>().join(" ")
            }
        };
        let line = match variant {
            Variant::Identical => 10,
            _ => 1 + 3 * number as u32,
        };
        let mut golden = Golden::new(format!("g{number}"));
        golden.file = FilePattern::new("src/crowd.rs");
        golden.lines = Some(Lines { start: line, end: line });
        golden.keywords = keywords().split(' ').map(str::to_owned).collect();
        if let Variant::Tiers = variant {
            use karat_core::golden::Acceptance::{Acceptable, Required, Trap};
            golden.acceptance = if number % 7 == 0 {
                Trap
            } else if number % 3 == 0 {
                Acceptable
            } else {
                Required
            };
        }
        case.goldens.push(golden);
        let mut finding = Finding::new(format!("f{number}"));
        finding.file = RepoPath::new("src/crowd.rs");
        finding.line_start = Some(line + u32::from(!matches!(variant, Variant::Identical)));
        finding.message = Some(keywords());
        trial.findings.push(finding);
    }
    (Suite { name: "crowd".to_owned(), digest: String::new(), cases: vec![case] }, vec![trial])
}
