//! `karat label`: human labels of pairs, extras and audits.

use super::store_place::store_parser;
use super::{AskArgs, RuleArgs};
use clap::{Args, Subcommand};
use karat_store::StoreLocation;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct LabellingArgs {
    #[command(subcommand)]
    pub(crate) command: LabellingCommand,
    /// Store: a folder, or a database.
    ///
    /// A folder, or a database as in postgres://karat@db.example.org/karat, whose password may be in PGPASSWORD or ~/.pgpass.
    /// Default: KARAT_STORE, else the nearest .karat in the current or a parent folder.
    #[arg(long, global = true, value_name = "DIR|URL", value_parser = store_parser())]
    pub(crate) store: Option<StoreLocation>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabellingCommand {
    /// Show the next unlabelled pair, and ask.
    ///
    /// Does the finding report the golden?
    #[command(after_help = "\
Examples:
  karat label next --as anna                       pairs of the latest run
  karat label next nightly --as anna
  karat label next --suite my-suite --submission scan.jsonl --as anna
  karat label next --as anna --sample 0.2          a random sample, for corrected metrics
  karat label next --as anna --json                for another program
  karat label next nightly --as anna --disputed    pairs that the ranking may rest on, as the leaderboard says
  karat label next nightly --as anna --unsure

The pair whose label narrows the metric's interval most comes first. On a terminal, it asks y(es), n(o), p(artial), s(kip),
u(ndo) or q(uit), with an optional note after the letter, and continues with the next pair.
Elsewhere, it prints one pair and the command that answers. It never shows which tool reported it, or other people's labels.

--disputed and --unsure select by what the judge decided: the run's, or that of --judge.")]
    Next(LabelNextArgs),
    /// Show the next extra finding, and ask.
    ///
    /// The finding reports no golden. Is it a real problem?
    #[command(after_help = "\
Examples:
  karat label extras --as anna                     extras of the latest run
  karat label extras nightly --as anna --min-tools 2
  karat label extras --suite my-suite --submission a.jsonl b.jsonl --as anna
  karat label extras --as anna --json              for another program

An extra reported by several tools is shown once, and one answer applies to all of them. The extra that narrows the bounds of
precision most comes first. On a terminal, it asks y(es, a real problem), n(o), s(kip), u(ndo) or q(uit), with an optional note
after the letter, and continues with the next extra. Elsewhere, it prints one extra and the command that answers. It never shows
which tools reported it, or other people's labels.

The extras are those of `karat score` with the same --profile and --judge.")]
    Extras(LabelExtrasArgs),
    /// Show the next audited finding or response, and ask.
    ///
    /// Which of the nine classes is it? Was the target found?
    #[command(after_help = "\
Examples:
  karat label audits --as anna                     findings of the latest run
  karat label audits nightly --as anna
  karat label audits --as anna --on found,rcir,ava any of the ten decisions
  karat label audits --suite my-suite --submission scan.jsonl --as anna --json

On a terminal, it asks for one of nine classes by number, 1 TARGET_MATCH to 9 INFORMATIONAL, with an optional note after it,
and continues with the next finding; with --on, for the decisions named. Elsewhere, it prints one question and the command that
answers. It never shows which tool reported it, or other people's labels. What was not asked stays unknown.")]
    Audits(LabelAuditsArgs),
    /// Retract your last label.
    ///
    /// It stays in the history, and you may be asked again.
    #[command(after_help = "\
Examples:
  karat label undo --as anna
  karat label list --as anna --history             including retracted labels")]
    Undo(LabelUndoArgs),
    /// Label a pair, an extra or an audited finding.
    #[command(after_help = "\
Examples:
  karat label add 3f9a1c22d0b1 yes --as anna
  karat label add 3f9a1c22d0b1 no --as anna --note 'another query, two functions away'
  karat label add 3f9a1c22d0b1 partial --as anna --change    a correction; the old label stays in the history

A pair is yes, no or partial: related to the golden but missing its point, which is not a match. An extra is yes, a real
problem, or no; the label applies to all findings that report the same. An audited finding is TARGET_MATCH, PARTIAL_MATCH,
BONUS_VALID, HALLUCINATED, MISCHARACTERIZED, DESIGN_CHOICE, OUT_OF_SCOPE, SECURITY_THEATER or INFORMATIONAL. Other decisions of
audits are yes or no, a verdict (vulnerable, safe, none), a type match such as exact, or a number from 0 to 1.")]
    Add(LabelAddArgs),
    /// List labels.
    #[command(after_help = "\
Examples:
  karat label list --as anna
  karat label list --all --history --json          everybody's labels, including corrected ones")]
    List(LabelListArgs),
    /// Export labels as judgements.
    ///
    /// The judgements are of a run or a submission, with the judge human:NAME.
    #[command(after_help = "\
Examples:
  karat label export -o labels.jsonl
  karat label export --suite my-suite --submission scan.jsonl -o labels.jsonl
  karat label export latest -o labels.jsonl && karat judge agree labels.jsonl")]
    Export(LabelExportArgs),
    /// Import labels from judgements.
    ///
    /// The judgements have the judge human:NAME. All are imported, or none.
    #[command(after_help = "\
Examples:
  karat label import labels.jsonl
  karat label import anna.jsonl ben.jsonl --run nightly
  karat label import labels.jsonl --suite my-suite --submission scan.jsonl --change")]
    Import(LabelImportArgs),
}

/// A suite with submissions, instead of a run.
#[derive(Debug, Args)]
pub(crate) struct SuiteSourceArgs {
    /// Suite, instead of a run.
    ///
    /// A folder, or the name of a built-in suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Submission (.jsonl); repeatable.
    ///
    /// Default: the suite's submissions.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AnnotatorArgs {
    /// Your name; default: KARAT_ANNOTATOR.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// A random sample of pairs.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Show a random sample of pairs.
    ///
    /// Each pair is in it with this probability; the sample is the same for everybody. Labels record it.
    #[arg(long = "sample", value_name = "P")]
    pub(crate) probability: Option<f64>,
    /// Seed of the sample.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "probability")]
    pub(crate) seed: u64,
}

/// The items to label, and who labels them.
#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// Run: id, id prefix, name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    #[command(flatten)]
    pub(crate) source: SuiteSourceArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabelNextArgs {
    #[command(flatten)]
    pub(crate) source: QueueArgs,
    #[command(flatten)]
    pub(crate) sample: SampleArgs,
    /// Show only pairs the rules decide otherwise.
    ///
    /// The judge and the profile's rules alone disagree on them.
    #[arg(long, conflicts_with_all = ["unsure", "probability"])]
    pub(crate) disputed: bool,
    /// Show only pairs the judge is unsure of.
    ///
    /// Their probability lies within 0.1 of the judge's threshold.
    #[arg(long, conflicts_with = "probability")]
    pub(crate) unsure: bool,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Skip this many pairs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the pair as JSON without asking.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelExtrasArgs {
    #[command(flatten)]
    pub(crate) source: QueueArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Show only extras of this many tools.
    ///
    /// At least this many tools must report the extra.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_tools: usize,
    /// Skip this many extras.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the extra as JSON without asking.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelAuditsArgs {
    #[command(flatten)]
    pub(crate) source: QueueArgs,
    /// Decisions to ask for; default: classification.
    ///
    /// Separated by commas: all, or of responses verdict, confidence, found, type_match, rcir, ava and fsv, and of findings classification,
    /// matches_target and is_valid_concern.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// Skip this many questions.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,
    /// Print the question as JSON without asking.
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
    /// Id of the pair, extra, finding or response.
    ///
    /// As shown by `karat label next`, `extras` or `audits`.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Label: yes, no or partial; a class, another word or a number.
    #[arg(value_name = "ANSWER")]
    pub(crate) answer: String,
    #[command(flatten)]
    pub(crate) annotator: AnnotatorArgs,
    /// Note on the reason.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Replace your earlier label.
    ///
    /// It stays in the history.
    #[arg(long)]
    pub(crate) change: bool,
    /// Run in which it was shown; default: latest.
    #[arg(long, value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) source: SuiteSourceArgs,
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
    /// List everybody's labels.
    ///
    /// Even if KARAT_ANNOTATOR is set.
    #[arg(long, conflicts_with = "name")]
    pub(crate) all: bool,
    /// Include corrected and retracted labels.
    #[arg(long)]
    pub(crate) history: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelExportArgs {
    /// Run: id, id prefix, name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) source: SuiteSourceArgs,
    /// Export only this person's labels.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Output file; default: standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a summary as JSON.
    ///
    /// The judgements themselves go to -o.
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabelImportArgs {
    /// Judgements (.jsonl); `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Run with the findings; default: latest.
    #[arg(long, value_name = "RUN", conflicts_with = "suite")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) source: SuiteSourceArgs,
    /// Replace earlier labels that differ.
    ///
    /// They stay in the history.
    #[arg(long)]
    pub(crate) change: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
