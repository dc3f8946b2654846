//! What can be typed. What it means is resolved by the commands.

mod assess;
mod calibrate;
mod compare;
mod ingest;
mod judge;
mod label;
mod local_path;
mod plot;
mod read;
mod run;
mod score;
mod serve;
mod shipped;
mod store;
mod suite;
mod trec;

pub(crate) use assess::{AssessArgs, LogsArgs, LogsCommand};
pub(crate) use calibrate::{CalibrateArgs, CalibrateCommand, FittedArgs, MatchArgs, SuiArgs};
pub(crate) use compare::{BaselineArgs, BaselineCommand, CompareArgs, GateArgs, PowerArgs};
pub(crate) use ingest::IngestArgs;
pub(crate) use judge::{
    AgreeArgs, EvalArgs, ExchangeArgs, FitArgs, JudgeArgs, JudgeCommand, LabelArgs, ProbeArgs, QuestionArgs,
};
pub(crate) use label::{
    AnnotatorArgs, LabelAddArgs, LabelAuditsArgs, LabelExportArgs, LabelExtrasArgs, LabelImportArgs, LabelListArgs,
    LabelNextArgs, LabelUndoArgs, LabellingArgs, LabellingCommand, SampleArgs, SeenArgs,
};
pub(crate) use local_path::check_local;
pub(crate) use plot::{PlotArgs, PlotFormat};
pub(crate) use read::{AskArgs, IntervalArgs, PlaceArgs, RuleArgs, TrialArgs};
pub(crate) use run::{ReplayArgs, RunArgs, StorePlace};
pub(crate) use score::{ExplainArgs, OutputArgs, ReportArgs, ScoreArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use shipped::{
    CompletionsArgs, MetricsArgs, MetricsCommand, ProfileArgs, ProfileCommand, ToolsArgs, ToolsCommand,
};
pub(crate) use store::{StoreArgs, StoreCommand};
pub(crate) use suite::{
    CheckArgs, DriftArgs, ExpectArgs, ImportArgs, InitArgs, KeyArgs, SuiteAdoptArgs, SuiteArgs, SuiteCommand,
};
pub(crate) use trec::TrecArgs;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// The whole command line.
pub(crate) fn command() -> clap::Command {
    local_path::refuse_urls(Arguments::command())
}

/// The arguments of this process. Ends it with a message where they are wrong.
pub(crate) fn parse() -> Arguments {
    let matches = command().get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// How good is a findings producer? Golden truth and a tool's output in; honest numbers out.
#[derive(Debug, Parser)]
#[command(name = "karat", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  karat run starter                              the built-in suite: a baseline and two recorded tools
  karat score my-suite --submission scan.sarif   a scanner's SARIF against your goldens
  karat explain sqli --tool my-reviewer          why each golden was found or missed
  karat init my-suite                            a small suite to start from

Exit codes: 0 ok · 1 gate or expectation not met · 2 usage · 3 inconclusive · 4 bad input · 5 system failed · 70 internal")]
pub(crate) struct Arguments {
    /// Threads to use; all cores where absent. The result is the same with any number.
    #[arg(short = 'j', long = "threads", global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a small working suite, with comments, to start from.
    #[command(after_help = "Example:\n  karat init my-suite && karat check my-suite && karat score my-suite")]
    Init(InitArgs),
    /// Lint a suite or golden records: everything that is wrong with them, with file, line and column.
    #[command(
        after_help = "Examples:\n  karat check my-suite\n  karat check my-suite --strict --json\n  karat check contract.golden-assessment.yml"
    )]
    Check(CheckArgs),
    /// Run tools on every case of a suite, keep everything, score it, and rank them.
    #[command(after_help = "\
Examples:
  karat run starter                                     the built-in suite: the baseline and two recorded tools
  karat run my-suite --tool bandit --tool patterns      a scanner against the built-in baseline
  karat run my-suite --tool ./my-reviewer.toml -j 4     a tool of your own, four trials at once
  karat run my-suite --tool claude-code --model NAME    an agent, with the model you choose
  karat run my-suite --tool llm:openai/gpt-4.1          a language model with the built-in prompts; --tool again compares
  karat run my-suite --only 'py-*' --trials 5           some cases, more often
  karat run my-suite --allow x:network,env=X_TOKEN      let a tool of the suite have what it asks for
  karat run my-suite --dry-run                          what would be done
  karat run --resume latest --retry-failed              go on where a run was stopped

Tools are those of the suite's karat.toml, those that `karat tools list` shows, a manifest file, replay:FILE for
recorded trials, or llm:PROVIDER/MODEL[@STYLE] for a language model. Without --tool all that karat.toml declares are run.")]
    Run(RunArgs),
    /// Show a stored run again, as it went.
    #[command(after_help = "Examples:\n  karat replay latest\n  karat replay 0199f2ab --speed 10")]
    Replay(ReplayArgs),
    /// Hold runs, reports or tools against each other: is one better, and could that be chance?
    #[command(after_help = "\
Examples:
  karat compare before.json after.json
  karat compare nightly latest --metric f1 --metric recall
  karat compare latest --tools patterns,careful-reviewer
  karat compare latest --ranks                      the ranks that every tool of a leaderboard may have
  karat compare latest --all-pairs --cluster repo   all against all; cases of one repository count as one
  karat compare old.json new.json --intersection    where goldens were added in between
  karat compare before.json after.json -o compare.md

Each case is compared with itself, so that hard cases drop out. The verdict is better, worse, equivalent or inconclusive;
the exit code is 0 whatever it is. `karat gate` is for CI.")]
    Compare(CompareArgs),
    /// Hold results against demands, for CI: met, not met, or not to be told.
    #[command(after_help = "\
Examples:
  karat gate report.json --min f1=0.6 --max fpr=0.1
  karat gate latest --no-worse-than karat-baseline.json
  karat gate latest --no-worse-than main.json --metric recall --margin 0.05
  karat gate latest --rules gate.toml --max-cost 5 -o gate.xml
  karat gate latest --min f1=0.6 --require-judge-licence
  karat gate report.json --min f1=0.6 --digest blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262

A demand is held against an interval, not a number: it holds where the whole interval does, and fails where none of it does.
Exit codes: 0 all hold · 1 one fails · 3 none fails, and one cannot be told. With GITHUB_STEP_SUMMARY the summary gets a table.")]
    Gate(GateArgs),
    /// Write what tools did to a small file that can be committed.
    Baseline(BaselineArgs),
    /// How many cases would it take to see a difference, and what do more trials buy?
    #[command(after_help = "\
Examples:
  karat power --effect 0.05 latest --tools old,new     from how much two tools differ, case by case
  karat power --effect 0.05 report.json --metric recall
  karat power --effect 0.05 --std 0.3                  before there is any report
  karat power --effect 0.05 judged-a.json judged-b.json --tool mine    judges too")]
    Power(PowerArgs),
    /// Score submissions, or a scanner's own output, against a suite.
    #[command(after_help = "\
Examples:
  karat score starter
  karat score my-suite --submission scan.sarif
  karat score my-suite --submission a.jsonl --submission b.jsonl -o report.json -o report.md
  karat score my-suite --submission scan.json --from bandit --rule-map rules.csv
  karat score my-suite --set line_tolerance=3 --set 'require=[\"file\", \"category\"]'

  karat score latest --set threshold=0.5         a stored run again, by other rules

Without --submission the files in SUITE/submissions/ are scored.")]
    Score(ScoreArgs),
    /// Draw a stored report again, in any format.
    #[command(after_help = "\
Examples:
  karat report latest
  karat report latest -o report.html                a page to look at and send around
  karat report report.json -o report.md -o junit.xml
  karat report monday.json tuesday.json -o report.html
  karat report report.json --suite my-suite --submission scan.jsonl -o report.html

Of several reports the last is drawn, and those before it show the trend. A run has its code and texts with it; a report file
needs --suite for code, and --submission for what findings say in full.")]
    Report(ReportArgs),
    /// Draw a report as a picture, in SVG or PNG.
    #[command(after_help = "\
Examples:
  karat plot --list
  karat plot intervals latest -o leaderboard.svg -o leaderboard.png
  karat plot trend monday.json tuesday.json latest --tool my-reviewer -o trend.svg
  karat plot slices report.json --by severity --metric recall --theme dark -o severity.png
  karat plot significance latest > who-beats-whom.svg

Of several reports the last is drawn; those before it are what came before it. A kind that has a diagram for each tool puts
them side by side. Without -o the SVG goes to standard output.")]
    Plot(PlotArgs),
    /// Tell one case as a story: each golden, its candidates, who decided and why.
    #[command(
        after_help = "Examples:\n  karat explain py-order-search-sqli --suite starter --tool careful-reviewer\n  karat explain sqli --tool bandit --submission scan.sarif --trial 2\n  karat explain sqli --tool bandit --run latest"
    )]
    Explain(ExplainArgs),
    /// Turn another program's output into a submission, a suite, or judgements.
    #[command(after_help = "\
