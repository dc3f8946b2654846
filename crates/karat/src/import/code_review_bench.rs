//! The code-review benchmark that keeps golden comments, candidates and evaluations in files of their own.
//!
//! All three kinds of file refer to each other by texts and addresses, and may come in any order. So they are collected first
//! ([`Collected`]) and put together when all are read ([`assemble`]).

mod address;
mod assemble;
mod shape;
#[cfg(test)]
mod tests;

use super::json;
use super::tally::Tally;
use super::{Harvest, ImportError, Importer, Input};
use crate::format::plain_id;
use shape::{Candidate, Document, Evaluation, GoldenPullRequest, Said};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `golden_comments/*.json`, `results/<judge>/candidates.json` and `results/<judge>/evaluations.json`, in any mix.
pub(super) const IMPORTER: Importer = Importer {
    name: "code-review-bench",
    description: "code-review-bench golden_comments/*.json, and candidates.json and evaluations.json of one judge",
    import,
    finish: Some(finish),
};

/// What the files said, until all are read.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Pull requests with goldens, in the order of the files.
    goldens: Vec<GoldenPullRequest>,
    /// What each tool said of each pull request, and what the judge said of that.
    reports: Vec<Report>,
    index: BTreeMap<(String, String), usize>,
    /// The folder that all results come from; its name is the judge's.
    folder: Option<PathBuf>,
    tally: Tally,
}

/// What is known of one tool on one pull request.
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

fn import(input: Input<'_>, harvest: &mut Harvest) -> Result<(), ImportError> {
    let path = input.path;
    let collected = &mut harvest.code_review_bench;
    match json::read::<Document>(input)? {
        Document::Goldens(mut goldens) => collected.goldens.append(&mut goldens),
        Document::Results(results) => {
            same_judge(path, collected)?;
            for (url, tools) in results {
                for (name, said) in tools {
                    let tool = plain_id(&name).unwrap_or_else(|| "(no name)".to_owned());
                    let given = match (said, collected.report(&url, tool)) {
                        (Said::Candidates(candidates), Some(report)) => report.candidates.replace(candidates).is_some(),
                        (Said::Evaluation(evaluation), Some(report)) => {
                            report.evaluation.replace(*evaluation).is_some()
                        }
                        (_, None) => false,
                    };
                    if given {
                        collected.tally.count("entry of a tool on a pull request given again; the last one counts");
                    }
                }
            }
        }
    }
    Ok(())
}

/// Judges saw different candidates of the same tools, so their results cannot be held together under the tools' names.
fn same_judge(path: &Path, collected: &mut Collected) -> Result<(), ImportError> {
    // Standard input has no folder, so its judge has no name.
    if path == Path::new("-") {
        return Ok(());
    }
    // A bare file name says nothing of its folder; the place it lies in does.
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = whole.parent().unwrap_or(Path::new("")).to_owned();
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

fn finish(harvest: &mut Harvest) -> Result<(), ImportError> {
    let collected = std::mem::take(&mut harvest.code_review_bench);
    assemble::assemble(collected, harvest);
    Ok(())
}
