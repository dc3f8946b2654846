//! How people name a run: by its id or the beginning of it, by its name, or as the latest.

use super::Store;
use super::error::StoreError;
use super::moment::shown;
use super::naming::{LATEST, RunId};
use super::runs::{RunInfo, no_run, outcomes, sound_infos};
use crate::document::suggest;

impl Store {
    /// The run that a person means.
    pub fn find(&mut self, reference: &str) -> Result<RunInfo, StoreError> {
        let id = self.identify(reference)?;
        self.database.read(|database| {
            let (runs, _) = sound_infos(database)?;
            let mut run = runs.into_iter().find(|run| run.id == id).ok_or_else(|| no_run(&id))?;
            run.outcomes = outcomes(database, &id)?;
            Ok(run)
        })
    }

    /// The id of the run that a person means. No trial is looked at, so it is found where trials are damaged, and by its id or
    /// name where other runs are.
    pub fn identify(&mut self, reference: &str) -> Result<RunId, StoreError> {
        let (runs, damage) = sound_infos(&mut self.database)?;
        match (choose(runs, reference), damage) {
            // The newest may be the one that is damaged.
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
        // They come newest first.
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
        None => format!("{} (begun {})", run.short_id, shown(run.created_ms)),
    }
}
