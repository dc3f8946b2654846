//! `case.yaml`, a line of `cases.jsonl`, and a CRB `challenge.yaml`: one type for all three.

use super::{ValueFault, id_fault};
use karat_core::golden::{Acceptance, Golden, Proof, Severity};
use karat_core::ids::{CaseId, GoldenId};
use karat_core::lines::Lines;
use karat_core::path::FilePattern;
use karat_core::suite::{Case, Difficulty, PullRequest, Trees, TwistedFrom, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One unit of evaluation: code or a document, and the goldens that say what is true of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "case")]
pub struct CaseV1 {
    /// Unique within the suite.
    pub id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Programming language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// How hard it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<Difficulty>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub categories: Vec<String>,
    /// A tier of the benchmark's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Scalar>,
    /// The pull request it is dressed as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr: Option<PullRequest>,
    /// The truth about the case as a whole; absent: vulnerable if it has required goldens, else safe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Weakness numbers the verdict is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::cwe_list")]
    #[schemars(schema_with = "karat_core::one_or_many::cwe_list_schema")]
    pub cwe: Vec<u32>,
    /// The repository it was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Full id of the commit of `repo` whose change this is; the code is read from a local mirror of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// Full id of the commit that the change is compared with; absent: the first parent of `rev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rev: Option<String>,
    /// The whole code before and after the change, by its names in the suite's `objects` folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<Trees>,
    /// Id of its fixed or vulnerable sibling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// What a good tool reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<IssueV1>,
    /// Whether findings beyond the goldens leave it passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unexpected: bool,
    /// Free fields to slice and cluster by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, Scalar>,
    /// A text that occurs nowhere else: a model that can repeat it was trained on the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// The day it was made, as `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// What it is a variant of that means the same, as `karat suite twist` wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twisted_from: Option<TwistedFrom>,
}

/// The title of the golden in a case that `karat suite add` drafted: a person has to replace it.
pub const UNFILLED_TITLE: &str = "TODO: say what is wrong, in a few words";

/// A text, a number or a truth value: what a free field may hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Whole(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// Something a good tool reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueV1 {
    /// Unique within the case.
    pub id: String,
    /// How bad it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What kind of issue it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where it lies; `*` within a segment, `**` across.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line_start: Option<u32>,
    /// The last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line_end: Option<u32>,
    /// A fragment that its lines in `after/` contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The function it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is wrong and why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words a report of it is expected to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub keywords: Vec<String>,
    /// The rule that reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Other names of that rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::list")]
    #[schemars(schema_with = "karat_core::one_or_many::list_schema::<String>")]
    pub rule_aliases: Vec<String>,
    /// A stable locator made by a scanner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The identity key, where it is given rather than built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<String>,
    /// Weakness numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "karat_core::one_or_many::cwe_list")]
    #[schemars(schema_with = "karat_core::one_or_many::cwe_list_schema")]
    pub cwe: Vec<u32>,
    /// Why the code is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// How it is exploited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack_scenario: Option<String>,
    /// How it is mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The one issue an audit of the case is about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub target: bool,
    /// What a match with it means.
    #[serde(default, skip_serializing_if = "is_default")]
    pub acceptance: Acceptance,
    /// How running code shows that it is real; tools never see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

fn is_default(value: &Acceptance) -> bool {
    *value == Acceptance::default()
}

impl CaseV1 {
    /// The case, and every fault that the schema cannot see.
    pub fn into_case(self) -> (Case, Vec<ValueFault>) {
        let mut faults: Vec<ValueFault> = id_fault(&["id"], &self.id).into_iter().collect();
        let mut ids: BTreeSet<String> = BTreeSet::new();
        let mut goldens = Vec::with_capacity(self.issues.len());
        for (i, issue) in self.issues.into_iter().enumerate() {
            let index = i.to_string();
            faults.extend(id_fault(&["issues", &index, "id"], &issue.id));
            if !ids.insert(issue.id.clone()) {
                let message = format!("duplicate issue id `{}` in this case", issue.id);
                faults.push(ValueFault::new(&["issues", &index, "id"], "duplicate-id", message));
            }
            let (golden, own) = issue.into_golden(&index);
            faults.extend(own);
            goldens.push(golden);
        }
        faults.extend(origin_faults(self.canary.as_deref(), self.made.as_deref()));
        faults.extend(code_faults(self.repo.as_ref(), [&self.rev, &self.base_rev], self.trees.as_ref()));
        let required = goldens.iter().any(Golden::is_required);
        let case = Case {
            id: CaseId::new(self.id),
            name: self.name,
            description: self.description,
            language: self.language,
            difficulty: self.difficulty,
            categories: self.categories,
            tier: self.tier.map(|tier| tier.to_string()),
            pr: self.pr,
            verdict: self.verdict.unwrap_or(if required { Verdict::Vulnerable } else { Verdict::Safe }),
            cwe: self.cwe,
            repo: self.repo,
            rev: self.rev,
            base_rev: self.base_rev,
            trees: self.trees,
            twin: self.twin.map(CaseId::new),
            goldens,
            allow_unexpected: self.allow_unexpected,
            meta: self.meta.into_iter().map(|(key, value)| (key, value.to_string())).collect(),
            canary: self.canary,
            made: self.made,
            twisted_from: self.twisted_from,
            cutoff: None,
            change: None,
        };
        (case, faults)
    }
}

