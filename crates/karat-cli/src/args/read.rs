//! Arguments that commands share: profile, trials, judge, intervals and case assignment.

use super::choice;
use clap::Args;
use karat::judge::run::JudgeRequest;
use karat::profile::ProfileRequest;
use karat::score::{ScoreRequest, ScoreSource};
use karat::submissions::{PlacementRequest, SubmissionRequest};
use karat_core::clusters::ClusterBy;
use karat_core::panel::Consensus;
use karat_core::scorecard::{Intervals, Proportions};
use karat_core::stats::bootstrap::BootstrapKind;
use karat_llm::ledger::CacheMode;
use karat_store::StoreLocation;
use std::path::PathBuf;

/// The profile to score by.
#[derive(Debug, Default, Args)]
pub(crate) struct RuleArgs {
    /// Profile; default: the suite's.
    ///
    /// A name, or a TOML file with changes to one; `karat profile list` shows the names.
    #[arg(long, value_name = "P")]
    pub(crate) profile: Option<String>,
    /// Change one value of the profile; repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Count findings off the change as false.
    ///
    /// Findings on lines the change did not touch count as false positives, like --set outside_change=count.
    #[arg(long)]
    pub(crate) count_untouched: bool,
}

/// The trials to score, and recorded judgements.
#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    /// Submission or scanner's output; repeatable.
    ///
    /// A submission (.jsonl), SARIF, or any format named by --from; `-` is standard input.
    #[arg(long = "submission", value_name = "FILE", num_args = 1..)]
    pub(crate) submissions: Vec<PathBuf>,
    /// Recorded judgements; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) judgements: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// The judge of pairs without a judgement.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskArgs {
    /// Judge to use, or none.
    ///
    /// local, human, a judge of karat.toml, PROVIDER/MODEL, several, separated by commas, or none. Default: the profile's. If
    /// it is a judge from --judgements, only this judge is used.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

pub(super) const CACHE_MODES: &[(&str, CacheMode)] = &[
    ("read-write", CacheMode::ReadWrite),
    ("read", CacheMode::Read),
    ("only", CacheMode::Only),
    ("off", CacheMode::Off),
];

/// How judges decide and are asked.
#[derive(Clone, Debug, Args)]
pub(crate) struct PanelArgs {
    /// How several judges decide.
    ///
    /// majority, or dawid-skene, which weights each by its estimated error rates.
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = choice(&Consensus::NAMES))]
    pub(crate) consensus: Option<Consensus>,
    /// Ledger of model exchanges: read-write … off.
    ///
    /// read-write, read, only (no model is called; an unrecorded exchange is an error), or off.
    #[arg(long, value_name = "MODE", default_value = "read-write", hide_default_value = true)]
    #[arg(hide_possible_values = true, value_parser = choice(CACHE_MODES))]
    judge_cache: CacheMode,
}

impl PanelArgs {
    pub(crate) fn request(&self, judge: Option<&String>) -> JudgeRequest {
        JudgeRequest { judge: judge.cloned(), consensus: self.consensus, cache: self.judge_cache }
    }
}

fn set_flags<const N: usize>(all: [(&'static str, bool); N]) -> Vec<&'static str> {
    all.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).collect()
}

impl AskArgs {
    pub(crate) fn request(&self) -> JudgeRequest {
        self.panel.request(self.judge.as_ref())
    }

    /// The flags that were given.
    pub(crate) fn set_flags(&self) -> Vec<&'static str> {
        let PanelArgs { consensus, judge_cache } = self.panel;
        let changes_cache = judge_cache != CacheMode::ReadWrite;
        set_flags([
            ("--judge", self.judge.is_some()),
            ("--consensus", consensus.is_some()),
            ("--judge-cache", changes_cache),
        ])
    }

    /// The flags that select the same judge.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        let consensus = Consensus::NAMES.iter().filter(|(_, value)| self.panel.consensus == Some(*value));
        let consensus = consensus.map(|(word, _)| ("--consensus", (*word).to_owned()));
        self.judge.iter().map(|judge| ("--judge", judge.clone())).chain(consensus).collect()
    }
}

