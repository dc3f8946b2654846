//! The worked example of the documentation: its input files are taken from the page, and the output must match the
//! page.

use crate::project::{Project, near, root};

/// The code blocks of a page: info string, such as `yaml contract.md`, and text.
fn code_blocks(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("```").filter(|head| !head.is_empty()) {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            found.push((head.to_owned(), text.join("\n") + "\n"));
        }
    }
    found
}

#[test]
fn documented_example_is_current() {
    let page = std::fs::read_to_string(root().join("docs/assess.md")).unwrap();
    let project = Project::new();
    let (mut command, mut documented) = (None, None);
    for (head, text) in code_blocks(&page) {
        if let Some((_, file)) = head.split_once(' ').filter(|(_, file)| file.contains('.')) {
            project.write(file, text);
        } else if let Some(line) = text.strip_prefix("$ karat assess services").filter(|_| head == "console") {
            let (rest, out) = line.split_once('\n').unwrap();
            (command, documented) = (Some(format!("assess services{rest}")), Some(out.to_owned()));
        }
    }
    let (command, documented) = (command.expect("the page has a command"), documented.unwrap());
    let mut run = project.command();
    run.env("COLUMNS", "80");
    let ran = crate::project::CommandOutput::start(run.args(command.split_whitespace()).arg("-q")).expect(0);
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(root().join("docs/assess.md"), page.replace(&documented, &ran.out)).unwrap();
        return;
    }
    assert_eq!(ran.out, documented, "the output in docs/assess.md is out of date; KARAT_UPDATE=1 rewrites it");

    // The same figures computed by hand, as on the page.
    let report = project.json(&format!("{command} -q --json"));
    let evidence = (2.0 * 1.0 + 1.0 * 0.75) / 3.0;
    near(&report, "/assessments/recorded/requirements/0/compliance", 0.5);
    near(&report, "/assessments/recorded/requirements/0/evidence", evidence);
    near(&report, "/assessments/recorded/requirements/0/combined", 0.5 * 0.5 + 0.5 * evidence);
    near(&report, "/assessments/recorded/requirements/1/evidence", 0.5);
    near(&report, "/assessments/recorded/requirements/1/combined", 0.75);
    near(&report, "/assessments/recorded/requirements/2/combined", 1.0);
    near(&report, "/assessments/recorded/requirements/3/combined", 0.0);
    let mean = (0.5 * 0.5 + 0.5 * evidence + 0.75 + 1.0 + 0.0) / 4.0;
    near(&report, "/assessments/recorded/metrics/mean_combined_score/value", mean);
}
