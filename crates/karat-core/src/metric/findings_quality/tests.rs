use super::*;
use crate::metric::Undefined;
use proptest::prelude::*;

const HARM: HarmWeights = HarmWeights {
    hallucinated: 1.0,
    mischaracterized: 1.0,
    security_theater: 0.75,
    out_of_scope: 0.5,
    design_choice: 0.5,
    informational: 0.25,
};

fn classes(indices: &[usize], confirmed: bool) -> Classes {
    let mut classes = Classes::default();
    indices.iter().for_each(|index| classes.add(finding(Classification::ALL[*index], confirmed)));
    classes
}

fn finding(class: Classification, classified: bool) -> AuditedFinding {
    let people = PeopleOnFinding { classified, ..PeopleOnFinding::default() };
    AuditedFinding { class: Some(class), people, is_valid: None }
}

#[test]
fn one_of_each() {
    let all = classes(&[0, 1, 2, 3, 4, 5, 6, 7, 8], false);
    assert_eq!(all.precision(), Ok(3.0 / 9.0));
    assert_eq!(all.share(all.invalid()), Ok(6.0 / 9.0));
    assert_eq!(all.harm_rate(&HARM), Ok(4.0 / 9.0));
    assert_eq!(all.precision_confirmed(0.0), Ok(2.0 / 9.0));
    assert_eq!(all.precision_confirmed(0.5), Ok(2.5 / 9.0));
    assert_eq!(classes(&[0, 1, 2, 3], true).precision_confirmed(0.0), Ok(0.75));
    for class in Classification::ALL {
        assert_eq!(all.share(all.count(class)), Ok(1.0 / 9.0), "{}", class.as_str());
    }
}

#[test]
fn no_finding_has_no_rate() {
    let none = Classes::default();
    let undefined = Err(Undefined("no audited finding"));
    let rates = [none.precision(), none.precision_confirmed(1.0), none.share(none.invalid()), none.harm_rate(&HARM)];
    assert_eq!(rates, [undefined; 4]);
    assert_eq!(none.share(none.count(Classification::Hallucinated)), undefined);
}

proptest! {
    #[test]
    fn parts_make_the_whole(indices in proptest::collection::vec(0..9_usize, 1..30)) {
        let some = classes(&indices, false);
        let rates: f64 = Classification::ALL.into_iter().map(|class| some.share(some.count(class)).unwrap()).sum();
        prop_assert!((rates - 1.0).abs() < 1e-12);
        prop_assert!((some.precision().unwrap() + some.share(some.invalid()).unwrap() - 1.0).abs() < 1e-12);
        prop_assert!(some.harm_rate(&HARM).unwrap() <= some.share(some.invalid()).unwrap() + 1e-12);
        prop_assert!(some.precision_confirmed(0.0).unwrap() <= some.precision().unwrap());
        let mut turned = indices.clone();
        turned.reverse();
        prop_assert_eq!(classes(&turned, false), some);
        let mut twice = some;
        twice += some;
        prop_assert_eq!(twice.precision(), some.precision());
        let mut worse = some;
        worse.add(finding(Classification::Hallucinated, false));
        prop_assert!(worse.precision().unwrap() <= some.precision().unwrap());
    }
}
