//! The weights and threshold of the profile `karat` follow from the labelled pairs of the shipped suites.

use crate::project::root;
use karat::profile::{SHIPPED, resolve};
use karat::suite::{LoadedSuite, load};
use karat_core::calibrate::matching::{Advice, Figures, LabelledPair, MatchFit, fit, pairs};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::labels::Labels;
use karat_core::profile::Profile;
use karat_core::scorecard::score;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::recorded::{NamedLines, read_judgements, read_trials};
use karat_format::shipped_suites::locate;
use std::collections::BTreeMap;

fn profile(name: &str) -> Profile {
    let profile = resolve(name, &karat::profile::no_files, &[]).unwrap();
    Profile { judge: "none".to_owned(), ..profile }
}

/// A shipped suite with the trials and the labels of its calibration set.
struct Calibration {
    loaded: LoadedSuite,
    trials: Vec<Trial>,
    labels: Vec<Judgement>,
}

impl Calibration {
    fn load(name: &str, files: &[&str]) -> Self {
        let loaded = load(locate(name)).unwrap();
        let lines = |file: &str| {
            let path = format!("calibration/{file}.jsonl");
            NamedLines { reader: loaded.files.open(&path).unwrap().unwrap(), file: path }
        };
        let trials = read_trials(vec![lines("submission")], Some(&loaded.suite)).unwrap();
        let labels = read_judgements(files.iter().map(|file| lines(file)).collect(), Some(&loaded.suite)).unwrap();
        Self { loaded, trials, labels }
    }

    fn pairs(&self, profile: &Profile) -> Vec<LabelledPair> {
        let suite = &self.loaded.suite;
        let labels = Labels::new(suite, &self.trials, &self.labels);
        pairs(suite, &labels.trials, profile, |case| format!("{}/{}", suite.name, case.id))
    }
}

/// The fit that starts from the profile `karat` as it is shipped.
fn fit_profile() -> MatchFit {
    let karat = profile("karat");
    let sets = ["starter", "scanned"].map(|name| Calibration::load(name, &["judgements"]));
    let all: Vec<LabelledPair> = sets.iter().flat_map(|set| set.pairs(&karat)).collect();
    fit(&all, &karat).unwrap()
}

/// The figures of the profile `crb` on the same pairs.
fn crb_figures() -> Figures {
    let crb = profile("crb");
    let sets = ["starter", "scanned"].map(|name| Calibration::load(name, &["judgements"]));
    let all: Vec<LabelledPair> = sets.iter().flat_map(|set| set.pairs(&crb)).collect();
    fit(&all, &crb).unwrap().present
}

/// The labels do not show that other values were better, and the profile's comments state the figures.
#[test]
fn karat_profile_has_values_that_its_calibration_keeps() {
    let fit = fit_profile();
    assert_eq!(fit.advice(), Advice::Keep);
    let profile_text = SHIPPED.iter().find(|shipped| shipped.name == "karat").unwrap().toml.replace("\n# ", " ");
    let held_out = fit.held_out.as_ref().unwrap();
    let three = |value: Option<f64>| format!("{:.3}", value.unwrap());
    for wanted in [
        format!("{} labelled pairs of the suites starter and scanned", fit.present.n),
        format!("F1 {} and kappa {}", three(fit.present.f1), three(fit.present.kappa)),
        format!(
            "{} and {} with a threshold",
            three(held_out.threshold_alone.f1),
            three(held_out.threshold_alone.kappa)
        ),
    ] {
        assert!(profile_text.contains(&wanted), "karat.toml does not contain {wanted:?}");
    }
}

