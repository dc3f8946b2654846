//! `karat label audits`.

use super::annotator;
use super::ask::Table;
use super::label_source::LabelSource;
use crate::args::LabelAuditsArgs;
use crate::exit::{Exit, Failure};
use crate::store_path;
use karat::label::session::{self, Queue};
use std::path::Path;

pub(super) fn run(args: &LabelAuditsArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let (seen, profile) = LabelSource::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let (suite, trials, judgements) = (&seen.loaded.suite, &seen.trials, &seen.judgements);
    let queue = Queue::audits(session::LabelScope { suite, trials, judgements, profile: &profile });
    let (folder, flags) = (store_path::folder(stated), seen.flags.clone());
    let (loaded, folder, noun) = (&seen.loaded, folder.as_path(), "findings");
    Table { queue: &queue, loaded, folder, flags, noun, skip: args.skip, json: args.json }.serve(annotator)?;
    Ok(Exit::Ok)
}
