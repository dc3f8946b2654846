//! Orders extras for labelling: those that would narrow the bounds of precision most come first.

use super::extra::{ExtraKey, ExtraSubject};
use karat_core::pooling::{Pool, pool_extras};
use karat_core::profile::Profile;
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::label_priority::extra_bound_widths;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use std::collections::HashMap;

/// Extras that report the same problem and are labelled together.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenExtra<'a> {
    pub pool: Pool<'a>,
    /// The width it adds to the bounds of mean precision while unlabelled.
    pub width: f64,
    /// The distinct texts: the one shown, then the others in key order.
    pub texts: Vec<(ExtraKey, ExtraSubject)>,
}

impl OpenExtra<'_> {
    /// The text to show, with its key.
    pub fn representative(&self) -> Option<&(ExtraKey, ExtraSubject)> {
        self.texts.first()
    }
}

/// All extras of these trials, labelled or not, widest first; ties go to what most tools report.
pub fn extra_queue<'a>(
    suite: &Suite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    profile: &Profile,
) -> Vec<OpenExtra<'a>> {
    let pools = pool_extras(suite, trials, scorecard, profile.line.reach, |score| score.extras_to_label(profile));
    let widths = extra_bound_widths(scorecard, suite, trials.len());
    let place = |trial: &'a Trial| (trial.case.as_str(), trial.tool.as_str(), trial.number);
    let widths: HashMap<(&str, &str, u32), f64> = trials.iter().map(place).zip(widths).collect();
    let open = |pool: Pool<'a>| {
        let mut parts: Vec<f64> = pool.members.iter().filter_map(|m| widths.get(&place(m.trial)).copied()).collect();
        // Sorted, so that the sum does not depend on the order of trials.
        parts.sort_by(f64::total_cmp);
        let width = parts.iter().sum();
        let case = &suite.cases[pool.case].id;
        let keyed = |finding| {
            let shown = ExtraSubject::new(case, finding);
            (shown.key(), shown)
        };
        let lead = keyed(pool.lead);
        let mut texts: Vec<(ExtraKey, ExtraSubject)> =
            pool.members.iter().map(|member| keyed(member.finding)).collect();
        texts.sort_by(|(a, _), (b, _)| (*a != lead.0, a).cmp(&(*b != lead.0, b)));
        texts.dedup_by(|(a, _), (b, _)| a == b);
        OpenExtra { pool, width, texts }
    };
    let mut queue: Vec<OpenExtra<'a>> = pools.into_iter().map(open).collect();
    queue.sort_by(|a, b| b.width.total_cmp(&a.width));
    queue
}
