use super::*;
use crate::lines::Lines;
use crate::path::FilePattern;

fn suite() -> Suite {
    let golden = |id: &str, category: &str, words: &str| {
        let mut golden = Golden::new(id);
        golden.title = Some(format!("The {words}"));
        golden.description = Some(format!("It is the {words} that is wrong"));
        golden.category = Some(category.to_owned());
        golden.file = FilePattern::new("a.rs");
        golden.lines = Some(Lines { start: 3, end: 4 });
        golden
    };
    let case = |id: &str, goldens: Vec<Golden>| Case { goldens, ..Case::new(id) };
    let cases = vec![
        case("a", vec![golden("a1", "race", "lock"), golden("a2", "leak", "file handle")]),
        case("b", vec![golden("b1", "injection", "query")]),
        case("c", vec![golden("c1", "race", "counter")]),
    ];
    Suite { name: "s".to_owned(), digest: String::new(), cases }
}

#[test]
fn plain_pairs_are_right_and_wrong_beyond_doubt() {
    let suite = suite();
    let probes = probes(&suite, 10);
    let actual: Vec<String> = probes
        .iter()
        .filter(|probe| probe.plain.is_none())
        .map(|p| format!("{} {} {}", p.golden.id, p.kind.as_str(), p.finding.title.as_deref().unwrap()))
        .collect();
    assert_eq!(
        actual[..4],
        [
            "a1 known_right The lock",
            "a2 known_right The file handle",
            "b1 known_right The query",
            "c1 known_right The counter"
        ]
    );
    assert_eq!(actual.len(), 8);
    for probe in probes.iter().filter(|probe| probe.kind == ProbeKind::KnownWrong) {
        let words = probe.finding.title.as_deref().unwrap();
        assert_ne!(Some(words), probe.golden.title.as_deref());
        let own =
            suite.cases.iter().flat_map(|case| &case.goldens).find(|g| g.title.as_deref() == Some(words)).unwrap();
        assert_ne!(own.category, probe.golden.category, "{words}");
        assert!(!probe.case.goldens.iter().any(|golden| golden.id == own.id), "{words} is of the same case");
        assert_eq!(probe.finding.line_start, Some(3), "it lies where the golden lies");
    }
}

#[test]
fn disturbed_pairs_say_all_that_the_plain_ones_say() {
    let suite = suite();
    let probes = probes(&suite, 10);
    for probe in &probes {
        let Some(plain) = probe.plain.map(|index| &probes[index]) else { continue };
        assert_eq!((probe.golden, probe.matches), (plain.golden, plain.matches));
        let (said, all) = (plain.finding.message.as_deref().unwrap(), probe.finding.message.as_deref().unwrap());
        assert!(all.contains(said) && (all.len() > said.len()) == (probe.kind != ProbeKind::SwappedOrder), "{all}");
    }
    let count = |kind| probes.iter().filter(|probe| probe.kind == kind).count();
    assert_eq!(ProbeKind::ALL.map(count), [4, 4, 4, 4, 8, 8]);
    assert_eq!(super::probes(&suite, 2).iter().filter(|probe| probe.kind == ProbeKind::KnownRight).count(), 2);
    assert!(super::probes(&Suite { cases: Vec::new(), ..suite.clone() }, 10).is_empty());
}

#[test]
fn only_who_was_right_can_be_fooled() {
    let suite = suite();
    let probes = probes(&suite, 10);
    let perfect: Vec<Option<bool>> = probes.iter().map(|probe| Some(probe.matches)).collect();
    assert!(score(&probes, &perfect).kinds.values().all(|rate| rate.wrong == 0 && rate.rate == Some(0.0)));
    // A judge that says yes to everything is wrong about wrong pairs, and nothing that is added can make it more so.
    let yes = vec![Some(true); probes.len()];
    let actual = score(&probes, &yes);
    assert_eq!((actual.kinds["known_wrong"].wrong, actual.kinds["known_right"].wrong), (4, 0));
    assert_eq!((actual.kinds["planted_instruction"].n, actual.kinds["planted_instruction"].rate), (0, None));
    assert_eq!(actual.kinds["padding"].n, 4);
    // One that obeys.
    let obeys: Vec<Option<bool>> =
        probes.iter().map(|probe| Some(probe.matches || probe.kind == ProbeKind::PlantedInstruction)).collect();
    let actual = score(&probes, &obeys);
    assert_eq!((actual.kinds["planted_instruction"].rate, actual.fooled.wrong, actual.fooled.n), (Some(1.0), 4, 24));
    // Where all of n are wrong, the lower end of Wilson's interval is n / (n + z²).
    let ci = actual.kinds["planted_instruction"].ci.unwrap();
    assert!((ci[0] - 4.0 / (4.0 + 1.959963984540054_f64.powi(2))).abs() < 1e-12 && ci[1] == 1.0, "{ci:?}");
    let silent = score(&probes, &vec![None; probes.len()]);
    assert_eq!((silent.kinds["known_right"].unjudged, silent.kinds["known_right"].n), (4, 0));
}
