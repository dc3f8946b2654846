use super::*;

fn pairs(text: &str) -> Vec<(bool, Answer)> {
    let pair = |word: &str| {
        let (matched, probability) = word.split_at(1);
        (matched == "+", Answer { matched: false, probability: probability.parse().unwrap() })
    };
    text.split_whitespace().map(pair).collect()
}

#[test]
fn figures_by_hand() {
    let check = |text: &str, area: Option<f64>, error: Option<f64>| {
        let pairs = pairs(text);
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a == b,
        };
        let found = auc(pairs.iter().map(|(matched, said)| (said.probability, *matched)));
        assert!(near(found, area), "{text}: area {found:?}");
        assert!(near(ece(&pairs), error), "{text}: error {:?}", ece(&pairs));
    };
    check("+0.9 -0.1", Some(1.0), Some(0.1));
    check("+0.5 -0.5", Some(0.5), Some(0.0));
    check("+0.2 -0.8 -0.1", Some(0.5), Some((0.8 + 0.8 + 0.1) / 3.0));
    check("+1.0 +1.0", None, Some(0.0));
    check("", None, None);
}

/// Goldens g1 to g3, findings f1 and f2; labels and answers in that order, `.` for none.
#[test]
fn unanswered_pairs_are_not_counted() {
    let check = |labels: &str, answers: &str, expect: &str| {
        let mut case = crate::suite::Case::new("c");
        case.goldens = ["g1", "g2", "g3"].map(crate::golden::Golden::new).to_vec();
        let mut trial = crate::trial::Trial::reported("c".into(), "t".into(), 1);
        trial.findings = ["f1", "f2"].map(crate::finding::Finding::new).to_vec();
        let bits = |text: &str| -> Vec<Option<bool>> { text.chars().map(|c| (c != '.').then_some(c == '+')).collect() };
        let own = LabelledTrial { case: &case, trial: &trial, stated: bits(labels), whole: true };
        let said = bits(answers).into_iter().map(|said| said.map(|said| Answer::new(said, Some(0.9)))).collect();
        let Figures { golden_found: found, pairs } = evaluate_answers(&[own], &[said]);
        let word_weight = format!("{} of {} goldens, {} pairs", found.recall.unwrap_or(-1.0), found.n, pairs.n);
        assert_eq!(word_weight, expect, "{labels} {answers}");
    };
    check("+-+---", "+-+---", "1 of 3 goldens, 6 pairs");
    check("+-+---", "+-----", "0.5 of 3 goldens, 6 pairs");
    // Nobody answered about the first pair of g2: whether the judge would find it is not known.
    check("+-+---", "+-.---", "1 of 2 goldens, 5 pairs");
    // A yes is enough to know, whatever was not answered beside it.
    check("+-+---", "+-.+--", "1 of 3 goldens, 5 pairs");
    check("+-+---", "......", "-1 of 0 goldens, 0 pairs");
    // Nobody labelled a pair of g3, so nobody was asked.
    check("+-+-..", "+-+-..", "1 of 2 goldens, 4 pairs");
}

/// 35 of 50 agreed, and 25 would by chance.
#[test]
fn kappa_by_hand() {
    let table = [(true, true, 20), (true, false, 5), (false, true, 10), (false, false, 15)];
    let items = table.iter().flat_map(|&(a, b, n)| (0..n).map(move |_| (a, b)));
    assert!((binary_kappa(items).unwrap() - 0.4).abs() < 1e-12);
    assert_eq!(binary_kappa([(true, true)].into_iter()), None);
    assert_eq!(binary_kappa([].into_iter()), None);
}
