use super::*;
use crate::finding::Finding;
use crate::golden::Golden;
use crate::judgement::PairDecision;

/// Labels of a trial with goldens g1 to g3 and findings f1 to f3, from lines such as `g1 f1 yes` and `- f2 no`.
fn labels(said: &str) -> (String, String, Vec<Option<bool>>, bool) {
    let mut case = Case::new("c");
    case.goldens = ["g1", "g2", "g3"].map(Golden::new).to_vec();
    let suite = Suite { name: String::new(), digest: String::new(), cases: vec![case] };
    let mut trial = Trial::reported("c".into(), "t".into(), 1);
    trial.findings = ["f1", "f2", "f3"].map(Finding::new).to_vec();
    let judgement = |line: &str| {
        let [golden, finding, decision] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let golden = (golden != "-").then(|| golden.into());
        let matched = decision == "yes";
        let pair = PairDecision {
            probability: None,
            golden,
            finding: finding.into(),
            matched,
            partial: None,
            confidence: None,
            explanation: None,
            grounds: None,
        };
        let decision = Decision::Pair(pair);
        Judgement { case: "c".into(), tool: "t".into(), trial: 1, judge: "j".into(), exchange: None, decision }
    };
    let judgements: Vec<Judgement> = said.split(", ").map(judgement).collect();
    let trials = [trial];
    let labels = Labels::new(&suite, &trials, &judgements);
    let [own] = &labels.trials[..] else { panic!("one trial expected") };
    let drawn = |labels: &[Option<bool>]| -> String {
        labels.iter().map(|label| label.map_or('.', |yes| if yes { '+' } else { '-' })).collect()
    };
    let found = (0..3).map(|golden| own.found(golden)).collect();
    (drawn(&own.stated), drawn(&own.known()), found, own.whole)
}

#[test]
fn labels_follow_from_judgements() {
    let check = |said: &str, stated: &str, known: &str, found: [Option<bool>; 3], whole: bool| {
        assert_eq!(labels(said), (stated.to_owned(), known.to_owned(), found.to_vec(), whole), "{said}");
    };
    let (yes, no) = (Some(true), Some(false));
    // f2 matched nothing; g3 was found by nobody, so that neither f1 nor f3 matches it.
    check("g1 f1 yes, - f2 no, g2 f3 yes", "+-..-+.-.", "+-..-+---", [yes, yes, no], true);
    // f3 was not judged: nothing follows for pairs that nobody spoke of.
    check("g1 f1 yes, - f2 no", "+-..-..-.", "+-..-..-.", [yes, no, no], false);
    // f1 matched a golden that is not named, which can only be one that was found.
    check("- f1 yes, g1 f2 yes, - f3 no", ".+-..-..-", ".+-------", [yes, no, no], true);
    check("g2 f2 no", "....-....", "....-....", [None, no, None], false);
}
