use super::*;
use crate::finding::MergedReport;
use crate::lines::Lines;

const RULES: IdentityRules =
    IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

fn golden(file: &str, rule: &str, line: Option<u32>) -> Golden {
    Golden {
        file: FilePattern::new(file),
        rule_id: Some(rule.to_owned()),
        lines: Lines::from_start(line, None),
        ..Golden::new("g")
    }
}

fn finding(file: &str, rule: &str, line: u32) -> Finding {
    Finding { file: RepoPath::new(file), rule_id: Some(rule.to_owned()), line_start: Some(line), ..Finding::new("f") }
}

/// `golden>finding` pairs and `finding=golden` duplicates.
fn check(goldens: &[Golden], findings: &[Finding], rules: &IdentityRules, expect: &str) {
    let result = match_all(goldens, findings, rules);
    let mut words: Vec<String> = result.matched.iter().map(|(g, f, _)| format!("{g}>{f}")).collect();
    words.extend(result.duplicates.iter().map(|(f, g)| format!("{f}={g}")));
    assert_eq!(words.join(" "), expect);
}

#[test]
fn equal_keys_match_one_to_one_in_file_order() {
    let goldens = [golden("a.ts", "r", Some(3)), golden("a.ts", "r", Some(3))];
    let findings = [finding("a.ts", "R", 3), finding("./a.ts", "r", 3), finding("a.ts", "r", 3)];
    check(&goldens, &findings, &RULES, "0>0 1>1 2=0");
}

#[test]
fn a_key_has_no_fallback() {
    check(&[golden("a.ts", "r", Some(3))], &[finding("a.ts", "r", 4)], &RULES, "");
}

#[test]
fn globs_need_rule_and_anchor_too() {
    let goldens = [golden("src/**/a.ts", "r", Some(3))];
    check(&goldens, &[finding("src/x/a.ts", "r", 4), finding("src/x/a.ts", "r", 3)], &RULES, "0>1");
}

#[test]
fn without_lines_file_and_rule_decide_through_aliases_and_folded_reports() {
    let mut aliased = golden("a.ts", "old-name", None);
    aliased.rule_aliases = vec!["New-Name".to_owned()];
    check(&[aliased.clone()], &[finding("a.ts", "new-name", 9)], &RULES, "0>0");
    let mut folded = finding("a.ts", "other", 9);
    folded.merged = vec![MergedReport { rule_id: Some("old-name".to_owned()), ..MergedReport::default() }];
    check(&[aliased.clone()], &[folded], &RULES, "0>0");
    let strict = IdentityRules { rule_fallback: false, ..RULES };
    check(&[aliased], &[finding("a.ts", "new-name", 9)], &strict, "");
}

#[test]
fn a_fallback_never_takes_a_finding_with_a_wanted_key() {
    let goldens = [golden("a.ts", "r", None), golden("a.ts", "r", Some(3))];
    check(&goldens, &[finding("a.ts", "r", 3), finding("a.ts", "r", 8)], &RULES, "0>1 1>0");
}

#[test]
fn chunk_anchors_match_only_when_allowed() {
    let mut g = golden("a.ts", "r", None);
    g.identity_key = Some("v2|a.ts|r|chunk:2".to_owned());
    let f = Finding { chunk: Some(2), line_start: None, ..finding("a.ts", "r", 1) };
    check(std::slice::from_ref(&g), std::slice::from_ref(&f), &RULES, "");
    check(&[g], &[f], &IdentityRules { chunk_anchors: true, ..RULES }, "0>0");
}

#[test]
fn many_equal_keys_stay_linear() {
    let goldens: Vec<Golden> = (0..20_000).map(|_| golden("a.ts", "r", Some(3))).collect();
    let findings: Vec<Finding> = (0..20_000).map(|_| finding("a.ts", "r", 3)).collect();
    assert_eq!(match_all(&goldens, &findings, &RULES).matched.len(), 20_000);
}

#[test]
fn a_finding_with_several_keys_gives_way() {
    let merged = |line: u32, also: u32| Finding {
        merged: vec![MergedReport { rule_id: Some("r".to_owned()), line_start: Some(also), ..MergedReport::default() }],
        ..finding("a.ts", "r", line)
    };
    let goldens = [golden("a.ts", "r", Some(3)), golden("a.ts", "r", Some(4))];
    let findings = [merged(3, 4), finding("a.ts", "r", 3)];
    check(&goldens, &findings, &RULES, "0>1 1>0");
    check(&goldens, &[findings[1].clone(), findings[0].clone()], &RULES, "0>0 1>1");
    // A chain in which each gives way to the next.
    let goldens: Vec<Golden> = (1..=50).map(|line| golden("a.ts", "r", Some(line))).collect();
    let findings: Vec<Finding> = (1..50).map(|line| merged(line, line + 1)).chain([finding("a.ts", "r", 1)]).collect();
    assert_eq!(match_all(&goldens, &findings, &RULES).matched.len(), 50);
}

