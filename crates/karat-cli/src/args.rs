//! The command line as clap parses it. The commands resolve it to plans.

mod assess;
mod compare;
mod fix;
mod help;
mod judge;
mod label;
mod local_path;
mod read;
mod score;
mod shipped;
mod store;
mod store_place;
mod suite;
mod worker;

pub(crate) use assess::{AssessArgs, IngestArgs, LogsCommand, TrecArgs};
pub(crate) use compare::{BaselineCommand, CompareArgs, GateArgs, PowerArgs};
pub(crate) use fix::FixArgs;
pub(crate) use help::{Block, arrange, read_blocks};
pub(crate) use judge::{
    AgreeArgs, CalibrateCommand, EvalArgs, ExchangeArgs, FitArgs, FittedArgs, JudgeCommand, MatchArgs, ProbeArgs,
    QuestionArgs, SuiArgs,
};
pub(crate) use label::{
    AnnotatorArgs, LabelAddArgs, LabelExportArgs, LabelImportArgs, LabelListArgs, LabelUndoArgs, LabellingArgs,
    LabellingCommand, QueueArgs, SampleArgs, SuiteSourceArgs,
};
pub(crate) use read::{AskArgs, IntervalArgs, PlaceArgs, RuleArgs, TrialArgs};
pub(crate) use score::{ExplainArgs, OutputArgs, PlotArgs, ReplayArgs, ReportArgs, RunArgs, ScoreArgs};
pub(crate) use shipped::{
    CompletionArgs, DoctorArgs, MachineArgs, ManArgs, MetricsCommand, ModelsCommand, ProfileCommand, ToolsCommand,
    TryArgs,
};
pub(crate) use store::{ServeArgs, StoreArgs, StoreCommand};
pub(crate) use store_place::{StorePlace, check_store_variable, require_answer, within_folder};
pub(crate) use suite::{
    CheckArgs, DriftArgs, ExpectArgs, ImportArgs, InitArgs, KeyArgs, SuiteAddArgs, SuiteAdoptArgs, SuiteCommand,
    SuiteGcArgs, SuiteProveArgs, SuiteTwistArgs,
};
pub(crate) use worker::{StopArgs, WorkerArgs};

use crate::terminal::screen_width;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use karat_format::document::suggest::nearest;
use karat_report::Verbosity;
use karat_store::url_scheme;
use std::ffi::OsString;
use std::ops::Bound::{Excluded, Included};
use std::ops::RangeBounds;
use std::str::FromStr;

pub(crate) fn command() -> clap::Command {
    // `-q` of `karat trec` is that of trec_eval, so only the long form of the global flag is left there.
    let quiet = clap::Arg::new("quiet").long("quiet").action(clap::ArgAction::Count);
    let quiet = quiet.help("Print only the result and errors: no notes");
    local_path::refuse_urls(Arguments::command().mut_subcommand("trec", |trec| trec.arg(quiet)))
}

/// Parses this process's arguments. Exits with a message if they are invalid.
pub(crate) fn parse() -> Arguments {
    let words: Vec<OsString> = std::env::args_os().collect();
    let parsed = command().try_get_matches_from(&words).map_err(|error| match error.kind() {
        // Help is laid out only when it is shown.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let shown = help::arrange(command(), help_width()).try_get_matches_from(&words);
            shown.err().unwrap_or(error)
        }
        _ => without_passwords(with_suggestion(error, &words)),
    });
    let matches = parsed.unwrap_or_else(|error| error.exit());
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The width of help: that of the terminal, as far as lines stay readable.
fn help_width() -> usize {
    screen_width().clamp(40, 100)
}

/// Removes passwords of URLs from what an error repeats.
fn without_passwords(mut error: clap::Error) -> clap::Error {
    let repeated: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(hide_user(text)?))),
            _ => None,
        })
        .collect();
    for (kind, value) in repeated {
        error.insert(kind, value);
    }
    error
}

