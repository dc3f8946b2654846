//! What is printed by default, with `--quiet` and with `--verbose`.

use crate::project::{CommandOutput, Project, lines, suite, trial};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const DETAILS: [&str; 6] = [
    "Pooled",
    "Variation over trials",
    "Found in some trials only",
    "Unlabelled extras",
    "A threshold would help",
    "Called vulnerable without the target",
];

fn at_width(project: &Project, width: usize, line: &str) -> CommandOutput {
    let mut command = project.command();
    CommandOutput::start(command.env("COLUMNS", width.to_string()).args(line.split_whitespace()))
}

#[test]
fn default_output_is_short_and_names_the_rest() {
    let project = Project::new();
    project.run("run starter -q").expect(0);
    let short = at_width(&project, 80, "report latest").expect(0).out;
    let whole = at_width(&project, 80, "report latest -v").expect(0).out;
    let (few, many) = (short.lines().count(), whole.lines().count());
    assert!(2 * few <= many, "{few} of {many} lines\n{short}");
    for detail in DETAILS {
        let is_heading = |line: &str| line.starts_with(detail);
        assert!(!short.lines().any(is_heading) && whole.lines().any(is_heading), "{detail}");
    }
    let rest = short.lines().skip_while(|line| !line.starts_with("-v adds ")).collect::<Vec<_>>().join(" ");
    for part in ["pooled counts", "variation over trials", "unlabelled extras", "found in some trials only"] {
        assert!(rest.contains(part), "{rest}");
    }
    assert!(!whole.contains("-v adds"), "{whole}");
}

#[test]
fn warnings_are_above_the_table() {
    let out = at_width(&Project::new(), 80, "score starter").expect(0).out;
    let place = |part: &str| out.find(part).unwrap_or_else(|| panic!("no {part}:\n{out}"));
    assert!(place("warning: careful-reviewer: 1 trial timed out") < place("  tool"), "{out}");
    assert!(place("  tool") < place("Case by case"), "{out}");
}

