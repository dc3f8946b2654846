//! Which cases two sides have in common, and why they may not be compared.

use super::side::{CaseSide, Side};
use crate::failure::{Failure, Result};
use karat_core::clusters::{ClusterBy, Clustering, numbers};
use karat_core::wording::count;
use karat_format::comparison::LeftOutV1;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Paired<'a> {
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    /// The id of each case, and its data on both sides.
    pub(super) cases: Vec<(&'a str, &'a CaseSide, &'a CaseSide)>,
    pub(super) left_out: Vec<LeftOutV1>,
}

pub(super) fn pair<'a>(a: &'a Side, b: &'a Side, intersection: bool) -> Result<Paired<'a>> {
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
            let [a, b] = [a, b].map(|side| side.digest.chars().take(19).collect::<String>());
            reasons.push(format!(
                "they are about different suites or versions of one ({a} and {b}): score both against the same suite, {use_intersection}"
            ));
        } else if !changed.is_empty() {
            let cases = count(changed.len(), "case");
            reasons.push(format!(
                "the goldens of {cases} differ: score both against the same goldens, {use_intersection}"
            ));
        } else if !(only_a.is_empty() && only_b.is_empty()) {
            reasons.push(format!(
                "they were run on different cases of the suite: run both on the same ones, {use_intersection}"
            ));
        }
    }
    if a.profile_digest != b.profile_digest {
        reasons.push(rules_differ(a, b));
    }
    if !reasons.is_empty() {
        let reasons = reasons.join("; and ");
        return Err(Failure::bad_input(format!("{} and {} cannot be compared: {reasons}", a.label, b.label)));
    }
    if cases.is_empty() {
        return Err(Failure::bad_input(format!(
            "{} and {} have no case in common whose goldens are the same; score both against the same suite",
            a.label, b.label
        )));
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
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (a, b) = (self.a, self.b);
        for LeftOutV1 { why, cases } in &self.left_out {
            warnings.push(format!("{} left out: {why}", count(cases.len(), "case")));
        }
        if a.judges != b.judges {
            let names = |judges: &[String]| if judges.is_empty() { "nobody".to_owned() } else { judges.join(", ") };
            let (ours, theirs) = (names(&a.judges), names(&b.judges));
            warnings.push(format!(
                "judges differ: {ours} decided for {}, {theirs} for {}; differences may be due to the judges",
                a.label, b.label
            ));
        }
        if a.digest == b.digest && a.label == b.label {
            warnings.push(format!("{} is compared with itself", a.label));
        }
        warnings
    }
}

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

pub(super) fn clustering(pair: &Paired<'_>, by: &ClusterBy) -> Result<Clustering> {
    let field = by.field();
    let clustering = by.decide_from((0..pair.cases.len()).map(|at| field_value(pair, at, field)));
    if clustering.used && clustering.groups == 0 {
        let known: BTreeSet<&str> = pair
            .cases
            .iter()
            .flat_map(|(_, a, b)| a.fields.keys().chain(b.fields.keys()))
            .map(String::as_str)
            .collect();
        let there = match known.is_empty() {
            true => "the reports contain no fields of cases; score again to add them".to_owned(),
            false => format!("there are {}", Vec::from_iter(known).join(", ")),
        };
        return Err(Failure::usage(format!("no case has the field `{field}`, so it cannot define clusters; {there}")));
    }
    Ok(clustering)
}

pub(super) fn cluster_numbers(pair: &Paired<'_>, cases: &[usize], clustering: &Clustering) -> Option<Vec<usize>> {
    let field = clustering.used_field()?;
    Some(numbers(cases.iter().map(|at| field_value(pair, *at, field))))
}

/// The field of a case; an older baseline has no fields, but the other side does.
fn field_value<'p>(pair: &Paired<'p>, at: usize, field: &str) -> Option<&'p str> {
    let (_, a, b) = pair.cases[at];
    b.fields.get(field).or_else(|| a.fields.get(field)).map(String::as_str)
}