impl RuleArgs {
    /// The flags that were given.
    pub(crate) fn set_flags(&self) -> Vec<&'static str> {
        let Self { profile, sets, count_untouched } = self;
        let all =
            [("--profile", profile.is_some()), ("--set", !sets.is_empty()), ("--count-untouched", *count_untouched)];
        set_flags(all)
    }

    /// The flags that select the same profile.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        let request = ProfileRequest::from(self);
        let profile = request.profile.into_iter().map(|name| ("--profile", name));
        profile.chain(request.sets.into_iter().map(|set| ("--set", set))).collect()
    }
}

impl TrialArgs {
    /// The flags that were given.
    pub(crate) fn set_flags(&self) -> Vec<&'static str> {
        let Self { submissions, judgements, place } = self;
        let PlaceArgs { from, case, case_from, rule_map, trial_number } = place;
        let all = [
            ("--submission", !submissions.is_empty()),
            ("--judgements", !judgements.is_empty()),
            ("--from", from.is_some()),
            ("--case", case.is_some()),
            ("--case-from", case_from.is_some()),
            ("--rule-map", rule_map.is_some()),
            ("--trial-number", *trial_number != 1),
        ];
        set_flags(all)
    }

    pub(crate) fn request(
        &self,
        source: ScoreSource,
        ask: &AskArgs,
        rules: &RuleArgs,
        store: StoreLocation,
    ) -> ScoreRequest {
        ScoreRequest {
            submissions: SubmissionRequest { files: self.submissions.clone(), placement: (&self.place).into() },
            judgements: self.judgements.clone(),
            judge: ask.request(),
            profile: rules.into(),
            ..ScoreRequest::new(source, store)
        }
    }
}

impl From<&PlaceArgs> for PlacementRequest {
    fn from(place: &PlaceArgs) -> Self {
        let PlaceArgs { from: format, case, case_from, rule_map, trial_number } = place.clone();
        Self { format, case, case_from, rule_map, trial_number: Some(trial_number) }
    }
}

impl IntervalArgs {
    pub(crate) fn options(&self, seed: Option<u64>) -> Intervals {
        let default = Intervals::default();
        Intervals {
            seed,
            kind: self.bootstrap.unwrap_or(default.kind),
            proportions: self.proportions.unwrap_or(default.proportions),
            cluster: ClusterBy::parse(self.cluster.as_deref()),
            resamples: self.resamples.map_or(default.resamples, |n| n as usize),
        }
    }
}

impl From<&RuleArgs> for ProfileRequest {
    fn from(rules: &RuleArgs) -> Self {
        let untouched = rules.count_untouched.then(|| "outside_change=count".to_owned());
        Self { profile: rules.profile.clone(), sets: rules.sets.iter().cloned().chain(untouched).collect() }
    }
}

/// Options of confidence intervals.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct IntervalArgs {
    /// Resample cases in clusters by this field.
    ///
    /// repo, language, difficulty, meta.NAME, or none. Default: repo if the cases share at least ten repositories.
    #[arg(long, value_name = "FIELD")]
    pub(crate) cluster: Option<String>,
    /// Bootstrap method: bca or percentile.
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("bca", BootstrapKind::Bca), ("percentile", BootstrapKind::Percentile)]))]
    pub(crate) bootstrap: Option<BootstrapKind>,
    /// wilson or clopper-pearson intervals.
    ///
    /// The interval of plain proportions; clopper-pearson is wider and never undercovers.
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("wilson", Proportions::Wilson), ("clopper-pearson", Proportions::ClopperPearson)]))]
    pub(crate) proportions: Option<Proportions>,
    /// Number of bootstrap samples; default: 10000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: Option<u32>,
}

/// How another program's findings are assigned to cases.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Format of the files.
    ///
    /// `karat import --list` shows the formats.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Assign all findings to this case.
    #[arg(long = "case", id = "the_case", value_name = "ID", conflicts_with = "case_from")]
    pub(crate) case: Option<String>,
    /// Take the case from the path.
    ///
    /// The group `case`, else the first group, else the whole match.
    #[arg(long, value_name = "REGEX")]
    pub(crate) case_from: Option<String>,
    /// Map rules to categories by a CSV file.
    ///
    /// The CSV has the columns rule_id,category[,cwe].
    #[arg(long, value_name = "FILE")]
    pub(crate) rule_map: Option<PathBuf>,
    /// Trial number, for formats without one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trial_number: u32,
}