/// A URL without its user, password and parameters, if it has a user or parameters. What comes before the last `@` is left
/// out whole, since a password that is not encoded may contain anything.
fn hide_user(text: &str) -> Option<String> {
    let scheme = url_scheme(text)?;
    let rest = text.get(scheme.len() + "://".len()..)?;
    let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, rest)| ("…@", rest));
    let shown = rest.split(['?', '#']).next().unwrap_or_default();
    Some(format!("{scheme}://{user}{shown}"))
}

/// Adds the command that a mistyped one is nearest to. Clap's own measure does not know swapped letters.
fn with_suggestion(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let mut parent = command();
    for word in words.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| word != typed) {
        parent = parent.find_subcommand(word).cloned().unwrap_or(parent);
    }
    let names =
        parent.get_subcommands().flat_map(|one| std::iter::once(one.get_name()).chain(one.get_visible_aliases()));
    if let Some(near) = nearest(typed, names).map(str::to_owned) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    error
}

/// Measure how good a findings producer is.
///
/// Compares the output of scanners and reviewers with golden findings, and reports metrics with confidence intervals.
#[derive(Debug, Parser)]
#[command(name = "karat", version, propagate_version = true)]
#[command(after_help = "\
Examples:
  karat                                          say what to do next in this folder
  karat run code-review                          run a built-in suite: a baseline and recorded tools
  karat score my-suite --submission scan.sarif   score a scanner's SARIF against your goldens
  karat explain sqli --tool my-reviewer          show why each golden was found or missed
  karat init my-suite                            write a small suite to start from

Exit codes: 0 ok · 1 gate or expectation failed · 2 usage · 3 inconclusive · 4 bad input · 5 system failure · 70 internal")]
pub(crate) struct Arguments {
    /// Number of threads; default: all cores.
    ///
    /// The result does not depend on it.
    #[arg(short = 'j', long = "threads", global = true, value_name = "N")]
    #[arg(value_parser = within(1_usize..=1024, "expected a number from 1 to 1024"))]
    pub(crate) threads: Option<usize>,
    /// Print only the result and errors.
    ///
    /// No progress, notes or hints.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    quiet: u8,
    /// Print the result in full.
    ///
    /// All sections, no shortened lists.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Arguments {
    pub(crate) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet > 0, verbose: self.verbose > 0 }
    }
}

/// Parses a number of this range.
fn within<T: FromStr + PartialOrd>(
    range: impl RangeBounds<T> + Clone,
    fault: &'static str,
) -> impl Fn(&str) -> Result<T, &'static str> + Clone {
    move |text: &str| text.parse::<T>().ok().filter(|number| range.contains(number)).ok_or(fault)
}

fn positive(text: &str) -> Result<f64, &'static str> {
    within((Excluded(0.0), Included(f64::MAX)), "expected a number above 0")(text)
}

/// Parses one of these words to its value.
fn choice<T: Copy + Send + Sync + 'static>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).try_map(move |typed| {
        words.iter().find(|(word, _)| *word == typed).map(|(_, value)| *value).ok_or("unknown value")
    })
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a small working suite to start from.
    ///
    /// Its files have comments, and name the schemas by which editors check and complete them. The suite is named after the folder.
    /// At a terminal, it asks what the suite is for.
    #[command(after_help = "\
Examples:
  karat init my-suite && karat check my-suite && karat score my-suite
  karat init contracts --kind assessment && karat assess contracts
  karat init my-suite --bare               without example cases")]
    Init(InitArgs),
    /// Lint a suite or golden records.
    ///
    /// Every problem is reported with file, line and column.
    #[command(
        after_help = "Examples:\n  karat check my-suite\n  karat check my-suite --strict --json\n  karat check contract.golden-assessment.yml"
    )]
    Check(CheckArgs),
    /// Run tools on a suite, score and rank them.
    ///
    /// Each tool runs on every case, in a sandbox, and the run is stored.
    #[command(after_help = "\
