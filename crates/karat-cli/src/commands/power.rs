//! `karat power`.

use crate::args::PowerArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::progress::JudgeProgress;
use karat::power::{PowerRequest, estimate};
use karat_report::power::draw;

pub(crate) fn run(args: &PowerArgs) -> Result<Exit, Failure> {
    let request = PowerRequest {
        reports: args.reports.clone(),
        effect: args.effect,
        power: args.power,
        metric: args.metric.clone(),
        tools: args.tool.iter().chain(&args.tools).cloned().collect(),
        std: args.std,
        cluster: args.cluster.clone(),
        store_folder: args.store.path(),
    };
    let answer = estimate(&request, &mut JudgeProgress::new(false))?;
    show(args.json, &answer, |look| draw(&answer, look))
}
