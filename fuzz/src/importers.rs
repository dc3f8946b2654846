//! Every importer, by the first byte.

use super::records;
use karat_core::ids::CaseId;
use karat_import::placement::{CaseRule, Placement, place};
use karat_import::{IMPORTERS, ImportedData, input};
use std::path::Path;

/// What an importer takes can be placed, written as a submission, and read again unchanged.
pub fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let importer = &IMPORTERS[usize::from(choice) % IMPORTERS.len()];
    // One format tells its files apart by name.
    let name = ["in.json", "candidates.json", "evaluations.json"][usize::from(choice) / IMPORTERS.len() % 3];
    let mut harvest = ImportedData::default();
    let input = input::from_reader(Path::new(name), Box::new(bytes));
    match input.and_then(|input| importer.read(input, &mut harvest)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(()) => {
            importer.finish(&mut harvest);
            let how = CaseRule::One(CaseId::new("case"));
            let placed =
                place(harvest, &Placement { suite: None, case_rule: how, tool: None, trial: 1 }, &|_, _| false);
            let Ok(placed) = placed else { return };
            records::submission_survives(&placed.trials);
            records::judgements_survive(&placed.judgements);
        }
    }
}