Examples:
  karat run code-review                                 a built-in suite: a baseline and recorded tools
  karat run my-suite --tool bandit --tool patterns      a scanner and the built-in baseline
  karat run my-suite --tool ./my-reviewer.toml -j 4     your own tool, four trials at a time
  karat run my-suite --tool claude-code --model NAME    an agent, with the model you choose
  karat run my-suite --tool llm:openai/gpt-6-luna       a language model with the built-in prompts
  karat run my-suite --only 'py-*' --trials 5           some cases, five trials each
  karat run my-suite --allow x:network,env=X_TOKEN      grant a tool of the suite network access and a variable
  karat run my-suite --dry-run                          print the plan and stop
  karat run --resume latest --retry-failed              resume a run and retry its failed trials
  karat run my-suite --tool ./my-reviewer.toml --watch  run again what a changed file touches
  karat run my-suite --store postgres://karat@db.example.org/karat --no-work    leave the trials to `karat worker`

A tool is one declared in the suite's karat.toml, one shown by `karat tools list`, a manifest file, replay:FILE for
recorded trials, or llm:PROVIDER/MODEL[@STYLE] for a language model. Without --tool, all tools of karat.toml are run.")]
    Run(RunArgs),
    /// Work on runs that are stored on a server.
    ///
    /// Any number of workers, on any number of machines, execute the trials of `karat run --store postgres://…`.
    #[command(after_help = "\
Examples:
  karat worker --store postgres://karat@db.example.org/karat          all runs, until SIGTERM
  karat worker latest --store postgres://karat@db.example.org/karat   one run, until it ends
  KARAT_STORE=postgres://karat@db.example.org/karat karat worker --idle exit -j 8
  karat worker --needs docker,gpu --metrics 127.0.0.1:9464

A worker needs no copy of the suite: it comes through the store. It runs what those plan who may write to the database. Its
tools and keys are those of its own machine. SIGTERM lets trials end within --grace; a second one ends everything at once.
A trial is recorded once, also if workers die, but it may be executed more than once. See docs/many-machines.md.")]
    Worker(WorkerArgs),
    /// Stop a run that workers work on.
    ///
    /// What is recorded is kept, and the run can be resumed.
    #[command(after_help = "Examples:\n  karat stop latest --store postgres://karat@db.example.org/karat")]
    Stop(StopArgs),
    /// Replay the progress of a stored run.
    #[command(after_help = "Examples:\n  karat replay latest\n  karat replay 0199f2ab --speed 10")]
    Replay(ReplayArgs),
    /// Compare runs, reports or tools.
    ///
    /// Tests tell whether the differences are statistically significant.
    #[command(after_help = "\
Examples:
  karat compare before.json after.json
  karat compare nightly latest --metric f1 --metric recall
  karat compare latest --tools patterns,careful-reviewer
  karat compare latest --ranks                      the range of ranks of every tool
  karat compare latest --all-pairs --cluster repo   every pair of tools; cases of one repository are one cluster
  karat compare old.json new.json --intersection    if goldens were added in between
  karat compare original.json twisted.json --twisted   what is only found on the original
  karat compare before.json after.json -o compare.md
  karat compare monday tuesday --cluster bundle     two assessments of documents, requirement by requirement

The comparison is paired by case, so the difficulty of cases cancels out. The verdict is better, worse, equivalent or
inconclusive; the exit code is 0 for all of them. For CI, use `karat gate`.")]
    Compare(CompareArgs),
    /// Check results against demands, for CI.
    ///
    /// Each demand passes, fails or is inconclusive.
    #[command(after_help = "\
Examples:
  karat gate report.json --min f1=0.6 --max fpr=0.1
  karat gate latest --no-worse-than karat-baseline.json
  karat gate latest --no-worse-than main.json --metric recall --margin 0.05
  karat gate latest --min assessment_accuracy=0.8   an assessment of documents
  karat gate latest --rules gate.toml --max-cost 5 -o gate.xml
  karat gate latest --min f1=0.6 --require-judge-licence
  karat gate latest --min f1=0.6 --verbose       every demand with its reason
  karat gate report.json --min f1=0.6 --digest blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262

