//! Evaluates tools on a suite with the library alone: `cargo run -p karat --example evaluate -- starter patterns`

use karat::evaluate::{EvaluateError, EvaluateRequest, Quiet, evaluate};
use karat_sandbox::{Supervisor, supervise};
use std::path::Path;
use std::process::ExitCode;

const SUPERVISE: &str = "__supervise";

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints its result")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The sandbox starts this very program once more, as the parent of each tool.
    if arguments.first().is_some_and(|word| word == SUPERVISE) {
        return supervise(karat::tool::serve);
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [suite, tools @ ..] = words.as_slice() else { return ExitCode::from(2) };
    match scores(suite, tools, Path::new(".karat")) {
        Ok(lines) => println!("{}", lines.join("\n")),
        Err(error) => eprintln!("error: {error}"),
    }
    ExitCode::SUCCESS
}

/// The F1 of each tool, with its interval.
pub(crate) fn scores(suite: &str, tools: &[&str], store: &Path) -> Result<Vec<String>, EvaluateError> {
    let supervisor = Supervisor::this_program(SUPERVISE)?;
    let request = EvaluateRequest::new(suite, tools, store, supervisor);
    let report = evaluate(&request, &mut Quiet::default())?.scoring.report;
    let line = |tool: &karat_format::report::ToolV1| {
        let f1 = &tool.metrics["f1"];
        format!("{}: F1 {:.3}, 95 % {:.3?}, {} cases", tool.tool, f1.value.unwrap_or(f64::NAN), f1.ci, f1.n)
    };
    Ok(report.tools.iter().map(line).collect())
}
