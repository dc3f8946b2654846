//! Cases of one repository are alike, and are taken so where there are enough repositories.

use super::{Project, name, scored};
use crate::project::{lines, near, number, suite, trial};
use serde_json::{Value, json};

/// So many repositories of so many cases each.
fn shared(repositories: usize, each: usize) -> Project {
    let case = |at: usize| {
        let golden = |id: &str, line: usize, title: &str| json!({ "id": id, "title": title, "file": "app.py", "line_start": line, "line_end": line, "keywords": [title] });
        json!({ "id": name(at), "repo": format!("repo-{}", at / each),
            "issues": [golden("leak", 10, "connection leak"), golden("race", 50, "lost update")] })
    };
    let cases = repositories * each;
    let project = suite(&(0..cases).map(case).collect::<Vec<_>>());
    // A tool does the same on all cases of a repository: it finds both goldens, or one.
    let trial_of = |tool: &str, every: usize, at: usize| {
        let finding = |id: &str, line: u32, message: &str| json!({ "id": id, "message": message, "file": "app.py", "line_start": line });
        let mut findings = vec![finding("a", 10, "connection leak")];
        findings.extend((at / 6).is_multiple_of(every).then(|| finding("b", 50, "lost update")));
        trial(&name(at), tool, 1, json!(findings))
    };
    let of_tool = |(tool, every): (&str, usize)| (0..cases).map(|at| trial_of(tool, every, at)).collect::<Vec<_>>();
    let trials: Vec<Value> = [("old", 3), ("new", 2)].into_iter().flat_map(of_tool).collect();
    project.write("submissions/all.jsonl", lines(&trials));
    project
}

fn report(project: &Project, flags: &str) -> Value {
    scored(project, "r.json", flags);
    serde_json::from_str(&project.read("r.json")).unwrap()
}

fn warned(value: &Value) -> bool {
    value["warnings"].to_string().contains("--cluster repo resamples whole repositories")
}

#[test]
fn ten_repositories_are_drawn_whole_unless_told_otherwise() {
    let project = shared(25, 6);
    let by_default = report(&project, "");
    assert_eq!(by_default["intervals"]["cluster"], "repo");
    let clusters = &by_default["intervals"]["clusters"];
    assert_eq!((&clusters["used"], &clusters["asked"]), (&json!(true), &json!(false)));
    near(clusters, "/groups", 25.0);
    near(clusters, "/shared_cases", 150.0);
    // All cases of a repository do the same, so that six are worth one; one degree of freedom less makes it a little more.
    let effect = number(clusters, "/design_effect/old");
    assert!((6.0..6.4).contains(&effect), "{effect}");
    let f1 = "/tools/0/metrics/f1";
    assert_eq!(by_default.pointer(f1).unwrap()["method"], "hierarchical-cluster-bootstrap-bca");
    assert!(!warned(&by_default));
    let told = project.ok("report r.json");
    assert!(
        told.contains("150 cases share 25 repositories, which are resampled as a whole; design effect of F1: 6."),
        "{told}"
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

    let asked = report(&project, "--cluster repo");
    assert_eq!(asked.pointer(f1), by_default.pointer(f1));
    let off = report(&project, "--cluster none");
    assert!(off["intervals"]["cluster"].is_null());
    assert_eq!(off["intervals"]["clusters"]["design_effect"], clusters["design_effect"]);
    assert_eq!((&off["intervals"]["clusters"]["used"], warned(&off)), (&json!(false), false));
    let width = |report: &Value| number(report, &format!("{f1}/ci/1")) - number(report, &format!("{f1}/ci/0"));
    assert!(width(&by_default) > 2.0 * width(&off), "{} {}", width(&by_default), width(&off));
    // What was asked for when it was scored holds for its ranks, its pages and its gate.
    assert!(p_of_ranks(&by_default) > p_of_ranks(&off), "repositories are swapped whole");
    let alone = project.json("compare r.json --json --metric f1 --cluster none");
    assert!(alone["cluster"].is_null());
    near(&alone, "/comparisons/0/metrics/0/units", 150.0);
    let power = project.json("power r.json --tools old,new --effect 0.05 --json --cluster none");
    assert!(power["present"]["clusters"].is_null());
}

#[test]
fn fewer_repositories_are_warned_of() {
    let project = shared(9, 6);
    let nine = report(&project, "");
    assert!(nine["intervals"]["cluster"].is_null());
    assert!(warned(&nine), "{}", nine["warnings"]);
    assert!(number(&nine, "/intervals/clusters/design_effect/old") > 5.0);
    assert!(project.ok("report r.json").contains("54 cases share 9 repositories, but are treated as independent"));
    let compared = project.json("compare r.json --json --metric f1");
    assert!(compared["cluster"].is_null() && warned(&compared), "{compared}");
    let power = project.json("power r.json --tools old,new --effect 0.05 --json");
    assert!(power["notes"].to_string().contains("9 repositories"), "{power}");
    for flags in ["--cluster none", "--cluster repo"] {
        assert!(!warned(&report(&project, flags)), "{flags}");
        assert!(!warned(&project.json(&format!("compare r.json --json --metric f1 {flags}"))), "{flags}");
    }
    near(&project.json("compare r.json --json --metric f1 --cluster repo"), "/comparisons/0/metrics/0/units", 9.0);
}

#[test]
fn a_repository_for_every_case_is_no_cluster() {
    let project = shared(40, 1);
    let each = report(&project, "");
    assert!(each["intervals"].get("cluster").is_none() && each["intervals"].get("clusters").is_none());
    assert!(!warned(&each));
}

/// A baseline says which repository a case is of, so that a gate draws whole ones, and two baselines are compared alike.
#[test]
fn gates_and_baselines_take_cases_as_alike() {
    let project = shared(25, 6);
    report(&project, "");
    project.run("baseline write r.json --tool old -o old-base.json --metric f1").expect(0);
    project.run("baseline write r.json --tool new -o new-base.json --metric f1").expect(0);
    let gate = |flags: &str| {
        report(&project, flags);
        let ran = project
            .run("gate r.json --tool new --no-worse-than old-base.json --json --margin 0.1 --allow-small-n")
            .expect(0);
        let gate: Value = serde_json::from_str(&ran.out).unwrap();
        number(&gate, "/demands/0/n")
    };
    assert_eq!((gate(""), gate("--cluster none")), (25.0, 150.0));
    let both = project.json("compare old-base.json new-base.json --json --metric f1");
    near(&both, "/comparisons/0/metrics/0/units", 25.0);
}
