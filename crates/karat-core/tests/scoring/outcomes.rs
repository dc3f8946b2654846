//! One case, one trial: who matches whom, and why.

use crate::story::{case, describe, judgement, profile, score_one, suite, trial};
use karat_core::ids::JudgeName;
use karat_core::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Decision, Expressed, Judgement, TargetAssessment, UnjudgedPair,
};
use karat_core::matching::outcome::Flag;
use karat_core::profile::Profile;
use karat_core::scorecard::{PairQuestion, mark_unjudged, run_judge_rounds, score};
use std::convert::Infallible;

fn check_with(profile: &Profile, goldens: &str, findings: &str, judgements: &str, expect: &str) {
    let (card, suite, trial) = score_one(profile, goldens, findings, judgements);
    let result = &card.tools[0].cases[0].trials[0].result;
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(describe(result, &suite.cases[0], &trial), expect.join("\n"));
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
    let nothing = "miss g: no finding is similar to it\nextra f: no golden is similar to it";
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
    check_with(&profile("karat", "threshold = 0.4"), "g a.go:9 kw=race | x", "f - | race", "", "g=f 0.400");
}

#[test]
fn prose_stands_in_for_keywords_only_in_our_own_profile() {
    let goldens = "g - | Unbounded cache grows forever";
    let findings = "f - | this cache is unbounded and grows";
    let (card, ..) = score_one(&profile("karat", ""), goldens, findings, "");
    let found = &card.tools[0].cases[0].trials[0].result.matches[0];
    // Three of four equally rare words.
    assert!((found.score.unwrap() - 0.75).abs() < 1e-12);
    let missed = "miss g: no finding is similar to it\nextra f: no golden is similar to it";
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
    let expect = "g=f1 1.000 [ambiguous]\nagain f2=g\nextra f3: no golden is similar to it";
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
    let lost = "miss g: no finding that may be paired with it is similar to it\n\
                extra f: no golden that it may be paired with is similar to it";
    check_with(&strict, goldens, "f a.sol:12 cat=re-entrancy | x", "", lost);
    check_with(&strict, goldens, "f b.sol:10 cat=re-entrancy | x", "", lost);
    check_with(&strict, goldens, "f a.sol:10 cat=other | x", "", lost);
    check_with(&strict, goldens, "f a.sol cat=re-entrancy | x", "", lost);
    let by_cwe = profile("karat", "require = [\"cwe\", \"rule\"]");
    check_with(&by_cwe, "g a.c:1 cwe=89 rule=R1 | x", "f a.c:1 cwe=89 rule=r1 | x", "", "g=f 1.000");
    check_with(&by_cwe, "g a.c:1 cwe=89 rule=R1 | x", "f a.c:1 cwe=90 rule=r1 | x", "", lost);
}

#[test]
fn the_path_alone_is_no_match() {
    let karat = profile("karat", "");
    let crb = profile("crb", "");
    // The same file, other lines, none of the words.
    let (goldens, elsewhere) = ("g a.py:10-12 kw=sql,query | x", "f a.py:90 | the name is misspelt");
    check_with(&crb, goldens, elsewhere, "", "g=f 0.400");
    let far = "miss g: the best candidate scores too low\nextra f: its best golden scores too low";
    check_with(&karat, goldens, elsewhere, "", far);
    // However low the threshold, something beyond the path must agree.
    let low = profile("karat", "threshold = 0.3");
    let alone = "miss g: the best candidate shares its path and nothing else\n\
                 extra f: it shares the path of its best golden and nothing else";
    check_with(&low, goldens, elsewhere, "", alone);
    check_with(&low, goldens, "f a.py:90 | a sql statement", "", "g=f 0.600");
    check_with(&low, goldens, "f a.py:14 | the name is misspelt", "", "g=f 0.540");
    // A golden that is nothing but a file, a rule and a weakness.
    let bare = "g a.py rule=R1 cwe=89 cat=injection";
    check_with(&karat, bare, "f a.py:90 cat=injection | y", "", alone);
    check_with(&karat, bare, "f a.py:90 rule=r1 | y", "", "g=f 1.000");
    check_with(&karat, bare, "f a.py:90 cwe=89 | y", "", "g=f 1.000");
    let by_category = profile("karat", "evidence = [\"category\"]");
    check_with(&by_category, bare, "f a.py:90 cat=Injection | y", "", "g=f 1.000");
    check_with(&by_category, bare, "f a.py:90 rule=r1 cwe=89 | y", "", alone);
    let none_needed = profile("karat", "evidence = []");
    check_with(&none_needed, bare, "f a.py:90 | y", "", "g=f 1.000");
}

