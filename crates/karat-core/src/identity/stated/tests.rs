use super::*;
use crate::lines::Lines;

const RULES: IdentityRules =
    IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

#[test]
fn keys_that_no_finding_can_have() {
    let check = |key: &str, expect: Option<(&str, Option<&str>)>| {
        let refused = super::check(key, &RULES).err();
        let actual = refused.map(|refused| (refused.fault.to_string(), refused.corrected));
        let actual = actual.as_ref().map(|(fault, corrected)| (fault.as_str(), corrected.as_deref()));
        assert_eq!(actual, expect, "{key}");
    };
    let not_a_key = Some(("expected v2|<path>|<rule>|<anchor>", None));
    check("garbage", not_a_key);
    check("v2|a.ts|r", not_a_key);
    check("v2|a.ts||lines:1-1", not_a_key);
    check("v2| |r|lines:1-1", not_a_key);
    check("v9|a.ts|r|lines:1-1", Some(("unknown key version \"v9\"", None)));
    check("v2|./src//a.ts|r|lines:1-1", Some(("invalid path \"./src//a.ts\"", Some("v2|src/a.ts|r|lines:1-1"))));
    check("v2|src\\a.ts|r|lines:1-1", Some(("invalid path \"src\\\\a.ts\"", Some("v2|src/a.ts|r|lines:1-1"))));
    check("v2|a.ts|No_Auth |lines:1-1", Some(("invalid rule \"No_Auth \"", Some("v2|a.ts|no_auth|lines:1-1"))));
    check("v2|a.ts|r|lines:7", Some(("invalid anchor \"lines:7\" for its version", Some("v2|a.ts|r|lines:7-7"))));
    check("v2|a.ts|r|lines:9-3", Some(("invalid anchor \"lines:9-3\" for its version", Some("v2|a.ts|r|lines:9-9"))));
    check("v2|a.ts|r|line 3", Some(("invalid anchor \"line 3\" for its version", None)));
    check("v2|a.ts|r|symbol:f#1", Some(("invalid anchor \"symbol:f#1\" for its version", None)));
    check("v3|a.ts|r|lines:1-1", Some(("invalid anchor \"lines:1-1\" for its version", None)));
    check(
        "v2|a.ts|r|lines:1-1|source:llm",
        Some(("it names the source \"source:llm\", but identity.include_source is off", Some("v2|a.ts|r|lines:1-1"))),
    );
    for good in [
        "v2|cases/nextjs-baseline/app/api/debug/route.ts|missing_authentication|anchor:jelly:cases/a/route.ts:4:8:21:2",
        "v2|cases/supabase-baseline/frontend/utils/api.ts|anon_key_bearer|lines:26-33",
        "v2|src/**/*.ts|r|lines:1-1",
        "v2|a.ts|r|chunk:4",
        "v2|a.ts|r|chunklines:1-80",
        "v3|pager.py|unchecked-index|symbol:page_at#1",
        "v3|pager.py|unchecked-index|symbol:(file)#1",
    ] {
        check(good, None);
    }
    let sourced = IdentityRules { include_source: true, ..RULES };
    assert!(super::check("v2|a.ts|r|lines:1-1|source:llm", &sourced).is_ok());
    let unsourced = super::check("v2|a.ts|r|lines:1-1", &sourced).unwrap_err();
    assert_eq!(unsourced.fault, "it names no source, but identity.include_source is on");
}

#[test]
fn every_computed_key_could_be_stated() {
    use crate::finding::Finding;
    let finding = Finding {
        file: RepoPath::new("./a|b\\c.ts"),
        rule_id: Some(" X|Y ".to_owned()),
        line_start: Some(9),
        line_end: Some(3),
        source: Some("s|t".to_owned()),
        symbol: Some("a.b#2".to_owned()),
        ..Finding::new("f")
    };
    for rules in [RULES, IdentityRules { include_source: true, ..RULES }] {
        for key in super::super::key::finding_keys(&finding, &rules) {
            assert_eq!(check(&key, &rules), Ok(()), "{key}");
        }
    }
}

#[test]
fn a_key_that_says_something_else_than_its_golden() {
    let golden = |key: &str| Golden {
        file: FilePattern::new("src/a.ts"),
        rule_id: Some("Rule".to_owned()),
        rule_aliases: vec!["old".to_owned()],
        lines: Some(Lines { start: 3, end: 4 }),
        identity_key: Some(key.to_owned()),
        ..Golden::new("g")
    };
    let check = |key: &str, expect: &[&str]| {
        let found = contradictions(&golden(key));
        assert_eq!(found.iter().map(|c| c.field).collect::<Vec<_>>(), expect, "{key}");
    };
    check("v2|src/a.ts|rule|lines:3-4", &[]);
    check("v2|src/a.ts|old|lines:3-4", &[]);
    check("v2|src/*.ts|rule|lines:3-4", &[]);
    check("v2|src/a.ts|rule|anchor:x", &[]);
    check("v3|src/a.ts|rule|symbol:f#1", &[]);
    check("v2|src/b.ts|rule|lines:3-4", &["file"]);
    check("v2|lib/*.ts|other|lines:3-5", &["file", "rule_id", "line_start"]);
    check("garbage", &[]);
    let anchored = Golden { anchor: Some("n1".to_owned()), ..golden("v2|src/a.ts|rule|anchor:n2") };
    assert_eq!(contradictions(&anchored)[0].field, "anchor");
    assert_eq!(contradictions(&Golden { file: None, rule_id: None, rule_aliases: Vec::new(), ..anchored }).len(), 1);
}
