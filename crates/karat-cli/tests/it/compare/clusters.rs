//! Clustering of cases by repository.

use super::{Project, case_id, score_to_file};
use crate::project::{lines, near, number, suite, trial};
use serde_json::{Value, json};

/// A suite of `repositories` with `each` cases, and the submissions of two tools.
fn clustered_suite(repositories: usize, each: usize) -> Project {
    let case = |at: usize| {
        let golden = |id: &str, line: usize, title: &str| json!({ "id": id, "title": title, "file": "app.py", "line_start": line, "line_end": line, "keywords": [title] });
        json!({ "id": case_id(at), "repo": format!("repo-{}", at / each),
            "issues": [golden("leak", 10, "connection leak"), golden("race", 50, "lost update")] })
    };
    let cases = repositories * each;
    let project = suite(&(0..cases).map(case).collect::<Vec<_>>());
    // A tool behaves the same on all cases of a repository: it finds both goldens, or one.
    let make_trial = |tool: &str, every: usize, at: usize| {
        let finding = |id: &str, line: u32, message: &str| json!({ "id": id, "message": message, "file": "app.py", "line_start": line });
        let mut findings = vec![finding("a", 10, "connection leak")];
        findings.extend((at / 6).is_multiple_of(every).then(|| finding("b", 50, "lost update")));
        trial(&case_id(at), tool, 1, json!(findings))
    };
    let tool_trials =
        |(tool, every): (&str, usize)| (0..cases).map(|at| make_trial(tool, every, at)).collect::<Vec<_>>();
    let trials: Vec<Value> = [("old", 3), ("new", 2)].into_iter().flat_map(tool_trials).collect();
    project.write("submissions/all.jsonl", lines(&trials));
    project
}

fn score_report(project: &Project, flags: &str) -> Value {
    score_to_file(project, "r.json", flags);
    serde_json::from_str(&project.read("r.json")).unwrap()
}

fn warns_about_clusters(value: &Value) -> bool {
    value["warnings"].to_string().contains("--cluster repo resamples whole repositories")
}

#[test]
fn ten_or_more_repositories_are_resampled_as_clusters_by_default() {
    let project = clustered_suite(25, 6);
    let by_default = score_report(&project, "");
    assert_eq!(by_default["intervals"]["cluster"], "repo");
    let clusters = &by_default["intervals"]["clusters"];
    assert_eq!((&clusters["used"], &clusters["asked"]), (&json!(true), &json!(false)));
    near(clusters, "/groups", 25.0);
    near(clusters, "/shared_cases", 150.0);
    // All six cases of a repository have the same value, so the design effect is 6, and slightly more by the lost degree of freedom.
    let effect = number(clusters, "/design_effect/old");
    assert!((6.0..6.4).contains(&effect), "{effect}");
    let f1 = "/tools/0/metrics/f1";
    assert_eq!(by_default.pointer(f1).unwrap()["method"], "hierarchical-cluster-bootstrap-bca");
    assert!(!warns_about_clusters(&by_default));
    let table = project.ok("report r.json -v");
    assert!(
        table.contains("150 cases share 25 repositories, which are resampled as a whole; design effect of F1: 6."),
        "{table}"
    );
    for format in ["md", "html"] {
        project.run(&format!("report r.json -o r.{format}")).expect(0);
        assert!(project.read(&format!("r.{format}")).contains("design effect of F1"), "{format}");
    }
    let json = project.json("compare r.json --json --metric f1");
    assert_eq!(json["cluster"], "repo");
    near(&json, "/comparisons/0/metrics/0/units", 25.0);
    near(&json, "/comparisons/0/metrics/0/n", 150.0);
    let p_of_ranks = |report: &Value| number(report, "/ranking/pairs/0/p");
    let power = project.json("power r.json --tools old,new --effect 0.05 --json");
    near(&power, "/present/clusters", 25.0);

    let asked = score_report(&project, "--cluster repo");
    assert_eq!(asked.pointer(f1), by_default.pointer(f1));
    let off = score_report(&project, "--cluster none");
    assert!(off["intervals"]["cluster"].is_null());
    assert_eq!(off["intervals"]["clusters"]["design_effect"], clusters["design_effect"]);
    assert_eq!((&off["intervals"]["clusters"]["used"], warns_about_clusters(&off)), (&json!(false), false));
    let width = |report: &Value| number(report, &format!("{f1}/ci/1")) - number(report, &format!("{f1}/ci/0"));
    assert!(width(&by_default) > 2.0 * width(&off), "{} {}", width(&by_default), width(&off));
    // The clustering chosen when scoring also applies to ranks, comparisons and power.
    assert!(p_of_ranks(&by_default) > p_of_ranks(&off), "whole repositories are permuted");
    let unclustered = project.json("compare r.json --json --metric f1 --cluster none");
    assert!(unclustered["cluster"].is_null());
    near(&unclustered, "/comparisons/0/metrics/0/units", 150.0);
    let power = project.json("power r.json --tools old,new --effect 0.05 --json --cluster none");
    assert!(power["present"]["clusters"].is_null());
}

#[test]
fn fewer_than_ten_repositories_give_a_warning() {
    let project = clustered_suite(9, 6);
    let nine = score_report(&project, "");
    assert!(nine["intervals"]["cluster"].is_null());
    assert!(warns_about_clusters(&nine), "{}", nine["warnings"]);
    assert!(number(&nine, "/intervals/clusters/design_effect/old") > 5.0);
    assert!(project.ok("report r.json").contains("54 cases share 9 repositories, but are treated as independent"));
    let compared = project.json("compare r.json --json --metric f1");
    assert!(compared["cluster"].is_null() && warns_about_clusters(&compared), "{compared}");
    let power = project.json("power r.json --tools old,new --effect 0.05 --json");
    assert!(power["notes"].to_string().contains("9 repositories"), "{power}");
    for flags in ["--cluster none", "--cluster repo"] {
        assert!(!warns_about_clusters(&score_report(&project, flags)), "{flags}");
        assert!(!warns_about_clusters(&project.json(&format!("compare r.json --json --metric f1 {flags}"))), "{flags}");
    }
    near(&project.json("compare r.json --json --metric f1 --cluster repo"), "/comparisons/0/metrics/0/units", 9.0);
}

#[test]
fn one_case_per_repository_is_not_clustered() {
    let project = clustered_suite(40, 1);
    let each = score_report(&project, "");
    assert!(each["intervals"].get("cluster").is_none() && each["intervals"].get("clusters").is_none());
    assert!(!warns_about_clusters(&each));
}

/// A baseline records the repository of each case.
#[test]
fn gates_and_baseline_comparisons_use_clusters() {
    let project = clustered_suite(25, 6);
    score_report(&project, "");
    project.run("baseline write r.json --tool old -o old-base.json --metric f1").expect(0);
    project.run("baseline write r.json --tool new -o new-base.json --metric f1").expect(0);
    let gate = |flags: &str| {
        score_report(&project, flags);
        let ran = project
            .run("gate r.json --tools old,new --no-worse-than old-base.json --json --margin 0.1 --allow-small-n")
            .expect(0);
        let gate: Value = serde_json::from_str(&ran.out).unwrap();
        number(&gate, "/demands/0/n")
    };
    assert_eq!((gate(""), gate("--cluster none")), (25.0, 150.0));
    let both = project.json("compare old-base.json new-base.json --json --metric f1");
    near(&both, "/comparisons/0/metrics/0/units", 25.0);
}
