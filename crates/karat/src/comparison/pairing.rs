//! Which cases two sides have in common, and why they may not be compared.

use super::judges;
use super::side::{CaseSide, Side, SideKind};
use crate::failure::{Failure, Result};
use karat_core::clusters::{ClusterBy, Clustering, numbers};
use karat_core::wording::count;
use karat_format::comparison::LeftOutV1;
use karat_format::report::DetailV1;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Paired<'a> {
    pub(super) a: &'a Side,
    pub(super) b: &'a Side,
    pub(super) by: PairBy,
    /// The id of each case, and its data on both sides.
    pub(super) cases: Vec<(&'a str, &'a CaseSide, &'a CaseSide)>,
    pub(super) left_out: Vec<LeftOutV1>,
}

/// Which cases of two sides are compared with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairBy {
    /// All cases, of the same suite.
    #[default]
    SameSuite,
    /// Those with the same goldens.
    SameGoldens,
    /// Cases of the first side with their variants on the second.
    Twisted,
}

impl PairBy {
    /// The choice that `--intersection` makes.
    pub fn intersection(is_given: bool) -> Self {
        if is_given { Self::SameGoldens } else { Self::SameSuite }
    }
}

/// Why two sides may not be compared, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// About both sides: `they were run on different cases of the suite`.
    pub reason: String,
    /// The values that differ, such as hashes; may be empty.
    pub details: String,
    /// What to do: `run both on the same ones`.
    pub advice: String,
    /// Whether comparing the cases with the same goldens is another way out.
    pub intersection: bool,
}

impl Refusal {
    fn text(&self) -> String {
        let Self { reason, details, advice, intersection } = self;
        let details = if details.is_empty() { String::new() } else { format!(" ({details})") };
        let flag = match intersection {
            true => ", or give --intersection to compare the cases whose goldens are the same",
            false => "",
        };
        format!("{reason}{details}: {advice}{flag}")
    }
}

/// Every reason why two sides may not be compared.
pub fn refusals(a: &Side, b: &Side, by: PairBy) -> Vec<Refusal> {
    let different = |reason: String, details: String, advice: &str| Refusal {
        reason,
        details,
        advice: advice.to_owned(),
        intersection: true,
    };
    let mut found = Vec::new();
    if by == PairBy::Twisted && b.twisted_from.as_ref() != Some(&a.digest) {
        found.push(not_twisted(a, b));
    }
    if by == PairBy::Twisted {
        found.extend([a, b].into_iter().filter_map(without_places));
    }
    if by == PairBy::SameSuite {
        let changed = a.cases.iter().filter(|(id, left)| b.cases.get(*id).is_some_and(|b| b.goldens != left.goldens));
        let changed = changed.count();
        if a.digest != b.digest {
            let [a, b] = [a, b].map(|side| side.digest.chars().take(19).collect::<String>());
            let reason = "they are about different suites or versions of one".to_owned();
            found.push(different(
                reason,
                format!("{a} and {b}"),
                "score both against the same suite, a stored run with `karat score SUITE --run RUN`",
            ));
        } else if changed > 0 {
            let reason = format!("the goldens of {} differ", count(changed, "case"));
            found.push(different(
                reason,
                String::new(),
                "score both against the same goldens, a stored run with `karat score SUITE --run RUN`",
            ));
        } else if !a.cases.keys().eq(b.cases.keys()) {
            let reason = "they were run on different cases of the suite".to_owned();
            found.push(different(reason, String::new(), "run both on the same ones"));
        }
    }
    if a.profile_digest != b.profile_digest {
        found.push(rules_differ(a, b));
    }
    found
}

/// A report without details does not say where goldens were reported, which is not the same as nowhere.
fn without_places(side: &Side) -> Option<Refusal> {
    let is_unknown = |case: &CaseSide| case.counted && !case.titles.is_empty() && case.found_in_place.is_empty();
    let (what, advice) = match side.kept {
        SideKind::Baseline => ("baseline", "compare with the report"),
        SideKind::Report if side.cases.values().any(is_unknown) => ("report", "write it again with --detail all"),
        SideKind::Report => return None,
    };
    Some(Refusal {
        reason: format!("the {what} of {} does not say where goldens were reported", side.label),
        details: String::new(),
        advice: advice.to_owned(),
        intersection: false,
    })
}

