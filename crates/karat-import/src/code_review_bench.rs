//! The code-review benchmark that keeps golden comments, candidates and evaluations in separate files.
//!
//! The files refer to each other by texts and URLs, and may come in any order. So they are collected first ([`Collected`]) and
//! assembled when all are read ([`assemble`]).

mod assemble;
mod pull_request_url;
mod shape;
#[cfg(test)]
mod tests;

use super::json::{self, Object};
use super::note_counter::NoteCounter;
use super::{ImportError, ImportedData, Input};
use karat_format::plain_id;
use shape::{Candidate, Document, Evaluation, GoldenPullRequest, ResultEntry, ToolEntries};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub(super) struct Collected {
    goldens: Vec<GoldenPullRequest>,
    reports: Vec<Report>,
    index: BTreeMap<(String, String), usize>,
    /// The folder of all results, which is named after the judge.
    folder: Option<PathBuf>,
    counter: NoteCounter,
}

#[derive(Debug)]
struct Report {
    url: String,
    tool: String,
    candidates: Option<Vec<Candidate>>,
    evaluation: Option<Evaluation>,
}

impl Collected {
    fn report(&mut self, url: &str, tool: String) -> Option<&mut Report> {
        let at = *self.index.entry((url.to_owned(), tool)).or_insert_with_key(|(url, tool)| {
            self.reports.push(Report { url: url.clone(), tool: tool.clone(), candidates: None, evaluation: None });
            self.reports.len() - 1
        });
        self.reports.get_mut(at)
    }

    fn judge(&self) -> String {
        let name = self.folder.as_deref().and_then(Path::file_name);
        name.map_or_else(|| "recorded".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// `golden_comments/*.json`, `results/<judge>/candidates.json` and `results/<judge>/evaluations.json`, in any mix.
pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let collected = &mut data.code_review_bench;
    match json::read::<Document>(input)? {
        Document::Goldens(mut goldens) => collected.goldens.append(&mut goldens),
        Document::Results(results) => {
            check_same_judge(path, collected)?;
            for (url, Object(ToolEntries(tools))) in results {
                for (name, entry) in tools {
                    let tool = plain_id(&name).unwrap_or_else(|| "(no name)".to_owned());
                    let given = match (entry, collected.report(&url, tool)) {
                        (ResultEntry::Candidates(candidates), Some(report)) => {
                            report.candidates.replace(candidates).is_some()
                        }
                        (ResultEntry::Evaluation(evaluation), Some(report)) => {
                            report.evaluation.replace(*evaluation).is_some()
                        }
                        (_, None) => false,
                    };
                    if given {
                        collected.counter.count("duplicate entry of a tool on a pull request; the last one is used");
                    }
                }
            }
        }
    }
    Ok(())
}

/// Judges saw different candidates of the same tools, so results of several judges cannot be imported together.
fn check_same_judge(path: &Path, collected: &mut Collected) -> Result<(), ImportError> {
    // Standard input has no folder, so its judge has no name.
    if path == Path::new("-") {
        return Ok(());
    }
    // A bare file name has no folder, so the path is resolved.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().unwrap_or(Path::new("")).to_owned();
    match &collected.folder {
        Some(earlier) if *earlier != folder => {
            let name =
                |folder: &Path| folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let message = format!(
                "these are results of the judge {:?}, after those of {:?}; each judge saw other candidates of the same tools, \
                 so import one judge's folder at a time",
                name(&folder),
                name(earlier)
            );
            Err(json::malformed(path, message))
        }
        _ => {
            collected.folder = Some(folder);
            Ok(())
        }
    }
}

pub(super) fn finish(data: &mut ImportedData) {
    assemble::assemble(std::mem::take(&mut data.code_review_bench), data);
}
