//! Diagnostics as rendered for the terminal.

use super::{check_rendered, faults};
use crate::diagnostic::Diagnostic;
use crate::diagnostic_render::render;
use crate::document::Syntax::{Json, Toml, Yaml};

#[test]
fn all_faults_of_a_yaml_file_are_shown() {
    let text = "\
id: 12
name: Ünï 日本
issues:
  - {id: é日, line_strat: 3}
  - line_end: twelve
    weight: 2
difficulty: hrad
allow_unexpected: yes
colour: red
name: again
";
    assert_eq!(faults(Yaml, text).len(), 9);
    check_rendered(
        Yaml,
        text,
        r#"
error[wrong-type]: expected text for `id`, found the number 12
 --> case:1:5
  |
1 | id: 12
  |     ^^ expected text
  |
  = help: quote it: "12"

error[unknown-key]: unknown key `line_strat`
 --> case:4:14
  |
4 |   - {id: é日, line_strat: 3}
  |               ^^^^^^^^^^ did you mean `line_start`?

error[missing-key]: the key `id` is missing in an item of `issues`
 --> case:5:5
  |
5 |   - line_end: twelve
  |     ^^^^^^^^^^^^^^^^ `id` is required here

error[wrong-type]: expected a whole number for `line_end`, found the text "twelve"
 --> case:5:15
  |
5 |   - line_end: twelve
  |               ^^^^^^ expected a whole number

error[out-of-range]: expected a number of at most 1.0 for `weight`, found the number 2
 --> case:6:13
  |
6 |     weight: 2
  |             ^ expected a number of at most 1.0

error[unknown-value]: expected one of `medium`, `hard`, `easy` for `difficulty`, found the text "hrad"
 --> case:7:13
  |
7 | difficulty: hrad
  |             ^^^^ did you mean `hard`?

error[wrong-type]: expected `true` or `false` for `allow_unexpected`, found the text "yes"
 --> case:8:19
  |
8 | allow_unexpected: yes
  |                   ^^^ expected `true` or `false`
  |
  = help: write `true`, without quotes

error[unknown-key]: unknown key `colour`
 --> case:9:1
  |
9 | colour: red
  | ^^^^^^ unknown here
  |
  = help: known keys: `id`, `name`, `difficulty`, `issues`, `cwe`, `allow_unexpected`, `meta`, `pr`, `judge`, `lines`

error[duplicate-key]: the key `name` is given twice
  --> case:10:1
   |
10 | name: again
   | ^^^^ given before in the same mapping
   |
   = help: remove one of the two
"#,
    );
}

#[test]
fn toml_faults_show_their_table() {
    check_rendered(
        Toml,
        "id = 'é'\n\n[[issues]]\nline_start = 3\n",
        r#"
error[missing-key]: the key `id` is missing in an item of `issues`
 --> case:3:1
  |
3 | [[issues]]
  | ^^^^^^^^^^ `id` is required here
"#,
    );
}

#[test]
fn tabs_and_carriage_returns_do_not_shift_the_underline() {
    check_rendered(
        Json,
        "{\t\"id\":\t\"é\",\r\n\t\"naem\":\t\"b\"\r\n}\r\n",
        r#"
error[unknown-key]: unknown key `naem`
 --> case:2:2
  |
2 |     "naem":    "b"
  |     ^^^^^^ did you mean `name`?
"#,
    );
}

#[test]
fn long_lines_are_cut_around_the_fault() {
    let text = format!("{{\"id\":\"a\",\"name\":\"{}\",\"colr\":\"{}\"}}", "日".repeat(300), "x".repeat(300));
    check_rendered(
        Json,
        &text,
        r#"
error[unknown-key]: unknown key `colr`
 --> case:1:321
  |
1 | …日日日日日日日日日日日日日日日日日日日日日日日日日日日日日","colr":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
  |                                                              ^^^^^^ unknown here
  |
  = help: known keys: `id`, `name`, `difficulty`, `issues`, `cwe`, `allow_unexpected`, `meta`, `pr`, `judge`, `lines`
"#,
    );
    assert!(faults(Json, &text)[0].source_line.as_ref().is_some_and(|line| line.len() < 300));
}

#[test]
fn terminal_escapes_are_made_visible() {
    check_rendered(
        Json,
        "{\"id\":\"a\", \"\u{1b}[2J\u{202e}x\": \"\u{7f}\u{9b}\"}",
        r#"
error[unknown-key]: unknown key `␛[2J�x`
 --> case:1:12
  |
1 | {"id":"a", "␛[2J�x": "␡�"}
  |            ^^^^^^^^ unknown here
  |
  = help: known keys: `id`, `name`, `difficulty`, `issues`, `cwe`, `allow_unexpected`, `meta`, `pr`, `judge`, `lines`

error[syntax]: a control character in a text
 --> case:1:13
  |
1 | {"id":"a", "␛[2J�x": "␡�"}
  |             ^
  |
  = help: write it as `\u001b`
"#,
    );
    let diagnostic = Diagnostic::of_file("a\u{1b}]0;x\u{7}\n.yaml", "unreadable", "no\nway\u{1b}[1m").with_help("do\r");
    assert_eq!(render(&[diagnostic], false, 80), "error[unreadable]: no␊way␛[1m\n--> a␛]0;x␇␊.yaml\n = help: do␍\n\n");
}

#[test]
fn colour_does_not_change_the_text() {
    let faults = faults(Yaml, "id: 12\nnmae: é\n");
    let coloured = render(&faults, true, 80);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    for (index, part) in coloured.split('\u{1b}').enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').expect("a colour code").1 });
    }
    assert_eq!(plain, render(&faults, false, 80));
}

#[test]
fn diagnostic_without_a_source_does_not_panic() {
    let mut diagnostic = Diagnostic::of_file("a", "x", "y");
    diagnostic.source_line = Some("é".into());
    diagnostic.underline = 1..900;
    assert!(render(&[diagnostic], false, 0).contains("error[x]: y"));
}
