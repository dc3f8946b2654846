//! `karat label undo`: somebody takes back what they said last.

use super::annotator;
use crate::args::LabelUndoArgs;
use crate::exit::{Exit, Failure};
use crate::store_place;
use crate::terminal::{print_json, tell};
use karat_core::wording::count;
use karat_store::timestamp::format_utc;
use std::path::Path;

pub(super) fn run(args: &LabelUndoArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let undone = store_place::open(stated)?.undo_label(&annotator, None, &|_| true)?;
    if args.json {
        print_json(&undone)?;
    }
    match undone {
        None => tell(&format!("{annotator} has said nothing that could be taken back")),
        Some(undone) => {
            let first: String = undone.keys.first().map(|key| key.chars().take(12).collect()).unwrap_or_default();
            let more = match undone.keys.len().saturating_sub(1) {
                0 => String::new(),
                others => format!(" and of {} that report the same", count(others, "text")),
            };
            let (said, noun, when) = (undone.said, undone.kind.noun(), format_utc(undone.made_ms));
            tell(&format!("{annotator} no longer says {said} of the {noun} {first}{more}, said on {when} UTC"));
        }
    }
    Ok(Exit::Ok)
}
