use super::*;
use crate::finding::MergedReport;

const RULES: IdentityRules =
    IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

fn finding(path: &str, rule: &str) -> Finding {
    Finding { file: RepoPath::new(path), rule_id: Some(rule.to_owned()), ..Finding::new("f") }
}

#[test]
fn the_worked_example_comes_out() {
    let f = Finding {
        line_start: Some(26),
        line_end: Some(33),
        ..finding("./cases\\supabase-baseline/frontend//utils/api.ts", " ANON_KEY_BEARER ")
    };
    assert_eq!(
        finding_key(&f, &RULES).as_deref(),
        Some("v2|cases/supabase-baseline/frontend/utils/api.ts|anon_key_bearer|lines:26-33")
    );
}

#[test]
fn anchors_are_taken_in_order() {
    let check = |change: fn(&mut Finding), expect: Option<&str>| {
        let mut f = finding("a.ts", "r");
        change(&mut f);
        assert_eq!(finding_key(&f, &RULES).as_deref(), expect);
    };
    check(|_| (), None);
    check(|f| f.chunk_end = Some(9), Some("v2|a.ts|r|chunklines:9-9"));
    check(
        |f| {
            f.chunk = Some(4);
            f.chunk_end = Some(9);
        },
        Some("v2|a.ts|r|chunk:4"),
    );
    check(
        |f| {
            f.line_end = Some(7);
            f.chunk = Some(4);
        },
        Some("v2|a.ts|r|lines:7-7"),
    );
    check(
        |f| {
            f.line_start = Some(9);
            f.line_end = Some(7);
        },
        Some("v2|a.ts|r|lines:9-9"),
    );
    check(
        |f| {
            f.anchor = Some("jelly:a|b".to_owned());
            f.line_start = Some(9);
        },
        Some("v2|a.ts|r|anchor:jelly:a/b"),
    );
    check(|f| f.rule_id = Some("  ".to_owned()), None);
    check(|f| f.identity_key = Some("v2|x|y|lines:1-1".to_owned()), Some("v2|x|y|lines:1-1"));
}

#[test]
fn folded_reports_give_further_keys() {
    let f = Finding {
        line_start: Some(3),
        merged: vec![MergedReport {
            rule_id: Some("B609".to_owned()),
            line_start: Some(12),
            ..MergedReport::default()
        }],
        ..finding("a.py", "B608")
    };
    assert_eq!(finding_keys(&f, &RULES), ["v2|a.py|b608|lines:3-3", "v2|a.py|b609|lines:12-12"]);
}

#[test]
fn words_of_a_model_never_enter_a_key() {
    let mut f = Finding { line_start: Some(1), ..finding("a.py", "r") };
    let before = finding_key(&f, &RULES);
    f.title = Some("other words".to_owned());
    f.message = Some("still other words".to_owned());
    f.fingerprints.insert("random".to_owned(), "5f1c".to_owned());
    assert_eq!(finding_key(&f, &RULES), before);
}