A demand is checked against the confidence interval, not the value: it passes if the whole interval meets it, and fails if none does.
Exit codes: 0 all pass · 1 one fails · 3 none fails, one is inconclusive. GITHUB_STEP_SUMMARY, if set, receives a table.")]
    Gate(GateArgs),
    /// Write results to a small file to commit.
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Estimate how many cases a difference needs.
    ///
    /// Also shows what more trials gain.
    #[command(after_help = "\
Examples:
  karat power --effect 0.05 latest --tools old,new     from the per-case differences of two tools
  karat power --effect 0.05 report.json --metric recall
  karat power --effect 0.05 --std 0.3                  without a report
  karat power --effect 0.05 judged-a.json judged-b.json --tool mine    including judge variance")]
    Power(PowerArgs),
    /// Score submissions or scanners' output.
    ///
    /// They are scored against the goldens of a suite.
    #[command(after_help = "\
Examples:
  karat score starter
  karat score my-suite --submission scan.sarif
  karat score my-suite --submission a.jsonl --submission b.jsonl -o report.json -o report.md
  karat score my-suite --submission big.jsonl --detail none -o report.json
  karat score my-suite --submission scan.json --from bandit --rule-map rules.csv
  karat score my-suite --set line_tolerance=3 --set 'require=[\"file\", \"category\"]'

  karat score latest --set threshold=0.5         rescore a stored run by other rules
  karat score latest --count-untouched           count findings on lines the change did not touch as false
  karat score my-suite --run latest              score its trials with the goldens as they are now

Without --submission the files in SUITE/submissions/ are scored.")]
    Score(ScoreArgs),
    /// Measure which findings suffice for a repair.
    ///
    /// A fixer gets the code and one finding, nothing else; the golden's hidden proof decides whether it is repaired.
    #[command(after_help = "\
Examples:
  karat fix my-suite --with ./my-fixer.toml                       what the suite's submissions found
  karat fix my-suite --with ./my-fixer.toml --submission scan.sarif
  karat fix latest --with my-fixer --tool my-reviewer -j 4        what one tool of a stored run found
  karat fix latest --with my-fixer --only language=go --json
  karat fix latest --with my-fixer --report report.json && karat gate report.json --min fix_through=0.3
  karat fix latest --with my-fixer --retry-failed                 run the fixer again where it failed

A fixer is a tool with kind = \"fixer\". It runs in the sandbox on a copy of the code, for each finding that matches a required golden
with a proof. A golden counts if its proof fails on the change and passes on its own fix on this machine. Results are kept beside the
store: what did not change is not run again, and a stopped command goes on where it was. See docs/fix-through.md.")]
    Fix(FixArgs),
    /// Render a stored report in any format.
    #[command(after_help = "\
Examples:
  karat report latest
  karat report latest -o report.html                a self-contained page
  karat report report.json -o report.md -o junit.xml
  karat report monday.json tuesday.json -o report.html
  karat report report.json --suite my-suite --submission scan.jsonl -o report.html

Of several reports, the last is rendered and the earlier ones form the trend. A run contains its code and texts; a report file
needs --suite for code and --submission for the full text of findings.")]
    Report(ReportArgs),
    /// Draw a report as a picture, in SVG or PNG.
    #[command(after_help = "\
Examples:
  karat plot --list
  karat plot intervals latest -o leaderboard.svg -o leaderboard.png
  karat plot trend monday.json tuesday.json latest --tool my-reviewer -o trend.svg
  karat plot slices report.json --by severity --metric recall --theme dark -o severity.png
  karat plot significance latest > who-beats-whom.svg

