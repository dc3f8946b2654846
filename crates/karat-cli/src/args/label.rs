//! People who say whether a finding reports a golden, whether an extra is a real problem, and what audited findings are.

use super::{AskArgs, RuleArgs};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use karat_core::judgement::Classification;
use karat_store::label::Answer;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct LabellingArgs {
    #[command(subcommand)]
    pub(crate) command: LabellingCommand,
    /// The store's folder; else KARAT_STORE, else the nearest .karat from the current folder upwards.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabellingCommand {
    /// Show the next golden and finding that you have not labelled, and ask whether they are the same.
    #[command(after_help = "\
Examples:
  karat label next --as anna                       pairs of the latest run
  karat label next nightly --as anna
  karat label next --suite my-suite --submission scan.jsonl --as anna
  karat label next --as anna --sample 0.2          a fair sample, for corrected figures
  karat label next --as anna --json                for another program

The pair whose label narrows the interval of the figure most comes first. On a terminal it asks y(es), n(o), p(artial),
s(kip), u(ndo) or q(uit), with a note after the letter if you like, and goes on.
Elsewhere it prints one pair, and the command that answers. Nothing tells which tool reported it, or what anybody else said.")]
    Next(LabelNextArgs),
    /// Show the next finding that reports no golden, and ask whether it is a real problem.
    #[command(after_help = "\
Examples:
  karat label extras --as anna                     extras of the latest run
  karat label extras nightly --as anna --min-tools 2
  karat label extras --suite my-suite --submission a.jsonl b.jsonl --as anna
  karat label extras --as anna --json              for another program

What several tools report is shown once, and one answer holds for all of it. What brings the bounds of precision together most
comes first. On a terminal it asks y(es, a real problem), n(o), s(kip), u(ndo) or q(uit), with a note after the letter if you like, and goes on. Elsewhere it prints one extra, and the
command that answers. Nothing tells which tools reported it, or what anybody else said.

An extra is what `karat score` calls one, so give the same --profile and --judge.")]
    Extras(LabelExtrasArgs),
    /// Show the next finding of an audited case, and ask what it is.
    #[command(after_help = "\
Examples:
  karat label audits --as anna                     findings of the latest run
  karat label audits nightly --as anna
  karat label audits --suite my-suite --submission scan.jsonl --as anna --json

On a terminal it asks for one of nine classes by its number, 1 TARGET_MATCH to 9 INFORMATIONAL, with a note after it if you
like, and goes on. Elsewhere it prints one finding, and the command that answers. Nothing tells which tool reported it, or
what anybody else said.")]
    Audits(LabelAuditsArgs),
    /// Take back what you said last; it stays in the history, and you may be asked again.
    #[command(after_help = "\
Examples:
  karat label undo --as anna
  karat label list --as anna --history             with what was taken back")]
    Undo(LabelUndoArgs),
    /// Say whether the finding of a pair reports its golden, whether an extra is a real problem, or what a finding is.
    #[command(after_help = "\
Examples:
  karat label add 3f9a1c22d0b1 yes --as anna
  karat label add 3f9a1c22d0b1 no --as anna --note 'another query, two functions away'
  karat label add 3f9a1c22d0b1 partial --as anna --change    a correction; what was said before stays

partial: the finding touches the golden and misses what makes it one. That is no match. An extra is a real problem, yes, or
it is not; the answer holds for all that report the same. An audited finding is one of TARGET_MATCH, PARTIAL_MATCH,
BONUS_VALID, HALLUCINATED, MISCHARACTERIZED, DESIGN_CHOICE, OUT_OF_SCOPE, SECURITY_THEATER and INFORMATIONAL.")]
    Add(LabelAddArgs),
    /// List labels.
    #[command(after_help = "\
Examples:
  karat label list --as anna
  karat label list --all --history --json          everybody's, with what was corrected")]
    List(LabelListArgs),
    /// Write labels as judgements of a run or a submission, signed human:NAME.
    #[command(after_help = "\
Examples:
  karat label export -o labels.jsonl
  karat label export --suite my-suite --submission scan.jsonl -o labels.jsonl
  karat label export latest -o labels.jsonl && karat judge agree labels.jsonl")]
    Export(LabelExportArgs),
    /// Take labels from judgements signed human:NAME, all of them or none.
    #[command(after_help = "\
Examples:
  karat label import labels.jsonl
  karat label import anna.jsonl ben.jsonl --run nightly
  karat label import labels.jsonl --suite my-suite --submission scan.jsonl --change")]
    Import(LabelImportArgs),
}

/// Every answer to anything.
fn answers() -> impl Iterator<Item = &'static str> {
    let classes = Classification::ALL.into_iter().map(Classification::as_str);
    Answer::WORDS.into_iter().map(|(word, _)| word).chain(classes)
}

/// Where goldens and findings are: a suite with submissions, where no run is named.
#[derive(Debug, Args)]
pub(crate) struct SeenArgs {
    /// A suite's folder, or the name of a built-in suite, instead of a run.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// A submission (.jsonl) to the suite; may be given again; those in the suite where absent.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
}

/// Who labels.
#[derive(Debug, Args)]
pub(crate) struct AnnotatorArgs {
    /// Your name; KARAT_ANNOTATOR where absent.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Pairs drawn by chance.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Only pairs that are drawn with this probability, the same for everybody; labels remember it.
    #[arg(long = "sample", value_name = "P")]
    pub(crate) probability: Option<f64>,
    /// Draws another sample.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "probability")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct LabelNextArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) sample: SampleArgs,
    /// Pass over so many pairs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the pair as JSON, and ask nothing.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelExtrasArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Only what so many tools report.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_tools: usize,
    /// Pass over so many extras.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the extra as JSON, and ask nothing.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelAuditsArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Pass over so many findings.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the finding as JSON, and ask nothing.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelUndoArgs {
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelAddArgs {
    /// The pair, the extra or the finding, as `karat label next`, `extras` or `audits` shows it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What you say: yes, no or partial; of an audited finding, its class.
    #[arg(value_name = "ANSWER", value_parser = PossibleValuesParser::new(answers()), hide_possible_values = true)]
    pub(crate) answer: String,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    /// Why, in your words.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Correct what you said before, which stays in the history.
    #[arg(long)]
    pub(crate) change: bool,
    /// The run in which it was seen; the latest where absent.
    #[arg(long, value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) sample: SampleArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelListArgs {
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    /// Everybody's labels, also where KARAT_ANNOTATOR names you.
    #[arg(long, conflicts_with = "name")]
    pub(crate) all: bool,
    /// What was corrected since, too.
    #[arg(long)]
    pub(crate) history: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelExportArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    /// Only what this person said.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The file; standard output where absent.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print what was written as JSON; the judgements themselves go to -o.
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelImportArgs {
    /// Judgements (.jsonl); `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The run whose findings they are about; the latest where absent.
    #[arg(long, value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) seen: SeenArgs,
    /// Where somebody said something else before, keep both and count what is new.
    #[arg(long)]
    pub(crate) change: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
