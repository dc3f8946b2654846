use super::*;

/// Topics of `topic: document=relevance…`.
fn qrels(text: &str) -> Qrels {
    let topic = |line: &str| {
        let (topic, rest) = line.split_once(':').unwrap();
        let judged = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        (topic.to_owned(), judged.map(|(document, level)| (document.to_owned(), level.parse().unwrap())).collect())
    };
    text.split(';').map(str::trim).map(topic).collect()
}

fn run(text: &str) -> TrecRun {
    let topic = |line: &str| {
        let (topic, rest) = line.split_once(':').unwrap();
        let found = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let found = found.map(|(d, score)| (d.to_owned(), score.parse().unwrap()));
        (topic.to_owned(), found.collect())
    };
    TrecRun { name: "r".to_owned(), topics: text.split(';').map(str::trim).map(topic).collect() }
}

#[track_caller]
fn check(evaluation: &Evaluation, measure: &str, complete: bool, expect: f64) {
    let measures = Measure::parse(measure).unwrap();
    let found = evaluation.over_all(measures[0], complete);
    assert!((found - expect).abs() < 1e-12, "{measure}: {found}, expected {expect}");
}

#[test]
fn ties_are_broken_by_the_greater_name() {
    let judged = qrels("1: a=1 b=0 c=0");
    for (found, reciprocal) in [
        ("1: a=2 b=2 c=2", 1.0 / 3.0),
        ("1: c=2 b=2 a=2", 1.0 / 3.0),
        ("1: a=3 b=2 c=2", 1.0),
        ("1: a=0 b=-0 c=-1", 1.0 / 2.0),
    ] {
        check(&Evaluation::new(&judged, &run(found)), "recip_rank", false, reciprocal);
    }
}

#[test]
fn topics_that_only_one_side_has_are_named() {
    let evaluation = Evaluation::new(&qrels("1: a=1; 2: a=1; 3: b=1"), &run("1: a=1; 9: a=1; 3: a=2 b=1"));
    assert_eq!((evaluation.unjudged.join(" "), evaluation.missing.join(" ")), ("9".to_owned(), "2".to_owned()));
    check(&evaluation, "num_q", false, 2.0);
    check(&evaluation, "num_q", true, 3.0);
    check(&evaluation, "map", false, 0.75);
    check(&evaluation, "map", true, 0.5);
    check(&evaluation, "num_rel", true, 2.0);
    check(&evaluation, "gm_map", false, 0.5_f64.sqrt());
    check(&evaluation, "gm_map", true, (0.5 * 1e-5_f64).cbrt());
}
