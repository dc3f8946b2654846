//! What is read, and how: rules, trials, where findings belong.

use clap::Args;
use karat::judge::run::JudgeRequest;
use karat::profile::request::ProfileRequest;
use karat_core::panel::Consensus;
use karat_llm::ledger::CacheMode;
use std::path::PathBuf;

/// The rules to score by.
#[derive(Debug, Default, Args)]
pub(crate) struct RuleArgs {
    /// A profile's name, or a TOML file that states what differs from one; the suite's own where absent.
    #[arg(long, value_name = "P")]
    pub(crate) profile: Option<String>,
    /// Change a single value of the profile; may be given again.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

/// What to score, and by whose decisions.
#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    /// A submission (.jsonl), SARIF, or any format named by --from; may be given again; `-` is standard input.
    #[arg(long = "submission", value_name = "FILE", num_args = 1..)]
    pub(crate) submissions: Vec<PathBuf>,
    /// Recorded judgements; may be given again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) judgements: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Who is asked about pairs that nobody has judged yet.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskArgs {
    /// The judge to ask: local, human, a judge of karat.toml, PROVIDER/MODEL, several with commas between them, or none; the
    /// profile's where absent. A judge of the --judgements is heard alone.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    /// How several judges decide: majority, or dawid-skene, which weighs each by how it errs.
    #[arg(long, value_name = "HOW", value_parser = ["majority", "dawid-skene"], hide_possible_values = true)]
    pub(crate) consensus: Option<String>,
    /// What is done with the ledger of exchanges with models: read-write, read, only (nobody is asked; what is not recorded is
    /// an error), or off.
    #[arg(long, value_name = "MODE", default_value = "read-write", hide_default_value = true)]
    #[arg(value_parser = ["read-write", "read", "only", "off"], hide_possible_values = true)]
    pub(crate) judge_cache: String,
}

impl AskArgs {
    /// The judge that was asked for.
    pub(crate) fn request(&self) -> JudgeRequest {
        JudgeRequest {
            judge: self.judge.clone(),
            consensus: self.consensus.as_deref().and_then(Consensus::parse),
            // Other words are refused before.
            cache: CacheMode::from_name(&self.judge_cache).unwrap_or(CacheMode::ReadWrite),
        }
    }
}

impl From<&RuleArgs> for ProfileRequest {
    fn from(rules: &RuleArgs) -> Self {
        Self { profile: rules.profile.clone(), sets: rules.sets.clone() }
    }
}

/// How far numbers are to be trusted, and how that is found out.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct IntervalArgs {
    /// Draw cases with the same value of this field together: repo, language, difficulty, meta.NAME, or none. Where absent: repo, if
    /// cases share at least ten repositories.
    #[arg(long, value_name = "FIELD")]
    pub(crate) cluster: Option<String>,
    /// How the ends of intervals come from samples: bca, or percentile.
    #[arg(long, value_name = "HOW", value_parser = ["bca", "percentile"], hide_possible_values = true)]
    pub(crate) bootstrap: Option<String>,
    /// Which interval a plain proportion has: wilson, or clopper-pearson, which is wider and never covers less than it says.
    #[arg(long, value_name = "HOW", value_parser = ["wilson", "clopper-pearson"], hide_possible_values = true)]
    pub(crate) proportions: Option<String>,
    /// How many samples are drawn for intervals; 10000 where absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: Option<u32>,
}

/// How another program's findings are put to cases.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The format of the files; `karat import --list` shows them.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Put all findings to this case.
    #[arg(long = "case", id = "the_case", value_name = "ID", conflicts_with = "case_from")]
    pub(crate) case: Option<String>,
    /// Find the case in the path: the group `case`, else the first group, else the whole match.
    #[arg(long, value_name = "REGEX")]
    pub(crate) case_from: Option<String>,
    /// CSV with `rule_id,category[,cwe]`, to give findings the suite's categories.
    #[arg(long, value_name = "FILE")]
    pub(crate) rule_map: Option<PathBuf>,
    /// The number of the trial, for formats that do not say.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trial_number: u32,
}
