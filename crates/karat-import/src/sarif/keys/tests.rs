use super::*;

const RULES: IdentityRules =
    IdentityRules { chunk_anchors: false, require_anchor: false, rule_fallback: true, include_source: false };

fn add_key(text: &[u8]) -> Result<(String, usize), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.sarif");
    std::fs::write(&path, text).unwrap();
    let mut output = Vec::new();
    let shown = |error: ImportError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    let keys = write_keys(&path, &mut output, &RULES).map_err(shown)?;
    Ok((String::from_utf8(output).unwrap(), keys))
}

const RESULT: &str = r#"{"ruleIndex" : 0, "big":123456789012345678901234567890.0, "locations":[{"physicalLocation":
    {"artifactLocation":{"index":0},"region":{"startLine":3,"endLine":4}}}]"#;
const KEYED: &str = r#", "partialFingerprints": {"karatIdentity/v2": "v2|src/a.c|r1|lines:3-4"}}"#;

/// A document with rules and files after the results, and with unrelated keys named `results` and `runs`.
fn document(results: &str) -> String {
    format!(
        "\n{{ \"version\" : \"2.1.0\", \"x\": {{\"runs\": [{{\"results\": [{{}}]}}]}},\n \"\\u0072uns\" : [\n \
         {{\"properties\": {{\"results\": [{{\"a\": \"\\\"{{\"}}]}}, \"results\": [{results}],\n \
         \"tool\": {{\"driver\": {{\"rules\": [{{\"id\": \"R1\"}}]}}}}, \"artifacts\": [{{\"location\": {{\"uri\": \"src/a.c\"}}}}]}} ] }}\n"
    )
}

#[test]
fn copy_differs_only_by_its_keys() {
    let check = |results: &str, expect: &str, keys: usize| {
        assert_eq!(add_key(document(results).as_bytes()), Ok((document(expect), keys)));
    };
    check("", "", 0);
    check(&format!("{RESULT}}}"), &format!("{RESULT}{KEYED}"), 1);
    check(
        &format!(" {RESULT}}} , {{\"message\": {{}}}},{RESULT}}}"),
        &format!(" {RESULT}{KEYED} , {{\"message\": {{}}}},{RESULT}{KEYED}"),
        2,
    );
}

#[test]
fn copies_do_not_depend_on_block_boundaries() {
    let text = document(&format!("{RESULT}}}, {{\"x\": \"\\\\\\\"]}}\"}}"));
    let expect = add_key(text.as_bytes()).unwrap();
    let mut tables = TablesOfRuns(Vec::new());
    let input = input::from_reader(Path::new("x"), Box::new(text.as_bytes())).unwrap();
    json::read_seed(input, By::Map(Document(&mut tables))).unwrap();
    for size in 1..40 {
        let mut copy =
            KeyWriter { state: State::default(), tables: &tables.0, rules: &RULES, result: Vec::new(), keys: 0 };
        let mut output = Vec::new();
        for block in text.as_bytes().chunks(size) {
            copy.copy_block(block, &mut output).unwrap();
        }
        assert_eq!((String::from_utf8(output).unwrap(), copy.keys), expect, "blocks of {size}");
    }
}

#[test]
fn runs_have_their_own_rules() {
    let run = |rule: &str| {
        format!(
            r#"{{"results":[{{"ruleIndex":0,"locations":[{{"physicalLocation":{{"artifactLocation":{{"uri":"a"}},
            "region":{{"startLine":1}}}}}}]}}],"tool":{{"driver":{{"rules":[{{"id":"{rule}"}}]}}}}}}"#
        )
    };
    let (copy, keys) = add_key(format!(r#"{{"runs":[{},{}]}}"#, run("ONE"), run("TWO")).as_bytes()).unwrap();
    assert_eq!(keys, 2);
    assert!(copy.find("v2|a|one|lines:1-1").unwrap() < copy.find("v2|a|two|lines:1-1").unwrap(), "{copy}");
}

#[test]
fn other_documents_are_rejected() {
    assert_eq!(
        add_key(b"{}"),
        Err("in.sarif:1:2: there is no array `runs`, so this is not a SARIF document".to_owned())
    );
    let error = write_keys(Path::new("-"), &mut Vec::new(), &RULES).unwrap_err().to_string();
    assert_eq!(error, "<stdin>: the document is read twice, so it must be a file; save it first");
}

#[test]
fn written_key_overrides_an_older_one() {
    let text = document(&format!("{RESULT}, \"fingerprints\": {{\"karatIdentity/v2\": \"older\"}}}}"));
    let (copy, _) = add_key(text.as_bytes()).unwrap();
    let mut data = crate::ImportedData::default();
    let input = input::from_reader(Path::new("x"), Box::new(copy.as_bytes())).unwrap();
    crate::sarif::import(input, &mut data).unwrap();
    let keys: Vec<_> = data.findings.into_iter().map(|reported| reported.finding.identity_key).collect();
    assert_eq!(keys, [Some("v2|src/a.c|r1|lines:3-4".to_owned())]);
}

#[test]
fn key_is_inserted_and_nothing_else_changes() {
    let check = |result: &str, expect: &str| assert_eq!(with_key(result, "k\"").as_deref(), Some(expect), "{result}");
    check("{}", r#"{"partialFingerprints": {"karatIdentity/v2": "k\""}}"#);
    check("{\n  \"n\": 1.50\n}", "{\n  \"n\": 1.50, \"partialFingerprints\": {\"karatIdentity/v2\": \"k\\\"\"}\n}");
    check(
        r#"{"partialFingerprints" : { "a" : "}" } , "z":[]}"#,
        r#"{"partialFingerprints" : { "a" : "}", "karatIdentity/v2": "k\"" } , "z":[]}"#,
    );
    check(r#"{"partialFingerprints":{}}"#, r#"{"partialFingerprints":{"karatIdentity/v2": "k\""}}"#);
    check(r#"{"partialFingerprints":null}"#, r#"{"partialFingerprints":{"karatIdentity/v2": "k\""}}"#);
    check(
        r#"{"partialFingerprints":{"karatIdentity/v2":"old","b":"c"}}"#,
        r#"{"partialFingerprints":{"karatIdentity/v2":"k\"","b":"c"}}"#,
    );
}
