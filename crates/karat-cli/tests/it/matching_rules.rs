//! The numbers of the profile `karat` are those that the labelled pairs of the shipped suites give, and they tell findings about a
//! golden from findings about something else in its file.

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

/// What the labels make of the published weights and threshold under the other rules of `karat`.
fn fitted() -> (MatchFit, Profile) {
    let (karat, crb) = (profile("karat"), profile("crb"));
    let published = Profile { weights: crb.weights, threshold: crb.threshold, ..karat };
    let sets = ["starter", "scanned"].map(|name| Calibration::load(name, &["judgements"]));
    let all: Vec<LabelledPair> = sets.iter().flat_map(|set| set.pairs(&published)).collect();
    (fit(&all, &published).unwrap(), published)
}

/// How the rules of the published benchmark decide the same pairs.
fn published_alone() -> Figures {
    let crb = profile("crb");
    let sets = ["starter", "scanned"].map(|name| Calibration::load(name, &["judgements"]));
    let all: Vec<LabelledPair> = sets.iter().flat_map(|set| set.pairs(&crb)).collect();
    fit(&all, &crb).unwrap().present
}

#[test]
fn the_profile_states_what_the_labels_give() {
    let (fit, published) = fitted();
    let karat = profile("karat");
    let (weights, threshold) = match fit.advice() {
        Advice::All => (&fit.weights, fit.threshold),
        Advice::Threshold => (&published.weights, fit.threshold_alone.threshold),
        Advice::Keep => (&published.weights, published.threshold),
    };
    assert_eq!((&karat.weights, karat.threshold), (weights, threshold));
    // The profile says what its numbers rest on.
    let stated = SHIPPED.iter().find(|shipped| shipped.name == "karat").unwrap().toml.replace("\n# ", " ");
    let held_out = fit.held_out.as_ref().unwrap();
    let f1 = |figures: &Figures| format!("{:.3}", figures.f1.unwrap());
    for wanted in [
        format!("{} labelled pairs of the suites starter and scanned", fit.present.n),
        format!("each case held out in turn: F1 {}", f1(&held_out.threshold_alone)),
        format!("{} at the 0.3 of the published benchmark", f1(&fit.present)),
        format!("over the published ones ({})", f1(&held_out.figures)),
    ] {
        assert!(stated.contains(&wanted), "karat.toml does not say {wanted:?}");
    }
}

/// The table in the documents, made anew with `KARAT_UPDATE=1`.
#[test]
fn the_documents_show_the_curve() {
    let (fit, _) = fitted();
    let held_out = fit.held_out.as_ref().unwrap();
    let all = fit.advice() == Advice::All;
    let (points, figures) = match all {
        true => (&held_out.curve, held_out.figures),
        false => (&held_out.present_curve, held_out.threshold_alone),
    };
    let three = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let row = |first: &str, [precision, recall, f1]: [Option<f64>; 3]| {
        format!("| {first} | {} | {} | {} |\n", three(precision), three(recall), three(f1))
    };
    let mut table = "| threshold | precision | recall | F1 |\n|---|---:|---:|---:|\n".to_owned();
    for point in points.iter().filter(|point| (0.3..=0.9).contains(&point.threshold)) {
        table.push_str(&row(&format!("{:.2}", point.threshold), [point.precision, point.recall, point.f1]));
    }
    let Figures { precision, recall, f1, .. } = figures;
    table.push_str(&row("fitted on the other cases", [precision, recall, f1]));
    let Figures { precision, recall, f1, .. } = published_alone();
    table.push_str(&row("the rules of `crb`", [precision, recall, f1]));
    let path = root().join("docs/matching.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find("| threshold | precision |").expect("the table of the curve");
    let end = start + text[start..].find("\n\n").expect("the end of the table") + 1;
    let (before, shown, after) = (&text[..start], &text[start..end], &text[end..]);
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{table}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "docs/matching.md is not what the labels give; KARAT_UPDATE=1 writes it anew");
    }
}

/// A case for each golden and each finding of a scanner in its file that is about it, or about something else.
fn single_pairs(about_it: bool) -> (Suite, Vec<Trial>) {
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
        if pair.matched == about_it && in_file {
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
fn a_finding_about_something_else_in_the_file_is_no_match() {
    let credited = |name: &str, about_it: bool| {
        let (suite, trials) = single_pairs(about_it);
        (score(&suite, &trials, &[], &profile(name)).tools[0].counts.tp, suite.cases.len())
    };
    let ((right, of_right), (wrong, of_wrong)) = (credited("karat", true), credited("karat", false));
    assert!(of_right >= 70 && of_wrong >= 700, "{of_right} and {of_wrong} pairs");
    // The published rules credit every finding in the file, whatever it says.
    assert_eq!(credited("crb", true), (of_right, of_right));
    assert_eq!(credited("crb", false), (of_wrong, of_wrong));
    let told = format!("{right} of {of_right} findings about the golden, {wrong} of {of_wrong} about something else");
    assert!(right * 10 >= of_right * 9 && wrong * 10 <= of_wrong, "credited: {told}");
}
