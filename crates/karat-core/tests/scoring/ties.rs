//! Judges that are evenly split: what is shown of them, and what is announced.

use crate::story::{describe, profile, score_one};
use karat_core::matching::outcome::Flag;

/// A warning names as many ties as the outcome shows both sides of.
#[test]
fn ties_are_announced_where_they_are_shown() {
    let (goldens, findings) =
        ("g1 a.py:5 kw=sql | x\n g2 b.py:5 kw=log | y", "f1 b.py:7 | log\n f2 b.py:5 | log\n f3 a.py:5 | sql");
    let shown = |judgements: &str, expect: &str| {
        let (card, suite, trial) = score_one(&profile("karat", ""), goldens, findings, judgements);
        let result = &card.tools[0].cases[0].trials[0].result;
        assert_eq!(describe(result, &suite.cases[0], &trial), expect, "{judgements}");
        let of_duplicates = result.duplicates.iter().map(|duplicate| &duplicate.votes);
        let of_extras = result.extras.iter().map(|extra| &extra.votes);
        let votes: Vec<usize> = of_duplicates.chain(of_extras).flatten().copied().collect();
        let tied: Vec<&String> = card.warnings.iter().filter(|warning| warning.contains("evenly split")).collect();
        (votes, tied.first().map(|warning| warning.starts_with("t: 1 pair or extra has")))
    };
    // A finding that repeats another golden is no further away from it for a tie on this one.
    let elsewhere = "g1=f3 1.000\ng2=f2 1.000\nagain f1=g2";
    assert_eq!(shown("a g1 f1 yes\n b g1 f1 no", elsewhere), (vec![], None));
    // It repeats the golden by the confidences that settled a tie.
    let repeats = "g1=f3 1.000\ng2=f2 1.000\nagain f1=g2 [tied]";
    assert_eq!(shown("a g2 f1 yes 0.9\n b g2 f1 no 0.6", repeats), (vec![0, 1], Some(true)));
    let refused = "g1=f3 1.000\ng2=f2 1.000\nextra f1: a judge refused its best golden [tied]";
    assert_eq!(shown("a g2 f1 yes 0.6\n b g2 f1 no 0.9", refused), (vec![0, 1], Some(true)));
    let open = "g1=f3 1.000\ng2=f2 1.000\nextra f1: no judge answered [unjudged] [tied]";
    assert_eq!(shown("a g2 f1 yes\n b g2 f1 no", open), (vec![0, 1], Some(true)));
    // Of a finding that is no extra, nothing is shown of whether it would be a true one.
    let found = "g1=f3 1.000\ng2=f2 1.000\nagain f1=g2";
    assert_eq!(shown("human:a extra f2 yes\n human:b extra f2 no", found), (vec![], None));
}

#[test]
fn a_tie_on_a_trap_shows_both_sides() {
    let judged = "a t f yes 0.9\n b t f no 0.6";
    let (card, ..) = score_one(&profile("karat", ""), "t a.py:5 kw=sql trap | x", "f a.py:5 | sql", judged);
    let extra = &card.tools[0].cases[0].trials[0].result.extras[0];
    assert_eq!((&extra.flags, &extra.votes), (&vec![Flag::Trap, Flag::Tied], &vec![0, 1]));
}
