//! Karat as a library: everything with effects around the pure core.
//!
//! A use case is one function that takes a request and an observer and returns a report: [`evaluate::evaluate`], [`worker::work`],
//! [`score::score`], [`fix::fix`], [`explain::explain`], [`compare::compare_reports`], [`gate::gate`], [`power::estimate`],
//! [`assess::assess`], [`machine::check_machine`], [`judged_pairs::evaluate_judge`], [`calibrate::calibrate_matching`], [`label::label_queue`] and
//! [`label::add_label`]. A front end builds the request, calls the function and draws the report.

pub mod assess;
pub mod baseline;
pub mod calibrate;
pub mod case_observer;
pub mod checkout;
pub mod compare;
pub mod comparison;
pub mod copy_store;
pub mod evaluate;
pub mod expect;
pub mod explain;
pub mod failure;
pub mod finding_keys;
pub mod fix;
pub mod folder_state;
pub mod gate;
pub mod judge;
pub mod judged_pairs;
pub mod label;
pub mod machine;
pub mod plausibility;
pub mod power;
mod present_suite;
pub mod profile;
pub mod ranking;
pub mod report_source;
pub mod report_view;
pub mod run;
pub mod run_facts;
pub mod run_loader;
pub mod score;
mod score_by_case;
pub mod score_changes;
mod scratch;
mod sensitivity;
pub mod submissions;
pub mod suite;
pub mod tables;
pub mod tool;
pub mod trec;
mod trial_index;
pub mod work;
pub mod worker;

use karat_format::document::suggest::did_you_mean;

/// The continuation of a sentence about an unknown name: the question for the nearest known one, else `otherwise`.
pub fn suggestion<'n>(name: &str, known: impl IntoIterator<Item = &'n str>, otherwise: &str) -> String {
    did_you_mean(name, known).map_or_else(|| otherwise.to_owned(), |question| format!(", {question}"))
}
