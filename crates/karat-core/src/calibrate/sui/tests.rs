use super::*;
use crate::stats::random::Random;
use proptest::prelude::*;

const TODAY: SuiWeights = SuiWeights {
    verdict_f2: 0.25,
    target_detection_rate: 0.25,
    finding_precision: 0.15,
    reasoning: 0.25,
    calibration: 0.10,
};

/// An expert who orders tools by an index of their own.
fn expert(tools: &[Parts], weights: [f64; 5]) -> Expert {
    let tools = RankedTools { parts: tools, mean: CompositeMean::AsPublished };
    let order = (0..tools.parts.len()).map(|own| (own, tools.index(own, &weights))).collect();
    Expert { name: "anna".to_owned(), order }
}

/// Tools whose parts have nothing to do with each other.
fn drawn(count: usize, seed: u64) -> Vec<Parts> {
    let mut random = Random::new(seed, 0);
    (0..count).map(|_| std::array::from_fn(|_| random.unit())).collect()
}

#[test]
fn planted_weights_come_back_in_their_order() {
    let planted = [0.05, 0.5, 0.0, 0.3, 0.15];
    let tools = drawn(40, 1);
    let found = fit(&tools, &[expert(&tools, planted)], &TODAY, CompositeMean::AsPublished).unwrap();
    let [f2, target, precision, reasoning, calibration] = found.fitted.list();
    assert!(target > reasoning && reasoning > calibration && calibration > f2 && f2 >= precision, "{found:?}");
    assert!(found.in_sample.rho > Some(0.99) && found.tools_held_out.rho > Some(0.98), "{found:?}");
    assert!(found.with_present.rho < found.tools_held_out.rho && found.gain.is_recommended(), "{:?}", found.gain);
    assert_eq!((found.preferences, found.experts_held_out), (780, None));
}

/// An expert for whom one missing part spoils all is followed by a geometric index, and not by a weighted sum.
#[test]
fn a_geometric_index_is_fitted_as_it_is_computed() {
    let planted = [0.1, 0.4, 0.1, 0.3, 0.1];
    let mut tools = drawn(40, 1);
    (0..40).step_by(4).for_each(|own| tools[own][own % 5] = 0.0);
    let ranked = RankedTools { parts: &tools, mean: CompositeMean::Geometric };
    let order = (0..40).map(|own| (own, ranked.index(own, &planted))).collect();
    let expert = [Expert { name: "anna".to_owned(), order }];
    let geometric = fit(&tools, &expert, &TODAY, CompositeMean::Geometric).unwrap();
    let sum = fit(&tools, &expert, &TODAY, CompositeMean::AsPublished).unwrap();
    assert!(geometric.tools_held_out.rho > Some(0.9), "{geometric:?}");
    assert!(geometric.tools_held_out.rho > sum.tools_held_out.rho, "{geometric:?} {sum:?}");
    let ties = geometric.standings.iter().filter(|own| own.present > 30.0).count();
    assert_eq!(ties, 10, "all that lack a part share the last place");
}

#[test]
fn an_order_by_the_weights_of_today_leaves_nothing_to_gain() {
    let tools = drawn(12, 2);
    let found = fit(&tools, &[expert(&tools, TODAY.list())], &TODAY, CompositeMean::AsPublished).unwrap();
    assert_eq!((found.with_present.rho, found.with_present.tau), (Some(1.0), Some(1.0)));
    assert!(!found.gain.is_recommended());
}

#[test]
fn an_order_by_chance_does_not_hold() {
    let tools = drawn(10, 3);
    let order = drawn(10, 4).iter().map(|parts| parts[0]).enumerate().collect();
    let found = fit(&tools, &[Expert { name: "x".to_owned(), order }], &TODAY, CompositeMean::AsPublished).unwrap();
    assert!(found.in_sample.rho > found.tools_held_out.rho, "{found:?}");
}

#[test]
fn experts_are_held_out_too() {
    let tools = drawn(30, 5);
    let (one, two) = (expert(&tools, [0.0, 1.0, 0.0, 0.0, 0.0]), expert(&tools, [0.0, 0.9, 0.1, 0.0, 0.0]));
    let alike = fit(&tools, &[one.clone(), two], &TODAY, CompositeMean::AsPublished).unwrap();
    assert!(alike.experts_held_out.unwrap().rho > Some(0.9) && alike.gain.is_recommended(), "{alike:?}");
    // Who thinks the opposite agrees with nothing that was learned from the other.
    let order = one.order.iter().map(|(tool, value)| (*tool, -value)).collect();
    let torn = fit(&tools, &[one, Expert { name: "b".to_owned(), order }], &TODAY, CompositeMean::AsPublished).unwrap();
    assert!(torn.experts_held_out.unwrap().rho < Some(0.5) && !torn.gain.is_recommended(), "{torn:?}");
}

