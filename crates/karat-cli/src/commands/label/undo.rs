//! `karat label undo`.

use super::annotator;
use crate::args::LabelUndoArgs;
use crate::exit::{Exit, Failure};
use crate::store_path;
use crate::terminal::{print_json, tell};
use karat_core::wording::count;
use karat_store::timestamp::format_utc;
use std::path::Path;

pub(super) fn run(args: &LabelUndoArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let undone = store_path::open(stated)?.undo_label(&annotator, None, &|_| true)?;
    if args.json {
        print_json(&undone)?;
    }
    match undone {
        None => tell(&format!("{annotator} has no label to undo")),
        Some(undone) => {
            let first: String = undone.keys.first().map(|key| key.chars().take(12).collect()).unwrap_or_default();
            let more = match undone.keys.len().saturating_sub(1) {
                0 => String::new(),
                others => format!(" and {} that report the same", count(others, "text")),
            };
            let (said, noun, when) = (undone.said, undone.kind.noun(), format_utc(undone.made_ms));
            tell(&format!("undid the label {said} by {annotator} on the {noun} {first}{more}, made {when} UTC"));
        }
    }
    Ok(Exit::Ok)
}
