//! Whether a golden was found: any of its pairs matched. A trial without findings found nothing, which needs no judgement.

use super::opinions::{Item, Rated, RatingValue};
use karat_core::judgement::{Decision, Judgement};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_core::wording::plural;
use karat_format::diagnostic::Faults;
use karat_format::recorded::{NamedLines, read_trials};
use std::collections::{BTreeMap, BTreeSet};

/// Which goldens there were to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trials<'a> {
    pub(super) suite: &'a Suite,
    /// May come from several submissions.
    pub(super) trials: &'a [Trial],
}

/// Reads submissions one by one, because the judges of the same trials may have seen different submissions.
pub(super) fn read_each(inputs: Vec<NamedLines<'_>>, suite: &Suite) -> Result<Vec<Trial>, Faults> {
    let (mut trials, mut faults) = (Vec::new(), Vec::new());
    for input in inputs {
        match read_trials(vec![input], Some(suite)) {
            Ok(own) => trials.extend(own),
            Err(own) => faults.extend(own.0),
        }
    }
    if faults.is_empty() { Ok(trials) } else { Err(Faults(faults)) }
}

/// Case, tool and trial.
type Key<'a> = (&'a str, &'a str, u32);

#[derive(Default)]
struct Voice<'a> {
    found: bool,
    explanation: Option<&'a String>,
}

pub(super) fn found(judgements: &[Judgement], trials: Option<&Trials<'_>>, notes: &mut Vec<String>) -> Vec<Rated> {
    let mut voices: BTreeMap<(Key<'_>, &str, &str), Voice<'_>> = BTreeMap::new();
    let mut judged: BTreeMap<Key<'_>, BTreeSet<&str>> = BTreeMap::new();
    let mut nameless = 0;
    for judgement in judgements {
        let Decision::Pair(pair) = &judgement.decision else { continue };
        let (key, judge) = (key(judgement), judgement.judge.as_str());
        judged.entry(key).or_default().insert(judge);
        let Some(golden) = &pair.golden else {
            nameless += usize::from(pair.matched);
            continue;
        };
        let voice = voices.entry((key, golden.as_str(), judge)).or_default();
        // The explanation of the first match, else of the last pair that did not match.
        if !voice.found {
            voice.explanation = pair.explanation.as_ref();
        }
        voice.found |= pair.matched;
    }
    if judged.is_empty() {
        return targets(judgements);
    }
    if nameless > 0 {
        notes.push(format!("{} no golden and count for none", plural(nameless, "match names", "matches name")));
    }
    if let Some(trials) = trials {
        fill(&mut voices, &judged, trials, notes);
    }
    let rated = |((key, golden, judge), voice): ((Key<'_>, &str, &str), Voice<'_>)| Rated {
        item: Item { golden: Some(golden.to_owned()), ..Item::for_trial(key.0, key.1, key.2) },
        rater: judge.to_owned(),
        value: RatingValue::Listed(usize::from(voice.found)),
        explanation: voice.explanation.cloned(),
    };
    voices.into_iter().map(rated).collect()
}

fn key(judgement: &Judgement) -> Key<'_> {
    (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial)
}

/// Adds implied decisions: a judge of a trial found no other goldens in it, and a trial without findings or judgements found
/// none. A judge who decided nothing about a trial that others judged has no opinion.
fn fill<'a>(
    voices: &mut BTreeMap<(Key<'a>, &'a str, &'a str), Voice<'a>>,
    judged: &BTreeMap<Key<'a>, BTreeSet<&'a str>>,
    trials: &Trials<'a>,
    notes: &mut Vec<String>,
) {
    let judges: BTreeSet<&str> = judged.values().flatten().copied().collect();
    let cases: BTreeMap<&str, &Case> = trials.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut silent: BTreeMap<Key<'_>, bool> = BTreeMap::new();
    for trial in trials.trials {
        let key = (trial.case.as_str(), trial.tool.as_str(), trial.number);
        *silent.entry(key).or_default() |= trial.findings.is_empty();
    }
    let mut undecided = 0;
    for (key, silent) in &silent {
        let deciders = judged.get(key);
        for judge in &judges {
            if !silent && deciders.is_some_and(|deciders| !deciders.contains(judge)) {
                undecided += 1;
                continue;
            }
            for golden in cases.get(key.0).into_iter().flat_map(|case| &case.goldens) {
                voices.entry((*key, golden.id.as_str(), judge)).or_default();
            }
        }
    }
    if undecided > 0 {
        let times = plural(undecided, "time", "times");
        notes.push(format!("{times} a judge decided nothing about a trial that others judged; treated as missing"));
    }
    let foreign = judged.keys().filter(|key| !silent.contains_key(*key)).count();
    if foreign > 0 {
        notes.push(format!("{foreign} judged trials are not in the submissions; of those, only judged goldens count"));
    }
}

/// For audits: whether the target was found.
fn targets(judgements: &[Judgement]) -> Vec<Rated> {
    let rated = |judgement: &Judgement| {
        let Decision::Audit(audit) = &judgement.decision else { return None };
        let (case, tool, trial) = key(judgement);
        let (item, rater) = (Item::for_trial(case, tool, trial), judgement.judge.to_string());
        let value = RatingValue::Listed(usize::from(audit.target.as_ref()?.found));
        Some(Rated { item, rater, value, explanation: audit.explanation.clone() })
    };
    judgements.iter().filter_map(rated).collect()
}