#[test]
fn weights_of_few_tools_are_never_recommended() {
    let tools = drawn(29, 5);
    let found = fit(&tools, &[expert(&tools, [0.0, 1.0, 0.0, 0.0, 0.0])], &TODAY, CompositeMean::AsPublished).unwrap();
    assert!(found.gain.estimate.interval.unwrap().low > 0.1 && found.gain.p.is_none(), "{found:?}");
    assert_eq!(found.gain.verdict().unwrap_err().reason(), "29 tools, and a recommendation needs 30");
}

/// At one in twenty, more than three of twelve are recommended in one simulation of four hundred.
#[test]
fn rankings_by_chance_are_hardly_ever_recommended() {
    let is_recommended = |seed: &u64| {
        let (tools, drawn) = (drawn(30, 2 * seed), drawn(30, 2 * seed + 1));
        let expert = |at: usize| Expert {
            name: at.to_string(),
            order: drawn.iter().map(|values| values[at]).enumerate().collect(),
        };
        let experts: Vec<Expert> = (0..=usize::from(seed.is_multiple_of(4))).map(expert).collect();
        let found = fit(&tools, &experts, &TODAY, CompositeMean::AsPublished).unwrap();
        found.gain.is_recommended()
    };
    let count = (0..12).filter(is_recommended).count();
    assert!(count <= 3, "{count} of 12");
}

#[test]
fn what_the_present_weights_explain_stays_when_rankings_are_shuffled() {
    let tools = drawn(40, 7);
    let ranked = RankedTools { parts: &tools, mean: CompositeMean::AsPublished };
    let today = TODAY.list();
    let mut noise = Random::new(7, 7);
    let order = (0..40).map(|own| (own, ranked.index(own, &today) + 0.2 * noise.unit())).collect();
    let experts = [Expert { name: "anna".to_owned(), order }];
    let rho = |experts: &[Expert]| {
        let index: Vec<f64> = experts[0].order.keys().map(|&own| ranked.index(own, &today)).collect();
        spearman(&index, &experts[0].order.values().copied().collect::<Vec<_>>()).unwrap()
    };
    let rests = held_out::Unexplained::new(&ranked, &experts, today, &held_out::order(&ranked));
    let shuffled: Vec<f64> = (0..50).map(|n| rho(&rests.shuffled(&experts, &mut Random::new(1, n)))).collect();
    let average = mean(&shuffled).unwrap();
    assert!((average - rho(&experts)).abs() < 0.05 && shuffled[0] != shuffled[1], "{average} {}", rho(&experts));
}

#[test]
fn too_little_is_refused_with_the_reason() {
    let check = |tools: usize, values: fn(usize) -> f64, expect: &str| {
        let order = (0..tools).map(|tool| (tool, values(tool))).collect();
        let found =
            fit(&drawn(tools, 6), &[Expert { name: "x".to_owned(), order }], &TODAY, CompositeMean::AsPublished);
        assert!(found.unwrap_err().to_string().contains(expect), "{expect}");
    };
    check(3, |tool| tool as f64, "3 ranked tools");
    check(101, |tool| tool as f64, "at most 100");
    check(5, |_| 1.0, "a single tie");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn weights_sum_to_one_and_the_order_of_tools_means_nothing(
        seed in 0_u64..1000, count in 4_usize..9, turn in 1_usize..8
    ) {
        let tools = drawn(count, seed);
        let ranking = expert(&tools, [0.1, 0.1, 0.2, 0.2, 0.4]);
        let found = fit(&tools, std::slice::from_ref(&ranking), &TODAY, CompositeMean::AsPublished).unwrap();
        prop_assert!((found.fitted.list().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        prop_assert!(found.fitted.list().iter().all(|weight| *weight >= 0.0));
        let place = |tool: usize| (tool + turn) % count;
        let mut turned = tools.clone();
        (0..count).for_each(|tool| turned[place(tool)] = tools[tool]);
        let order = ranking.order.iter().map(|(&tool, &value)| (place(tool), value)).collect();
        let again = fit(&turned, &[Expert { order, ..ranking }], &TODAY, CompositeMean::AsPublished).unwrap();
        for (one, other) in found.fitted.list().iter().zip(again.fitted.list()) {
            prop_assert!((one - other).abs() < 5e-4, "{found:?} {again:?}");
        }
        prop_assert!(found.standings.iter().all(|own| (1.0..=count as f64).contains(&own.held_out)));
    }
}
