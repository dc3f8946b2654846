//! `karat assess`: documents are searched and assessed against requirements.

mod bundled;
mod example;
mod models;
mod problems;
mod sessions;
mod stored;

use crate::project::Project;
use serde_json::Value;

/// An agreement of six clauses.
const AGREEMENT: &str = "\
# Services agreement

## 2.1 Notices of Breaches

The Supplier shall notify the Customer of a breach of security within five days.

## 2.2 Contact Persons

Each party names a contact person for notices of breaches of security.

## 3.1 Audits

The Customer may audit the security of the Supplier once a year.

## 3.2 Audits of Charges

The Customer may audit the charges of the Supplier.

## 4.1 Backups

The Supplier may make backups where it sees fit.

## 5.1 Law

The law of Utopia applies.
";

const TEMPLATE: &str = "\
title: Security
questions:
  subcontractors: Does the supplier use subcontractors?
requirements:
  breaches:
    title: Notice of breaches
    description: The supplier notifies the customer of breaches of security within one day.
  audits:
    title: Audits
    description: The customer may audit the security of the supplier.
  backups:
    title: Backups
    description: The supplier makes backups every night.
  subcontractors:
    title: Subcontractors
    description: Subcontractors need the consent of the customer.
    applies_when:
      subcontractors: yes
search:
  bm25_weight: 1
";

const RECORD: &str = r#"schema_version: "0.4"
bundle_id: services
template_id: security
assumptions:
  question_answers:
    subcontractors: false
requirements:
  breaches:
    assessment: partial
    primary_evidence:
      notices:
        document: services.md
        title: "2.1 Notices of Breaches"
        text: The Supplier shall notify the Customer of a breach of security within five days.
    supporting_evidence:
      contacts:
        document: services.md
        title: "2.2 Contact Persons"
        text: Each party names a contact person for notices of breaches of security.
    rationale: Notice is owed, but within five days.
  audits:
    assessment: "yes"
    primary_evidence:
      audit:
        document: services.md
        title: "3.1 Audits"
        text: The Customer may audit the security of the Supplier once a year.
    supporting_evidence: {}
    rationale: The customer may audit.
  backups:
    assessment: "no"
    primary_evidence: {}
    supporting_evidence: {}
    rationale: Nothing is owed.
  subcontractors:
    assessment: not_applicable
    primary_evidence: {}
    supporting_evidence: {}
    rationale: There are none.
"#;

/// One bundle with its template, which defines these models.
fn project(endpoints: &str) -> Project {
    let endpoints = if endpoints.is_empty() { String::new() } else { format!("llm_endpoints:\n{endpoints}") };
    Project::new()
        .with("docs/services.md", AGREEMENT)
        .with("docs/services.golden-assessment.yml", RECORD)
        .with("templates/security/config.yml", format!("{TEMPLATE}{endpoints}"))
}

const RECORD_FILE: &str = "docs/services.golden-assessment.yml";

/// The verdict of an assessor on each requirement.
fn verdicts(report: &Value, name: &str) -> Vec<String> {
    let all = report["assessments"][name]["requirements"].as_array().unwrap();
    let one = |one: &Value| {
        let verdict = one["said"].as_str().unwrap_or("none");
        format!("{} {verdict}", one["requirement_id"].as_str().unwrap())
    };
    all.iter().map(one).collect()
}
