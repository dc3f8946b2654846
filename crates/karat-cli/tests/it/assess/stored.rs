//! Assessments in the store: listed, reported, compared, gated and served like runs of tools.

use super::{RECORD_FILE, project};
use crate::compare::{good, graded_suite, noisy, score_to_file};
use crate::project::{Project, number};
use crate::serve::Server;
use serde_json::{Value, json};

const FAST: &str = "--resamples 200 --no-rerank --bm25-weight 1 -q";

/// The built-in suite twice; the second search shows an assessor a single part.
fn two_assessments() -> Project {
    let project = Project::new();
    project.ok(&format!("assess agreements {FAST} --name wide"));
    project.ok(&format!("assess agreements {FAST} --name narrow --rerank-top-n 1"));
    project
}

#[test]
fn assessments_are_listed_and_reported_like_runs() {
    let project = project("");
    let printed = project.json(&format!("assess {RECORD_FILE} {FAST} --json --name first"));
    let listed = project.json("store list --json");
    let one = &listed[0];
    assert_eq!((&one["kind"], &one["name"]), (&json!("assessment"), &json!("first")));
    assert_eq!((&one["state"], &one["suite"]), (&json!("complete"), &json!("security")));
    assert_eq!(one["id"], printed["measured"]["batch_run_id"]);
    let table = project.ok("store list");
    assert!(table.contains("kind") && table.contains("assessment"), "{table}");
    for name in ["first", "latest", one["short_id"].as_str().unwrap()] {
        assert_eq!(project.json(&format!("report {name} --json")), printed);
    }
    assert!(project.ok("report first").contains("verdict accuracy"));
    let shown = project.ok("store show first");
    for text in ["assessment", "security, 4 requirements", "baseline", "kept"] {
        assert!(shown.contains(text), "no {text}: {shown}");
    }
    assert!(project.ok("store verify").contains("no problems"));
    let logs = project.json("logs list --json");
    assert_eq!((&logs[0]["name"], &logs[0]["run"]), (&json!("first"), &one["id"]));
    assert!(project.ok("logs list").contains("first"));
    project.ok("logs summarize --run first");
    // A name stays unique, and nothing is asked before that is known.
    project.run(&format!("assess {RECORD_FILE} {FAST} --name first")).expect_error(2, &["already named `first`"]);
    assert_eq!(project.json("store list --json").as_array().unwrap().len(), 1);
}

#[test]
fn commands_about_trials_pass_over_assessments() {
    let project = project("");
    project.ok("run starter --tool patterns --trials 1 -q --name tools");
    project.ok(&format!("assess {RECORD_FILE} {FAST} --name documents"));
    assert_eq!(project.json("report latest --json")["schema"], "karat.assessment/1");
    let tools = project.json("score latest --json");
    assert_eq!(tools["suite"]["name"], "starter");
    project.run("run --resume documents").expect_error(2, &["is an assessment", "karat report"]);
    project.run("compare tools documents").expect_error(4, &["cannot be compared"]);
    project.run("store export documents").expect_error(2, &["no trials to export", "--whole"]);
    let table = project.ok("store list");
    assert!(table.contains("findings") && table.contains("assessment"), "{table}");
}

#[test]
fn assessments_are_moved_between_stores() {
    let project = project("");
    project.ok(&format!("assess {RECORD_FILE} {FAST} --name first"));
    project.ok("store export first --whole -o first.jsonl.gz");
    project.ok("store --store other import first.jsonl.gz");
    assert_eq!(project.json("report first --json"), project.json("report first --json --store other"));
}