/// Faults of the keys by which memorised cases are recognised.
fn origin_faults(canary: Option<&str>, made: Option<&str>) -> Vec<ValueFault> {
    let mut faults = Vec::new();
    if canary.is_some_and(|canary| canary.trim().is_empty()) {
        faults.push(ValueFault::new(
            &["canary"],
            "blank-canary",
            "the canary is blank; write a new UUID, or remove it",
        ));
    }
    if let Some(made) = made.filter(|made| !is_date(made)) {
        let message = format!("{made:?} is not a date: expected YYYY-MM-DD, such as 2026-03-31");
        faults.push(ValueFault::new(&["made"], "bad-date", message));
    }
    faults
}

/// Whether a text is a day as `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok_and(|date| date.to_string() == text)
}

/// Faults of a golden's proof. Its files must not be where tools see them.
fn proof_faults(index: &str, proof: &Proof) -> Vec<ValueFault> {
    let mut faults = Vec::new();
    let mut fault = |key: &str, code, message: String| {
        faults.push(ValueFault::new(&["issues", index, "proof", key], code, message));
    };
    match proof.run.first() {
        None => fault("run", "no-program", "the command is empty: name a program and its arguments".to_owned()),
        Some(program) if program.trim().is_empty() || program.starts_with('/') || program.contains('\0') => {
            let message = format!("{program:?} is neither the name of a program nor a file of the proof");
            fault("run", "no-program", message);
        }
        Some(_) => {}
    }
    for (key, path) in [("files", &proof.files), ("fixed", &proof.fixed)] {
        if !Proof::is_inside_case(path) {
            let message =
                format!("the path {path:?} leaves the case folder; name something in it, such as proofs/NAME");
            fault(key, "path-escapes", message);
        } else if matches!(path.split('/').next(), Some("before" | "after")) {
            fault(key, "visible-proof", format!("{path:?} is part of the code that tools see; move it out of there"));
        }
    }
    faults
}

/// Faults of the keys that say where the code is.
fn code_faults(repo: Option<&String>, revs: [&Option<String>; 2], trees: Option<&Trees>) -> Vec<ValueFault> {
    let mut faults = Vec::new();
    let is_hex = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    for (key, rev) in ["rev", "base_rev"].into_iter().zip(revs) {
        if let Some(rev) = rev.as_ref().filter(|rev| !is_hex(rev, &[40, 64])) {
            let message = format!("{rev:?} is not a full commit id; `git rev-parse {rev:?}` prints it");
            faults.push(ValueFault::new(&[key], "bad-revision", message));
        }
    }
    let [rev, base_rev] = revs.map(Option::is_some);
    if rev && repo.is_none_or(|repo| repo.trim().is_empty()) {
        faults.push(ValueFault::new(&["rev"], "no-repo", "`rev` without `repo`: name the repository of this commit"));
    }
    if base_rev && !rev {
        faults.push(ValueFault::new(&["base_rev"], "no-rev", "`base_rev` without `rev`"));
    }
    let Some(trees) = trees else { return faults };
    if rev {
        let message = "`trees` and `rev`: the code must have one source; remove one of them";
        faults.push(ValueFault::new(&["trees"], "code-twice", message));
    }
    for (key, name) in [("before", trees.before.as_ref()), ("after", Some(&trees.after))] {
        if let Some(name) = name.filter(|name| !is_hex(name, &[64])) {
            let message = format!("{name:?} is not the name of an object: expected 64 hexadecimal digits");
            faults.push(ValueFault::new(&["trees", key], "bad-object-name", message));
        }
    }
    faults
}

