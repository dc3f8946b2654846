use super::*;

fn item(combined: f64, evidence: Option<f64>, exact: bool, cited: [f64; 2]) -> Item {
    vec![
        ("mean_combined_score", Adds::Value(Ok(combined))),
        ("mean_evidence_score", Adds::Value(evidence.ok_or(Undefined("no golden evidence")))),
        ("assessment_accuracy", Adds::Value(Ok(f64::from(u8::from(exact))))),
        ("citation_precision", Adds::Share(Part { part: cited[0], whole: cited[1] })),
    ]
}

fn items() -> Vec<Item> {
    vec![
        item(1.0, Some(1.0), true, [2.0, 2.0]),
        item(0.5, None, false, [0.0, 0.0]),
        item(0.75, Some(0.5), true, [1.0, 3.0]),
        item(0.0, Some(0.0), false, [0.0, 1.0]),
    ]
}

fn found<'a>(all: &'a [(&str, Estimate)], id: &str) -> &'a Estimate {
    &all.iter().find(|(own, _)| *own == id).unwrap().1
}

#[test]
fn means_and_shares_by_hand() {
    let all = estimates(&items());
    let actual = |id: &str| {
        let estimate = found(&all, id);
        (estimate.value, estimate.n, estimate.left_out)
    };
    assert_eq!(actual("mean_combined_score"), (Some(0.5625), 4, 0));
    assert_eq!(actual("mean_evidence_score"), (Some(0.5), 3, 1));
    assert_eq!(actual("assessment_accuracy"), (Some(0.5), 4, 0));
    assert_eq!(actual("citation_precision"), (Some(0.5), 6, 0));
    let none = estimates(&[item(0.5, None, false, [0.0, 0.0])]);
    assert_eq!(found(&none, "mean_evidence_score").undefined, Some("no golden evidence"));
    assert_eq!(found(&none, "citation_precision").undefined, Some("nothing was cited"));
    assert_eq!(estimates(&[]), []);
}

/// Wilson's intervals are those of SciPy 1.17.1, `binomtest(2, 4).proportion_ci(method="wilson")` and `binomtest(3, 6)`.
#[test]
fn proportions_get_wilson_and_means_are_drawn() {
    let intervals = Intervals { seed: Some(1), resamples: 500, ..Intervals::default() };
    let all = with_intervals(&items(), None, &intervals);
    let near = |id: &str, low: f64, high: f64| {
        let [a, b] = found(&all, id).ci.unwrap();
        assert!((a - low).abs() < 1e-6 && (b - high).abs() < 1e-6, "{id}: {a} {b}");
    };
    near("assessment_accuracy", 0.150_039_0, 0.849_961_0);
    near("citation_precision", 0.187_616_3, 0.812_383_7);
    let combined = found(&all, "mean_combined_score");
    assert!(combined.method.as_deref().unwrap().contains("bca"), "{combined:?}");
    assert!(combined.se.is_some() && combined.ci.is_some_and(|[low, high]| low < 0.5625 && high > 0.5625));
    let clustered = with_intervals(&items(), Some(&[0, 0, 1, 1]), &intervals);
    let accuracy = found(&clustered, "assessment_accuracy");
    assert!(!accuracy.method.as_deref().unwrap_or("none").contains("wilson"), "{accuracy:?}");
}

#[test]
fn pairs_are_requirements_that_both_have_a_value_of() {
    let better: Vec<Item> = items()
        .into_iter()
        .map(|one| vec![one[0], one[1], one[2], ("citation_precision", Adds::Share(Part { part: 2.0, whole: 2.0 }))])
        .collect();
    let (a, b) = (items(), better);
    let of = |id: &str| compare(&[AnswerPair { a: &a, b: &b }], id, None, &comparison::Rules::default()).remove(0);
    let evidence = of("mean_evidence_score");
    assert_eq!((evidence.n, evidence.difference), (3, Some(0.0)));
    let precision = of("citation_precision");
    assert_eq!((precision.n, precision.a, precision.b), (4, Some(0.5), Some(1.0)));
}