Examples:
  karat import --from sarif --suite my-suite scan.sarif -o submission.jsonl
  karat import --from bandit --case sqli bandit.json -o submission.jsonl
  karat import --from sarif --case-from 'projects/([^/]+)/' scan.sarif -o submission.jsonl
  karat import --from code-review-bench golden_comments results/JUDGE -o bench/
  karat import --list")]
    Import(ImportArgs),
    /// Take documents apart into sections, as an assessment would search and cite them.
    #[command(after_help = "\
Examples:
  karat ingest contract.docx
  karat ingest policies/*.md annex.pdf -v      with the text of every section
  karat ingest contract.pdf --json > sections.json

Headings are those the document states, and numbered or bold lines that stand for headings. Files are never changed, and
nothing is sent anywhere. Scanned and locked documents are refused with what to do.")]
    Ingest(IngestArgs),
    /// Hold documents against requirements: what a search finds, what assessors say, and what both are worth.
    #[command(after_help = "\
Examples:
  karat assess agreements                                  the built-in suite, by rules and without a model
  karat assess contracts -r --evaluation sonnet --evaluation opus
  karat assess nda.golden-assessment.yml --stage retrieve -v
  karat assess contracts -r --session may -o report.md --trec trec/

A golden record says what is true of the documents beside it. Whoever assesses sees the parts that the search found and never
the record. Every requirement is searched for once, however many assessors there are. docs/assess.md tells the rest.

Exit code 5: a model answered nothing; the report says why.")]
    Assess(AssessArgs),
    /// Look at what assessments left behind about how they went.
    Logs(LogsArgs),
    /// Print the identity key of every finding: case, tool, trial, finding, key.
    #[command(after_help = "\
Examples:
  karat key submission.jsonl
  karat key submission.jsonl --v3 --source my-suite
  karat key --sarif scan.sarif -o keyed.sarif")]
    Key(KeyArgs),
    /// Turn a trusted scan into expectations with keys, to start or update a deterministic suite.
    #[command(
        after_help = "Examples:\n  karat expect --from scan.jsonl -o exact-suite\n  karat expect --from scan.jsonl --suite exact-suite --prune -o exact-suite/cases.jsonl"
    )]
    Expect(ExpectArgs),
    /// Carry goldens from one revision of a git repository to another.
    #[command(
        after_help = "Examples:\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD --write"
    )]
    Drift(DriftArgs),
    /// Ask, probe, fit and measure judges, and see how far they agree.
    Judge(JudgeArgs),
    /// Fit numbers of a profile to what people say: rankings of tools, and labels of pairs.
    Calibrate(CalibrateArgs),
    /// Say whether findings report goldens: blind, by any number of people, never overwritten.
    #[command(after_help = "\
Examples:
  karat label next --as anna                  the next pair of the latest run
  karat label add 3f9a1c22d0b1 yes --as anna
  karat label export -o labels.jsonl          as judgements, for score and judge agree

A label is about what you saw and not about a run: it holds for every run in which a tool says the same.")]
    Label(LabellingArgs),
    /// Work on a suite's cases.
    Suite(SuiteArgs),
    /// Look after the store of runs: list, show, clear out, move and check them.
    #[command(after_help = "\
Examples:
  karat store list
  karat store show latest
  karat store export latest -o submission.jsonl

The store is --store DIR, else KARAT_STORE, else the nearest .karat from the current folder upwards.
A RUN is an id or the beginning of one, a name, or `latest`.")]
    Store(StoreArgs),
    /// Show the runs of a store as pages in a browser: reports, comparisons, and a run as it goes.
    #[command(after_help = "\
Examples:
  karat serve                                       http://127.0.0.1:7331 over the nearest store
  karat serve --open                                and a browser on it
  karat serve --store ../suite/.karat --label       and a page to label pairs on
  karat serve --access-log access.log               with a line for every request
  karat serve --listen 0.0.0.0:7331 --tls-cert cert.pem --tls-key key.pem    for others, by HTTPS
  KARAT_SERVE_TOKEN=$(openssl rand -hex 24) karat serve --listen 10.0.0.5:7331 --host karat.example

Every page needs the token in the printed address, which a browser remembers. Nothing is changed:
without --label every request that would change something is refused. Ctrl-C ends it.")]
    Serve(ServeArgs),
    /// Measure a ranking against judged documents, as trec_eval does.
    #[command(after_help = "\
Examples:
  karat trec qrels.txt run.txt
  karat trec qrels.txt run.txt -m ndcg_cut.5,10 -m recip_rank --per-query
  karat trec qrels.txt run.txt -m all --json

A line of QRELS is `topic 0 document relevance`, a line of RUN `topic Q0 document rank score name`.
The greater score comes first, and among equal scores the greater name of a document; the rank
column is not looked at.")]
    Trec(TrecArgs),
    /// List and explain the metrics.
    Metrics(MetricsArgs),
    /// List or print the profiles: the rules of matching and scoring.
    Profile(ProfileArgs),
    /// List tools, print how they are declared, and see which could run here.
    Tools(ToolsArgs),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  karat completions bash > ~/.local/share/bash-completion/completions/karat")]
    Completions(CompletionsArgs),
}
