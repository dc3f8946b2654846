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
    terminal::set_verbosity(arguments.verbosity());
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // A document that panics its reader is reported as a fault of the document.
        if karat_documents::ingest::is_guarded() {
            return;
        }
        terminal::print_always("error: internal error in karat; please report this with the command you typed");
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
    let Some(command) = arguments.command else { return commands::next_steps::run() };
    match command {
        Command::Init(args) => commands::suite::init(&args),
        Command::Check(args) => commands::suite::check(&args),
        Command::Run(args) if args.watch => commands::watch::run(&args, arguments.threads),
        Command::Run(args) => commands::run::run(&args, arguments.threads),
        Command::Worker(args) => commands::worker::run(&args, arguments.threads),
        Command::Stop(args) => commands::worker::stop_run(&args),
        Command::Replay(args) => commands::run::replay(&args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Gate(args) => commands::compare::run_gate(args),
        Command::Baseline(args) => commands::compare::run_baseline(args),
        Command::Power(args) => commands::compare::run_power(args),
        Command::Score(args) => commands::score::run(&args),
        Command::Fix(args) => commands::fix::run(&args, arguments.threads),
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
        Command::Suite(args) => commands::suite::run(args, arguments.threads),
        Command::Store(args) => commands::store::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Trec(args) => commands::assess::trec(&args),
        Command::Metrics(args) => commands::shipped::metrics(&args),
        Command::Profile(args) => commands::shipped::profile(&args),
        Command::Models(args) => commands::models::run(&args),
        Command::Tools(args) => commands::tools::run(&args, arguments.threads),
        Command::Doctor(args) => commands::machine::run(&args, arguments.threads),
        Command::Schema { name, json } => commands::shipped::schema(name.as_deref(), json),
        Command::Completions(args) => commands::shell::completions(&args),
        Command::Man(args) => commands::shell::man(&args),
    }
}

fn end(result: Result<Exit>) -> ExitCode {
    let failure = match result {
        Ok(exit) => return exit.into(),
        Err(failure) => failure,
    };
    terminal::print_failure(&failure);
    match failure {
        Failure::BrokenPipe => Exit::Ok.into(),
        Failure::Message(category, _) => Exit::from(category).into(),
        Failure::Outage(_) => Exit::Failed.into(),
        Failure::Faults(_) => Exit::BadInput.into(),
    }
}
