//! The documentation covers what exists, and what it names exists.

use crate::documented_commands::{first_line, matches_shown};
use crate::project::root;
use karat::profile::SHIPPED;
use karat_core::metric::table::METRICS;
use karat_core::trec::FAMILIES;
use karat_documents::retrieval::embed::EMBEDDERS;
use karat_documents::retrieval::language::LANGUAGES;
use karat_documents::retrieval::rerank::RERANKERS;
use karat_import::IMPORTERS;
use karat_report::FORMATS;
use std::collections::BTreeSet;

fn document(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[track_caller]
fn check(path: &str, wanted: impl Iterator<Item = String>) {
    let text = document(path);
    let lines: BTreeSet<&str> = text.lines().map(str::trim_end).collect();
    let has =
        |wanted: &String| if wanted.starts_with('#') { lines.contains(wanted.as_str()) } else { text.contains(wanted) };
    let missing: Vec<String> = wanted.filter(|wanted| !has(wanted)).collect();
    assert!(missing.is_empty(), "{path} does not have {missing:?}");
}

#[test]
fn every_importer_is_documented() {
    check("docs/importers.md", IMPORTERS.iter().map(|importer| format!("## {}", importer.name)));
}

#[test]
fn every_metric_is_documented() {
    check("docs/metrics.md", METRICS.iter().map(|metric| format!("`{}`", metric.id)));
}

#[test]
fn every_ranking_measure_is_documented() {
    check("docs/trec.md", FAMILIES.iter().map(|family| format!("| `{}` |", family.name)));
}

#[test]
fn every_profile_is_documented() {
    check("docs/profiles.md", SHIPPED.iter().map(|profile| format!("## {}", profile.name)));
}

#[test]
fn every_report_format_is_documented() {
    check("docs/reports.md", FORMATS.iter().map(|format| format!("`{}`", format.name)));
}

#[test]
fn every_plot_is_documented() {
    let rows = karat_report::plot::KINDS.iter().map(|kind| format!("| `{}` | {} |", kind.name, kind.description));
    check("docs/plots.md", rows);
    check("docs/plots.md", karat_report::plot::KINDS.iter().map(|kind| format!("## {}", kind.name)));
}

#[test]
fn every_search_method_is_documented() {
    let names = EMBEDDERS.iter().map(|entry| entry.name).chain(RERANKERS.iter().map(|entry| entry.name));
    check("docs/retrieval.md", names.map(|name| format!("| `{name}` |")));
    check("docs/retrieval.md", LANGUAGES.iter().map(|language| format!("`{}`", language.code)));
}

#[test]
fn every_document_format_is_documented() {
    let endings = karat_documents::ingest::FORMATS.iter().flat_map(|format| format.extensions);
    check("docs/ingest.md", endings.map(|ending| format!("`.{ending}`")));
}

#[test]
fn every_golden_record_lint_is_documented() {
    let lints = karat_documents::assess::lint::LINTS.iter();
    check("docs/writing-goldens.md", lints.map(|lint| format!("| `{}` | {} | {} |", lint.name, lint.why, lint.fix)));
}

/// The inline code of a page, outside fenced blocks.
fn inline_code(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// A path has a slash or a known file extension, and no other characters of code.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let file = [".rs", ".md", ".toml", ".yaml", ".json", ".jsonl", ".lock"].iter().any(|e| text.ends_with(e));
    let slash = text.contains('/') && !text.starts_with('/') && !text.contains("//");
    !text.is_empty()
        && text.chars().all(plain)
        && !text.starts_with('.')
        && (slash || file && text.starts_with(char::is_uppercase))
}

/// Compares a block with what a command prints, where a line `…` stands for any lines. `KARAT_UPDATE=1` replaces it with the first
/// paragraphs of the output.
#[track_caller]
pub(crate) fn check_beginning(path: &str, head: &str, command: &[&str], paragraphs: usize) {
    let project = crate::project::Project::new();
    let ran = crate::project::CommandOutput::start(project.command().env("COLUMNS", "80").args(command));
    let printed = ran.expect(0).out;
    let page = document(path);
    let start = page.find(head).unwrap_or_else(|| panic!("{path} has no block {head:?}"));
    let start = start + first_line(head).len();
    let shown = &page[start..start + page[start..].find("```").expect("the block ends")];
    // A block that is nothing but `…` would match anything.
    if matches_shown(shown, &printed) && shown.lines().count() > 5 {
        return;
    }
    assert!(std::env::var_os("KARAT_UPDATE").is_some(), "{path} does not show what {command:?} prints:\n{printed}");
    let beginning: Vec<&str> = printed.split("\n\n").take(paragraphs).collect();
    let new_page = page.replacen(shown, &format!("{}\n…\n", beginning.join("\n\n")), 1);
    std::fs::write(root().join(path), new_page).unwrap();
}

#[test]
fn readme_leaderboard_is_current() {
    check_beginning("README.md", "```text\ncode-review", &["run", "code-review", "-q"], 2);
}

#[test]
fn markdown_example_is_current() {
    check_beginning("docs/reports.md", "```markdown\n## Karat", &["score", "starter", "--format", "markdown"], 4);
}

#[test]
fn readme_is_short() {
    let text = document("README.md");
    assert!(text.lines().count() < 120, "README.md has {} lines", text.lines().count());
    assert_eq!(text.matches("![").count(), 1, "pictures in README.md");
}

/// The tests that a page names, as `cargo test … NAME`, exist.
#[test]
fn tests_named_as_evidence_exist() {
    let text = document("docs/evidence.md");
    let named: Vec<&str> = (text.lines().filter(|line| line.starts_with("cargo test ")))
        .map(|line| line.split("  #").next().unwrap_or_default().split_whitespace().next_back().unwrap_or_default())
        .collect();
    assert!(named.len() > 8, "docs/evidence.md names {named:?}");
    let sources = crate::house::sources("crates");
    let exists = |name: &&str| sources.iter().any(|(_, text)| text.contains(&format!("fn {name}")));
    let missing: Vec<&&str> = named.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "docs/evidence.md names tests that do not exist: {missing:?}");
}

