//! `karat suite twist`.

use super::prove::{check_isolation, finish, prove, table as proof_table};
use crate::args::SuiteTwistArgs;
use crate::exit::{Exit, Result};
use crate::terminal::{most_shown, note, print_next, show, word};
use karat::run::selection::{CasePattern, Selection};
use karat::suite::prove::ProveReport;
use karat::suite::twist::{CaseTwist, TwistOperation, TwistReport, TwistRequest, twist_proven, twist_suite};
use karat_core::wording::{count, first_few};
use karat_format::proofs::ProofVerdictV1;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw, header};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// So many cases are named of each kind.
const MOST_NAMED: usize = 5;

pub(super) fn run(args: SuiteTwistArgs, jobs: Option<usize>) -> Result<Exit> {
    let SuiteTwistArgs { suite, to, seed, only, prove: is_proven, isolation, json } = args;
    let only = only.iter().map(|pattern| CasePattern::parse(pattern)).collect::<Result<_>>()?;
    let selection = Selection { only, ..Selection::default() };
    let request = TwistRequest { suite, folder: to.clone(), seed, selection };
    let folder = to.display().to_string();
    let (report, proofs) = if is_proven {
        check_isolation(isolation)?;
        let mut prove = |_: &Path| prove(folder.clone(), &[], false, isolation, jobs);
        let (report, proofs) = twist_proven(&request, &mut prove)?;
        (report, Some(proofs))
    } else {
        (twist_suite(&request)?, None)
    };
    let mut value = json!(report);
    if let Some(proofs) = &proofs {
        value["proved"] = json!(proofs);
    }
    show(json, &value, |style| table(&report, proofs.as_ref(), style))?;
    if !report.left_out.is_empty() {
        let files = count(report.left_out.len(), "file");
        note(&format!("{files} of submissions and kept proofs are about the original and were not copied"));
    }
    if let Some(proofs) = &proofs {
        return Ok(finish(proofs));
    }
    if !json {
        let folder = word(&folder);
        let mut steps = vec![format!("karat check {folder} --strict")];
        if report.proofs > 0 {
            steps.push(format!("karat suite prove {folder}"));
        }
        print_next(&steps);
    }
    Ok(Exit::Ok)
}

/// What was done by language, and which cases are mere copies.
fn table(report: &TwistReport, proofs: Option<&ProveReport>, style: &TerminalStyle) -> String {
    let mut by_language: BTreeMap<&str, Vec<&CaseTwist>> = BTreeMap::new();
    for case in &report.cases {
        by_language.entry(case.language.as_deref().unwrap_or("no language")).or_default().push(case);
    }
    let all: Vec<&CaseTwist> = report.cases.iter().collect();
    let heads = ["cases", "twisted", "names", "reordered", "dead code", "moved", "log texts"];
    let mut rows = vec![header("language", heads)];
    for (language, cases) in by_language.iter().map(|(own, cases)| (*own, cases)).chain([("all", &all)]) {
        let twisted = cases.iter().filter(|case| case.copied_because.is_none()).count();
        let mut cells =
            vec![Cell::left(language), Cell::right(cases.len().to_string()), Cell::right(twisted.to_string())];
        for operation in TwistOperation::ALL {
            let times: usize = cases.iter().filter_map(|case| case.operations.get(&operation)).sum();
            cells.push(Cell::right(times.to_string()));
        }
        rows.push(cells);
    }
    let mut text = draw(&rows, style.width, style.colour);
    let mut copied: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in &report.cases {
        if let Some(why) = &case.copied_because {
            copied.entry(why).or_default().push(case.case.as_str());
        }
    }
    for (why, cases) in copied {
        text.push_str(&format!("{} copied, {why}: {}\n", count(cases.len(), "case"), named(&cases)));
    }
    text.push_str(&refused(report));
    let taken_back: Vec<&CaseTwist> =
        report.cases.iter().filter(|case| case.copied_because.is_none() && !case.dropped.is_empty()).collect();
    for case in taken_back {
        let dropped: Vec<&str> = case.dropped.iter().map(|own| own.as_str()).collect();
        text.push_str(&format!("{} without {}: its proofs did not hold with it\n", case.case, dropped.join(", ")));
    }
    let unread: usize =
        report.cases.iter().filter(|case| case.copied_because.is_none()).map(|case| case.unread_files).sum();
    if unread > 0 {
        text.push_str(&format!("{} of twisted cases stayed as they are: no grammar\n", count(unread, "file")));
    }
    if let Some(proofs) = proofs {
        text.push('\n');
        text.push_str(&proof_table(proofs, style));
        let unchecked = proofs.proofs.iter().filter(|proof| proof.verdict == ProofVerdictV1::NoToolchain).count();
        if unchecked > 0 {
            let (unchecked, all) = (count(unchecked, "proof"), proofs.proofs.len());
            text.push_str(&format!("{unchecked} of {all} could not be checked for want of a toolchain\n"));
        }
    }
    text
}

/// Why operations could not be done to cases that were twisted, and of which nothing but new functions tells a reader.
fn refused(report: &TwistReport) -> String {
    let twisted = || report.cases.iter().filter(|case| case.copied_because.is_none());
    let mut by_reason: BTreeMap<(TwistOperation, &str), Vec<&str>> = BTreeMap::new();
    for case in twisted() {
        for (operation, why) in &case.refused {
            by_reason.entry((*operation, why)).or_default().push(case.case.as_str());
        }
    }
    let mut text = String::new();
    for ((operation, why), cases) in by_reason {
        let twisted = count(cases.len(), "case");
        text.push_str(&format!("{twisted} without {}, {why}: {}\n", operation.as_str(), named(&cases)));
    }
    let barely = twisted().filter(|case| case.operations.keys().eq([&TwistOperation::DeadCode]));
    let barely: Vec<&str> = barely.map(|case| case.case.as_str()).collect();
    if !barely.is_empty() {
        let cases = count(barely.len(), "case");
        text.push_str(&format!("{cases} with dead code alone, which hides little: {}\n", named(&barely)));
    }
    text
}

fn named(cases: &[&str]) -> String {
    first_few(cases, most_shown(MOST_NAMED))
}