#[test]
fn a_word_in_common_is_evidence_from_the_floor_on() {
    let goldens = "g a.py | alpha beta gamma delta epsilon";
    let check_floor = |floor: f64, expect: &str| {
        let rules = profile("karat", &format!("evidence_text_floor = {floor}"));
        check_with(&rules, goldens, "f a.py | alpha", "", expect);
    };
    // One of five words that are as rare: 0.5·1 + 0.5·0.2.
    check_floor(0.0, "g=f 0.600");
    check_floor(0.2, "g=f 0.600");
    let alone = "miss g: the best candidate shares its path and nothing else\n\
                 extra f: it shares the path of its best golden and nothing else";
    check_floor(0.21, alone);
    // No word at all is no evidence, even where nothing is asked of the text.
    check_with(&profile("karat", "evidence_text_floor = 0.0\nthreshold = 0.3"), goldens, "f a.py | zeta", "", alone);
}

#[test]
fn lines_count_in_the_same_file_alone() {
    let line = |rules: &Profile, golden: &str, finding: &str| {
        let (card, ..) = score_one(rules, golden, finding, "m g f yes");
        card.tools[0].cases[0].trials[0].result.matches[0].parts.line
    };
    let (karat, crb) = (profile("karat", ""), profile("crb", ""));
    let golden = "g src/a.py:10 kw=sql | x";
    for (finding, ours, theirs) in [
        ("f src/a.py:10 | y", Some(1.0), Some(1.0)),
        ("f src/b.py:10 | y", Some(0.0), Some(1.0)),
        // The same name elsewhere is another file.
        ("f lib/a.py:10 | y", Some(0.0), Some(1.0)),
    ] {
        assert_eq!((line(&karat, golden, finding), line(&crb, golden, finding)), (ours, theirs), "{finding}");
    }
    assert_eq!(
        line(&karat, "g src/*.py:10 kw=sql | x", "f src/b.py:10 | y"),
        Some(1.0),
        "a glob that fits is the file"
    );
    let lost = "miss g: no finding that may be paired with it is similar to it\n\
                extra f: no golden that it may be paired with is similar to it";
    let near = |name: &str| profile(name, "line_tolerance = 0\nthreshold = 0.1");
    check_with(&near("karat"), golden, "f b.py:10 | sql", "", lost);
    check_with(&near("crb"), golden, "f b.py:10 | sql", "", "g=f 0.600");
}

/// Lines without a file are no place, and leave the score to the other parts.
#[test]
fn lines_of_a_golden_without_a_file_are_left_out() {
    let mut only = suite(vec![case("c", "g a.py:10 kw=sql | x")]);
    only.cases[0].goldens[0].file = None;
    let trial = trial("c", 1, "f a.py:10 | sql");
    let parts = |rules: &Profile| {
        let card = score(&only, std::slice::from_ref(&trial), &[], rules);
        card.tools[0].cases[0].trials[0].result.matches[0].parts
    };
    let ours = parts(&profile("karat", ""));
    assert_eq!((ours.file, ours.line, ours.keyword), (None, None, Some(1.0)));
    assert_eq!(parts(&profile("crb", "")).line, Some(1.0));
}