#[test]
fn ranking_metric_is_first_and_marked() {
    let project = Project::new();
    let heads = |width: usize, more: &str| {
        let out = at_width(&project, width, &format!("score starter {more}")).expect(0).out;
        let head = out.lines().find(|line| line.trim_start().starts_with("tool")).unwrap().to_owned();
        head.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
    };
    for width in [60, 80, 200] {
        assert_eq!(heads(width, ""), "tool rank F1 ▾", "{width}");
    }
    assert_eq!(heads(80, r#"--set headline=["precision","recall"]"#), "tool rank precision ▾");
}

/// At a wide terminal a tool takes one line, with the bar beside the value and its interval.
#[test]
fn bar_is_beside_its_number() {
    let project = Project::new();
    let row = |width: usize, nth: usize| {
        let out = at_width(&project, width, "score starter").expect(0).out;
        let rows = out.lines().skip_while(|line| !line.trim_start().starts_with("tool"));
        rows.skip(1 + nth).take(1).flat_map(str::split_whitespace).map(str::to_owned).collect::<Vec<_>>()
    };
    let is_bar = |cell: &str| cell.contains('●') && cell.contains("├");
    let wide = row(200, 0);
    assert!(wide[0] == "careful-reviewer" && wide[2].ends_with('*') && wide[3].contains('–'), "{wide:?}");
    assert!(is_bar(&wide[4]), "{wide:?}");
    let below = row(80, 1);
    assert!(is_bar(&below[0]) && below[1] == wide[3], "{below:?}");
}

/// A suite of some cases with a golden each and a clean one, and tools that find all but the first.
fn project_with(cases: usize, tools: &[String]) -> Project {
    let golden = json!({ "id": "g", "title": "SQL injection", "file": "a.py", "line_start": 3, "keywords": ["sql"] });
    let found = json!([{ "id": "f", "message": "sql injection", "file": "a.py", "line_start": 3 }]);
    let id = |number: usize| format!("vault-reentrancy-of-the-contract-{number:02}");
    let mut all: Vec<Value> = (0..cases).map(|number| json!({ "id": id(number), "issues": [golden] })).collect();
    all.push(json!({ "id": "clean-case", "issues": [] }));
    let mut trials = Vec::new();
    for tool in tools {
        trials.extend((1..cases).map(|number| trial(&id(number), tool, 1, found.clone())));
        trials.push(trial(&id(0), tool, 1, json!([])));
        trials.push(trial("clean-case", tool, 1, found.clone()));
    }
    suite(&all).with("s.jsonl", lines(&trials))
}

#[test]
fn every_tool_is_shown_at_80_columns() {
    let names: Vec<String> = (0..10).map(|n| format!("reviewer-of-the-whole-department-{n:02}")).collect();
    let project = project_with(3, &names);
    let out = at_width(&project, 80, "score . --submission s.jsonl --judge none").expect(0).out;
    for line in out.lines() {
        assert!(line.chars().count() <= 80, "{line}\n{out}");
    }
    let (board, cases) = out.split_once("Case by case").unwrap();
    for (part, text) in [("leaderboard", board), ("cases", cases)] {
        let shown: BTreeSet<&str> = text.split_whitespace().filter(|word| word.starts_with("revie")).collect();
        let shown: Vec<&str> = shown.into_iter().filter(|word| word.contains('…')).collect();
        assert_eq!(shown.len(), names.len(), "{part}: {shown:?}\n{out}");
        for number in 0..10 {
            let end = format!("-{number:02}");
            assert!(shown.iter().any(|word| word.ends_with(&end)), "{part}: no tool {end}\n{out}");
        }
    }
    let twins = ["vault-reentrancy-of-the-contract-00", "vault-reentrancy-of-the-contract-01"];
    let rows: Vec<&str> = cases.lines().filter(|line| line.contains("…") && line.contains("vault")).collect();
    let names: BTreeSet<&str> = rows.iter().filter_map(|row| row.split_whitespace().next()).collect();
    assert!(names.len() == 3 && !twins.iter().any(|twin| names.contains(twin)), "{names:?}");
}

#[test]
fn many_cases_are_cut_to_the_worst() {
    let project = project_with(30, &["one".to_owned()]);
    let line = "score . --submission s.jsonl --judge none";
    let short = at_width(&project, 80, line).expect(0).out;
    let worst: Vec<&str> = short.lines().skip_while(|line| !line.starts_with("The 20 worst cases")).collect();
    assert!(worst[2].trim_start().starts_with("vault-reentrancy-of-the-contract-00"), "{short}");
    assert!(worst[3].trim_start().starts_with("clean-case"), "{short}");
    assert!(worst[22].contains("11 more cases with -v"), "{short}");
    let whole = at_width(&project, 80, &format!("{line} -v")).expect(0).out;
    let listed = whole.lines().filter(|line| line.trim_start().starts_with("vault-reentrancy")).count();
    // The first case is also among those that were never found.
    assert_eq!(listed, 31, "{whole}");
}

#[test]
fn quiet_prints_only_the_result() {
    let project = Project::new();
    for line in ["run starter", "score starter", "report latest", "compare latest --tools patterns,noisy-scanner"] {
        let told = project.run(line).expect(0);
        let quiet = project.run(&format!("{line} -q")).expect(0);
        assert_eq!(quiet.err, "", "{line}");
        let result: Vec<&str> = told.out.split("\n-v adds ").collect();
        assert_eq!(quiet.out, result[0], "{line}");
    }
    project.run("score nowhere -q").expect_error(2, &["nowhere"]);
    project.run("score starter -q -o r.json").expect(0);
    assert!(project.path("r.json").exists());
}

#[test]
fn flags_are_taken_everywhere_and_repeated() {
    let project = Project::new();
    let whole = project.ok("score starter -v");
    for line in ["-v score starter", "score -v starter -v", "score starter -vv --verbose -q --quiet"] {
        assert_eq!(project.ok(line), whole, "{line}");
    }
    for line in ["metrics list -q -v", "tools list -vq", "--quiet profile list"] {
        project.run(line).expect(0);
    }
}

#[test]
fn next_commands_name_this_run() {
    let project = Project::new();
    let next = |line: &str| project.run(line).expect(0).err;
    let err = next("score starter");
    assert!(err.contains("karat explain rust-quote-cache-lock --tool careful-reviewer --suite starter"), "{err}");
    project.run("run starter --name nightly -q").expect(0);
    let err = next("report nightly");
    assert!(err.contains("karat explain rust-quote-cache-lock --tool careful-reviewer --run nightly"), "{err}");
    assert!(err.contains("karat report nightly -o report.html"), "{err}");
    // They can be typed as they are.
    let steps: Vec<&str> = err.lines().filter_map(|line| line.strip_prefix("  karat ")).collect();
    for step in steps.iter().filter(|step| !step.contains("NAME")) {
        project.run(step).expect(0);
    }
    assert_eq!(next("report nightly --json"), "");
}
