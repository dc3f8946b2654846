//! `karat label extras`: one finding that reports no golden after the other, and nothing about who reported it.

use super::annotator;
use super::ask::Table;
use super::seen::Seen;
use crate::args::LabelExtrasArgs;
use crate::exit::{Exit, Failure};
use crate::store_place;
use std::path::Path;

pub(super) fn run(args: &LabelExtrasArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let (seen, profile) = Seen::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let scored = seen.scored(profile, &args.rules, &args.ask, stated)?;
    let (queue, folder) = (scored.queue(args.min_tools), store_place::folder(stated));
    let (loaded, folder, noun) = (&scored.loaded, folder.as_path(), "extras");
    let flags = scored.flags.clone();
    Table { queue: &queue, loaded, folder, flags, noun, skip: args.skip, json: args.json }.serve(annotator)?;
    Ok(Exit::Ok)
}