impl IssueV1 {
    fn into_golden(self, index: &str) -> (Golden, Vec<ValueFault>) {
        let mut faults = Vec::new();
        let mut fault = |key: &str, code, message: String| {
            faults.push(ValueFault::new(&["issues", index, key], code, message));
        };
        let blank = |text: &Option<String>| text.as_ref().is_none_or(|t| t.trim().is_empty());
        if blank(&self.title) && blank(&self.description) {
            fault("id", "no-text", format!("the issue `{}` needs a title or a description", self.id));
        }
        if self.title.as_deref() == Some(UNFILLED_TITLE) {
            let message = "this case is not filled in: replace the title, or write `issues: []` if nothing is wrong";
            fault("title", "unfilled-case", message.to_owned());
        }
        let file = self.file.as_deref().and_then(FilePattern::new);
        match (&self.file, &file) {
            (Some(raw), None) => fault("file", "bad-path", format!("the path {raw:?} is blank")),
            (Some(raw), Some(pattern)) if pattern.path().escapes() => {
                fault("file", "path-escapes", format!("the path {raw:?} leaves the case folder"));
            }
            _ => {}
        }
        match (self.line_start, self.line_end) {
            (Some(0), _) => fault("line_start", "out-of-range", "line numbers start at 1".to_owned()),
            (Some(start), Some(end)) if end < start => {
                fault("line_end", "lines-reversed", format!("line_end is {end}, before line_start {start}"));
            }
            (None, Some(_)) => fault("line_end", "no-line-start", "line_end without line_start".to_owned()),
            _ => {}
        }
        if self.quote.as_ref().is_some_and(|quote| quote.trim().is_empty()) {
            fault("quote", "blank-quote", "the quote is blank: repeat a part of the lines, or remove it".to_owned());
        }
        faults.extend(self.proof.iter().flat_map(|proof| proof_faults(index, proof)));
        let golden = Golden {
            id: GoldenId::new(self.id),
            severity: self.severity,
            category: self.category,
            file,
            lines: Lines::from_start(self.line_start, self.line_end),
            quote: self.quote,
            function: self.function,
            title: self.title,
            description: self.description,
            keywords: self.keywords,
            rule_id: self.rule_id,
            rule_aliases: self.rule_aliases,
            anchor: self.anchor,
            identity_key: self.identity_key,
            cwe: self.cwe,
            root_cause: self.root_cause,
            attack_scenario: self.attack_scenario,
            fix: self.fix,
            target: self.target,
            acceptance: self.acceptance,
            proof: self.proof,
        };
        (golden, faults)
    }
}

impl From<&Case> for CaseV1 {
    fn from(case: &Case) -> Self {
        let required = case.goldens.iter().any(Golden::is_required);
        let implied = if required { Verdict::Vulnerable } else { Verdict::Safe };
        Self {
            id: case.id.to_string(),
            name: case.name.clone(),
            description: case.description.clone(),
            language: case.language.clone(),
            difficulty: case.difficulty,
            categories: case.categories.clone(),
            tier: case.tier.clone().map(Scalar::Text),
            pr: case.pr.clone(),
            verdict: (case.verdict != implied).then_some(case.verdict),
            cwe: case.cwe.clone(),
            repo: case.repo.clone(),
            rev: case.rev.clone(),
            base_rev: case.base_rev.clone(),
            trees: case.trees.clone(),
            twin: case.twin.as_ref().map(ToString::to_string),
            issues: case.goldens.iter().map(IssueV1::from).collect(),
            allow_unexpected: case.allow_unexpected,
            meta: case.meta.iter().map(|(key, value)| (key.clone(), Scalar::Text(value.clone()))).collect(),
            canary: case.canary.clone(),
            made: case.made.clone(),
            twisted_from: case.twisted_from.clone(),
        }
    }
}

impl From<&Golden> for IssueV1 {
    fn from(golden: &Golden) -> Self {
        Self {
            id: golden.id.to_string(),
            severity: golden.severity,
            category: golden.category.clone(),
            file: golden.file.as_ref().map(ToString::to_string),
            line_start: golden.lines.map(|l| l.start),
            line_end: golden.lines.map(|l| l.end),
            quote: golden.quote.clone(),
            function: golden.function.clone(),
            title: golden.title.clone(),
            description: golden.description.clone(),
            keywords: golden.keywords.clone(),
            rule_id: golden.rule_id.clone(),
            rule_aliases: golden.rule_aliases.clone(),
            anchor: golden.anchor.clone(),
            identity_key: golden.identity_key.clone(),
            cwe: golden.cwe.clone(),
            root_cause: golden.root_cause.clone(),
            attack_scenario: golden.attack_scenario.clone(),
            fix: golden.fix.clone(),
            target: golden.target,
            acceptance: golden.acceptance,
            proof: golden.proof.clone(),
        }
    }
}
