//! One case, one trial: who matches whom, and why.

use crate::story::{case, judgement, profile, score_one, suite, told, trial};
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, Decision, Judgement, TargetAssessment};
use karat_core::profile::Profile;
use karat_core::scorecard::score;

fn check_with(profile: &Profile, goldens: &str, findings: &str, judgements: &str, expect: &str) {
    let (card, suite, trial) = score_one(profile, goldens, findings, judgements);
    let result = &card.tools[0].cases[0].trials[0].result;
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(told(result, &suite.cases[0], &trial), expect.join("\n"));
}

fn check(goldens: &str, findings: &str, expect: &str) {
    check_with(&profile("karat", ""), goldens, findings, "", expect);
}

#[test]
fn the_published_formula_by_hand() {
    // 0.4·1 + 0.2·0.55 + 0.4·0.5 = 0.71: the gap between line 15 and line 18 is 3, and two of four keywords are there.
    let goldens = "g src/routes/users.ts:12-15 kw=sql_injection,parameterized,sanitize,interpolation | x";
    let findings = "f src\\routes\\users.ts:18 | SQL injection by string interpolation";
    for name in ["crb", "karat"] {
        let (card, ..) = score_one(&profile(name, ""), goldens, findings, "");
        let found = &card.tools[0].cases[0].trials[0].result.matches[0];
        let parts = found.parts;
        assert!((found.score.unwrap() - 0.71).abs() < 1e-12, "{name}: {:?}", found.score);
        assert_eq!((parts.file, parts.keyword, parts.text), (Some(1.0), Some(0.5), None));
        assert!((parts.line.unwrap() - 0.55).abs() < 1e-12);
    }
}

#[test]
fn the_file_part_has_steps() {
    // With crb's weights the file part alone is 0.4, 0.32 or 0.12 of the score; only the last is below the threshold.
    let crb = profile("crb", "");
    check_with(&crb, "g src/api/a.ts | x", "f src/api/a.ts | y", "", "g=f 0.400");
    check_with(&crb, "g src/api/a.ts | x", "f lib/a.ts | y", "", "g=f 0.320");
    let far = "miss g: the best candidate scores too low\nextra f: its best golden scores too low";
    check_with(&crb, "g src/api/a.ts | x", "f src/b.ts | y", "", far);
    let nothing = "miss g: no finding comes near it\nextra f: no golden comes near it";
    check_with(&crb, "g src/api/a.ts | x", "f lib/b.ts | y", "", nothing);
}

#[test]
fn a_glob_is_the_same_path_where_it_fits() {
    check_with(&profile("crb", ""), "g src/**/a.ts:3 | x", "f src/deep/er/a.ts:3 | y", "", "g=f 0.600");
}

#[test]
fn parts_the_golden_does_not_state_are_left_out_or_zero() {
    let goldens = "g - kw=race,lock | x";
    let findings = "f a.go:9 | a race on the lock";
    check(goldens, findings, "g=f 1.000");
    check_with(&profile("crb", ""), goldens, findings, "", "g=f 0.400");
    // What the finding lacks counts as 0 in both.
    check("g a.go:9 kw=race | x", "f - | race", "g=f 0.400");
}

#[test]
fn prose_stands_in_for_keywords_only_in_our_own_profile() {
    let goldens = "g - | Unbounded cache grows forever";
    let findings = "f - | this cache is unbounded and grows";
    let (card, ..) = score_one(&profile("karat", ""), goldens, findings, "");
    let found = &card.tools[0].cases[0].trials[0].result.matches[0];
    // Three of four equally rare words.
    assert!((found.score.unwrap() - 0.75).abs() < 1e-12);
    let missed = "miss g: no finding comes near it\nextra f: no golden comes near it";
    check_with(&profile("crb", ""), goldens, findings, "", missed);
}

