//! Whether the same judges decided for both sides of a comparison.
//!
//! Where they did not, a difference may be theirs, so that there is no verdict unless it is asked for.

use super::side::{Side, SideKind};
use karat_format::comparison::{ConclusionV1, DifferenceV1, OtherJudgesV1};
use karat_format::report::JudgeIdentityV1;
use std::collections::BTreeSet;

const BECAUSE: &str = "other judges decided for one side than for the other";

/// In what the judges of both sides differ, if they do. `across` says that they are to be compared anyway.
pub(super) fn other_judges(a: &Side, b: &Side, across: bool) -> Option<OtherJudgesV1> {
    let (ours, theirs) = (named(a), named(b));
    let names = |judges: &[&str]| if judges.is_empty() { "no judge".to_owned() } else { judges.join(", ") };
    let [in_a, in_b] = [a, b].map(source);
    let reasons = match ours == theirs {
        true => changed(a, b),
        false => vec![format!("{} decided for {in_a}, {} for {in_b}", names(&ours), names(&theirs))],
    };
    if reasons.is_empty() {
        return None;
    }
    let own = OtherJudgesV1 {
        sentence: format!("judges differ: {}; a difference may be due to them", reasons.join(", ")),
        advice: advice(a, b, &ours, &theirs),
        compared: across,
    };
    Some(own)
}

/// That people labelled pairs for one side and not for the other, which is no other judge.
pub(super) fn labels_note(a: &Side, b: &Side) -> Option<String> {
    if a.judges == b.judges || named(a) != named(b) {
        return None;
    }
    let people = |side: &Side| match side.judges.iter().filter(|name| is_person(name)).cloned().collect::<Vec<_>>() {
        none if none.is_empty() => "nobody".to_owned(),
        some => some.join(", "),
    };
    let ([ours, theirs], [in_a, in_b]) = ([a, b].map(people), [a, b].map(source));
    Some(format!("labels differ: pairs were labelled by {ours} for {in_a}, by {theirs} for {in_b}"))
}

/// A metric of sides that other judges decided for.
pub(super) fn without_verdict(found: DifferenceV1) -> DifferenceV1 {
    DifferenceV1 { verdict: ConclusionV1::Inconclusive, unseen: None, because: BECAUSE.to_owned(), ..found }
}

fn source(side: &Side) -> &str {
    if side.source.is_empty() { &side.label } else { &side.source }
}

fn is_person(name: &str) -> bool {
    name.starts_with("human:")
}

/// The judges by name. People who labelled single pairs beside a judge correct it, and replace it nowhere.
fn named(side: &Side) -> Vec<&str> {
    let all = || side.judges.iter().map(String::as_str);
    let others: BTreeSet<&str> = all().filter(|name| !is_person(name)).collect();
    if others.is_empty() { BTreeSet::from_iter(all()).into_iter().collect() } else { others.into_iter().collect() }
}

/// What is not the same about judges of the same name. Where one side does not say it, as in older reports, it is not known to differ.
fn changed(a: &Side, b: &Side) -> Vec<String> {
    let [in_a, in_b] = [a, b].map(source);
    let mut reasons = Vec::new();
    for (name, ours) in &a.judge_identities {
        let Some(theirs) = b.judge_identities.get(name) else { continue };
        let JudgeIdentityV1 { provider, model, parameters, prompts, members, consensus } = ours;
        // Which of its prompts a judge needed depends on the cases.
        let family = |prompt: &str| prompt.split('/').next().unwrap_or_default().to_owned();
        let lacks = |one: &[String], other: &[String]| {
            let same_family = |prompt: &String| other.iter().any(|own| family(own) == family(prompt));
            one.iter().any(|prompt| !other.contains(prompt) && same_family(prompt))
        };
        let prompts_differ = lacks(prompts, &theirs.prompts) || lacks(&theirs.prompts, prompts);
        let parts = [
            (*provider != theirs.provider, "provider"),
            (*model != theirs.model, "model"),
            (*parameters != theirs.parameters, "parameters"),
            (prompts_differ, "prompt"),
            (*members != theirs.members, "members"),
            (*consensus != theirs.consensus, "consensus"),
        ];
        let parts: Vec<&str> = parts.into_iter().filter(|(differs, _)| *differs).map(|(_, part)| part).collect();
        let shown = |identity: &JudgeIdentityV1| match parts.as_slice() {
            ["model"] => identity.model.clone().unwrap_or_default(),
            ["prompt"] => identity.prompts.join(" and "),
            ["members"] => identity.members.join(" and "),
            ["consensus"] => identity.consensus.clone().unwrap_or_default(),
            _ => String::new(),
        };
        match (parts.is_empty(), shown(ours), shown(theirs)) {
            (true, ..) => {}
            (false, ours, theirs) if ours.is_empty() || theirs.is_empty() => {
                let other = parts.join(" and ");
                reasons.push(format!("{name} has other {other} in {in_b} than in {in_a}"));
            }
            (false, ours, theirs) => {
                reasons.push(format!("{name} has the {} {ours} in {in_a}, and {theirs} in {in_b}", parts.concat()));
            }
        }
    }
    reasons
}

/// Commands that judge one side as the other was. A judge of another name can be asked again; one that has changed since can not,
/// so that the earlier result is judged by the present one.
fn advice(a: &Side, b: &Side, ours: &[&str], theirs: &[&str]) -> String {
    let flag = |judges: &[&str]| if judges.is_empty() { "none".to_owned() } else { judges.join(",") };
    let again = |side: &Side, judges: &[&str], file: &str| {
        let run = if side.kept == SideKind::Baseline || is_file(source(side)) { "RUN" } else { source(side) };
        // A judge that was not asked gave its decisions in a file.
        let is_given = judges.iter().any(|name| ![a, b].iter().any(|side| side.judge_identities.contains_key(*name)));
        let given = if is_given { " --judgements FILE" } else { "" };
        format!("karat score {run} --judge {}{given} -o {file}", flag(judges))
    };
    if ours != theirs {
        return format!("judge both alike with `{}`", again(b, ours, "rejudged.json"));
    }
    let write = match a.kept {
        SideKind::Baseline => format!(" and `karat baseline write rejudged.json -o {}`", source(a)),
        SideKind::Report => String::new(),
    };
    format!("judge the earlier result again with `{}`{write}", again(a, theirs, "rejudged.json"))
}

fn is_file(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some()
}
