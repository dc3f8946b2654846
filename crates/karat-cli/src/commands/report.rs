//! `karat report`: a stored report, drawn again.

use crate::args::{ReportArgs, RuleArgs};
use crate::exit::{Exit, Failure};
use crate::{inputs, outputs, stored};
use karat::scoring;
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let report = if stored::names_run(&args.report, args.store.folder.as_deref()) {
        let mut store = stored::open(args.store.folder.as_deref())?;
        let mut run = stored::run(&mut store, &args.report)?;
        let profile = run.profile(&RuleArgs { profile: None, sets: Vec::new() })?;
        let work = run.work(profile, None);
        scoring::run(&run.loaded, work).report
    } else {
        inputs::report(Path::new(&args.report))?
    };
    outputs::write(&report, &args.output)?;
    Ok(Exit::Ok)
}
