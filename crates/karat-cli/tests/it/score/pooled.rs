//! Counts agree with the figures beside them, on every surface, or the surface says that the figures are means.

use crate::project::Project;
use regex::Regex;
use serde_json::Value;

/// The figures that follow from counts, by the titles of their columns.
fn figures([tp, fp, missed]: [f64; 3]) -> [(&'static str, f64); 3] {
    [("precision", tp / (tp + fp)), ("recall", tp / (tp + missed)), ("F1", 2.0 * tp / (2.0 * tp + fp + missed))]
}

/// Recomputes the figures of a row from its counts. A table without counts has to be of means, and the text has to say so.
fn check_row(heads: &[&str], cells: &[&str], text: &str) -> bool {
    let cell = |title: &str| heads.iter().position(|head| *head == title).and_then(|at| cells.get(at).copied());
    let counts = ["TP", "FP", "FN"].map(|title| cell(title).map(|count| count.parse::<f64>().unwrap()));
    let [Some(tp), Some(fp), Some(missed)] = counts else {
        let is_mean = text.contains("mean over cases") || text.contains("Means over cases");
        assert!(is_mean, "figures without counts, and no word on what they are means of: {heads:?}");
        return false;
    };
    for (title, figure) in figures([tp, fp, missed]) {
        let expect = if figure.is_nan() { "–".to_owned() } else { format!("{figure:.3}") };
        assert_eq!(cell(title), Some(expect.as_str()), "{title} beside TP {tp}, FP {fp}, FN {missed}: {cells:?}");
    }
    true
}

/// How many rows of a terminal's text have counts. Names of tools have no blanks.
fn check_table(text: &str) -> usize {
    let mut checked = 0;
    for block in text.split("\n\n") {
        let mut rows = block.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let Some(heads) = rows.find(|row| row.first() == Some(&"tool") && row.contains(&"precision")) else { continue };
        let rows = rows.filter(|row| row.len() >= heads.len()).filter(|_| !block.contains('±'));
        checked += rows.filter(|row| check_row(&heads, row, text)).count();
    }
    checked
}

fn check_markdown(text: &str) -> usize {
    let mut checked = 0;
    for block in text.split("\n\n").filter(|block| block.starts_with("| tool |") && !block.contains('±')) {
        let mut rows = block.lines().map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
        let heads = rows.next().unwrap();
        checked += rows.skip(1).filter(|row| check_row(&heads, row, text)).count();
    }
    checked
}

fn check_html(text: &str) -> usize {
    let pattern = |pattern: &str| Regex::new(pattern).unwrap();
    let (table, row) = (pattern("(?s)<table.*?</table>"), pattern("(?s)<tr.*?</tr>"));
    let cell = pattern("(?s)<t[hd][^>]*>(.*?)</t[hd]>");
    let mut checked = 0;
    for table in table.find_iter(text) {
        let mut rows = row
            .find_iter(table.as_str())
            .map(|row| cell.captures_iter(row.as_str()).map(|cell| cell.get(1).unwrap().as_str()).collect::<Vec<_>>());
        let heads = rows.next().unwrap_or_default();
        if heads.contains(&"precision") && !table.as_str().contains('±') {
            checked += rows.filter(|row| check_row(&heads, row, text)).count();
        }
    }
    checked
}

fn check_json(report: &Value) -> usize {
    let tools = report["tools"].as_array().unwrap();
    for tool in tools {
        let counts = ["tp", "fp", "fn"].map(|key| tool["counts"][key].as_f64().unwrap());
        for ((_, figure), id) in figures(counts).into_iter().zip(["precision", "recall", "f1"]) {
            match tool["micro"][id]["value"].as_f64() {
                Some(value) => assert!((value - figure).abs() < 1e-12, "{id}: {value} beside {counts:?}"),
                None => assert!(figure.is_nan(), "{id} beside {counts:?}"),
            }
        }
    }
    tools.len()
}

#[test]
fn counts_agree_with_the_figures_beside_them() {
    for suite in ["starter", "scanned"] {
        let project = Project::new();
        project.run(&format!("run {suite} -q -o r.json -o r.txt -o r.md -o r.html")).expect(0);
        let tools = check_json(&serde_json::from_str(&project.read("r.json")).unwrap());
        assert!(tools > 0);
        assert_eq!(check_table(&project.read("r.txt")), tools, "{suite}");
        assert_eq!(check_markdown(&project.read("r.md")), tools, "{suite}");
        assert_eq!(check_html(&project.read("r.html")), tools, "{suite}");
        for width in ["60", "200"] {
            let out = project.command().env("COLUMNS", width).args(["report", "r.json", "-v"]).output().unwrap().stdout;
            assert_eq!(check_table(&String::from_utf8(out).unwrap()), tools, "{suite} at {width}");
        }
    }
}

#[test]
#[should_panic(expected = "precision beside TP 48, FP 6")]
fn a_mean_beside_counts_is_found() {
    check_table("mean over cases\n\n  tool  TP  FP  FN  precision  recall  F1\n  a  48  6  15  0.944  0.762  0.821\n");
}
