//! Labelling: what is shown to a person, and the session in which they answer.

pub mod context;
pub mod page;
mod record;
mod run_items;
pub mod session;
mod source;

pub use record::{AddLabelRequest, AddedLabel, ExportedLabels, add_label, export_labels, import_labels};
pub use run_items::{ConfirmedExtras, RunItems};
pub use source::{AdoptRequest, LabelItems, LabelRequest, QueueRequest, label_queue, score_for_adoption};

#[cfg(test)]
mod tests;
