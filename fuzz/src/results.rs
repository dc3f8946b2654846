//! Finished results: reports, baselines, labels, and tables by people.

use super::document::check_faults;
use super::records::{scene_report, scene_suite, scene_trials};
use karat::baseline;
use karat::comparison::{PairBy, Request, Side, compare};
use karat::failure::Failure;
use karat::judge::agree::{agree, draw, from_csv};
use karat::ranking;
use karat_core::comparison::Rules;
use karat_core::finding::Finding;
use karat_format::baseline::BaselineV1;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::recorded::NamedLines;
use karat_format::report::{ReportV1, ToolV1};
use karat_import::rule_map::RuleMap;
use karat_report::plot::{KINDS, PlotOptions};
use karat_report::report_view::ReportView;
use karat_report::{FORMATS, TerminalStyle};
use karat_store::label::{self, ImportContext};

const LOOK: TerminalStyle = TerminalStyle::complete(80);

/// A report that is taken is drawn in every format and as every plot, compared with itself, and gives a baseline.
pub fn report(bytes: &[u8]) {
    let report = match decode_bytes::<ReportV1>("in.json", bytes, Syntax::Json, &schema_of::<ReportV1>()).into_result()
    {
        Err(faults) => return check_faults(&faults, bytes),
        Ok((report, _)) => report,
    };
    // What the command line refuses before it uses a report.
    let cases = || report.cases.iter().map(|case| &case.case);
    if report.tools.iter().any(|tool| tool.cases.iter().map(|case| &case.case).ne(cases())) {
        return;
    }
    let exhibit = ReportView::new(&report);
    for format in FORMATS {
        format.render(&exhibit, &LOOK);
    }
    for kind in KINDS.iter().filter(|kind| !kind.derived) {
        let _ = (kind.draw)(&exhibit, &PlotOptions::default()).map_err(|nothing| nothing.to_string());
    }
    let side = |tool: &ToolV1| Side::of_report(&report, tool, tool.tool.as_str());
    let sides: Vec<Side> = report.tools.iter().map(side).collect();
    against_itself(&sides);
    let text = baseline::text(&baseline::baseline(&sides, &[]));
    assert!(serde_json::from_str::<BaselineV1>(&text).is_ok(), "{text}");
}

/// A baseline that is taken is compared with itself and with a report.
pub fn baseline(bytes: &[u8]) {
    let read = decode_bytes::<BaselineV1>("in.json", bytes, Syntax::Json, &schema_of::<BaselineV1>()).into_result();
    let baseline = match read {
        Err(faults) => return check_faults(&faults, bytes),
        Ok((baseline, _)) => baseline,
    };
    let side = |tool| Side::of_baseline(&baseline, tool, "old");
    let mut sides: Vec<Side> = baseline.tools.iter().map(side).collect();
    let report = scene_report();
    sides.extend(report.tools.iter().map(|tool| Side::of_report(&report, tool, "new")));
    against_itself(&sides);
}

fn against_itself(sides: &[Side]) {
    let rules = Rules { resamples: 50, seed: Some(1), ..Rules::default() };
    let pairs: Vec<(&Side, &Side)> =
        sides.iter().take(2).flat_map(|a| sides.iter().take(3).map(move |b| (a, b))).collect();
    for pair_by in [PairBy::SameSuite, PairBy::SameGoldens, PairBy::Twisted] {
        let request = Request { rules, pair_by, ..Request::default() };
        if let Err(failure) = compare(&pairs, &request) {
            assert!(!failure.text().is_empty(), "refused without a reason");
        }
    }
}

/// Labels are taken or refused with places in the text, and what is taken is about something that is there.
pub fn labels(bytes: &[u8]) {
    let (suite, trials) = (scene_suite(), scene_trials());
    let reading = ImportContext { suite, trials, stored: &[], change: bytes.len().is_multiple_of(2) };
    let inputs = vec![NamedLines { file: "in.jsonl".to_owned(), reader: Box::new(bytes) }];
    match label::read(inputs, &reading) {
        Err(faults) => check_faults(&faults.0, bytes),
        Ok(labels) => {
            let cases = |name: &str| suite.cases.iter().any(|case| case.id.as_str() == name);
            assert!(labels.iter().all(|label| cases(label.subject.case.as_str())));
        }
    }
}

/// By the first byte a ranking of tools, ratings, or a table of rules: taken, or refused in words.
pub fn tables(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match choice % 3 {
        0 => {
            if let Err(faults) = ranking::read("in.csv", &text, &["t", "u"]) {
                check_faults(&faults.0, text.as_bytes());
            }
        }
        1 => match from_csv(&[("in.csv".to_owned(), text.clone().into_owned())]) {
            Err(Failure::Faults(faults)) => check_faults(&faults.0, text.as_bytes()),
            Err(_) => {}
            Ok(opinions) => drop(draw(&agree(&opinions, Some(1), 1000), &LOOK)),
        },
        _ => {
            let Some(file) = super::sarif::on_disk(bytes) else { return };
            match RuleMap::read(file.path()) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(map) => {
                    let mut finding = Finding { rule_id: Some("B608".to_owned()), ..Finding::new("f") };
                    map.apply(&mut finding);
                }
            }
        }
    }
}
