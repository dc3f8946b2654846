//! Functions that nothing calls.

use super::new_names::NameStyle;
use karat_source::language::Language;

/// What a function computes, and words for its name.
const PURPOSES: [(Purpose, &[&[&str]]); 3] = [
    (Purpose::Lesser, &[&["lesser", "of"], &["lower", "of"], &["smaller", "of"]]),
    (Purpose::Middle, &[&["halfway", "of"], &["midpoint", "of"], &["centre", "of"]]),
    (Purpose::Distance, &[&["gap", "between"], &["span", "of"], &["distance", "of"]]),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Lesser,
    Middle,
    Distance,
}

/// The words of a name, and what the function computes. Both numbers choose.
pub(super) fn purpose(which: usize, name: usize) -> (Purpose, &'static [&'static str]) {
    let (purpose, names) = PURPOSES[which % PURPOSES.len()];
    (purpose, names[name % names.len()])
}

/// How names are written in a language.
pub(super) fn name_style(language: Language) -> NameStyle {
    match language {
        Language::Python | Language::Ruby | Language::Rust | Language::C | Language::Cpp => NameStyle::Snake,
        _ => NameStyle::Camel,
    }
}

/// The lines of a function that stands in front of another definition with this indentation. `is_module` says whether a file of
/// TypeScript imports or exports something: a function that such a file keeps for itself may be refused if it is unused.
pub(super) fn function_lines(
    language: Language,
    name: &str,
    purpose: Purpose,
    indent: &str,
    is_module: bool,
) -> Vec<String> {
    let (head, foot): (String, &str) = match language {
        Language::Python => (format!("def {name}(low, high):"), ""),
        Language::Ruby => (format!("def {name}(low, high)"), "end"),
        Language::JavaScript => (format!("function {name}(low, high) {{"), "}"),
        Language::TypeScript | Language::Tsx => {
            let export = if is_module { "export " } else { "" };
            (format!("{export}function {name}(low: number, high: number): number {{"), "}")
        }
        Language::Java => (format!("private static int {name}(int low, int high) {{"), "}"),
        Language::Go => (format!("func {name}(low, high int) int {{"), "}"),
        Language::Rust => (format!("fn {name}(low: i64, high: i64) -> i64 {{"), "}"),
        Language::C => (format!("static inline int {name}(int low, int high) {{"), "}"),
        Language::Cpp => (format!("[[maybe_unused]] static inline int {name}(int low, int high) {{"), "}"),
        Language::Solidity => {
            let types = "uint256 low, uint256 high";
            (format!("function {name}({types}) private pure returns (uint256) {{"), "}")
        }
    };
    let (condition, early, late) = match purpose {
        Purpose::Lesser => ("high < low", "high", "low"),
        Purpose::Middle => ("high < low", "low", "low + (high - low) / 2"),
        Purpose::Distance => ("high < low", "low - high", "high - low"),
    };
    let unit = match language {
        Language::Go => "\t",
        Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Ruby => "  ",
        _ => "    ",
    };
    let body: Vec<String> = match language {
        Language::Python => vec![format!("if {condition}:"), format!("{unit}return {early}"), format!("return {late}")],
        Language::Ruby => vec![format!("return {early} if {condition}"), late.to_owned()],
        Language::Rust => {
            vec![format!("if {condition} {{"), format!("{unit}return {early};"), "}".to_owned(), late.to_owned()]
        }
        Language::Go => {
            vec![
                format!("if {condition} {{"),
                format!("{unit}return {early}"),
                "}".to_owned(),
                format!("return {late}"),
            ]
        }
        _ => vec![
            format!("if ({condition}) {{"),
            format!("{unit}return {early};"),
            "}".to_owned(),
            format!("return {late};"),
        ],
    };
    let mut lines = Vec::new();
    if language == Language::Rust {
        lines.push(format!("{indent}#[allow(dead_code)]\n"));
    }
    lines.push(format!("{indent}{head}\n"));
    lines.extend(body.iter().map(|line| format!("{indent}{unit}{line}\n")));
    if !foot.is_empty() {
        lines.push(format!("{indent}{foot}\n"));
    }
    lines.push("\n".to_owned());
    if language == Language::Python {
        lines.push("\n".to_owned());
    }
    lines
}
