//! The `karat` program.

mod args;
mod commands;
mod exit;
mod outputs;
mod progress;
mod signals;
mod terminal;

use args::{Arguments, Command};
use exit::{Exit, Failure, Result};
use std::process::ExitCode;

/// The argument with which Karat starts itself to supervise a tool, or to import the tool's output.
const SUPERVISE: &str = "__supervise";

fn main() -> ExitCode {
    // Karat starts itself once per tool. That process must start fast and needs none of the setup below.
    if std::env::args_os().nth(1).is_some_and(|word| word == SUPERVISE) {
        return karat_sandbox::supervise(karat::tool::serve);
    }
    let arguments = args::parse();
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // A document that panics its reader is reported as a fault of the document.
        if karat_documents::ingest::is_guarded() {
            return;
        }
        terminal::print_stderr("error: internal error in karat; please report this with the command you typed");
        default_hook(info);
    }));
    std::panic::catch_unwind(|| run(arguments)).map_or_else(|_| Exit::Internal.into(), end)
}

fn run(arguments: Arguments) -> Result<Exit> {
    if let Some(threads) = arguments.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::failed(error.to_string()))?;
    }
    args::check_store_variable()?;
    match arguments.command {
        Command::Init { folder, kind, json } => commands::suite::init(&folder, kind, json),
        Command::Check(args) => commands::suite::check(&args),
        Command::Run(args) => commands::run::run(&args, arguments.threads),
        Command::Replay(args) => commands::run::replay(&args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Gate(args) => commands::compare::run_gate(args),
        Command::Baseline(args) => commands::compare::run_baseline(args),
        Command::Power(args) => commands::compare::run_power(args),
        Command::Score(args) => commands::score::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Plot(args) => commands::report::plot(&args),
        Command::Explain(args) => commands::score::explain(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Ingest(args) => commands::assess::ingest(&args),
        Command::Assess(args) => commands::assess::run(&args),
        Command::Logs(args) => commands::assess::logs(&args),
        Command::Key(args) => commands::import::key(args),
        Command::Expect(args) => commands::import::expect(&args),
        Command::Drift(args) => commands::suite::drift(args),
        Command::Judge(args) => commands::judge::run(args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::Label(args) => commands::label::run(args),
        Command::Suite(args) => commands::suite::run(args),
        Command::Store(args) => commands::store::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Trec(args) => commands::assess::trec(&args),
        Command::Metrics(args) => commands::shipped::metrics(&args),
        Command::Profile(args) => commands::shipped::profile(&args),
        Command::Tools(args) => commands::tools::run(&args, arguments.threads),
        Command::Completions { shell } => commands::shipped::completions(shell),
    }
}

fn end(result: Result<Exit>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(Failure::BrokenPipe) => Exit::Ok.into(),
        Err(Failure::Message(category, message)) => {
            let lines: Vec<_> = message.lines().map(karat_format::diagnostic::harmless).collect();
            terminal::print_stderr(&format!("error: {}", lines.join("\n")));
            Exit::from(category).into()
        }
        Err(Failure::Faults(faults)) => {
            terminal::print_stderr(terminal::draw_diagnostics(&faults.0, &std::io::stderr()).trim_end());
            terminal::print_stderr(&format!("\nerror: {faults}; nothing was loaded"));
            Exit::BadInput.into()
        }
    }
}
