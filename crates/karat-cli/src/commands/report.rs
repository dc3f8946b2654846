//! `karat report`: a stored report, drawn again.

use super::assess;
use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::{inputs, outputs, store_place, stored};
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let path = Path::new(&args.report);
    let is_run = store_place::names_run(&args.report, args.store.folder.as_deref());
    if let Some(report) = (!is_run).then(|| inputs::assessment(path)).transpose()?.flatten() {
        assess::redraw(&report, &args.output)?;
        return Ok(Exit::Ok);
    }
    outputs::check(&args.output)?;
    let report = match is_run {
        true => stored::report(&mut store_place::open(args.store.folder.as_deref())?, &args.report)?.1,
        false => inputs::report(path)?,
    };
    outputs::write(&report, &args.output)?;
    Ok(Exit::Ok)
}