#[test]
fn the_exact_assignment_gives_up_a_pair_for_a_better_whole() {
    let goldens = "g1 a.py:10 kw=alpha,beta,gamma,delta | x\n g2 a.py:10 kw=alpha,beta,epsilon,zeta | y";
    let findings = "f1 a.py:10 | alpha beta gamma epsilon\n f2 a.py:10 | alpha beta gamma";
    // f1 fits g1 and g2 equally (0.9), f2 fits g1 better (0.9) than g2 (0.8): only one way is worth 1.8.
    check(goldens, findings, "g1=f2 0.900\ng2=f1 0.900");
    check_with(&profile("crb", ""), goldens, findings, "", "g1=f1 0.900 [ambiguous]\ng2=f2 0.800");
}

#[test]
fn a_second_report_is_a_duplicate_never_a_second_hit() {
    let findings = "f1 a.py:5 | sql\n f2 a.py:5 | sql\n f3 b/c.rb:90 | other";
    let expect = "g=f1 1.000 [ambiguous]\nagain f2=g\nextra f3: no golden comes near it";
    check("g a.py:5 kw=sql | x", findings, expect);
}

#[test]
fn acceptance_says_where_a_pair_goes() {
    let goldens = "g1 a.py:5 kw=sql acceptable | x\n g2 a.py:50 kw=md5 trap | y";
    check(
        goldens,
        "f1 a.py:5 | sql\n f2 a.py:50 | md5",
        "fine g1=f1 1.000\nextra f2: it reports a known false alarm [trap]",
    );
}

#[test]
fn every_report_of_a_trap_is_a_false_alarm() {
    let trap = "it reports a known false alarm [trap]";
    let expect = format!("extra f1: {trap} [ambiguous]\nextra f2: {trap}");
    check("g a.py:50 kw=md5 trap | y", "f1 a.py:50 | md5\n f2 a.py:50 | md5", &expect);
    let identity = profile("identity", "");
    let findings = "f1 a.py:50 rule=r | y\n f2 a.py:50 rule=r | y";
    check_with(&identity, "g a.py:50 rule=r trap | y", findings, "", &format!("extra f1: {trap}\nextra f2: {trap}"));
    // A true golden goes before a trap: the second finding repeats that one.
    let both = "g1 a.py:50 kw=md5 | x\n g2 a.py:50 kw=md5,hash trap | y";
    check(
        both,
        "f1 a.py:50 | md5\n f2 a.py:50 | md5 hash\n f3 a.py:50 | md5 hash",
        "g1=f1 1.000 [ambiguous]\nagain f3=g1\nextra f2: it reports a known false alarm [trap] [ambiguous]",
    );
}

#[test]
fn one_recorded_finding_may_match_goldens_of_every_kind() {
    let recorded = profile("recorded", "");
    let goldens = "g1 - | x\n g2 - acceptable | y\n g3 - acceptable | z\n g4 - trap | w\n g5 - trap | v";
    let judged = "m g1 f1 yes\n m g2 f1 yes\n m g4 f1 yes\n m g2 f2 yes\n m g3 f2 yes\n m g4 f3 yes\n m g5 f3 yes";
    let (card, ..) = score_one(&recorded, goldens, "f1 - | a\n f2 - | b\n f3 - | c", judged);
    let tool = &card.tools[0];
    assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), (1, 1, 0));
    let single = tool.one_to_one.unwrap();
    assert_eq!((single.tp, single.fp, single.fn_), (1, 1, 0));
}

#[test]
fn required_goldens_are_served_before_acceptable_ones_and_those_before_traps() {
    let goldens = "g1 a.py:5 kw=sql trap | x\n g2 a.py:5 kw=sql acceptable | y\n g3 a.py:9 kw=sql | z";
    // The finding fits the trap and the acceptable golden perfectly and the required one less well; that one gets it.
    check(goldens, "f1 a.py:5 | sql", "g3=f1 0.880");
    check(goldens, "f1 a.py:5 | sql\n f2 a.py:5 | sql", "g3=f1 0.880 [ambiguous]\nfine g2=f2 1.000 [ambiguous]");
}