/// `KARAT_UPDATE=1` rewrites the table.
#[test]
fn threshold_curve_in_docs_is_current() {
    let fit = fit_profile();
    let held_out = fit.held_out.as_ref().unwrap();
    let three = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let row = |first: &str, figures: [Option<f64>; 4]| {
        let [precision, recall, f1, kappa] = figures.map(three);
        format!("| {first} | {precision} | {recall} | {f1} | {kappa} |\n")
    };
    let of = |figures: &Figures| [figures.precision, figures.recall, figures.f1, figures.kappa];
    let mut table = "| threshold | precision | recall | F1 | kappa |\n|---|---:|---:|---:|---:|\n".to_owned();
    for point in held_out.present_curve.iter().filter(|point| (0.3..=0.9).contains(&point.threshold)) {
        table
            .push_str(&row(&format!("{:.2}", point.threshold), [point.precision, point.recall, point.f1, point.kappa]));
    }
    table.push_str(&row("0.575, as shipped", of(&fit.present)));
    table.push_str(&row("fitted on the other cases", of(&held_out.threshold_alone)));
    table.push_str(&row("the rules of `crb`", of(&crb_figures())));
    let path = root().join("docs/matching.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find("| threshold | precision |").expect("the table of the curve");
    let end = start + text[start..].find("\n\n").expect("the end of the table") + 1;
    let (before, shown, after) = (&text[..start], &text[start..end], &text[end..]);
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{table}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "docs/matching.md is not current; KARAT_UPDATE=1 rewrites it");
    }
}

/// One case for each pair of a golden and a scanner's finding in the same file, with matching or with other pairs only.
fn single_pairs(matching: bool) -> (Suite, Vec<Trial>) {
    let set = Calibration::load("scanned", &["judgements", "obvious"]);
    let findings: BTreeMap<(&str, &str, &str), &Finding> = set
        .trials
        .iter()
        .flat_map(|trial| trial.findings.iter().map(move |found| (trial, found)))
        .map(|(trial, found)| ((trial.case.as_str(), trial.tool.as_str(), found.id.as_str()), found))
        .collect();
    let goldens: BTreeMap<(&str, &str), &Golden> = set
        .loaded
        .suite
        .cases
        .iter()
        .flat_map(|case| case.goldens.iter().map(|golden| ((case.id.as_str(), golden.id.as_str()), golden)))
        .collect();
    let (mut cases, mut trials) = (Vec::new(), Vec::new());
    for label in set.labels.iter().filter(|label| label.tool.as_str() != "reviewer") {
        let Decision::Pair(pair) = &label.decision else { continue };
        let Some(id) = &pair.golden else { continue };
        let golden = goldens[&(label.case.as_str(), id.as_str())];
        let found = findings[&(label.case.as_str(), label.tool.as_str(), pair.finding.as_str())];
        let in_file = golden.file.as_ref().zip(found.file.as_ref()).is_some_and(|(own, theirs)| own.matches(theirs));
        if pair.matched == matching && in_file {
            let id = CaseId::new(format!("c{}", cases.len()));
            let mut trial = Trial::reported(id.clone(), ToolName::new("t"), 1);
            trial.findings = vec![found.clone()];
            trials.push(trial);
            cases.push(Case { id, goldens: vec![golden.clone()], ..Case::new("c") });
        }
    }
    (Suite { name: "single".to_owned(), digest: String::new(), cases }, trials)
}

#[test]
fn unrelated_findings_in_the_same_file_do_not_match() {
    let count_matches = |name: &str, matching: bool| {
        let (suite, trials) = single_pairs(matching);
        (score(&suite, &trials, &[], &profile(name)).tools[0].counts.tp, suite.cases.len())
    };
    let ((right, of_right), (wrong, of_wrong)) = (count_matches("karat", true), count_matches("karat", false));
    assert!(of_right >= 70 && of_wrong >= 700, "{of_right} and {of_wrong} pairs");
    // The published rules match every finding in the file.
    assert_eq!(count_matches("crb", true), (of_right, of_right));
    assert_eq!(count_matches("crb", false), (of_wrong, of_wrong));
    let summary =
        format!("{right} of {of_right} findings about the golden, {wrong} of {of_wrong} about something else");
    assert!(right * 10 >= of_right * 9 && wrong * 10 <= of_wrong, "matched: {summary}");
}
