use super::*;
use karat_core::golden::Severity;
use karat_core::ids::ToolName;
use karat_core::pooling::Member;

const CASE: &str = "id: c\nissues:\n  - id: a\n    title: x\n";

fn check_edit(text: &str, syntax: Syntax, expect: Option<&str>) {
    let got = with_golden(text, syntax, "Leak", None);
    assert_eq!(got.as_deref(), expect, "{text}");
}

fn with_golden(text: &str, syntax: Syntax, title: &str, message: Option<&str>) -> Option<String> {
    let case = Case::new("c");
    let finding = Finding {
        title: Some(title.to_owned()),
        message: message.map(str::to_owned),
        severity: Some(Severity::Low),
        ..Finding::new("f")
    };
    let trial = Trial::reported("c".into(), ToolName::new("t"), 1);
    let pool = Pool { case: 0, lead: &finding, members: vec![Member { trial: &trial, finding: &finding }] };
    let issue = IssueV1 {
        id: "leak".to_owned(),
        title: finding.title.clone(),
        description: finding.message.clone(),
        severity: finding.severity,
        acceptance: Acceptance::Acceptable,
        ..IssueV1::default()
    };
    edited(text, &[&Proposal { case: &case, pool: pool.clone(), issue }], syntax)
}

/// The golden as it is added at this indentation.
fn added(indent: &str) -> String {
    let lines = [
        "# Adopted: a tool reported it, and people confirmed it.",
        "- id: \"leak\"",
        "  title: \"Leak\"",
        "  severity: low",
        "  acceptance: acceptable",
    ];
    lines.map(|line| format!("{indent}{line}\n")).concat()
}

#[test]
fn a_list_grows_at_its_end_and_all_else_stays() {
    let check = |before: &str, after: &str, indent: &str| {
        let text = format!("{before}{after}");
        check_edit(&text, Syntax::Yaml, Some(&format!("{before}{}{after}", added(indent))));
    };
    check(CASE, "", "  ");
    check(CASE, "# the end\nallow_unexpected: true # why not\n", "  ");
    check("id: c\nissues:\n- id: a   # a comment\n  title: x\n  # of a\n", "\n# of what follows\nname: n\n", "");
    check("id: c\nissues:\n  - id: a\n    description: |\n      several\n\n      lines\n", "\nname: n\n", "  ");
    check("id: c\nissues:\n    -   id: a\n        title: x\n", "", "    ");
    // The first of its goldens, in all the ways to have none.
    check_edit(
        "id: c\nissues: []\nname: n\n",
        Syntax::Yaml,
        Some(&format!("id: c\nissues:\n{}name: n\n", added("  "))),
    );
    let noted = "id: c\nissues: [] # none yet\nname: n\n";
    let expect = format!("id: c\nissues:  # none yet\n{}name: n\n", added("  "));
    check_edit(noted, Syntax::Yaml, Some(&expect));
    check_edit("id: c\nname: n", Syntax::Yaml, Some(&format!("id: c\nname: n\nissues:\n{}", added("  "))));
    check_edit("id: c\nissues:\n  - id: a\n    title: x", Syntax::Yaml, Some(&format!("{CASE}{}", added("  "))));
}

#[test]
fn what_stands_on_one_line_stays_on_it() {
    let item = r#"{"id":"leak","severity":"low","title":"Leak","acceptance":"acceptable"}"#;
    let check = |before: &str, after: &str, syntax: Syntax, expect: &str| {
        check_edit(&format!("{before}{after}"), syntax, Some(&expect.replace("ITEM", item)));
    };
    check("id: c\nissues: [{id: a, title: x}", "]\n", Syntax::Yaml, "id: c\nissues: [{id: a, title: x}, ITEM]\n");
    check(
        r#"{"id":"c","issues":[{"id":"a","title":"x"}"#,
        " ]}",
        Syntax::Json,
        r#"{"id":"c","issues":[{"id":"a","title":"x"}, ITEM ]}"#,
    );
    check(r#"{"id":"c","issues":["#, "]}", Syntax::Json, r#"{"id":"c","issues":[ITEM]}"#);
    check(r#"{"id":"c""#, "}", Syntax::Json, r#"{"id":"c", "issues": [ITEM]}"#);
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    for text in [
        "{id: c, name: n}\n",
        "id: c\n...\n",
        "id: c\nissues: &all\n  - id: a\n    title: x\nmeta: {k: *all}\n",
        "id: c\nissues: no list\n",
        "[]",
        "",
        "id: [",
    ] {
        check_edit(text, Syntax::Yaml, None);
    }
    check_edit("[1]", Syntax::Json, None);
    check_edit("{", Syntax::Json, None);
}

/// Whatever a tool wrote, the case reads as the old one with the golden.
#[test]
fn any_words_are_carried() {
    let texts = [
        "a: b # c",
        "- x\n- y",
        "---\n...\n# no comment\n",
        "\"quotes\" 'and' \\slashes\\ %x &y *z !t {[,]}",
        "  indented first\nsecond\n\n\n    third",
        "trailing \nspaces  ",
        "bell \u{7} escape \u{1b} nul \0 del \u{7f} nel \u{85}",
        "ls \u{2028} bom \u{feff} rtl \u{202e}\nx",
        "gr\u{fc}n \u{1f600} \u{fffd}\r\nx",
        "{{ template }} ${shell} `code`",
    ];
    for text in texts {
        for (case, syntax) in [(CASE, Syntax::Yaml), (r#"{"id":"c","issues":[]}"#, Syntax::Json)] {
            let new = with_golden(case, syntax, text, Some(text)).unwrap_or_else(|| panic!("{text:?} was refused"));
            let case = decoded(&new, syntax).unwrap();
            let last = case.issues.last().unwrap();
            assert_eq!((last.title.as_deref(), last.description.as_deref()), (Some(text), Some(text)));
        }
    }
}

#[test]
fn titles_end_with_a_word() {
    assert_eq!(first_line("short\nsecond"), "short");
    let long = "word ".repeat(40);
    assert_eq!(first_line(&long), "word ".repeat(20).trim_end());
    assert_eq!(first_line(&"x".repeat(200)).len(), LONGEST_TITLE);
    assert_eq!(first_line(""), "");
}
