//! Diagnostics as people see them.

use super::{check_drawn, faults};
use crate::diagnostic::{Diagnostic, render};
use crate::document::Syntax::{Json, Toml, Yaml};

#[test]
fn a_yaml_file_with_many_faults_shows_them_all() {
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
    check_drawn(Yaml, text, r#"TODO"#);
}

#[test]
fn toml_shows_its_table() {
    check_drawn(Toml, "id = 'é'\n\n[[issues]]\nline_start = 3\n", r#"TODO"#);
}

#[test]
fn tabs_and_carriage_returns_do_not_shift_the_underline() {
    check_drawn(Json, "{\t\"id\":\t\"é\",\r\n\t\"naem\":\t\"b\"\r\n}\r\n", r#"TODO"#);
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let text = format!("{{\"id\":\"a\",\"name\":\"{}\",\"colr\":\"{}\"}}", "日".repeat(300), "x".repeat(300));
    check_drawn(Json, &text, r#"TODO"#);
    assert!(faults(Json, &text)[0].source_line.as_ref().is_some_and(|line| line.len() < 300));
}

#[test]
fn terminal_escapes_are_shown_and_not_obeyed() {
    check_drawn(Json, "{\"id\":\"a\", \"\u{1b}[2J\u{202e}x\": \"\u{7f}\u{9b}\"}", r#"TODO"#);
    let named = Diagnostic::of_file("a\u{1b}]0;x\u{7}\n.yaml", "unreadable", "no\nway\u{1b}[1m").with_help("do\r");
    assert_eq!(render(&[named], false, 80), "TODO");
}

#[test]
fn colour_adds_nothing_but_colour() {
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
fn a_diagnostic_put_together_by_hand_cannot_stop_the_drawing() {
    let mut made = Diagnostic::of_file("a", "x", "y");
    made.source_line = Some("é".into());
    made.underline = 1..900;
    assert!(render(&[made], false, 0).contains("error[x]: y"));
}
