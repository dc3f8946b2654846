//! Which trials a plan asks for, and in which order.

use crate::format::run::PlanV1;
use crate::run::record::TrialKey;
use std::collections::BTreeMap;

#[cfg(test)]
std::thread_local! {
    /// How often a plan was looked at on this thread.
    pub(super) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The trials of a plan.
pub(super) struct Planned {
    tools: BTreeMap<String, (usize, u32)>,
    cases: BTreeMap<String, usize>,
}

impl Planned {
    /// Looks at the whole plan, so it is done once for many trials.
    pub(super) fn of(plan: &PlanV1) -> Self {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        let tools = plan.tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), (place, tool.trials)));
        let cases = plan.cases.iter().enumerate().map(|(place, case)| (case.clone(), place));
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
