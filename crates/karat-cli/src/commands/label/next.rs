//! `karat label next`.

use super::ask::Table;
use super::label_source::LabelSource;
use super::{annotator, sample};
use crate::args::LabelNextArgs;
use crate::exit::{Exit, Failure};
use crate::store_path;
use karat::label::context::LabelContext;
use std::path::Path;

pub(super) fn run(args: &LabelNextArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let sample = sample(&args.sample)?;
    let (seen, profile) = LabelSource::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let drawn = args.sample.probability.map(|share| format!(" --sample {share} --seed {}", args.sample.seed));
    let flags = format!("{}{}", seen.flags, drawn.unwrap_or_default());
    let bench = LabelContext::new(seen.loaded, seen.trials, profile, seen.judgements)?;
    let (queue, folder) = (bench.pairs(sample)?, store_path::folder(stated));
    let (loaded, folder, noun) = (&bench.loaded, folder.as_path(), "pairs");
    Table { queue: &queue, loaded, folder, flags, noun, skip: args.skip, json: args.json }.serve(annotator)?;
    Ok(Exit::Ok)
}
