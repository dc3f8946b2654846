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
