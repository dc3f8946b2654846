//! Executes the trials of a run: finds the tool and its case, and prepares the checkout.

use crate::checkout::Template;
use crate::tool::run_context::RunContext;
use crate::tool::{ReadyError, Task, TrialRunner};
use karat_core::ids::{CaseId, ToolName};
use karat_core::suite::Case;
use karat_store::record::TrialRecord;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The tools of a run.
pub(crate) type Runners<'a> = HashMap<ToolName, Box<dyn TrialRunner + 'a>>;

/// All tools of a run, and the cases that they run on.
pub(crate) struct Executor<'a> {
    runners: Runners<'a>,
    cases: HashMap<&'a CaseId, CaseSlot<'a>>,
    context: &'a RunContext<'a>,
}

struct CaseSlot<'a> {
    case: &'a Case,
    checkout: Mutex<Checkout>,
}

/// The checkout of a case, prepared when first needed and dropped after its last use.
struct Checkout {
    template: Option<Arc<Template>>,
    uses_left: usize,
}

impl<'a> Executor<'a> {
    /// An executor for these tasks.
    pub(crate) fn new(runners: Runners<'a>, tasks: &[Task], context: &'a RunContext<'a>) -> Self {
        let mut uses: HashMap<&CaseId, usize> = HashMap::new();
        for task in tasks {
            if runners.get(&task.key.tool).is_some_and(|runner| runner.needs_checkout()) {
                *uses.entry(&task.key.case).or_default() += 1;
            }
        }
        let with_code = context.loaded.suite.cases.iter().filter(|case| context.loaded.has_tree(&case.id));
        let slots = with_code.map(|case| {
            let uses_left = uses.get(&case.id).copied().unwrap_or_default();
            (&case.id, CaseSlot { case, checkout: Mutex::new(Checkout { template: None, uses_left }) })
        });
        Self { cases: slots.collect(), runners, context }
    }

    /// Executes one trial; `None` if it was cancelled. An error is a failure of Karat or the system, never of the tool.
    pub(crate) fn execute(&self, task: &Task) -> Result<Option<TrialRecord>, ReadyError> {
        let started_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
        let Some(runner) = self.runners.get(&task.key.tool) else { return Ok(None) };
        let slot = self.cases.get(&task.key.case);
        let template = match slot.filter(|_| runner.needs_checkout()) {
            Some(slot) => self.template(slot).map_err(|source| {
                let case = slot.case.id.to_string();
                ReadyError::Checkout { case, source }
            })?,
            None => None,
        };
        let mut record = runner.run_trial(task, slot.map(|slot| slot.case), template.as_deref())?;
        if let Some(record) = &mut record {
            record.detail.started_ms = started_ms;
        }
        Ok(record)
    }

    /// The template of a case. The first trial prepares it while others wait.
    fn template(&self, slot: &CaseSlot<'_>) -> io::Result<Option<Arc<Template>>> {
        let mut checkout = slot.checkout.lock().unwrap_or_else(PoisonError::into_inner);
        let template = match checkout.template.take() {
            Some(template) => Some(template),
            None => Template::build(self.context.loaded, slot.case)?.map(Arc::new),
        };
        checkout.uses_left = checkout.uses_left.saturating_sub(1);
        if checkout.uses_left > 0 {
            checkout.template.clone_from(&template);
        }
        Ok(template)
    }
}
