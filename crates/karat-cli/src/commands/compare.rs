//! `karat compare`.

use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{self, Drawing, PLAIN, show};
use crate::progress::JudgeProgress;
use karat::comparison::{CompareRequest, compare_reports};
use karat_report::compare::{draw, markdown};

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &["json", "md", "txt"])?;
    let request = CompareRequest {
        reports: args.reports.clone(),
        tools: args.tools.clone(),
        metrics: args.metrics.clone(),
        cluster: args.cluster.clone(),
        margin: args.margin,
        intersection: args.intersection,
        all_pairs: args.all_pairs,
        ranks: args.ranks,
        seed: args.seed,
        store_folder: args.store.path(),
    };
    let comparison = compare_reports(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &comparison, |look| draw(&comparison, look))?;
    let drawn = [
        Drawing { extension: "json", draw: &|| output_files::json(&comparison) },
        Drawing { extension: "md", draw: &|| markdown::draw(&comparison) },
        Drawing { extension: "txt", draw: &|| draw(&comparison, &PLAIN) },
    ];
    output_files::write(&args.outputs, &drawn, false)?;
    Ok(Exit::Ok)
}