#[test]
fn requirements_forbid_pairs() {
    let strict = profile("karat", "require = [\"file\", \"category\"]\nline_tolerance = 1");
    let goldens = "g a.sol:10 cat=re-entrancy | x";
    // (0.4·1 + 0.2·0.85) / 0.6: a title without a word to compare is no part of the score.
    check_with(&strict, goldens, "f a.sol:11 cat=Re_Entrancy | x", "", "g=f 0.950");
    let lost = "miss g: no finding comes near it\nextra f: no golden comes near it";
    check_with(&strict, goldens, "f a.sol:12 cat=re-entrancy | x", "", lost);
    check_with(&strict, goldens, "f b.sol:10 cat=re-entrancy | x", "", lost);
    check_with(&strict, goldens, "f a.sol:10 cat=other | x", "", lost);
    check_with(&strict, goldens, "f a.sol cat=re-entrancy | x", "", lost);
    let by_cwe = profile("karat", "require = [\"cwe\", \"rule\"]");
    check_with(&by_cwe, "g a.c:1 cwe=89 rule=R1 | x", "f a.c:1 cwe=89 rule=r1 | x", "", "g=f 1.000");
    check_with(&by_cwe, "g a.c:1 cwe=89 rule=R1 | x", "f a.c:1 cwe=90 rule=r1 | x", "", lost);
}

#[test]
fn judgements_decide_the_pairs_they_cover_and_no_others() {
    let goldens = "g1 a.py:5 kw=sql | x\n g2 b.py:5 kw=race | y";
    let findings = "f1 a.py:5 | sql\n f2 z.rb:100 | race";
    // 0.4·1 + 0.6·0 is refused whatever the heuristic; 0.4·0.4 + 0.6·0.9 is accepted though it scored low.
    let judged = "model g1 f1 no\n model g2 f2 yes 0.9";
    check_with(
        &profile("karat", ""),
        goldens,
        findings,
        judged,
        "g2=f2 0.700\nmiss g1: a judge refused the best candidate\nextra f1: a judge refused its best golden",
    );
    let half = "model g2 f2 yes 0.9";
    check_with(&profile("karat", ""), goldens, findings, half, "g1=f1 1.000\ng2=f2 0.700");
}

#[test]
fn people_go_before_models_and_an_even_split_is_no_match() {
    let (goldens, findings) = ("g a.py:5 kw=sql | x", "f a.py:5 | sql");
    let lost = "miss g: a judge refused the best candidate\nextra f: a judge refused its best golden";
    let karat = profile("karat", "");
    check_with(&karat, goldens, findings, "m1 g f yes\n m2 g f yes\n human:ann g f no", lost);
    check_with(&karat, goldens, findings, "m1 g f yes 1\n m2 g f no", lost);
    check_with(&karat, goldens, findings, "m1 g f yes 1\n m2 g f no\n m3 g f yes 0.5", "g=f 1.000");
}

#[test]
fn a_finding_judged_to_match_nothing_matches_nothing() {
    let lost = "miss g: a judge refused the best candidate\nextra f: a judge refused its best golden";
    check_with(&profile("karat", ""), "g a.py:5 kw=sql | x", "f a.py:5 | sql", "m - f no", lost);
}

#[test]
fn recorded_matches_stand_as_they_are() {
    let recorded = profile("recorded", "");
    let goldens = "g1 - | x\n g2 - | y\n g3 - | z";
    let findings = "f1 - | a\n f2 - | b\n f3 - | c";
    let judged = "m g1 f1 yes 0.9\n m g2 f1 yes 0.8\n m - f2 yes\n m - f3 no";
    let expect = "g1=f1 0.900\ng2=f1 0.800\nmiss g3: no recorded judgement matches it\nagain f2=?\nextra f3: no recorded judgement matches it";
    check_with(&recorded, goldens, findings, judged, expect);
    let (card, ..) = score_one(&recorded, goldens, findings, judged);
    let tool = &card.tools[0];
    assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), (2, 1, 1));
    let single = tool.one_to_one.unwrap();
    assert_eq!((single.tp, single.fp, single.fn_), (1, 1, 2));
    assert!(
        card.warnings.iter().any(|w| w.contains("goldens that share their finding with another: 1;")),
        "{:?}",
        card.warnings
    );
}

