//! Scores a judge's answers to probes.

use super::{Probe, ProbeKind};
use crate::stats::interval::wilson;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often something went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ErrorRate {
    pub n: usize,
    pub wrong: usize,
    /// The share; null where it could not have.
    pub rate: Option<f64>,
    /// Its 95 % interval, by Wilson.
    pub ci: Option<[f64; 2]>,
    /// Probes that the judge gave no answer to; they are not among `n`.
    pub unjudged: usize,
}

/// How a judge did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeScores {
    /// By kind of probe. For plain pairs, how often the answer was wrong; for disturbed ones, how often a right answer to the
    /// plain pair changed.
    pub kinds: BTreeMap<String, ErrorRate>,
    /// All disturbed pairs together: how often the judge was fooled.
    pub fooled: ErrorRate,
}

/// Scores the answers to probes, given in the same order; `None` is no answer.
pub fn score(probes: &[Probe<'_>], answers: &[Option<bool>]) -> ProbeScores {
    let mut counted: BTreeMap<ProbeKind, (usize, usize, usize)> = BTreeMap::new();
    for (probe, answer) in probes.iter().zip(answers) {
        let (n, wrong, unjudged) = counted.entry(probe.kind).or_default();
        let Some(answer) = answer else {
            *unjudged += 1;
            continue;
        };
        // Whoever gets the plain pair wrong was not fooled by what was added to it.
        let countable = probe.plain.is_none_or(|plain| answers.get(plain).copied().flatten() == Some(probe.matches));
        if countable {
            *n += 1;
            *wrong += usize::from(*answer != probe.matches);
        }
    }
    let kinds = counted.iter().map(|(kind, counts)| (kind.name().to_owned(), rate(*counts))).collect();
    let plain = [ProbeKind::KnownRight, ProbeKind::KnownWrong];
    let fooled = counted
        .iter()
        .filter(|(kind, _)| !plain.contains(kind))
        .fold((0, 0, 0), |sum, (_, counts)| (sum.0 + counts.0, sum.1 + counts.1, sum.2 + counts.2));
    ProbeScores { kinds, fooled: rate(fooled) }
}

fn rate((n, wrong, unjudged): (usize, usize, usize)) -> ErrorRate {
    let share = (n > 0).then(|| wrong as f64 / n as f64);
    let ci = wilson(wrong, n, 0.95).ok().map(|interval| [interval.low, interval.high]);
    ErrorRate { n, wrong, rate: share, ci, unjudged }
}