/// Requirements are paired by bundle, and every figure is that of the reports.
#[test]
fn assessments_are_compared_requirement_by_requirement() {
    let project = two_assessments();
    let (wide, narrow) = (project.json("report wide --json"), project.json("report narrow --json"));
    let metrics = [
        ("assessments/baseline", "mean_combined_score"),
        ("assessments/baseline", "mean_compliance_score"),
        ("assessments/baseline", "mean_evidence_score"),
        ("assessments/baseline", "assessment_accuracy"),
        ("assessments/baseline", "citation_precision"),
        ("retrieval", "retrieval_recall"),
        ("retrieval", "recall_at_k"),
        ("retrieval", "mrr"),
        ("retrieval", "ndcg_at_k"),
        ("retrieval", "map"),
    ];
    let flags: String = metrics.iter().map(|(_, id)| format!(" --metric {id}")).collect();
    let compared = project.json(&format!("compare wide narrow --json{flags}"));
    let pair = &compared["comparisons"][0];
    assert_eq!((&pair["cases"], &pair["a"]["tool"]), (&json!(60), &json!("baseline")));
    for (at, (place, id)) in metrics.iter().enumerate() {
        let row = &pair["metrics"][at];
        assert_eq!(row["metric"], *id);
        for (side, report) in [("a", &wide), ("b", &narrow)] {
            let stated = number(report, &format!("/{place}/metrics/{id}/value"));
            let shown = row[side].as_f64().unwrap_or_else(|| panic!("{id} is not compared: {row}"));
            assert!((shown - stated).abs() < 1e-9, "{id}: {shown} is not {stated}");
        }
    }
    let recall = &pair["metrics"][5];
    assert_eq!(recall["verdict"], "worse", "{recall}");
    assert!(!pair["goldens"]["lost"].as_array().unwrap().is_empty(), "{pair}");
    // By default, all metrics of answers and the recall of the search.
    let usual = project.json("compare wide narrow --json --cluster bundle");
    assert_eq!(usual["comparisons"][0]["metrics"].as_array().unwrap().len(), 6);
    assert_eq!(usual["cluster"], "bundle");
    let text = project.ok("compare wide wide");
    assert!(text.contains("is compared with itself") && text.contains("verdict accuracy"), "{text}");
}

#[test]
fn other_documents_goldens_or_rules_are_not_compared() {
    let project = project("");
    let assess = |name: &str| project.ok(&format!("assess {RECORD_FILE} {FAST} --name {name}"));
    assess("first");
    let record = project.read(RECORD_FILE);
    project.write(RECORD_FILE, record.replace("assessment: \"no\"", "assessment: partial"));
    assess("goldens");
    project.write(RECORD_FILE, &record);
    let template = project.read("templates/security/config.yml");
    project.write("templates/security/config.yml", format!("{template}scoring:\n  primary_weight: 3\n"));
    assess("rules");
    project.write("templates/security/config.yml", template);
    project.write("docs/services.md", project.read("docs/services.md").replace("Utopia", "Arcadia"));
    assess("documents");
    project.run("compare first goldens").expect_error(4, &["the goldens of 1 case differ", "--intersection"]);
    project.run("compare first rules").expect_error(4, &["primary_weight is 2.0 and 3.0"]);
    project.run("compare first documents").expect_error(4, &["different suites or versions"]);
    assert_eq!(project.json("compare first goldens --intersection --json")["comparisons"][0]["cases"], 3);
}

#[test]
fn assessments_are_gated_and_kept_as_baselines() {
    let project = two_assessments();
    let gate = |line: &str, code: i32| project.run(&format!("gate {line}")).expect(code).out;
    gate("wide --min assessment_accuracy=0.05 --max citation_precision=1 --max-cost 0", 0);
    let failed = gate("wide --min mean_combined_score=0.999", 1);
    assert!(failed.contains("combined ≥ 0.999"), "{failed}");
    let made = project.json("baseline write wide -o base.json --json");
    assert_eq!((&made["tools"], &made["cases"]), (&json!(["baseline"]), &json!(60)));
    gate("wide --no-worse-than base.json", 0);
    gate("narrow --no-worse-than base.json --metric retrieval_recall", 1);
    gate("narrow --no-worse-than wide --metric retrieval_recall", 1);
    project.run("gate wide --require-judge-licence=0.1").expect_error(2, &["scored without a judge"]);
    // A report file is as good as a run.
    project.ok("report wide -o wide.json");
    gate("wide.json --no-worse-than base.json", 0);
}

/// Several reports make a trend; files of another kind are refused.
#[test]
fn page_shows_map_stages_and_trend() {
    let project = two_assessments();
    project.ok("report wide narrow -o page.html");
    let page = project.read("page.html");
    for text in [
        "<table class=\"map\">",
        "Verdicts of baseline",
        "golden parts left after each stage",
        "<h2 id=\"trend-title\">Trend</h2>",
        "id=\"filters\"",
        "data-case=\"consulting_framework_en/",
        "href=\"#r1\"",
        "id=\"r60\"",
    ] {
        assert!(page.contains(text), "no {text}");
    }
    assert!(!page.contains("onclick") && !page.contains(" style="), "the policy forbids it");
    project.ok(&format!("assess agreements --stage retrieve {FAST} -o search.html"));
    assert!(project.read("search.html").contains("Golden parts found"));
    project.write("other.json", "{}");
    project.run("report other.json wide").expect_error(4, &["other.json is not an assessment"]);
}