#[test]
fn identity_needs_no_words() {
    let identity = profile("identity", "");
    let goldens = "g1 a.py:5 rule=B608 | x\n g2 a.py rule=B101 | y\n g3 a.py:7 | z";
    let findings =
        "f1 ./a.py:5 rule=b608 | other words\n f2 a.py:99 rule=B101 | w\n f3 a.py:7 rule=B1 | w\n f4 a.py:8 | w";
    let expect = "g1=f1
        g2=f2
        miss g3: no key can be built for it
        extra f3: its key is none of the expected ones
        extra f4: it has no key";
    check_with(&identity, goldens, findings, "", expect);
}

#[test]
fn silence_is_told_apart_from_missing_the_point() {
    check("g a.py:5 kw=sql | x", "", "miss g: the tool reported nothing");
    check("", "f a.py:5 | sql", "extra f: the case has no goldens");
}

/// What an audit says of the findings `f1 CLASS, f2 CLASS …`, and which of them found the target.
fn audited(classes: &str, found: Option<&str>) -> Judgement {
    let classified = classes.split_terminator(", ").map(|entry| {
        let (finding, class) = entry.split_once(' ').unwrap();
        let classification = Classification::ALL.into_iter().find(|known| known.as_str() == class).unwrap();
        ClassifiedFinding { finding: finding.into(), classification, matches_target: None, is_valid_concern: None }
    });
    let target = TargetAssessment {
        found: found.is_some(),
        finding: found.map(Into::into),
        type_match: None,
        rcir: None,
        ava: None,
        fsv: None,
    };
    let decision = AuditDecision {
        said_vulnerable: Some(true),
        confidence_expressed: None,
        findings: classified.collect(),
        target: Some(target),
        explanation: None,
    };
    Judgement { decision: Decision::Audit(decision), ..judgement("m g1 f1 yes") }
}

#[test]
fn an_audit_names_the_target_and_says_what_the_rest_is_worth() {
    let rules = profile("audit", "");
    let suite = suite(vec![case("c", "g1 a.sol:1 | other\n g2 a.sol:5 target | reentrancy")]);
    let trials = [trial("c", 1, "f1 a.sol:5 | x\n f2 a.sol:9 | y\n f3 - | z\n f4 - | w")];
    let check = |judgements: &[Judgement], expect: &str, counts: (usize, usize, usize)| {
        let card = score(&suite, &trials, judgements, &rules);
        let tool = &card.tools[0];
        assert_eq!(told(&tool.cases[0].trials[0].result, &suite.cases[0], &trials[0]), expect);
        assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), counts);
        card.warnings
    };
    let classes = "f1 TARGET_MATCH, f2 PARTIAL_MATCH, f3 BONUS_VALID, f4 HALLUCINATED";
    check(
        &[audited(classes, Some("f1"))],
        "g2=f1\nmiss g1: the profile does not compare it\nagain f2=g2\n\
         extra f3: the audit calls it another true problem\nextra f4: the audit calls it made up",
        (1, 1, 1),
    );
    check(
        &[audited("f1 MISCHARACTERIZED, f2 INFORMATIONAL, f3 OUT_OF_SCOPE", None)],
        "miss g1: the profile does not compare it\nmiss g2: the audit says that it was not found\n\
         extra f1: the audit calls it real code wrongly understood\nextra f2: the audit calls it a remark\n\
         extra f3: the audit calls it out of scope\nextra f4: the profile does not compare it",
        (0, 4, 2),
    );
    let warnings = check(
        &[],
        "miss g1: the judge failed to answer\nmiss g2: the judge failed to answer\n\
         extra f1: the judge failed to answer [unjudged]\nextra f2: the judge failed to answer [unjudged]\n\
         extra f3: the judge failed to answer [unjudged]\nextra f4: the judge failed to answer [unjudged]",
        (0, 4, 2),
    );
    assert!(warnings.iter().any(|warning| warning.contains("1 trial was not audited")), "{warnings:?}");
}
