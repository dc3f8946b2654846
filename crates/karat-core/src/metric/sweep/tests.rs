use super::*;
use proptest::prelude::*;

fn level(score: Option<f64>, right: bool) -> Level {
    let right = f64::from(u8::from(right));
    Level { score, right, wrong: 1.0 - right }
}

fn items(text: &str) -> Vec<Level> {
    let item = |word: &str| {
        let (score, right) = word.split_at(word.len() - 1);
        level(score.parse().ok(), right == "y")
    };
    text.split_whitespace().map(item).collect()
}

fn swept(text: &str, required: u32) -> Sweep {
    sweep(Scale::Confidence, &items(text), f64::from(required))
}

/// `average_precision_score` of scikit-learn 1.9.1, ties included.
#[test]
fn figures_of_scikit_learn() {
    for (text, required, expect) in [
        ("0.95y 0.9y 0.85n 0.8y 0.7n 0.65y 0.55y 0.4n 0.3n 0.1y", 6, 0.788_492_063_492_063_5),
        ("0.9y 0.8y 0.8n 0.7y 0.6n 0.6y 0.5n 0.3y", 5, 0.741_666_666_666_666_7),
    ] {
        let got = swept(text, required).average_precision.unwrap();
        assert!((got - expect).abs() < 1e-12, "{got}, expected {expect}");
    }
}

#[test]
fn by_hand() {
    // Shown: 1 of 1, then 1 of 2, then 2 of 3; four goldens in all.
    let sweep = swept("0.9y 0.5n 0.4y", 4);
    assert_eq!(sweep.average_precision, Ok(0.25 + 0.25 * 2.0 / 3.0));
    let best = sweep.best.unwrap();
    assert_eq!((best.threshold, best.recall, best.f1), (Some(0.4), 0.5, 4.0 / 7.0));
    // What states no confidence is shown last.
    let actual: Vec<Option<f64>> = swept("?y 0.2n", 1).points.iter().map(|point| point.threshold).collect();
    assert_eq!(actual, [Some(0.2), None]);
}

#[test]
fn undefined_forms() {
    let reason = |sweep: Sweep| sweep.average_precision;
    assert_eq!(reason(swept("0.9n", 0)), Err(Undefined("no required golden")));
    assert_eq!(reason(swept("", 3)), Err(Undefined("no finding states a confidence")));
    assert_eq!(reason(swept("?y", 3)), Err(Undefined("no finding states a confidence")));
    let none = sweep(Scale::Severity, &items("?y"), 3.0);
    assert_eq!((none.average_precision, none.best), (Err(Undefined("no finding states a severity")), None));
}

proptest! {
    #[test]
    fn bounds_order_and_monotonicity(list in proptest::collection::vec((0..9_u8, any::<bool>()), 1..60), missed in 0..5_usize) {
        let items: Vec<Level> = list.iter().map(|(s, right)| level(Some(f64::from(*s)), *right)).collect();
        let right = list.iter().filter(|(_, right)| *right).count();
        prop_assume!(right + missed > 0);
        let sweep = |items: &[Level]| super::sweep(Scale::Severity, items, (right + missed) as f64);
        let all = sweep(&items);
        let area = all.average_precision.unwrap();
        // Findings that are counted together mean the same as one by one.
        let mut together: Vec<Level> = Vec::new();
        for item in &items {
            match together.iter_mut().find(|own| own.score == item.score) {
                Some(own) => *own = Level { right: own.right + item.right, wrong: own.wrong + item.wrong, ..*own },
                None => together.push(*item),
            }
        }
        prop_assert_eq!(&sweep(&together), &all);
        prop_assert!((0.0..=1.0 + 1e-12).contains(&area));
        prop_assert!(all.points.windows(2).all(|pair| pair[0].recall <= pair[1].recall && pair[0].threshold > pair[1].threshold));
        let mut turned = items.clone();
        turned.reverse();
        prop_assert_eq!(&sweep(&turned), &all);
        // One more wrong finding at the top never helps.
        let mut worse = items;
        worse.push(level(Some(10.0), false));
        prop_assert!(sweep(&worse).average_precision.unwrap() <= area + 1e-12);
    }
}
