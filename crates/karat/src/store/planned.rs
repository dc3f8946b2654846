//! Which trials a plan asks for, and in which order.

use crate::format::run::PlanV1;
use crate::run::record::TrialKey;
use std::collections::BTreeMap;

/// The trials of a plan.
pub(super) struct Planned<'p> {
    tools: BTreeMap<&'p str, (usize, u32)>,
    cases: BTreeMap<&'p str, usize>,
}

impl<'p> Planned<'p> {
    pub(super) fn of(plan: &'p PlanV1) -> Self {
        let tools = plan.tools.iter().enumerate().map(|(place, tool)| (tool.name.as_str(), (place, tool.trials)));
        let cases = plan.cases.iter().enumerate().map(|(place, case)| (case.as_str(), place));
        Self { tools: tools.collect(), cases: cases.collect() }
    }

    /// How many trials it comes to.
    pub(super) fn total(&self) -> i64 {
        let cases = i64::try_from(self.cases.len()).unwrap_or(i64::MAX);
        self.tools.values().map(|(_, trials)| i64::from(*trials).saturating_mul(cases)).fold(0, i64::saturating_add)
    }

    /// Where a trial stands in the order of the plan: tool, case, number. `None` where the plan does not ask for it.
    pub(super) fn place(&self, key: &TrialKey) -> Option<(usize, usize, u32)> {
        let (tool, trials) = self.tools.get(key.tool.as_str())?;
        let case = self.cases.get(key.case.as_str())?;
        (1..=*trials).contains(&key.number).then_some((*tool, *case, key.number))
    }
}
