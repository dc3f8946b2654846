//! Which extras are worth a label: what narrows the bounds of precision most comes first.

use super::extra::{ExtraKey, ShownExtra};
use karat_core::pooling::{Pool, pooled};
use karat_core::profile::Profile;
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::doubt::widths_of_extras;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use std::collections::HashMap;

/// Extras that a person may be asked about at once, as they report the same thing.
#[derive(Clone, Debug)]
pub struct OpenExtra<'a> {
    /// The extras.
    pub pool: Pool<'a>,
    /// How far apart it keeps the bounds of mean precision, as long as nobody has looked at it.
    pub width: f64,
    /// Every text among them, each once: the one that is shown, then the others in the order of their keys.
    pub texts: Vec<(ExtraKey, ShownExtra)>,
}

impl OpenExtra<'_> {
    /// The one that is shown, with its key.
    pub fn shown(&self) -> Option<&(ExtraKey, ShownExtra)> {
        self.texts.first()
    }
}

/// All extras of these trials that a label could be about, whether anybody has labelled them or not. First comes what keeps the
/// bounds of mean precision apart most: what is reported often, and where little else is reported. Of equals, what most tools
/// report comes first.
pub fn extra_queue<'a>(
    suite: &Suite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    profile: &Profile,
) -> Vec<OpenExtra<'a>> {
    let pools = pooled(suite, trials, scorecard, profile.line.reach, |score| score.extras_to_label(profile));
    let widths = widths_of_extras(scorecard, suite, trials.len());
    let place = |trial: &'a Trial| (trial.case.as_str(), trial.tool.as_str(), trial.number);
    let widths: HashMap<(&str, &str, u32), f64> = trials.iter().map(place).zip(widths).collect();
    let open = |pool: Pool<'a>| {
        let mut parts: Vec<f64> = pool.members.iter().filter_map(|m| widths.get(&place(m.trial)).copied()).collect();
        // In an order that does not depend on that of the trials, so that neither does the sum.
        parts.sort_by(f64::total_cmp);
        let width = parts.iter().sum();
        let case = &suite.cases[pool.case].id;
        let keyed = |finding| {
            let shown = ShownExtra::of(case, finding);
            (shown.key(), shown)
        };
        let lead = keyed(pool.lead);
        let mut texts: Vec<(ExtraKey, ShownExtra)> = pool.members.iter().map(|member| keyed(member.finding)).collect();
        texts.sort_by(|(a, _), (b, _)| (*a != lead.0, a).cmp(&(*b != lead.0, b)));
        texts.dedup_by(|(a, _), (b, _)| a == b);
        OpenExtra { pool, width, texts }
    };
    let mut queue: Vec<OpenExtra<'a>> = pools.into_iter().map(open).collect();
    queue.sort_by(|a, b| b.width.total_cmp(&a.width));
    queue
}
