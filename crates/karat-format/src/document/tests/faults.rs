//! Every kind of fault in every syntax.

use super::{Sample, check};
use crate::diagnostic::Faults;
use crate::document::{Syntax, decode, json, schema_of, toml, yaml};
use Syntax::{Json, Toml, Yaml};

#[test]
fn valid_files_have_no_faults() {
    check(Yaml, "id: \"12\"\nissues:\n  - id: a\n    line_start: 0x10\n    weight: 1\nmeta: {a: [1, ~], b: yes}\n", "");
    check(Yaml, "\u{feff}id: a\nname: ~\njudge: null\ndifficulty: easy\nlines: 3-5\n", "");
    check(Yaml, "id: &x a\nname: *x\npr: &p\n  title: t\nmeta:\n  again: *p\n", "");
    check(Toml, "id = 'a'\n[judge]\nkind = 'local'\nthreshold = 1\n[meta]\nday = 2024-01-01\n", "");
    check(Json, r#" {"id":"\u00e9\ud83d\ude00\/","judge":{"kind":"model","provider":"x"}} "#, "");
}

#[test]
fn values_are_equal_in_every_syntax() {
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
    check(Yaml, "id: a\nlines: abc\n", "2:8 invalid-value: expected lines as `3-5`");
    check(
        Yaml,
        "id: 007\nname: 1.5\n",
        r#"1:5 wrong-type: expected text for `id`, found the number 7 (expected text) [quote it: "007"]
         2:7 wrong-type: expected text for `name`, found the number 1.5 (expected text) [quote it: "1.5"]"#,
    );
    check(
        Yaml,
        "id: a\njudge: {}\npr:\n  title:\n\n\ncwe: [1, x, 5000000000]\n",
        r#"2:8 missing-key: the key `kind` is missing in `judge` (`kind` is required here) [`kind` is one of `local`, `model`]
         4:3 wrong-type: expected text for `title`, found nothing (expected text) [give `title` a value]
         7:10 wrong-type: expected a whole number for an item of `cwe`, found the text "x" (expected a whole number)
         7:13 out-of-range: expected a number from 0 to 4294967295 for an item of `cwe`, found the number 5000000000 (expected a number from 0 to 4294967295)"#,
    );
    check(
        Yaml,
        "id: a\njudge: 3\ndifficulty: 3\nissues: {}\n",
        r#"2:8 wrong-type: expected a mapping for `judge`, found the number 3 (expected a mapping)
         3:13 wrong-type: expected text for `difficulty`, found the number 3 (expected text) [quote it: "3"]
         4:9 wrong-type: expected a list for `issues`, found a mapping (expected a list) [write it as a list of one: [ … ]]"#,
    );
    check(
        Yaml,
        "id: a\njudge: {kind: local, treshold: 3}",
        "2:22 unknown-key: unknown key `treshold` (did you mean `threshold`?)",
    );
    check(
        Yaml,
        "id: a\njudge: {kind: modle}\npr: {title: ''}\nissues:\n- \n- [x]\n",
        r#"2:15 unknown-value: expected one of `local`, `model` for `kind`, found the text "modle" (did you mean `model`?)
         3:13 too-short: expected text of at least 1 character for `title`, found 0 characters (expected at least 1 character)
         5:3 wrong-type: expected a mapping for an item of `issues`, found nothing (expected a mapping)
         6:3 wrong-type: expected a mapping for an item of `issues`, found a list (expected a mapping)"#,
    );
    check(
        Yaml,
        "name: 'x'\npr: &p {titel: x}\nmeta: *p\n",
        "1:1 missing-key: the key `id` is missing (`id` is required here) [`id`: Unique within the suite.]
         2:9 unknown-key: unknown key `titel` (did you mean `title`?)",
    );
    check(
        Yaml,
        "id: a\nID: b\n<<: {}\n",
        "2:1 unknown-key: unknown key `ID` (did you mean `id`, which is already given?)
         3:1 unknown-key: unknown key `<<` [YAML 1.2 has no merge keys: write the keys out]",
    );
    check(Yaml, "", "1:1 empty-file: the file is empty");
    check(Yaml, "# nothing\n", "1:1 wrong-type: expected a mapping, found nothing (expected a mapping)");
    check(
        Yaml,
        "id: a\n\tname: b",
        "1:5 syntax: not valid YAML: while scanning a plain scalar, found a tab [indent with spaces: YAML does not allow tabs]",
    );
    check(Yaml, "id: [a\nname: b", "2:5 syntax: not valid YAML: illegal placement of ':' indicator");
    check(
        Yaml,
        "id: a\n---\nid: b",
        "2:1 several-documents: a second YAML document in the same file [keep one document per file: remove the `---` and everything after it]",
    );
    check(Yaml, "id: a\nname: !foo x", "2:7 unknown-tag: unexpected tag `!foo` [remove the tag]");
    check(
        Yaml,
        "id: *a",
        r#"1:5 syntax: not valid YAML: while parsing node, found unknown anchor [quote the text: id: "*a"]"#,
    );
    check(
        Yaml,
        "id: a\nname: Page: 0\n",
        r#"2:11 syntax: not valid YAML: a colon within text that is not quoted [quote the text: name: "Page: 0"]"#,
    );
    check(
        Yaml,
        "id: a\nname: 'it's'\n",
        r#"2:11 syntax: not valid YAML: invalid trailing content after double-quoted scalar [quote the text: name: "it's"]"#,
    );
    check(Yaml, "id: &a [*a]", "1:9 recursive-alias: an alias inside its own anchor");
    check(
        Yaml,
        "id: a\nmeta: {x: .nan, é: 1, é: 2}\n? [a]\n: b\n",
        "2:11 not-finite: expected a finite number
         2:23 duplicate-key: the key `é` is given twice (given before in the same mapping) [remove one of the two]
         3:3 complex-key: a list or a mapping as a key [keys are plain text]",
    );
}

#[test]
fn toml_faults() {
    check(
        Toml,
        "",
        "1:1 missing-key: the key `id` is missing (`id` is required here) [`id`: Unique within the suite.]",
    );
    check(
        Toml,
        "id = 3\n[pr]\ntitel = 3\n[[issues]]\nid = \"é\"\nline_start = 1.0\n[[issues]]\nweight = inf\n",
        r#"1:6 wrong-type: expected text for `id`, found the number 3 (expected text) [quote it: "3"]
         3:1 unknown-key: unknown key `titel` (did you mean `title`?)
         6:14 wrong-type: expected a whole number for `line_start`, found the number 1.0 (expected a whole number) [write it without a point: 1]
         7:1 missing-key: the key `id` is missing in an item of `issues` (`id` is required here)
         8:10 not-finite: expected a finite number"#,
    );
    check(
        Toml,
        "id = \nname = 日\nfoo = 3\ncwe = ['é', 'x']\n",
        r#"1:6 syntax: not valid TOML: string values must be quoted, expected literal string
         2:8 syntax: not valid TOML: string values must be quoted, expected literal string
         3:1 unknown-key: unknown key `foo` (unknown here) [known keys: `id`, `name`, `difficulty`, `issues`, `cwe`, `allow_unexpected`, `meta`, `pr`, `judge`, `lines`]
         4:8 wrong-type: expected a whole number for an item of `cwe`, found the text "é" (expected a whole number)
         4:13 wrong-type: expected a whole number for an item of `cwe`, found the text "x" (expected a whole number)"#,
    );
    check(
        Toml,
        "id = 'a'\nid = 'b'\n[judge]\nkind = 'model'\nprovider = ['x']\n",
        "2:1 duplicate-key: the key `id` is given twice [remove one of the two]
         5:12 wrong-type: expected text for `provider`, found a list (expected text)",
    );
    check(Toml, "id = 'a'\nlines = '5'\r\n", "2:9 invalid-value: expected lines as `3-5`");
}

#[test]
fn json_faults() {
    check(Json, "", "1:1 empty-file: the file is empty");
    check(Json, "[1]", "1:1 wrong-type: expected a mapping, found a list (expected a mapping)");
    check(
        Json,
        "{\"id\":\"a\",}",
        "1:10 syntax: a comma after the last item [remove it: JSON does not allow a trailing comma]",
    );
    check(
        Json,
        "{\"id\":\"é\" \"b\":1}",
        r#"1:11 syntax: expected `,` or `}`, found `"` [a comma is missing before it]"#,
    );
    check(
        Json,
        "{'id':1}",
        "1:2 syntax: expected a key in double quotes, found `'` [use double quotes: JSON does not allow single quotes]",
    );
    check(Json, "{\"id\":\"a\"} x", "1:12 syntax: expected the end of the text, found `x`");
    check(Json, "{\"id\":None}", "1:7 syntax: expected a value, found `None` [write `null`]");
    check(
        Json,
        "{\"id\": // no\n1}",
        "1:8 syntax: expected a value, found `/` [remove it: JSON does not allow comments]",
    );
    check(
        Json,
        "{\"id\":\"a",
        r#"1:7 syntax: a text without its closing quote [end it with `"`, and write `\"` for quotes within it]"#,
    );
    check(
        Json,
        "{\"id\":\"a\nb\\q\"}",
        r#"1:9 syntax: a control character in a text [write it as `\n`]
         2:2 syntax: an escape that JSON does not know [write `\\` for a backslash]"#,
    );
    check(Json, "{\"id\":\"\\u12\"}", r#"1:8 syntax: expected four hexadecimal digits after `\u`"#);
    check(
        Json,
        "{\"id\":\"\\ud800\", \"id\": 3, \"issues\":[{\"id\":null}]}",
        r#"1:8 syntax: half of a surrogate pair [write both halves, as in `\ud83d\ude00`, or the character itself]
         1:17 duplicate-key: the key `id` is given twice (given before in the same mapping) [remove one of the two]
         1:42 wrong-type: expected text for `id`, found nothing (expected text) [give `id` a value]"#,
    );
    check(
        Json,
        "{\"id\":\"a\",\"cwe\":[007, 1., 2]}",
        "1:18 syntax: a number that begins with 0 [remove the zeros, or put it in double quotes if it is text]
         1:25 syntax: expected a digit after the point, found `,`",
    );
    check(
        Json,
        "{\"id\":\"a\",\"issues\":[{\"id\":\"b\",\"weight\":1e999,\"line_start\":\"12\"}]}",
        r#"1:40 not-finite: a number too large to hold
         1:59 wrong-type: expected a whole number for `line_start`, found the text "12" (expected a whole number) [write it without quotes: 12]"#,
    );
    check(
        Json,
        "{\"id\":\"a\",\"cwe\":[99999999999999999999999999999999999999999]}",
        "1:18 wrong-type: expected a whole number for an item of `cwe`, found the number 1e41 (expected a whole number) [write a smaller whole number]",
    );
    check(
        Json,
        "{\"id\":\"a\",\"cwe\":[18446744073709551616]}",
        "1:18 wrong-type: expected a whole number for an item of `cwe`, found the number 18446744073709551616 (expected a whole number) [write a smaller whole number]",
    );
    check(Json, "{\"id\":\"a\",\"lines\":\"5\",\"name\":\"x\"}", "1:19 invalid-value: expected lines as `3-5`");
    check(
        Json,
        "{\"id\":\"a\",\"allow_unexpected\":\"no\"}",
        r#"1:30 wrong-type: expected `true` or `false` for `allow_unexpected`, found the text "no" (expected `true` or `false`) [write `false`, without quotes]"#,
    );
}

#[test]
fn later_checks_can_point_into_a_document() {
    let text = "id: a\nissues:\n  - id: é\n    line_start: 3\n  - id: c\n";
    let (_, document) =
        decode::<Sample>("case.yaml", text, Yaml, &schema_of::<Sample>()).into_result().expect("a good file");
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
fn faults_are_counted_with_their_files() {
    let faults =
        |file: &str| decode::<Sample>(file, "{}", Json, &schema_of::<Sample>()).into_result().expect_err("no id");
    assert_eq!(Faults(faults("a")).to_string(), "1 fault in 1 file");
    let both = [faults("a"), faults("b"), faults("b")].concat();
    assert_eq!(Faults::from(both).to_string(), "3 faults in 2 files");
}

#[test]
fn diagnostics_are_written_as_json() {
    let faults =
        decode::<Sample>("a.json", "{\"id\":1}", Json, &schema_of::<Sample>()).into_result().expect_err("a number");
    assert_eq!(
        serde_json::to_value(&faults).expect("JSON"),
        serde_json::json!([{
            "level": "error", "code": "wrong-type", "message": "expected text for `id`, found the number 1",
            "file": "a.json", "line": 1, "column": 7, "span": {"start": 6, "end": 7}, "source_line": "{\"id\":1}",
            "label": "expected text", "help": "quote it: \"1\"",
        }])
    );
}
