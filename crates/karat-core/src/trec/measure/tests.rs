use super::*;

#[track_caller]
fn check(text: &str, expect: Result<&str, MeasureError>) {
    let names = |measures: Vec<Measure>| measures.into_iter().map(Measure::name).collect::<Vec<_>>().join(" ");
    assert_eq!(Measure::parse(text).map(names), expect.map(str::to_owned), "{text}");
}

#[test]
fn names_are_read_as_they_are_printed() {
    check("map", Ok("map"));
    check("success", Ok("success_1 success_5 success_10"));
    check("P.3,5,7", Ok("P_3 P_5 P_7"));
    check("P_20", Ok("P_20"));
    check("set_P", Ok("set_P"));
    check("map_cut_5", Ok("map_cut_5"));
    check("iprec_at_recall.0.1,.25", Ok("iprec_at_recall_0.10 iprec_at_recall_0.25"));
    check("iprec_at_recall_0.10", Ok("iprec_at_recall_0.10"));
    for family in FAMILIES {
        for measure in family.usual() {
            check(&measure.name(), Ok(&measure.name()));
        }
    }
}

#[test]
fn each_is_shown_once_in_its_order() {
    let asked = ["P_100", "map", "P.7,5", "P", "num_q"].iter().flat_map(|text| Measure::parse(text).unwrap());
    let names: Vec<String> = Measure::in_order(asked.collect()).into_iter().map(Measure::name).collect();
    assert_eq!(names.join(" "), "num_q map P_5 P_7 P_10 P_15 P_20 P_30 P_100 P_200 P_500 P_1000");
}

#[test]
fn unknown_measures_are_reported() {
    let bad = |name, cutoff: &str| Err(MeasureError::BadCutoff { name, cutoff: cutoff.to_owned() });
    for text in ["", "mapp", "p_5", "x.5", "_5", "."] {
        check(text, Err(MeasureError::Unknown(text.to_owned())));
    }
    check("P.0", bad("P", "0"));
    check("P.5,", bad("P", ""));
    check("P_-5", bad("P", "-5"));
    check("map_5", bad("map", "5"));
    check("map.5", bad("map", "5"));
    check("Rprec_mult.inf", bad("Rprec_mult", "inf"));
}

#[test]
fn every_measure_says_what_it_is() {
    for (i, family) in FAMILIES.iter().enumerate() {
        assert!(!family.about.is_empty(), "{}", family.name);
        assert!(FAMILIES[..i].iter().all(|other| other.name != family.name), "{} stands twice", family.name);
    }
    assert_eq!(official().len(), 9 + 11 + 9);
}