#[test]
fn goldens_that_cannot_be_matched_stay_linear() {
    let merged = |line: u32| Finding {
        merged: vec![MergedReport { rule_id: Some("r".to_owned()), line_start: Some(3), ..MergedReport::default() }],
        ..finding("a.ts", "r", line)
    };
    let goldens: Vec<Golden> =
        (0..40_000).map(|at| golden("a.ts", "r", Some(if at % 2 == 0 { 3 } else { at }))).collect();
    let findings: Vec<Finding> = (0..20_000).map(merged).collect();
    assert_eq!(match_all(&goldens, &findings, &RULES).matched.len(), 20_000);
}

/// The most pairs of which no two share a golden or a finding, by trying all ways.
fn most(fits: &[Vec<bool>], golden: usize, used: u32) -> usize {
    let Some(row) = fits.get(golden) else { return 0 };
    let free = |finding: &usize| row[*finding] && used >> finding & 1 == 0;
    let taken = (0..row.len()).filter(free).map(|finding| 1 + most(fits, golden + 1, used | 1 << finding)).max();
    taken.unwrap_or(0).max(most(fits, golden + 1, used))
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let with_last = |order: &Vec<usize>| -> Vec<Vec<usize>> {
        (0..n).map(|at| [&order[..at], &[n - 1], &order[at..]].concat()).collect()
    };
    shorter.iter().flat_map(with_last).collect()
}

#[test]
fn order_decides_neither_how_many_match_nor_the_verdict() {
    let profile: crate::profile::Profile =
        toml::from_str(include_str!("../../../../karat/profiles/identity.toml")).unwrap();
    let vocabulary = crate::matching::text::Vocabulary::default();
    let mut random = crate::stats::random::Random::new(7, 0);
    let mut below = |n: usize| (random.unit() * n as f64) as u32;
    let mut gave_way = 0;
    for _ in 0..3_000 {
        let goldens: Vec<Golden> = (0..1 + below(4))
            .map(|_| {
                let kind = below(8);
                let file = if kind == 6 { "*.ts" } else { "a.ts" };
                let mut own = golden(file, "r", (kind < 7).then(|| 1 + below(3)));
                own.rule_aliases = (0..below(2)).map(|_| "s".to_owned()).collect();
                own.acceptance = [Acceptance::Required, Acceptance::Required, Acceptance::Acceptable, Acceptance::Trap]
                    [below(4) as usize];
                own
            })
            .collect();
        let findings: Vec<Finding> = (0..below(5))
            .map(|_| {
                let mut own = finding("a.ts", ["r", "s"][below(2) as usize], 1 + below(3));
                let merged = |rule: u32, line: u32| MergedReport {
                    rule_id: Some(["r", "s"][rule as usize].to_owned()),
                    line_start: Some(1 + line),
                    ..MergedReport::default()
                };
                own.merged = (0..below(3)).map(|_| merged(below(2), below(3))).collect();
                own
            })
            .collect();
        let alone = |golden: &Golden, finding: &Finding| {
            !match_all(std::slice::from_ref(golden), std::slice::from_ref(finding), &profile.identity)
                .matched
                .is_empty()
        };
        let fits: Vec<Vec<bool>> =
            goldens.iter().map(|golden| findings.iter().map(|finding| alone(golden, finding)).collect()).collect();
        let expected = most(&fits, 0, 0);
        let case = crate::suite::Case { goldens, ..crate::suite::Case::new("c") };
        let prepared = PreparedCase::new(&case, &vocabulary, &profile);
        let outcome = |order: &[usize]| {
            let ordered: Vec<Finding> = order.iter().map(|at| findings[*at].clone()).collect();
            let matched = match_all(&case.goldens, &ordered, &profile.identity).matched;
            assert_eq!(matched.len(), expected, "{:#?}\n{ordered:#?}", case.goldens);
            assert!(matched.iter().all(|(golden, finding, _)| fits[*golden][order[*finding]]));
            let found: Vec<usize> = matched.iter().map(|(golden, ..)| *golden).collect();
            let result = by_identity(&prepared, &ordered);
            result.assert_conserved(ordered.len(), case.required().count());
            let missed: Vec<usize> = result.misses.iter().map(|miss| miss.golden).collect();
            (found, missed, result.extras.is_empty())
        };
        let orders = permutations(findings.len());
        let first = outcome(&orders[0]);
        assert!(orders.iter().all(|order| outcome(order) == first), "{:#?}\n{findings:#?}", case.goldens);
        gave_way += usize::from(expected > 1 && findings.iter().any(|finding| !finding.merged.is_empty()));
    }
    assert!(gave_way > 300, "{gave_way}");
}
