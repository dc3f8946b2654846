//! Which extras are worth a label, what most tools report first.

use super::extra::{ExtraKey, ShownExtra};
use karat_core::pooling::{Pool, pooled};
use karat_core::profile::Profile;
use karat_core::scorecard::Scorecard;
use karat_core::suite::Suite;
use karat_core::trial::Trial;

/// Extras that a person may be asked about at once, as they report the same thing.
#[derive(Clone, Debug)]
pub struct OpenExtra<'a> {
    /// The extras.
    pub pool: Pool<'a>,
    /// Every text among them, each once: the one that is shown, then the others in the order of their keys.
    pub texts: Vec<(ExtraKey, ShownExtra)>,
}

impl OpenExtra<'_> {
    /// The one that is shown, with its key.
    pub fn shown(&self) -> Option<&(ExtraKey, ShownExtra)> {
        self.texts.first()
    }
}

/// All extras of these trials that a label could be about, whether anybody has labelled them or not.
pub fn extra_queue<'a>(
    suite: &Suite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    profile: &Profile,
) -> Vec<OpenExtra<'a>> {
    let pools = pooled(suite, trials, scorecard, profile.line.reach, |score| score.extras_to_label(profile));
    let open = |pool: Pool<'a>| {
        let case = &suite.cases[pool.case].id;
        let keyed = |finding| {
            let shown = ShownExtra::of(case, finding);
            (shown.key(), shown)
        };
        let lead = keyed(pool.lead);
        let mut texts: Vec<(ExtraKey, ShownExtra)> = pool.members.iter().map(|member| keyed(member.finding)).collect();
        texts.sort_by(|(a, _), (b, _)| (*a != lead.0, a).cmp(&(*b != lead.0, b)));
        texts.dedup_by(|(a, _), (b, _)| a == b);
        OpenExtra { pool, texts }
    };
    pools.into_iter().map(open).collect()
}
