//! `karat plot`.

use crate::project::{Project, root};
use karat_report::plot::KINDS;

/// A project with a report of the starter suite.
fn scored_project() -> Project {
    let project = Project::new();
    project.ok("score starter -o report.json");
    project
}

#[test]
fn every_kind_is_listed() {
    let project = Project::new();
    let (text, json) = (project.ok("plot --list"), project.json("plot --list --json"));
    let names: Vec<&str> = json.as_array().unwrap().iter().filter_map(|kind| kind["name"].as_str()).collect();
    assert_eq!(names, KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(KINDS.iter().all(|kind| text.contains(kind.name) && text.contains(kind.description)), "{text}");
}

#[test]
fn every_kind_draws_the_starter_suite() {
    let project = scored_project();
    for kind in KINDS {
        // Two reports, as a trend needs them.
        let svg = project.ok(&format!("plot {} report.json report.json", kind.name));
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("careful-reviewer"), "{}: {svg}", kind.name);
        assert!(svg.contains("starter · 10 cases · profile karat") && !svg.contains("var(--"), "{}", kind.name);
    }
}

#[test]
fn format_follows_the_extension() {
    let project = scored_project();
    project.write("pictures/README", "");
    let ran = project.run("plot intervals report.json -o a.svg -o pictures/a.png --theme dark --scale 1").expect(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "wrote a.svg\nwrote pictures/a.png\n"));
    assert!(project.read("a.svg").contains("#12171e"), "the background is not dark");
    let png = std::fs::read(project.path("pictures/a.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n"));
    project.ok("plot intervals report.json -o b.png --theme dark --scale 1");
    assert_eq!(png, std::fs::read(project.path("b.png")).unwrap(), "the picture differs the second time");
    project.run("plot intervals report.json -o a.gif").expect_error(2, &["a.gif", ".svg, .png"]);
    project.run("plot intervals report.json -o a.png --scale 900").expect_error(2, &["from 0.1 to 10"]);
}

#[test]
fn trend_labels_reports_by_file_name() {
    let project = scored_project();
    std::fs::copy(project.path("report.json"), project.path("monday.json")).unwrap();
    let svg = project.ok("plot trend monday.json report.json --tool careful-reviewer --metric recall");
    assert!(svg.contains(">monday</text>") && svg.contains("recall over 2 reports"), "{svg}");
    assert!(svg.contains(">report</text>") && !svg.contains(">now</text>"), "{svg}");
    assert!(!svg.contains("noisy-scanner"), "{svg}");
}

#[test]
fn runs_are_accepted_by_name() {
    let project = Project::new();
    project.ok("run starter -q --tool patterns --name first");
    let svg = project.ok("plot trend first latest");
    assert!(svg.contains(">first</text>") && svg.contains("patterns"), "{svg}");
}

#[test]
fn invalid_arguments_suggest_the_nearest() {
    let project = scored_project();
    project.run("plot interval report.json").expect_error(2, &["unknown plot `interval`", "did you mean `intervals`?"]);
    project.run("plot intervals report.json --metric recal").expect_error(2, &["did you mean `recall`?"]);
    project.run("plot intervals report.json --tool patern").expect_error(2, &["report.json has no tool `patern`"]);
    project.run("plot intervals report.json --by severity").expect_error(2, &["--by applies only to slices"]);
    project.run("plot slices report.json --by colour").expect_error(4, &["no dimension `colour`", "severity"]);
    project.run("plot trend report.json").expect_error(4, &["nothing to draw: only one report was given"]);
    project
        .run("plot slices report.json --metric sui")
        .expect_error(4, &["has a value of", "with --metric: precision, recall"]);
    project.run("plot intervals").expect_error(2, &["REPORT"]);
    project.run("plot intervals nowhere.json").expect_error(4, &["nowhere.json"]);
}

/// The plots of the documentation: file name, and arguments of `karat plot`.
const PICTURES: &[(&str, &str)] = &[
    ("intervals", "intervals pictures"),
    ("precision-recall", "precision-recall pictures"),
    ("cost-quality", "cost-quality pictures"),
    ("reliability", "reliability pictures"),
    ("ranks", "ranks pictures"),
    ("significance", "significance pictures"),
    ("trend", "trend monday.json tuesday.json wednesday.json"),
    ("variance", "variance pictures"),
    ("slices", "slices pictures --by difficulty"),
    ("sweep", "sweep pictures --tool careful-reviewer --tool noisy-scanner"),
];

#[test]
fn pictures_are_current() {
    let project = Project::new();
    project.ok("run starter -q --name pictures");
    // Different thresholds give a trend.
    for (day, threshold) in [("monday", "0.6"), ("tuesday", "0.45"), ("wednesday", "0.3")] {
        project.ok(&format!("score starter --judge none --set threshold={threshold} -o {day}.json"));
    }
    let (folder, renew) = (root().join("docs/pictures"), std::env::var_os("KARAT_UPDATE").is_some());
    for (name, line) in PICTURES {
        let drawn = project.ok(&format!("plot {line}"));
        let file = folder.join(format!("{name}.svg"));
        if renew {
            std::fs::write(&file, &drawn).unwrap();
        }
        let stored = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
        assert!(stored == drawn, "docs/pictures/{name}.svg is not current; run scripts/pictures");
    }
    assert_eq!(PICTURES.len(), KINDS.len(), "a kind has no picture");
}