Of several reports, the last is drawn; the earlier ones are its history. A kind with one diagram per tool draws
them side by side. Without -o, the SVG goes to standard output.")]
    Plot(PlotArgs),
    /// Explain the score of one case.
    ///
    /// What counts most first, on one screen: missed goldens, false alarms, then what was found, who decided, and why.
    /// -v shows everything.
    #[command(
        after_help = "Examples:\n  karat explain py-order-search-sqli --suite starter --tool careful-reviewer\n  karat explain sqli --tool bandit --submission scan.sarif --trial 2\n  karat explain sqli --tool bandit --run latest -v\n  karat explain audit_rights --run latest"
    )]
    Explain(ExplainArgs),
    /// Convert another program's output.
    ///
    /// It becomes a submission, a suite or judgements.
    #[command(after_help = "\
Examples:
  karat import --from sarif --suite my-suite scan.sarif -o submission.jsonl
  karat import --from bandit --case sqli bandit.json -o submission.jsonl
  karat import --from sarif --case-from 'projects/([^/]+)/' scan.sarif -o submission.jsonl
  karat import --from code-review-bench golden_comments results/JUDGE -o bench/
  karat import --list")]
    Import(ImportArgs),
    /// Split documents into sections.
    ///
    /// Assessments search and cite these sections.
    #[command(after_help = "\
