//! Prices: those that trials state, and those that nobody states.

use crate::project::{CommandOutput, Project, lines, near, suite, trial};
use serde_json::{Value, json};

/// A finding of each tool on each of two cases, with what its trials say of their cost.
fn costs() -> Project {
    let case = |id: &str| {
        let issue = json!({ "id": "g", "title": "A leak", "file": "a.py", "line_start": 3, "keywords": ["leak"] });
        json!({ "id": id, "issues": [issue] })
    };
    let finding = json!([{ "id": "f", "message": "a leak", "file": "a.py", "line_start": 3 }]);
    let line = |case: &str, tool: &str, cost: Value| {
        let mut line = trial(case, tool, 1, finding.clone());
        line.as_object_mut().unwrap().extend(cost.as_object().cloned().unwrap());
        line
    };
    let (tokens, price) =
        (json!({ "tokens_in": 900, "tokens_out": 100 }), json!({ "tokens_in": 900, "cost_usd": 0.5 }));
    let trials = [
        line("a", "priced", price.clone()),
        line("b", "priced", json!({ "cost_usd": 0.25 })),
        line("a", "tokens", tokens.clone()),
        line("b", "tokens", tokens.clone()),
        line("a", "partly", price.clone()),
        line("b", "partly", tokens),
        line("a", "once", price),
        line("b", "once", json!({})),
        line("a", "free", json!({ "cost_usd": 0.0 })),
        line("b", "free", json!({ "cost_usd": 0.0 })),
    ];
    suite(&[case("a"), case("b")]).with("s.jsonl", lines(&trials))
}

#[test]
fn tokens_without_a_price_are_not_free() {
    let project = costs();
    project.ok("score . --judge none --submission s.jsonl -o r.json -o r.html");
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let cost = &report["measured"]["cost"];
    assert_eq!(cost["tokens"]["usd"], Value::Null, "{cost}");
    assert_eq!([&cost["tokens"]["usd_per_case"], &cost["tokens"]["usd_per_tp"]], [&Value::Null; 2]);
    assert_eq!(cost["tokens"]["usd_undefined"], "its trials state tokens and no price");
    near(cost, "/tokens/tokens_per_case", 1000.0);
    for (tool, usd, is_partial) in
        [("priced", 0.75, false), ("partly", 0.5, true), ("once", 0.5, true), ("free", 0.0, false)]
    {
        near(cost, &format!("/{tool}/usd"), usd);
        assert_eq!(cost[tool]["usd_is_lower_bound"] == true, is_partial, "{tool}: {cost}");
        assert_eq!(cost[tool]["usd_undefined"], Value::Null);
    }
    // The mean of those that state a price.
    near(cost, "/partly/usd_per_case", 0.5);
    // Tokens that nobody states are not known to be none: one trial of `partly` states both kinds.
    let tokens = |tool: &str| {
        ["tokens_in", "tokens_out", "tokens_per_case", "tokens_per_tp"].map(|name| cost[tool][name].as_f64())
    };
    assert_eq!(tokens("free"), [None; 4], "{cost}");
    assert_eq!(tokens("tokens"), [Some(1800.0), Some(200.0), Some(1000.0), Some(1000.0)], "{cost}");
    assert_eq!(tokens("priced"), [Some(900.0), None, None, None], "{cost}");
    assert_eq!(tokens("partly"), [Some(1800.0), Some(100.0), Some(1000.0), None], "{cost}");
    let wide = CommandOutput::start(project.command().env("COLUMNS", "200").args(["report", "r.json"]));
    let table = wide.expect(0).out;
    let cell = |tool: &str| {
        let row = table.lines().find(|line| line.split_whitespace().next() == Some(tool)).unwrap();
        row.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert!(cell("tokens").ends_with('–'), "{table}");
    assert!(cell("partly").ends_with("≥ 0.50") && cell("once").ends_with("≥ 0.50"), "{table}");
    assert!(cell("priced").ends_with(" 0.75") && cell("free").ends_with(" 0.00"), "{table}");
    let page = project.read("r.html");
    assert!(page.contains("its trials state tokens and no price"), "the page does not say why there is no price");
    let plot = project.ok("plot cost-quality r.json");
    let said = |tool: &str| plot.contains(&format!("<title>{tool}:"));
    assert!(said("free") && said("priced") && !said("tokens"), "{plot}");
    assert!(plot.contains("Not shown, without a cost or a value: tokens"), "{plot}");
    for (tool, code) in [("priced", 0), ("free", 0), ("tokens", 3), ("partly", 3), ("once", 3)] {
        project.run(&format!("gate r.json --tool {tool} --max-cost 5")).expect(code);
    }
}

/// An audit looks for one golden of a case, so that the others are neither found nor missed.
#[test]
fn what_is_not_compared_is_not_missed() {
    let issues = json!([
        { "id": "reentrancy", "title": "Reentrancy in withdraw", "file": "a.sol", "severity": "high" },
        { "id": "overflow", "title": "An overflow", "file": "a.sol", "target": true, "severity": "low" },
    ]);
    let audit = json!({ "case": "c", "tool": "t", "trial": 1, "judge": "m", "kind": "audit", "said_vulnerable": true,
                        "findings": [{ "finding": "f", "classification": "TARGET_MATCH" }],
                        "target": { "found": true, "finding": "f" } });
    let project = suite(&[json!({ "id": "c", "issues": issues })])
        .with("s.jsonl", lines(&[trial("c", "t", 1, json!([{ "id": "f", "message": "it wraps", "file": "a.sol" }]))]))
        .with("j.jsonl", lines(&[audit]));
    let line = "score . --submission s.jsonl --judgements j.jsonl";
    let report = project.json(&format!("{line} --profile audit --json"));
    let tool = &report["tools"][0];
    near(tool, "/metrics/target_detection_rate/value", 1.0);
    for id in ["recall", "f1", "found_any", "severity_weighted_recall"] {
        near(tool, &format!("/metrics/{id}/value"), 1.0);
    }
    assert_eq!(tool["counts"]["fn"], 0);
    assert_eq!(tool["cases"][0]["trials"][0]["misses"], json!([]));
    assert_eq!(report["cases"][0]["issues"][0]["compared"], false);
    for profile in ["audit", "owasp"] {
        let text = project.ok(&format!("{line} --profile {profile} -v"));
        assert!(!text.to_lowercase().contains("never found") && !text.contains("Reentrancy"), "{text}");
    }
    let explained =
        project.ok("explain c --suite . --tool t --submission s.jsonl --judgements j.jsonl --profile audit");
    assert!(explained.contains("not compared by this profile") && explained.contains("0 missed"), "{explained}");
    assert!(explained.contains("Not compared (1 golden)") && !explained.contains('✗'), "{explained}");
}
