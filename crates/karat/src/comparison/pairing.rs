//! Which cases two sides have in common, and why they may not be compared.

use super::side::{CaseSide, Side};
use karat_core::clusters::{ClusterBy, Clustering, numbers};
use karat_core::wording::count;
use karat_format::comparison::LeftOutV1;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Two sides on the cases they share.
pub(super) struct Paired<'a> {
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    /// By id, with what either side says of it.
    pub(super) cases: Vec<(&'a str, &'a CaseSide, &'a CaseSide)>,
    pub(super) left_out: Vec<LeftOutV1>,
}

/// Why sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Refusal {
    /// They are about different cases or goldens, or were scored by different rules.
    #[error("{a} and {b} cannot be compared: {}", reasons.join("; and "))]
    Different { a: String, b: String, reasons: Vec<String> },
    /// No case has the same goldens on both sides.
    #[error("{a} and {b} have no case in common whose goldens are the same; score both against the same suite")]
    NothingShared { a: String, b: String },
    /// A metric that cannot be taken apart into what cases add to it.
    #[error("{metric} cannot be compared case by case: {reason}")]
    NotByCase { metric: String, reason: String },
    /// Clusters are to be named by a field that no case has.
    #[error("no case has the field `{field}`, so it cannot define clusters; {}", there(known))]
    NoField { field: String, known: Vec<String> },
}

fn there(known: &[String]) -> String {
    if known.is_empty() {
        return "the reports contain no fields of cases; score again to add them".to_owned();
    }
    format!("there are {}", known.join(", "))
}

/// Puts two sides together.
pub(super) fn pair<'a>(a: &'a Side, b: &'a Side, intersection: bool) -> Result<Paired<'a>, Refusal> {
    let mut reasons = Vec::new();
    let (mut cases, mut only_a, mut only_b, mut changed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, left) in &a.cases {
        match b.cases.get(id) {
            Some(right) if right.goldens == left.goldens => cases.push((id.as_str(), left, right)),
            Some(_) => changed.push(id.clone()),
            None => only_a.push(id.clone()),
        }
    }
    only_b.extend(b.cases.keys().filter(|id| !a.cases.contains_key(*id)).cloned());
    let use_intersection = "or give --intersection to compare the cases whose goldens are the same";
    if !intersection {
        if a.digest != b.digest {
            let short = |digest: &str| digest.chars().take(19).collect::<String>();
            reasons.push(format!(
                "they are about different suites or versions of one ({} and {}): score both against the same suite, {use_intersection}",
                short(&a.digest),
                short(&b.digest)
            ));
        } else if !(only_a.is_empty() && only_b.is_empty() && changed.is_empty()) {
            reasons.push(format!(
                "they were run on different cases of the suite: run both on the same ones, {use_intersection}"
            ));
        }
    }
    if a.profile_digest != b.profile_digest {
        reasons.push(rules_differ(a, b));
    }
    if !reasons.is_empty() {
        return Err(Refusal::Different { a: a.label.clone(), b: b.label.clone(), reasons });
    }
    if cases.is_empty() {
        return Err(Refusal::NothingShared { a: a.label.clone(), b: b.label.clone() });
    }
    let whys = [
        (format!("only {} has them", a.label), only_a),
        (format!("only {} has them", b.label), only_b),
        ("their goldens differ".to_owned(), changed),
    ];
    let left_out = whys.into_iter().filter(|(_, cases)| !cases.is_empty());
    Ok(Paired { a, b, cases, left_out: left_out.map(|(why, cases)| LeftOutV1 { why, cases }).collect() })
}

impl Paired<'_> {
    /// What a reader must know of the two.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (a, b) = (self.a, self.b);
        for LeftOutV1 { why, cases } in &self.left_out {
            warnings.push(format!("{} left out: {why}", count(cases.len(), "case")));
        }
        if a.judges != b.judges {
            let names = |judges: &[String]| if judges.is_empty() { "nobody".to_owned() } else { judges.join(", ") };
            warnings.push(format!(
                "judges differ: {} decided for {}, {} for {}; differences may be due to the judges",
                names(&a.judges),
                a.label,
                names(&b.judges),
                b.label
            ));
        }
        if a.digest == b.digest && a.label == b.label {
            warnings.push(format!("{} is compared with itself", a.label));
        }
        warnings
    }
}

/// In which values the rules differ.
fn rules_differ(a: &Side, b: &Side) -> String {
    let names = format!("{} was scored by the profile {} and {} by {}", a.label, a.profile, b.label, b.profile);
    if a.rules.is_empty() || b.rules.is_empty() {
        return format!("{names}, whose values differ: score both by the same, or write the baseline anew");
    }
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let (a, b) = (flat(&a.rules), flat(&b.rules));
    let every: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differ = every.into_iter().filter(|name| a.get(*name) != b.get(*name));
    let told: Vec<String> =
        differ.map(|name| format!("{name} is {} and {}", shown(a.get(name)), shown(b.get(name)))).collect();
    let few = told.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = if told.len() > 3 { format!(" and {} more values differ", told.len() - 3) } else { String::new() };
    format!("{names} ({few}{more}): score both by the same")
}

/// Values by the names that `--set` takes, such as `credit.partial`.
fn flat(rules: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    fn add(name: String, value: &Value, into: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(entries) => entries.iter().for_each(|(key, own)| add(format!("{name}.{key}"), own, into)),
            plain => drop(into.insert(name, plain.clone())),
        }
    }
    let mut all = BTreeMap::new();
    rules.iter().for_each(|(name, value)| add(name.clone(), value, &mut all));
    all
}

/// Decides how the cases of a pair are clustered.
pub(super) fn clustering(pair: &Paired<'_>, by: &ClusterBy) -> Result<Clustering, Refusal> {
    let field = by.field();
    let clustering = by.decide_from((0..pair.cases.len()).map(|at| field_value(pair, at, field)));
    if clustering.used && clustering.groups == 0 {
        let all = pair.cases.iter().flat_map(|(_, a, b)| a.fields.keys().chain(b.fields.keys()));
        let known: BTreeSet<&String> = all.collect();
        return Err(Refusal::NoField { field: field.to_owned(), known: known.into_iter().cloned().collect() });
    }
    Ok(clustering)
}

/// The cluster of each of some cases of a pair; `None` without clusters.
pub(super) fn cluster_numbers(pair: &Paired<'_>, cases: &[usize], clustering: &Clustering) -> Option<Vec<usize>> {
    let field = clustering.used_field()?;
    Some(numbers(cases.iter().map(|at| field_value(pair, *at, field))))
}

/// The field of a case; an older baseline has no fields, but the other side does.
fn field_value<'p>(pair: &Paired<'p>, at: usize, field: &str) -> Option<&'p str> {
    let (_, a, b) = pair.cases[at];
    b.fields.get(field).or_else(|| a.fields.get(field)).map(String::as_str)
}