#[test]
fn paths_in_the_architecture_exist() {
    for (text, expected) in [
        ("crates/karat/src", true),
        ("suites/", true),
        ("ARCHITECTURE.md", true),
        ("Suite", false),
        ("a / b", false),
        ("score(&Suite)", false),
        ("https://x.y/z", false),
        ("case.yaml", false),
        (".karat/", false),
        ("cases/<id>/case.yaml", false),
    ] {
        assert_eq!(is_path(text), expected, "{text}");
    }
    let text = document("ARCHITECTURE.md");
    let paths: Vec<String> = inline_code(&text).into_iter().filter(|text| is_path(text)).collect();
    assert!(paths.len() >= 5, "ARCHITECTURE.md names too few paths: {paths:?}");
    // A path may be relative to the root or to `crates`.
    let bases = ["", "crates"];
    let there = |path: &String| bases.iter().any(|base| root().join(base).join(path).exists());
    let missing: Vec<&String> = paths.iter().filter(|path| !there(path)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that do not exist: {missing:?}");
}

#[test]
fn readme_quick_start_has_two_commands() {
    let text = document("README.md");
    let mut commands = Vec::new();
    let mut shell = None;
    for line in text.lines() {
        match (line.trim().strip_prefix("```"), shell) {
            (Some(_), Some(_)) => shell = None,
            (Some(kind), None) => shell = Some(matches!(kind, "sh" | "bash" | "shell" | "console")),
            (None, Some(true)) if !line.trim().is_empty() => commands.push(line.trim().trim_start_matches("$ ")),
            _ => {}
        }
    }
    let set_up: Vec<&&str> = commands
        .iter()
        .filter(|c| c.starts_with("cargo ") || c.starts_with("./") || c.starts_with("git clone"))
        .collect();
    let wanted = ["cargo run --release --locked -p karat-cli -- run code-review", "./scripts/test"];
    assert_eq!(set_up, wanted.iter().collect::<Vec<_>>(), "of {commands:?}");
}

/// Recipes are meant to be copied, so they must at least parse.
#[test]
fn ci_recipes_are_valid_yaml() {
    let page = document("docs/ci.md");
    let blocks: Vec<&str> = page.split("\n```yaml").skip(1).filter_map(|rest| rest.split("\n```\n").next()).collect();
    assert!(blocks.len() > 4, "docs/ci.md has {} recipes", blocks.len());
    for block in blocks {
        let text = block.split_once('\n').unwrap().1;
        assert!(
            karat_format::document::yaml::parse(text).is_ok(),
            "{:?}\n{text}",
            karat_format::document::yaml::parse(text).err()
        );
    }
}