/// A judge may be asked about whatever the published rules would ask it about, lines of other files aside.
#[test]
fn a_judge_is_asked_about_no_fewer_pairs_than_by_the_published_weights() {
    let ours = Profile { judge: "local".to_owned(), ..profile("karat", "") };
    let crb = profile("crb", "");
    let published = Profile { weights: crb.weights, judge_threshold: 0.1, ..ours.clone() };
    let goldens = ["g src/a.py:10 kw=sql,query,like,quote | x", "g src/a.py | injection by the search term"];
    let findings =
        ["src/a.py:90 | y", "src/b.py:10 | y", "lib/a.py:10 | y", "lib/b.py:9 | sql search", "src/b.py | search y"];
    for (golden, finding) in goldens.iter().flat_map(|golden| findings.map(|finding| (golden, finding))) {
        let asked = |rules: &Profile| {
            let suite = suite(vec![case("c", golden)]);
            let trials = [trial("c", 1, &format!("f {finding}"))];
            let mut questions = 0;
            let mut answer = |asked: &[PairQuestion<'_>]| {
                questions += asked.len();
                Ok::<_, Infallible>(Vec::new())
            };
            run_judge_rounds(&suite, &trials, Vec::new(), rules, &JudgeName::new("m"), &mut answer).unwrap();
            questions
        };
        assert!(asked(&ours) >= asked(&published), "{golden} with {finding}");
        assert_eq!(asked(&published), 1, "{golden} with {finding}");
    }
}

#[test]
fn an_unjudged_pair_does_not_match_by_score() {
    let (goldens, findings) = ("g1 a.py:5 kw=sql | x\n g2 a.py:50 kw=race | y", "f1 a.py:5 | sql\n f2 a.py:50 | race");
    let (suite, trial) = (suite(vec![case("c", goldens)]), trial("c", 1, findings));
    let failed = |golden: &str, finding: &str| Judgement {
        decision: Decision::Unjudged(UnjudgedPair {
            golden: golden.into(),
            finding: finding.into(),
            why: "it was busy".to_owned(),
        }),
        ..judgement("m g1 f1 yes")
    };
    for rules in [profile("karat", ""), profile("crb", ""), profile("karat", "judge = \"m\"")] {
        let judged = [judgement("m g1 f1 yes 1"), failed("g2", "f2")];
        let card = score(&suite, std::slice::from_ref(&trial), &judged, &rules);
        let result = &card.tools[0].cases[0].trials[0].result;
        // The path alone makes it a second report of g1 where no evidence beyond the path is needed.
        let of_second = if rules.name == "crb" { "again f2=g1" } else { "extra f2: no judge answered [unjudged]" };
        let expect = format!("g1=f1 1.000\nmiss g2: no judge answered\n{of_second}");
        assert_eq!(describe(result, &suite.cases[0], &trial), expect, "{}", rules.name);
        assert_eq!(result.misses[0].flags, [Flag::Unjudged]);
    }
    // Where somebody else decided the pair, nobody's failure matters.
    let judged = [failed("g2", "f2"), judgement("n g2 f2 yes 1"), judgement("n g1 f1 no")];
    let card = score(&suite, std::slice::from_ref(&trial), &judged, &profile("karat", ""));
    assert_eq!(card.tools[0].counts.tp, 1);
}

