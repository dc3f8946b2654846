//! Arguments become a plan that can be printed, stored and resumed.

use super::{FINDS_IT, outcomes, parsed, report, with_cases, with_tool};
use crate::project::Project;

#[test]
fn dry_run_prints_the_plan_and_runs_nothing() {
    let project = with_cases(3);
    with_tool(&project, "it", "exit 1", "model = \"{model}\"\n");
    let out = project
        .ok("run suite --tool tools/it.toml patterns --trials 2 --only case-1 case-3 --model m-1 --seed 7 --dry-run");
    for line in [
        "small · 2 of 3 cases",
        "only case-1, only case-3",
        "seed       7",
        "2 trials each",
        "model m-1",
        "8 trials in all",
    ] {
        assert!(out.contains(line), "{line}:\n{out}");
    }
    assert!(!project.path(".karat").exists());
    let plan = project.json("run suite --tool patterns --dry-run --json");
    assert_eq!(plan["schema"], "karat.plan/1");
    assert_eq!(plan["tools"][0]["isolation"], "nothing is executed");
}

#[test]
fn starter_suite_runs_without_configuration() {
    let project = Project::new();
    let ran = project.run("run starter").expect(0);
    for tool in ["patterns", "careful-reviewer", "noisy-scanner"] {
        assert!(ran.out.contains(tool), "{tool}:\n{}", ran.out);
    }
    assert!(ran.err.contains("is stored in .karat") && ran.err.contains("karat explain"), "{}", ran.err);
    // Replayed tools score the same as their submissions without a run.
    let run = project.json("report latest --json");
    let scored = project.json("score starter --json");
    for tool in scored["tools"].as_array().unwrap() {
        let same = run["tools"].as_array().unwrap().iter().find(|t| t["tool"] == tool["tool"]).unwrap();
        assert_eq!(same["metrics"], tool["metrics"]);
        assert_eq!(same["cases"], tool["cases"]);
    }
}

#[test]
fn stored_runs_are_found_by_name_id_and_latest() {
    let project = Project::new();
    project.ok("run starter --name first -q");
    project.ok("run starter --only language=python -q");
    let list = project.json("store list --json");
    let id = list[1]["id"].as_str().unwrap().to_owned();
    let short = list[1]["short_id"].as_str().unwrap().to_owned();
    let by = |reference: &str| project.json(&format!("report {reference} --json"))["suite"]["cases"].clone();
    for reference in ["first", &id, &short] {
        assert_eq!(by(reference), 10, "{reference}");
    }
    assert_eq!(by("latest"), 2);
    project.run("report firts --json").expect_error(2, &["no run `firts`", "did you mean `first`?"]);
    project.run("run starter --name first -q").expect_error(2, &["first"]);
    let scored = project.json("score first --json --judge none --set threshold=0.9");
    assert!(
        scored["tools"][0]["metrics"]["recall"]["value"].as_f64()
            < project.json("report first --json")["tools"][0]["metrics"]["recall"]["value"].as_f64()
    );
    let output = project.ok("explain py-order-search-sqli --tool careful-reviewer --run first");
    assert!(output.contains("py-order-search-sqli · careful-reviewer"), "{output}");
    assert!(
        project.ok("compare first --tools noisy-scanner,careful-reviewer").contains("noisy-scanner → careful-reviewer")
    );
    project.run("compare first latest").expect_error(4, &["different cases"]);
}

#[test]
fn stored_run_can_be_scored_without_its_suite() {
    let project = with_cases(2);
    with_tool(&project, "it", FINDS_IT, "");
    let before = report(&project, "it", "");
    std::fs::remove_dir_all(project.path("suite")).unwrap();
    let after = project.json("score latest --json");
    assert_eq!(after["tools"], before["tools"]);
    assert!(after["warnings"].to_string().contains("goldens are those of the run"));
    project.run("run --resume latest").expect(4);
}

#[test]
fn exported_run_can_be_scored_as_submission() {
    let project = Project::new();
    let mut ran = parsed(&project.run("run starter --json -q"));
    project.ok("store export latest -o run.jsonl");
    let scored = project.json("score starter --submission run.jsonl --json");
    // What is in a file is the user's own: nothing says whether it was recorded.
    ran["tools"].as_array_mut().unwrap().iter_mut().for_each(|tool| {
        tool.as_object_mut().unwrap().shift_remove("recorded");
    });
    assert_eq!(scored["tools"], ran["tools"]);
}

#[test]
fn run_is_not_resumed_on_a_changed_suite() {
    let project = with_cases(1);
    with_tool(&project, "it", FINDS_IT, "");
    report(&project, "it", "");
    project.write("suite/cases/case-1/after/app.py", "changed\n");
    project.run("run --resume latest").expect_error(4, &["has changed since run"]);
}

