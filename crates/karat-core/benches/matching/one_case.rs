//! One case with tens of thousands of goldens and findings, spread over many files, or not.

use crate::random::Random;
use karat_core::finding::{Finding, MergedReport};
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::Trial;

/// What goldens and findings have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Five in each file, with keywords and a title of which one word is the same in all.
    Spread,
    /// As `Spread`, without keywords.
    Prose,
    /// Each in a file of its own, in a directory of its own, all on line 1.
    LineOne,
    /// All in one file, by one rule, each on a line of its own.
    OneFile,
    /// All the same.
    Same,
    /// As `Spread`, and each golden's path is a glob.
    Globs,
    /// As `Spread`, and each golden is known by an alias of its rule that all share.
    Aliases,
    /// As `Spread`, and what is expected is folded into a report of another rule.
    Merged,
    /// As `Spread`, and no golden states lines, so that file and rule decide.
    NoLines,
}

/// So many goldens and as many findings, divided among cases. One finding in ten reports nothing that is expected.
pub(crate) fn draw(shape: Shape, size: usize, cases: usize) -> (Suite, Vec<Trial>) {
    let mut random = Random::new(11);
    let mut suite = Suite { name: "one".to_owned(), digest: String::new(), cases: Vec::new() };
    let mut trials = Vec::new();
    for case in 0..cases {
        let mut own = Case::new(format!("case-{case}"));
        own.verdict = Verdict::Vulnerable;
        let mut trial = Trial::reported(CaseId::new(own.id.as_str()), ToolName::new("bench"), 1);
        for number in 0..size / cases {
            own.goldens.push(golden(shape, number));
            let about = if random.below(10) == 0 { size + number } else { number };
            trial.findings.push(finding(shape, number, about));
        }
        suite.cases.push(own);
        trials.push(trial);
    }
    (suite, trials)
}

struct Place {
    directory: String,
    name: String,
    line: u32,
    rule: String,
}

fn place(shape: Shape, number: usize) -> Place {
    let (file, line) = match shape {
        Shape::OneFile => (0, 1 + number as u32),
        Shape::Same => (0, 10),
        Shape::LineOne => (number, 1),
        _ => (number / 5, 1 + (number * 37 % 1500) as u32),
    };
    let folder = if shape == Shape::LineOne { file } else { file / 20 };
    let rule = if matches!(shape, Shape::OneFile | Shape::Same) { 0 } else { number % 50 };
    Place { directory: format!("src/part{folder}"), name: format!("file{file}.ts"), line, rule: format!("rule-{rule}") }
}

fn golden(shape: Shape, number: usize) -> Golden {
    let Place { directory, name, line, rule } = place(shape, number);
    let path =
        if shape == Shape::Globs { format!("{directory}/*{}", &name[1..]) } else { format!("{directory}/{name}") };
    let mut golden = Golden::new(format!("g{number}"));
    golden.file = FilePattern::new(&path);
    golden.lines = (shape != Shape::NoLines).then_some(Lines { start: line, end: line });
    golden.title = Some(format!("Issue {number}: handler{:03} is not checked", number % 1000));
    if !matches!(shape, Shape::Prose) {
        golden.keywords = vec![format!("handler{:03}", number % 1000), format!("word{number:06}")];
    }
    golden.rule_id = Some(rule);
    if shape == Shape::Aliases {
        golden.rule_id = Some(format!("own-{number}"));
        golden.rule_aliases = vec!["everyone".to_owned(), format!("alias-{number}")];
    }
    golden
}

fn finding(shape: Shape, number: usize, about: usize) -> Finding {
    let Place { directory, name, line, rule } = place(shape, about);
    let mut finding = Finding::new(format!("f{number}"));
    finding.file = RepoPath::new(&format!("{directory}/{name}"));
    finding.line_start = Some(line);
    finding.message = Some(format!("An issue: handler{:03} uses word{about:06}", about % 1000));
    finding.rule_id = Some(rule.clone());
    match shape {
        Shape::Aliases => finding.rule_id = Some("everyone".to_owned()),
        Shape::Merged => {
            finding.rule_id = Some("wrapper".to_owned());
            let merged = MergedReport { rule_id: Some(rule), line_start: Some(line), ..MergedReport::default() };
            finding.merged = vec![merged];
        }
        _ => {}
    }
    finding
}