#[test]
fn pairs_that_recorded_judgements_leave_open_are_unjudged_where_their_judge_decided_others() {
    let goldens = "g1 a.py:5 kw=sql | x\n g2 a.py:50 kw=race | y\n g3 b.py:7 kw=leak | z";
    let findings = "f1 a.py:5 | sql\n f2 a.py:50 | race\n f3 b.py:300 | a remark";
    let suite = suite(vec![case("c", goldens)]);
    let trials = [trial("c", 1, findings), trial("c", 2, findings)];
    let rules = profile("karat", "");
    let open = |judged: &str, judges: &[&str], rules: &Profile| -> Vec<String> {
        let judged: Vec<Judgement> = judged.lines().map(judgement).collect();
        let judges: Vec<JudgeName> = judges.iter().map(|name| JudgeName::new(*name)).collect();
        let left = mark_unjudged(&suite, &trials, &judged, rules, &judges.iter().collect());
        let shown = |left: Judgement| match left.decision {
            Decision::Unjudged(pair) => format!("{} {} {} {}", left.judge, left.trial, pair.golden, pair.finding),
            other => panic!("{other:?}"),
        };
        left.into_iter().map(shown).collect()
    };
    // Only what the score would match, and only in the trial that the judge decided.
    assert_eq!(open("m g1 f1 yes", &["m"], &rules), ["m 1 g2 f2"]);
    assert_eq!(open("m g1 f2 no", &["m"], &rules), ["m 1 g1 f1", "m 1 g2 f2"]);
    assert_eq!(open("m g1 f1 yes\nn g2 f2 no", &["m"], &rules), [""; 0]);
    assert_eq!(open("m - f2 no\nm g1 f1 yes", &["m"], &rules), [""; 0]);
    // Somebody else's decisions, or no decision about a pair, leave the rest to the score.
    assert_eq!(open("n g1 f1 yes", &["m"], &rules), [""; 0]);
    assert_eq!(open("m extra f3 no", &["m"], &rules), [""; 0]);
    assert_eq!(open("m g1 f1 yes", &[], &rules), [""; 0]);
    assert_eq!(open("m g1 f1 yes", &["m"], &profile("karat", "judge = \"m\"")), [""; 0], "it can be asked");
    assert_eq!(open("m g1 f1 yes", &["m"], &profile("recorded", "")), [""; 0]);
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
fn people_go_before_models_and_an_even_split_decides_nothing() {
    let (goldens, findings) = ("g a.py:5 kw=sql | x", "f a.py:5 | sql");
    let lost = "miss g: a judge refused the best candidate\nextra f: a judge refused its best golden";
    let karat = profile("karat", "");
    check_with(&karat, goldens, findings, "m1 g f yes\n m2 g f yes\n human:ann g f no", lost);
    let open = "miss g: no judge answered\nextra f: no judge answered [unjudged] [tied]";
    check_with(&karat, goldens, findings, "m1 g f yes 1\n m2 g f no", open);
    let (card, ..) = score_one(&karat, goldens, findings, "m1 g f yes 1\n m2 g f no");
    let miss = &card.tools[0].cases[0].trials[0].result.misses[0];
    assert_eq!((&miss.flags, &miss.votes), (&vec![Flag::Unjudged, Flag::Tied], &vec![0, 1]));
    // As in a panel, the confidences settle it where each vote states one.
    check_with(&karat, goldens, findings, "m1 g f yes 0.6\n m2 g f no 0.9", &format!("{lost} [tied]"));
    // Of several votes, their share is the confidence.
    check_with(&karat, goldens, findings, "m1 g f yes 1\n m2 g f no\n m3 g f yes 0.5", "g=f 0.800");
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
        extra f3: its key is not one of the expected keys
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
        ClassifiedFinding { classification: Some(classification), ..ClassifiedFinding::unasked(finding.into()) }
    });
    let target = TargetAssessment {
        found: Some(found.is_some()),
        finding: found.map(Into::into),
        ..TargetAssessment::default()
    };
    let decision = AuditDecision {
        said_vulnerable: Some(Expressed::Value(true)),
        findings: classified.collect(),
        target: Some(target),
        ..AuditDecision::default()
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
        assert_eq!(describe(&tool.cases[0].trials[0].result, &suite.cases[0], &trials[0]), expect);
        assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), counts);
        card.warnings
    };
    let classes = "f1 TARGET_MATCH, f2 PARTIAL_MATCH, f3 BONUS_VALID, f4 HALLUCINATED";
    check(
        &[audited(classes, Some("f1"))],
        "g2=f1\nagain f2=g2\n\
         extra f3: the audit classifies it as another real problem\nextra f4: the audit classifies it as hallucinated",
        (1, 1, 0),
    );
    check(
        &[audited("f1 MISCHARACTERIZED, f2 INFORMATIONAL, f3 OUT_OF_SCOPE", None)],
        "miss g2: the audit reports it as not found\n\
         extra f1: the audit classifies it as real code misunderstood\nextra f2: the audit classifies it as informational\n\
         extra f3: the audit classifies it as out of scope\nextra f4: no judge answered [unjudged]",
        (0, 3, 1),
    );
    let warnings = check(
        &[],
        "miss g2: no judge answered\n\
         extra f1: no judge answered [unjudged]\nextra f2: no judge answered [unjudged]\n\
         extra f3: no judge answered [unjudged]\nextra f4: no judge answered [unjudged]",
        (0, 0, 0),
    );
    assert!(warnings.iter().any(|warning| warning.contains("1 trial was not audited")), "{warnings:?}");
}
