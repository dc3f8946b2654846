//! Checkouts of the cases that are being worked on, prepared when first needed and dropped when the last trial has had its copy.

use crate::checkout::Template;
use crate::suite::LoadedSuite;
use karat_core::ids::CaseId;
use karat_core::suite::Case;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The templates of a suite.
pub struct Templates<'a> {
    loaded: &'a LoadedSuite,
    cases: HashMap<&'a CaseId, (&'a Case, Mutex<Slot>)>,
}

struct Slot {
    prepared: Option<Option<Arc<Template>>>,
    left: usize,
}

impl<'a> Templates<'a> {
    /// Templates for these cases, each of which is going to be asked for so many times.
    pub fn new(loaded: &'a LoadedSuite, wanted: &HashMap<&CaseId, usize>) -> Self {
        let cases = loaded.suite.cases.iter().map(|case| {
            let left = wanted.get(&case.id).copied().unwrap_or_default();
            (&case.id, (case, Mutex::new(Slot { prepared: None, left })))
        });
        Self { loaded, cases: cases.collect() }
    }

    /// The template of a case; `None` if the case has no code. Whoever comes first prepares it, others wait for it.
    pub fn take(&self, case: &CaseId) -> io::Result<Option<Arc<Template>>> {
        let Some((case, slot)) = self.cases.get(case) else { return Ok(None) };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let template = match &slot.prepared {
            Some(template) => template.clone(),
            None => Template::build(self.loaded, case)?.map(Arc::new),
        };
        slot.left = slot.left.saturating_sub(1);
        slot.prepared = (slot.left > 0).then(|| template.clone());
        Ok(template)
    }
}