Examples:
  karat ingest contract.docx
  karat ingest policies/*.md annex.pdf -v      with the text of every section
  karat ingest contract.pdf --json > sections.json

Headings are those marked in the document, and numbered or bold lines used as headings. Files are never changed, and
nothing is sent anywhere. Scanned and encrypted documents are rejected with advice.")]
    Ingest(IngestArgs),
    /// Assess documents against requirements.
    ///
    /// The retrieval and the assessors are measured.
    #[command(after_help = "\
Examples:
  karat assess agreements                                  the built-in suite, by rules and without a model
  karat assess contracts -r --evaluation sonnet --evaluation opus
  karat assess nda.golden-assessment.yml --stage retrieve -v
  karat assess contracts -r --session may -o report.md --trec trec/

A golden record states what is true of the documents beside it. Assessors see the parts that retrieval found, never the
record. Every requirement is searched once, however many assessors there are. See docs/assess.md.

Exit code 5: a model gave no answers; the report shows why.")]
    Assess(AssessArgs),
    /// Show the logs of assessments.
    #[command(subcommand)]
    Logs(LogsCommand),
    /// Print the identity key of every finding.
    ///
    /// Each line has case, tool, trial, finding and key.
    #[command(after_help = "\
Examples:
  karat key submission.jsonl
  karat key submission.jsonl --v3 --source my-suite
  karat key --write scan.json second-scan.json
  karat key --sarif scan.sarif -o keyed.sarif")]
    Key(KeyArgs),
    /// Convert a trusted scan to expectations.
    ///
    /// The expectations have keys; they start or update a deterministic suite.
    #[command(
        after_help = "Examples:\n  karat expect --from scan.jsonl -o exact-suite\n  karat expect --from scan.jsonl --suite exact-suite --prune -o exact-suite/cases.jsonl"
    )]
    Expect(ExpectArgs),
    /// Carry goldens to another revision.
    ///
    /// Both are revisions of a git repository.
    #[command(
        after_help = "Examples:\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD --write"
    )]
    Drift(DriftArgs),
    /// Ask, probe, fit and evaluate judges.
    ///
    /// Also measures their agreement.
    #[command(subcommand)]
    Judge(JudgeCommand),
    /// Fit profile values to human judgement.
    ///
    /// Human rankings of tools, and human labels of pairs.
    #[command(subcommand)]
    Calibrate(CalibrateCommand),
    /// Label findings by hand.
    ///
    /// Labels are given blind, by any number of people, and are never overwritten.
    #[command(after_help = "\
Examples:
  karat label next --as anna                  the next pair of the latest run
  karat label add 3f9a1c22d0b1 yes --as anna
  karat label export -o labels.jsonl          export judgements for `score` and `judge agree`

A label belongs to the shown texts, not to a run: it applies to every run in which a tool reports the same.")]
    Label(LabellingArgs),
    /// Add cases and goldens to a suite.
    #[command(subcommand)]
    Suite(SuiteCommand),
    /// Manage stored runs.
    ///
    /// List, show, delete, export, import and verify them.
    #[command(after_help = "\
Examples:
  karat store list
  karat store show latest
  karat store export latest -o submission.jsonl

The store is --store DIR|URL, else KARAT_STORE, else the nearest .karat in the current or a parent folder.
A RUN is an id, an id prefix, a name, or `latest`.")]
    Store(StoreArgs),
    /// Serve the runs of a store as web pages.
    ///
    /// Reports, comparisons and live progress.
    #[command(after_help = "\
Examples:
  karat serve                                       http://127.0.0.1:7331 with the nearest store
  karat serve --open                                open a browser
  karat serve --store ../suite/.karat --label       allow labelling
  karat serve --access-log access.log               log every request
  karat serve --listen 0.0.0.0:7331 --tls-cert cert.pem --tls-key key.pem    HTTPS on all interfaces
  KARAT_SERVE_TOKEN=$(openssl rand -hex 24) karat serve --listen 10.0.0.5:7331 --host karat.example

Every page requires the token in the printed address; browsers remember it. The pages are read-only:
without --label, every request that would change something is refused. Stop with Ctrl-C.")]
    Serve(ServeArgs),
    /// Score a ranking, like trec_eval.
    ///
    /// A ranking of documents is scored against judged ones.
    #[command(after_help = "\
Examples:
  karat trec qrels.txt run.txt
  karat trec qrels.txt run.txt -m ndcg_cut.5,10 -m recip_rank --per-query
  karat trec qrels.txt run.txt -m all --json

A line of QRELS is `topic 0 document relevance`, a line of RUN `topic Q0 document rank score name`.
Documents are sorted by score, then by name, both descending; the rank column is ignored.")]
    Trec(TrecArgs),
    /// List and explain the metrics.
    #[command(subcommand)]
    Metrics(MetricsCommand),
    /// List or print profiles.
    ///
    /// A profile has the rules of matching and scoring.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// List, check and try tools.
    ///
    /// Also prints their manifests.
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// List language models and prices.
    ///
    /// What they cost, what they refuse, and which are retired.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check what works on this machine.
    ///
    /// Sandbox, store, keys, tools, fonts, mirrors and terminal, with what to do about each that is missing. Keys are never printed.
    #[command(after_help = "\
Examples:
  karat doctor
  karat doctor --skip-tools              without running the tools
  karat doctor --suite my-suite --json

Exit code 5: something that Karat needs is broken. A tool that is not installed, a key that is not set and a weaker sandbox are \
no errors.")]
    Doctor(MachineArgs),
    /// Print the JSON Schema of a file format.
    ///
    /// Without a name, lists all schemas.
    #[command(after_help = "\
Examples:
  karat schema
  karat schema case > case.schema.json
  karat schema config")]
    Schema {
        /// Schema, such as case, config or report.
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Print the list as JSON.
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
    /// Print or install shell completions.
    #[command(after_help = "\
Examples:
  karat completions --install            for the shell of the variable SHELL
  karat completions --install zsh
  karat completions bash > karat.bash

--install writes to the folder that the shell reads: for bash in XDG_DATA_HOME/bash-completion, for fish in \
XDG_CONFIG_HOME/fish, for zsh in XDG_DATA_HOME/zsh/site-functions. A file that Karat did not write is never replaced.")]
    Completions(CompletionArgs),
    /// Print or write the manual pages.
    #[command(after_help = "\
Examples:
  karat man | man -l -
  karat man store gc
  karat man --out ~/.local/share/man/man1")]
    Man(ManArgs),
}