pub(super) fn pair<'a>(a: &'a Side, b: &'a Side, by: PairBy) -> Result<Paired<'a>> {
    let reasons: Vec<String> = refusals(a, b, by).iter().map(Refusal::text).collect();
    if !reasons.is_empty() {
        let reasons = reasons.join("; and ");
        return Err(Failure::bad_input(format!("{} and {} cannot be compared: {reasons}", a.label, b.label)));
    }
    let (mut cases, mut only_a, mut changed, mut copied) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, left) in &a.cases {
        match b.cases.get(id) {
            Some(right) if by == PairBy::Twisted && !right.twisted => copied.push(id.clone()),
            Some(right) if right.goldens == left.goldens => cases.push((id.as_str(), left, right)),
            Some(_) => changed.push(id.clone()),
            None => only_a.push(id.clone()),
        }
    }
    let only_b = b.cases.keys().filter(|id| !a.cases.contains_key(*id)).cloned().collect();
    if cases.is_empty() {
        return Err(Failure::bad_input(format!(
            "{} and {} have no case in common whose goldens are the same; score both against the same suite, a stored run with \
             `karat score SUITE --run RUN`",
            a.label, b.label
        )));
    }
    let whys = [
        (format!("only {} has them", a.label), only_a),
        (format!("only {} has them", b.label), only_b),
        ("their goldens differ".to_owned(), changed),
        ("they were copied without a change".to_owned(), copied),
    ];
    let left_out = whys.into_iter().filter(|(_, cases)| !cases.is_empty());
    Ok(Paired { a, b, by, cases, left_out: left_out.map(|(why, cases)| LeftOutV1 { why, cases }).collect() })
}

impl Paired<'_> {
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (a, b) = (self.a, self.b);
        for LeftOutV1 { why, cases } in &self.left_out {
            warnings.push(format!("{} left out: {why}", count(cases.len(), "case")));
        }
        warnings.extend(judges::labels_note(a, b));
        // A baseline does not say it.
        if a.recorded != b.recorded && [a, b].iter().all(|side| side.kept == SideKind::Report) {
            let words = |side: &Side| {
                side.recorded.as_ref().map_or_else(|| "was run".to_owned(), |own| format!("is {}", own.words()))
            };
            warnings.push(format!("{} {}, and {} {}", a.label, words(a), b.label, words(b)));
        }
        for side in [a, b] {
            if side.cases.values().any(|case| case.found.is_empty() && !case.titles.is_empty()) {
                warnings.push(format!("{}: {}", side.label, DetailV1::None.left_out("which goldens were found is")));
            }
        }
        if a.digest == b.digest && a.label == b.label {
            warnings.push(format!("{} is compared with itself", a.label));
        }
        warnings
    }
}

fn not_twisted(a: &Side, b: &Side) -> Refusal {
    let is_swapped = a.twisted_from.as_ref() == Some(&b.digest);
    let (reason, advice) = match &b.twisted_from {
        _ if is_swapped => ("the first is of the twisted suite", "name the report on the original first"),
        None => ("the second is of no twisted suite", "score the tool on what `karat suite twist` wrote"),
        Some(_) => (
            "the second is of a suite that was twisted from another, or from another version of this one",
            "twist the suite of the first report again, and score the tool on the result",
        ),
    };
    Refusal { reason: reason.to_owned(), details: String::new(), advice: advice.to_owned(), intersection: false }
}

fn rules_differ(a: &Side, b: &Side) -> Refusal {
    let reason = match a.profile == b.profile {
        true => format!("they were scored with different values of the profile {}", a.profile),
        false => format!("they were scored by different profiles, {} and {}", a.profile, b.profile),
    };
    let refusal = |details: String, advice: &str| Refusal {
        reason: reason.clone(),
        details,
        advice: advice.to_owned(),
        intersection: false,
    };
    if a.rules.is_empty() || b.rules.is_empty() {
        return refusal(String::new(), "score both by the same, or write the baseline anew");
    }
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let (a, b) = (flat(&a.rules), flat(&b.rules));
    let every: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let differ = every.into_iter().filter(|name| a.get(*name) != b.get(*name));
    let differences: Vec<String> =
        differ.map(|name| format!("{name} is {} and {}", shown(a.get(name)), shown(b.get(name)))).collect();
    let few = differences.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = if differences.len() > 3 {
        format!(" and {} more values differ", differences.len() - 3)
    } else {
        String::new()
    };
    refusal(format!("{few}{more}"), "score both by the same")
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
