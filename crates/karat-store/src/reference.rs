//! Resolves run references: an id or unique prefix, a name, or `latest`.

use super::Store;
use super::error::StoreError;
use super::naming::{LATEST, RunId};
use super::runs::{RunInfo, no_run, outcomes, readable_infos};
use super::timestamp::format_utc;
use karat_format::document::suggest;

impl Store {
    /// Finds a run by reference.
    pub fn find(&mut self, reference: &str) -> Result<RunInfo, StoreError> {
        let id = self.resolve_run(reference)?;
        self.database.read(|database| {
            let (runs, _) = readable_infos(database)?;
            let mut run = runs.into_iter().find(|run| run.id == id).ok_or_else(|| no_run(&id))?;
            run.outcomes = outcomes(database, &id)?;
            Ok(run)
        })
    }

    /// Resolves a reference to a run id. No trial is read, so it works if trials, or rows of other runs, are damaged.
    pub fn resolve_run(&mut self, reference: &str) -> Result<RunId, StoreError> {
        let (runs, damage) = readable_infos(&mut self.database)?;
        match (choose(runs, reference), damage) {
            // The newest run may be the damaged one.
            (Ok(_), Some(damage)) if reference.trim().eq_ignore_ascii_case(LATEST) => Err(damage),
            (Err(_), Some(damage)) => Err(damage),
            (found, _) => found.map(|run| run.id),
        }
    }
}

fn choose(runs: Vec<RunInfo>, reference: &str) -> Result<RunInfo, StoreError> {
    let plain = reference.trim().to_lowercase();
    let by_name = runs.iter().position(|run| run.name.as_deref() == Some(reference));
    let found: Vec<usize> = match by_name {
        Some(index) => vec![index],
        // Sorted newest first.
        None if plain == LATEST => (0..runs.len().min(1)).collect(),
        None if plain.is_empty() => Vec::new(),
        None => (0..runs.len()).filter(|&i| runs[i].id.as_str().starts_with(&plain)).collect(),
    };
    match found.as_slice() {
        [one] => runs.into_iter().nth(*one).ok_or_else(|| unknown(&[], reference)),
        [] => Err(unknown(&runs, reference)),
        several => {
            let shown: Vec<String> = several.iter().take(10).map(|&i| described(&runs[i])).collect();
            let more = several.len().saturating_sub(10);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let candidates = format!("{}{more}", shown.join(", "));
            Err(StoreError::Ambiguous { reference: reference.to_owned(), candidates })
        }
    }
}

fn unknown(runs: &[RunInfo], reference: &str) -> StoreError {
    let words = runs.iter().flat_map(|run| run.name.as_deref().into_iter().chain([run.short_id.as_str()]));
    let near = suggest::nearest(reference, words.chain([LATEST]));
    let hint = match near {
        Some(_) if runs.is_empty() => ", since none is stored yet".to_owned(),
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    };
    StoreError::NoRun { reference: reference.to_owned(), hint }
}

fn described(run: &RunInfo) -> String {
    match &run.name {
        Some(name) => format!("{} ({name})", run.short_id),
        None => format!("{} (begun {})", run.short_id, format_utc(run.created_ms)),
    }
}
