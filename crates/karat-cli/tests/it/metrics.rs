//! `karat metrics list` and `karat metrics explain`.

use crate::project::Project;
use karat_core::metric::table::METRICS;

#[test]
fn every_metric_is_listed_and_explained() {
    let project = Project::new();
    let text = project.ok("metrics list");
    let json = project.json("metrics list --json");
    let known: Vec<&str> = json.as_array().unwrap().iter().filter_map(|metric| metric["id"].as_str()).collect();
    assert_eq!(known, METRICS.iter().map(|metric| metric.id).collect::<Vec<_>>());
    for metric in METRICS {
        let shown = text.lines().any(|line| line.split_whitespace().next() == Some(metric.id));
        assert!(shown, "{}", metric.id);
    }
    let explained = project.ok("metrics explain harm_weighted_invalid_rate");
    for part in ["tier 3", "Σ harm weight", "audited findings", "less", "pooled", "a judge"] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    let explained = project.json("metrics explain fpr --json");
    assert_eq!(
        (explained["direction"].as_str(), explained["aggregation"].as_str()),
        (Some("down"), Some("over_verdicts"))
    );
    assert_eq!((explained["rests_on"].as_str(), explained["tier"].as_u64()), (Some("both"), Some(1)));
}

#[test]
fn formulas_depend_on_the_profile() {
    let project = Project::new().with("mine.toml", "extends = \"karat\"\n[sui]\nreasoning = 0.0\n");
    let explained = |id: &str, profile: &str| project.ok(&format!("metrics explain {id} --profile {profile}"));
    assert!(explained("bonus_discovery_rate", "karat").contains("a BONUS_VALID finding"));
    let audit = explained("bonus_discovery_rate", "audit");
    assert!(
        audit.contains("more valid findings than the target accounts for") && !audit.contains("BONUS_VALID"),
        "{audit}"
    );
    assert!(explained("precision", "crb").contains("duplicates are FP"));
    let json = project.json("metrics explain f_beta --json");
    assert_eq!(
        (&json["profile"], json["applied_formula"].as_str()),
        (&"karat".into(), Some("(1+β²)·TP / ((1+β²)·TP + β²·FN + FP); β = 0.5"),)
    );
    assert!(!explained("sui", "mine.toml").contains("reasoning"));
    project.run("metrics explain f1 --profile nosuch").expect_error(2, &["nosuch"]);
}

#[test]
fn unknown_metric_suggests_the_nearest() {
    Project::new().run("metrics explain recal").expect_error(2, &["unknown metric `recal`", "did you mean `recall`?"]);
}
