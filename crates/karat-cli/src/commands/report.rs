//! `karat report`: a stored report, drawn again.

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::{inputs, outputs, store_place, stored};
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let report = if store_place::names_run(&args.report, args.store.folder.as_deref()) {
        stored::report(&mut store_place::open(args.store.folder.as_deref())?, &args.report)?.1
    } else {
        inputs::report(Path::new(&args.report))?
    };
    outputs::write(&report, &args.output)?;
    Ok(Exit::Ok)
}
