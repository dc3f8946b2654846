//! Labelling: what is shown to a person, and the session in which they answer.

pub mod context;
pub mod page;
pub mod question;
pub mod session;
mod source;

pub use source::{
    AddLabelRequest, AddedLabel, ExportedLabels, LabelItems, LabelRequest, QueueRequest, add_label, export_labels,
    import_labels, label_queue, score_for_adoption,
};

#[cfg(test)]
mod tests;
