//! The trials a plan asks for, in order.

use crate::record::TrialKey;
use karat_format::run::PlanV1;
use std::collections::BTreeMap;

#[cfg(test)]
std::thread_local! {
    /// Counts calls of `Planned::new` on this thread, for tests.
    pub(super) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(super) struct Planned {
    tools: BTreeMap<String, (usize, u32)>,
    cases: BTreeMap<String, usize>,
}

impl Planned {
    /// Indexes the whole plan, so call it once for many trials.
    pub(super) fn new(plan: &PlanV1) -> Self {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        let tools = plan.tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), (place, tool.trials)));
        let cases = plan.cases.iter().enumerate().map(|(place, case)| (case.clone(), place));
        Self { tools: tools.collect(), cases: cases.collect() }
    }

    pub(super) fn total(&self) -> i64 {
        let cases = i64::try_from(self.cases.len()).unwrap_or(i64::MAX);
        self.tools.values().map(|(_, trials)| i64::from(*trials).saturating_mul(cases)).fold(0, i64::saturating_add)
    }

    /// A trial's position in the plan: tool, case, number; `None` if it is not planned.
    pub(super) fn place(&self, key: &TrialKey) -> Option<(usize, usize, u32)> {
        let (tool, trials) = self.tools.get(key.tool.as_str())?;
        let case = self.cases.get(key.case.as_str())?;
        (1..=*trials).contains(&key.number).then_some((*tool, *case, key.number))
    }
}
