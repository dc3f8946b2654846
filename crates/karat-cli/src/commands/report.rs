//! `karat report`: a stored report, drawn again.

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::outputs;
use karat::document::{Syntax, decode_bytes, schema_of};
use karat::format::report::{ReportV1, SCHEMA, ToolV1};

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let shown = args.report.display().to_string();
    let bytes = std::fs::read(&args.report).map_err(|error| Failure::io(&shown, error))?;
    // Reading it the quick way first: only a broken report needs its faults named one by one.
    let report: ReportV1 = match serde_json::from_slice(&bytes) {
        Ok(report) => report,
        Err(_) => {
            let decoded = decode_bytes::<ReportV1>(&shown, &bytes, Syntax::Json, &schema_of::<ReportV1>());
            decoded.whole().map_err(|faults| Failure::Faults(faults.into()))?.0
        }
    };
    if report.schema != SCHEMA {
        let message = format!("{shown}: the schema is {:?}, and this version reads {SCHEMA:?}", report.schema);
        return Err(Failure::bad_input(message));
    }
    let cases = |tool: &ToolV1| tool.cases.iter().map(|c| &c.case).ne(report.cases.iter().map(|c| &c.case));
    if let Some(tool) = report.tools.iter().find(|tool| cases(tool)) {
        let message = format!("{shown}: the cases of the tool {:?} are not those of the report", tool.tool);
        return Err(Failure::bad_input(message));
    }
    outputs::write(&report, &args.output)?;
    Ok(Exit::Ok)
}