#[test]
fn pages_list_show_and_compare_assessments() {
    let project = two_assessments();
    project.ok("run starter --tool patterns --trials 1 -q --name tools");
    let server = Server::start(&project, &[]);
    let list = server.page("/");
    for text in ["wide", "assessment", "supplier-security", "combined"] {
        assert!(list.contains(text), "no {text}:\n{list}");
    }
    let page = server.page("/runs/narrow");
    assert!(page.contains("Requirements and bundles") && page.contains("Trend") && page.contains("wide"), "{page}");
    let report: Value = server.json("/runs/narrow/report.json");
    assert_eq!(report["schema"], "karat.assessment/1");
    assert_eq!(server.get("/runs/narrow/live").status, 303);
    let compared = server.page("/compare?a=wide&b=narrow");
    assert!(compared.contains("retrieval recall") && compared.contains("#/case/"), "{compared}");
    assert_eq!(server.get("/compare?a=tools&b=wide").status, 409);
}

/// An assessment that fails is stopped, and says so.
#[test]
fn failed_assessments_have_no_report() {
    let project = project("  told:\n    provider: scripted\n    file: answers.jsonl\n");
    let answer = json!({ "question": "other/audits#relevance", "answer": { "relevant": [] } });
    project.write("templates/security/answers.jsonl", format!("{answer}\n"));
    let ran = project.run(&format!("assess {RECORD_FILE} {FAST} --evaluation told --judge-cache only --name only"));
    assert_ne!(ran.code, Some(0), "{}", ran.err);
    let listed = project.json("store list --json");
    assert_eq!((&listed[0]["state"], &listed[0]["has_report"]), (&json!("stopped"), &json!(false)));
    project.run("report only").expect_error(4, &["the assessment", "is stopped and has no report"]);
}

#[test]
fn initial_assessment_suite_is_checked_and_assessed() {
    let project = Project::new();
    let written = project.run("init mine --kind assessment").expect_error(0, &["karat assess mine"]).out;
    for path in written.lines() {
        assert!(project.path(path).is_file(), "{path} was listed but not written");
    }
    assert!(project.ok("check mine --strict").ends_with("no problems\n"));
    let report = project.json(&format!("assess mine --json {FAST}"));
    assert_eq!(report["assessments"]["baseline"]["requirements"].as_array().unwrap().len(), 3);
    // In the folder itself, no path is needed.
    let mut command = project.command();
    command.current_dir(project.path("mine")).args(["assess", "-q", "--json", "--resamples", "200"]);
    crate::project::CommandOutput::start(&mut command).expect(0);
    project.run("init mine --kind assessment").expect_error(4, &["already exists"]);
}

/// Every flag that names a metric, with results of tools and of assessors.
#[test]
fn metrics_of_the_other_kind_are_refused_by_every_flag() {
    let project = graded_suite(5, 1, &[("good", good), ("noisy", noisy)]);
    score_to_file(&project, "tools.json", "");
    for stage in ["full", "retrieve"] {
        project.ok(&format!("assess agreements {FAST} --stage {stage} -o {stage}.json"));
    }
    let for_any = [
        "gate R --min M=0.5",
        "gate R --max M=0.5",
        "gate R --no-worse-than R --metric M",
        "compare R R --metric M",
        "baseline write R --metric M",
    ];
    let for_tools =
        ["compare R --ranks --metric M", "power --effect 0.1 R --tool good --metric M", "plot intervals R --metric M"];
    let table = [
        ("tools.json", "mean_combined_score", "a report of tools", "precision, recall, f1"),
        ("full.json", "f1", "an assessment of documents", "mean_combined_score, mean_compliance_score"),
        (
            "retrieve.json",
            "recall",
            "an assessment of documents",
            "did you mean `recall_at_k`? Available: retrieval_recall",
        ),
        (
            "retrieve.json",
            "assessment_accuracy",
            "an assessment of documents",
            "Available: retrieval_recall, recall_at_k",
        ),
    ];
    for (report, metric, kind, there) in table {
        let lines = for_any.iter().chain(for_tools.iter().filter(|_| report == "tools.json"));
        for line in lines {
            let line = line.replace('R', report).replace('M', metric);
            project.run(&line).expect_error(2, &[report, kind, &format!("has no metric `{metric}`"), there]);
        }
        project.write("gate.toml", format!("[[rule]]\nmetric = \"{metric}\"\nmin = 0.5\n"));
        project.run(&format!("gate {report} --rules gate.toml")).expect_error(4, &["gate.toml: ", report, there]);
    }
    // A metric of the right kind is none of these errors.
    for (report, metric) in [("tools.json", "f1"), ("full.json", "mrr"), ("retrieve.json", "map")] {
        for line in for_any {
            let ran = project.run(&line.replace('R', report).replace('M', metric));
            assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line} of {report}: {}", ran.err);
        }
    }
}
