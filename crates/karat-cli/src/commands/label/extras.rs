//! `karat label extras`.

use super::annotator;
use super::ask::Table;
use super::label_source::LabelSource;
use crate::args::LabelExtrasArgs;
use crate::exit::{Exit, Failure};
use crate::store_path;
use std::path::Path;

pub(super) fn run(args: &LabelExtrasArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let (seen, profile) = LabelSource::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let scored = seen.scored(profile, &args.rules, &args.ask, stated)?;
    let (queue, folder) = (scored.queue(args.min_tools), store_path::folder(stated));
    let (loaded, folder, noun) = (&scored.loaded, folder.as_path(), "extras");
    let flags = scored.flags.clone();
    Table { queue: &queue, loaded, folder, flags, noun, skip: args.skip, json: args.json }.serve(annotator)?;
    Ok(Exit::Ok)
}
