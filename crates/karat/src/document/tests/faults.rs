//! Each kind of fault, in each syntax, in short.

use super::{Sample, check};
use crate::diagnostic::Faults;
use crate::document::{Syntax, decode, json, schema_of, toml, yaml};
use Syntax::{Json, Toml, Yaml};

#[test]
fn good_files_have_no_faults() {
    check(Yaml, "id: \"12\"\nissues:\n  - id: a\n    line_start: 0x10\n    weight: 1\nmeta: {a: [1, ~], b: yes}\n", "");
    check(Yaml, "\u{feff}id: a\nname: ~\njudge: null\ndifficulty: easy\nlines: 3-5\n", "");
    check(Yaml, "id: &x a\nname: *x\npr: &p\n  title: t\nmeta:\n  again: *p\n", "");
    check(Toml, "id = 'a'\n[judge]\nkind = 'local'\nthreshold = 1\n[meta]\nday = 2024-01-01\n", "");
    check(Json, r#" {"id":"\u00e9\ud83d\ude00\/","judge":{"kind":"model","provider":"x"}} "#, "");
}

#[test]
fn the_same_text_means_the_same_in_every_syntax() {
    let yaml = yaml::parse("a: [1, -2.5, true, null, 'x']\nb: {c: 9223372036854775808}").expect("YAML").to_json();
    let json = json::parse(r#"{"a":[1,-2.5,true,null,"x"],"b":{"c":9223372036854775808}}"#).expect("JSON").to_json();
    assert_eq!(yaml, json);
    let toml = toml::parse("a = [1, -2.5, true, 'x']\n[b]\nc = 0b11").expect("TOML").to_json();
    assert_eq!(toml.to_string(), r#"{"a":[1,-2.5,true,"x"],"b":{"c":3}}"#);
}

#[test]
fn plain_yaml_scalars_follow_the_core_schema() {
    let read = |text: &str| yaml::parse(text).expect(text).to_json().to_string();
    for (text, expect) in [
        ("12", "12"),
        ("-0o17", "\"-0o17\""),
        ("0o17", "15"),
        ("0x1f", "31"),
        ("+12", "12"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("5.", "5.0"),
        ("1_000", "\"1_000\""),
        ("1.2.3", "\"1.2.3\""),
        (".", "\".\""),
        ("yes", "\"yes\""),
        ("TRUE", "true"),
        ("'true'", "\"true\""),
        ("!!str 12", "\"12\""),
        ("!!int 12", "12"),
        ("2024-01-01", "\"2024-01-01\""),
        ("~", "null"),
        ("inf", "\"inf\""),
        ("|\n  a\n  b\n", "\"a\\nb\\n\""),
    ] {
        assert_eq!(read(text), expect, "{text}");
    }
}

#[test]
fn yaml_faults() {
    check(Yaml, "id: a\nlines: abc\n", "TODO");
    check(Yaml, "id: 007\nname: 1.5\n", "TODO");
    check(Yaml, "id: a\njudge: {}\npr:\n  title:\n\n\ncwe: [1, x, 5000000000]\n", "TODO");
    check(Yaml, "id: a\njudge: 3\ndifficulty: 3\nissues: {}\n", "TODO");
    check(Yaml, "id: a\njudge: {kind: local, treshold: 3}", "TODO");
    check(Yaml, "id: a\njudge: {kind: modle}\npr: {title: ''}\nissues:\n- \n- [x]\n", "TODO");
    check(Yaml, "name: 'x'\npr: &p {titel: x}\nmeta: *p\n", "TODO");
    check(Yaml, "id: a\nID: b\n<<: {}\n", "TODO");
    check(Yaml, "", "TODO");
    check(Yaml, "# nothing\n", "TODO");
    check(Yaml, "id: a\n\tname: b", "TODO");
    check(Yaml, "id: [a\nname: b", "TODO");
    check(Yaml, "id: a\n---\nid: b", "TODO");
    check(Yaml, "id: a\nname: !foo x", "TODO");
    check(Yaml, "id: *a", "TODO");
    check(Yaml, "id: &a [*a]", "TODO");
    check(Yaml, "id: a\nmeta: {x: .nan, é: 1, é: 2}\n? [a]\n: b\n", "TODO");
}

#[test]
fn toml_faults() {
    check(Toml, "", "TODO");
    check(
        Toml,
        "id = 3\n[pr]\ntitel = 3\n[[issues]]\nid = \"é\"\nline_start = 1.0\n[[issues]]\nweight = inf\n",
        "TODO",
    );
    check(Toml, "id = \nname = 日\nfoo = 3\ncwe = ['é', 'x']\n", "TODO");
    check(Toml, "id = 'a'\nid = 'b'\n[judge]\nkind = 'model'\nprovider = ['x']\n", "TODO");
    check(Toml, "id = 'a'\nlines = '5'\r\n", "TODO");
}

#[test]
fn json_faults() {
    check(Json, "", "TODO");
    check(Json, "[1]", "TODO");
    check(Json, "{\"id\":\"a\",}", "TODO");
    check(Json, "{\"id\":\"é\" \"b\":1}", "TODO");
    check(Json, "{'id':1}", "TODO");
    check(Json, "{\"id\":\"a\"} x", "TODO");
    check(Json, "{\"id\":None}", "TODO");
    check(Json, "{\"id\": // no\n1}", "TODO");
    check(Json, "{\"id\":\"a", "TODO");
    check(Json, "{\"id\":\"a\nb\\q\"}", "TODO");
    check(Json, "{\"id\":\"\\u12\"}", "TODO");
    check(Json, "{\"id\":\"\\ud800\", \"id\": 3, \"issues\":[{\"id\":null}]}", "TODO");
    check(Json, "{\"id\":\"a\",\"cwe\":[007, 1., 2]}", "TODO");
    check(Json, "{\"id\":\"a\",\"issues\":[{\"id\":\"b\",\"weight\":1e999,\"line_start\":\"12\"}]}", "TODO");
    check(Json, "{\"id\":\"a\",\"cwe\":[99999999999999999999999999999999999999999]}", "TODO");
    check(Json, "{\"id\":\"a\",\"lines\":\"5\",\"name\":\"x\"}", "TODO");
    check(Json, "{\"id\":\"a\",\"allow_unexpected\":\"no\"}", "TODO");
}

#[test]
fn later_checks_can_point_into_a_document() {
    let text = "id: a\nissues:\n  - id: é\n    line_start: 3\n  - id: c\n";
    let (_, document) = decode::<Sample>("case.yaml", text, Yaml, &schema_of::<Sample>()).expect("a good file");
    let at = |path: &[_]| {
        let d = document.at(path, "x", "y");
        (d.line, d.column, d.source_line.expect("a line")[d.underline].to_owned())
    };
    assert_eq!(at(&["issues".into(), 0.into(), "line_start".into()]), (4, 17, "3".to_owned()));
    assert_eq!(at(&["issues".into(), 1.into(), "line_start".into()]), (5, 5, "id: c".to_owned()));
    assert_eq!(at(&["issues".into(), 0.into(), "id".into()]), (3, 9, "é".to_owned()));
    assert_eq!(at(&[]), (1, 1, "id: a".to_owned()));
}

#[test]
fn faults_count_themselves_and_their_files() {
    let faults = |file: &str| decode::<Sample>(file, "{}", Json, &schema_of::<Sample>()).expect_err("no id");
    assert_eq!(Faults(faults("a")).to_string(), "1 fault in 1 file");
    let both = [faults("a"), faults("b"), faults("b")].concat();
    assert_eq!(Faults::from(both).to_string(), "3 faults in 2 files");
}

#[test]
fn diagnostics_are_written_as_json() {
    let faults = decode::<Sample>("a.json", "{\"id\":1}", Json, &schema_of::<Sample>()).expect_err("a number");
    assert_eq!(
        serde_json::to_value(&faults).expect("JSON"),
        serde_json::json!([{
            "level": "error", "code": "wrong-type", "message": "expected text for `id`, found the number 1",
            "file": "a.json", "line": 1, "column": 7, "span": {"start": 6, "end": 7}, "source_line": "{\"id\":1}",
            "label": "expected text", "help": "quote it: \"1\"",
        }])
    );
}