#[test]
fn shards_partition_the_suite() {
    let project = with_cases(5);
    with_tool(&project, "it", FINDS_IT, "");
    let mut all = 0;
    for part in ["1/3", "2/3", "3/3"] {
        let report = report(&project, "it", &format!("--shard {part} --trials 1"));
        all += report["suite"]["cases"].as_u64().unwrap();
        assert!(report["warnings"].to_string().contains("of the suite's 5 cases"), "{}", report["warnings"]);
    }
    assert_eq!(all, 5);
}

#[test]
fn jobs_do_not_change_the_report() {
    let project = with_cases(6);
    with_tool(&project, "it", FINDS_IT, "");
    let one = report(&project, "it", "-j 1");
    let many = report(&project, "it", "-j 8");
    assert_eq!(outcomes(&one), "reported 12");
    for part in ["suite", "profile", "seed", "cases", "tools", "judges", "warnings"] {
        assert_eq!(one[part], many[part], "{part}");
    }
}

#[test]
fn replay_reproduces_the_report() {
    let project = Project::new();
    let ran = project.run("run starter").expect(0);
    let replayed = project.run("replay latest").expect(0);
    assert_eq!(replayed.out, ran.out);
    for line in ran.err.lines().filter(|line| line.contains('✗') || line.contains("isolation")) {
        assert!(replayed.err.contains(line), "{line}\n{}", replayed.err);
    }
    assert!(ran.err.contains('✗'), "{}", ran.err);
}

#[test]
fn invalid_arguments_are_explained() {
    let project = with_cases(1);
    with_tool(&project, "it", FINDS_IT, "");
    let check = |line: &str, code: i32, texts: &[&str]| {
        project.run(line).expect_error(code, texts);
    };
    check("run suite --tool bandid", 2, &["unknown tool `bandid`", "bandit"]);
    check("run nowhere", 4, &["no such folder"]);
    check("run suite --tool tools/none.toml", 4, &["tools/none.toml"]);
    check("run suite --tool patterns --only nothing", 2, &["no case of the suite matches `nothing`"]);
    check("run suite --tool patterns --shard 4/3", 2, &["invalid shard `4/3`"]);
    check("run suite --tool patterns patterns", 2, &["given twice"]);
    check("run --resume nothing", 5, &["no store"]);
    check("run suite --tool patterns --require-isolation=bubblegum", 2, &["bubblewrap"]);
    project.write("tools/odd.toml", "comand = [\"x\"]\n");
    check("run suite --tool tools/odd.toml", 4, &["comand", "did you mean `command`"]);
    project
        .write("tools/gone.toml", "command = [\"karat-no-such-program\"]\nformat = \"sarif\"\ninstall = \"get it\"\n");
    check("run suite --tool tools/gone.toml", 5, &["the tool `gone` cannot be run", "was not found", "get it"]);
    project.write("tools/model.toml", "command = [\"true\", \"{model}\"]\nformat = \"sarif\"\n");
    check("run suite --tool tools/model.toml", 2, &["--model"]);
}

#[test]
fn model_option_applies_to_every_tool() {
    let project = with_cases(1);
    let says = r#"echo "{\"findings\":[],\"response\":\"$KARAT_MODEL\"}" > "$2""#;
    with_tool(&project, "it", says, "model = \"{model}\"");
    let response = |command: &mut assert_cmd::Command| {
        command.args(["run", "suite", "--tool", "tools/it.toml", "--trials", "1", "-q"]).assert().success();
        let line = project.ok("store export latest");
        serde_json::from_str::<serde_json::Value>(&line).unwrap()["response"].as_str().unwrap().to_owned()
    };
    assert_eq!(response(project.command().env("CRB_TOOL_MODEL", "from-crb")), "from-crb");
    let both = response(project.command().env("CRB_TOOL_MODEL", "from-crb").env("KARAT_TOOL_MODEL", "from-karat"));
    assert_eq!(both, "from-karat");
    project.ok("run suite --tool tools/it.toml --trials 1 -q --model by-flag");
    assert!(project.ok("store export latest").contains("by-flag"));
}

/// The commands of an imported run come from another machine and were not reviewed by this user.
#[test]
fn imported_run_cannot_be_resumed() {
    let project = with_cases(1);
    with_tool(&project, "it", FINDS_IT, "");
    report(&project, "it", "");
    project.ok("store export latest --whole -o run.jsonl");
    project.ok("store import run.jsonl --store other");
    assert!(project.ok("report latest --store other").contains("it"));
    project.run("run --resume latest --store other").expect_error(4, &["was imported"]);
}
