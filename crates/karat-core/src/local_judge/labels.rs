//! Derives pair labels from judgements.

use crate::ids::{CaseId, JudgeName, ToolName};
use crate::judgement::{Decision, Judgement};
use crate::matching::decisions::Decisions;
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The trials that judgements are about, with what is known of their pairs.
#[derive(Debug, Default)]
pub struct Labels<'a> {
    /// Trials with decisions, and trials without findings of judged cases; in the order they were given.
    pub trials: Vec<LabelledTrial<'a>>,
    /// Who decided.
    pub judges: BTreeSet<JudgeName>,
    /// Unjudged trials with findings; they are left out.
    pub unjudged: usize,
    /// Pair judgements that name a trial or a finding that is not there.
    pub strangers: usize,
}

type TrialKey<'k> = (&'k CaseId, &'k ToolName, u32);

/// A trial with what is known of its pairs.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LabelledTrial<'a> {
    pub case: &'a Case,
    pub trial: &'a Trial,
    /// What judges decided, all findings of the first golden first. A finding that matches nothing matches no golden.
    pub stated: Vec<Option<bool>>,
    /// Whether something was decided about every finding. Then a golden that none matched was not found.
    pub whole: bool,
}

impl<'a> Labels<'a> {
    /// Puts judgements to the trials they are about. People go before models, and the majority decides.
    pub fn new(suite: &'a Suite, trials: &'a [Trial], judgements: &[Judgement]) -> Self {
        let cases: BTreeMap<&CaseId, &Case> = suite.cases.iter().map(|case| (&case.id, case)).collect();
        let mut by_trial: BTreeMap<TrialKey<'_>, Vec<(usize, &Judgement)>> = BTreeMap::new();
        let mut judged = BTreeSet::new();
        let mut labels = Self::default();
        for (index, judgement) in judgements.iter().enumerate() {
            if matches!(judgement.decision, Decision::Pair(_)) {
                let key = (&judgement.case, &judgement.tool, judgement.trial);
                by_trial.entry(key).or_default().push((index, judgement));
                judged.insert(&judgement.case);
                labels.judges.insert(judgement.judge.clone());
            }
        }
        for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported) {
            let Some(case) = cases.get(&trial.case) else { continue };
            let of_trial = by_trial.remove(&(&trial.case, &trial.tool, trial.number)).unwrap_or_default();
            let decisions = Decisions::settle(&of_trial, &case.goldens, &trial.findings);
            labels.strangers += decisions.unknown.len();
            if of_trial.len() == decisions.unknown.len() && !trial.findings.is_empty() {
                labels.unjudged += 1;
            } else if judged.contains(&trial.case) {
                labels.trials.push(LabelledTrial::new(case, trial, &decisions));
            }
        }
        labels.strangers += by_trial.values().map(Vec::len).sum::<usize>();
        labels
    }
}

impl<'a> LabelledTrial<'a> {
    fn new(case: &'a Case, trial: &'a Trial, decisions: &Decisions<'_>) -> Self {
        let findings = 0..trial.findings.len();
        let pairs = (0..case.goldens.len()).flat_map(|g| findings.clone().map(move |f| (g, f)));
        let named: BTreeSet<usize> = decisions.pairs.keys().map(|(_, finding)| *finding).collect();
        Self {
            case,
            trial,
            stated: pairs.map(|(g, f)| decisions.pair(g, f).map(|decided| decided.matched)).collect(),
            whole: findings.clone().all(|f| decisions.unnamed.contains_key(&f) || named.contains(&f)),
        }
    }

    /// The labels of a golden's pairs.
    pub fn of_golden(&self, golden: usize) -> &[Option<bool>] {
        let width = self.trial.findings.len();
        self.stated.get(golden * width..(golden + 1) * width).unwrap_or_default()
    }

    /// Whether a golden was found; nothing where that cannot be known.
    pub fn found(&self, golden: usize) -> Option<bool> {
        let labels = self.of_golden(golden);
        let known = self.whole || labels.iter().any(Option::is_some);
        known.then(|| labels.contains(&Some(true)))
    }

    /// What is known of all pairs, by statement or because a golden was not found; ordered as `stated`.
    pub fn known(&self) -> Vec<Option<bool>> {
        (0..self.case.goldens.len())
            .flat_map(|golden| {
                let missed = self.whole && self.found(golden) == Some(false);
                self.of_golden(golden).iter().map(move |label| label.or(missed.then_some(false)))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
