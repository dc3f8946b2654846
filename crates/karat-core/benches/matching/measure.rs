//! One workload in a process of its own, so that its peak of memory is its own.

use crate::one_case::{self, Shape};
use crate::pathological::{self, Variant};
use crate::{dump, workload};
use karat_core::matching::assign::quantum;
use karat_core::profile::{Assignment, Profile};
use karat_core::scorecard::{Scorecard, score};
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use std::time::Instant;

/// A workload that can be measured.
pub(crate) struct Workload {
    /// The name it is asked for by.
    pub(crate) name: &'static str,
    /// What it is, for the table.
    pub(crate) about: &'static str,
    /// How many threads score it.
    pub(crate) threads: usize,
    /// How often it is scored; the median time counts.
    pub(crate) runs: usize,
    rules: Rules,
    draw: fn() -> (Suite, Vec<Trial>),
}

/// The profile that a workload is scored by; no judge is asked.
#[derive(Clone, Copy)]
enum Rules {
    Karat,
    /// As `karat`, with greedy assignment.
    Greedy,
    Crb,
    Identity,
}

impl Rules {
    fn profile(self) -> Profile {
        match self {
            Self::Karat => workload::profile(include_str!("../../../karat/profiles/karat.toml")),
            Self::Greedy => Profile { assignment: Assignment::Greedy, ..Self::Karat.profile() },
            Self::Crb => workload::profile(include_str!("../../../karat/profiles/crb.toml")),
            Self::Identity => workload::profile(include_str!("../../../karat/profiles/identity.toml")),
        }
    }
}

use Rules::{Crb, Greedy, Identity, Karat};

/// All workloads, in the order of the table.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::of_many("100k", "100,000 × 100,000, 5,000 cases", 2, || many(5_000, 4)),
    Workload::of_many("100k-1", "the same, one thread", 1, || many(5_000, 4)),
    Workload::of_many("1M", "1,000,000 × 1,000,000, 50,000 cases", 2, || many(50_000, 4)),
    Workload::of_many("prose", "100,000 × 100,000, prose, no keywords", 2, || many(5_000, 0)),
    Workload::of_one("lines", "3,000 × 3,000 in one file, own lines", Karat, || crowd(Variant::Lines)),
    Workload::of_one("identical", "3,000 × 3,000, all identical", Karat, || crowd(Variant::Identical)),
    Workload::of_one("keywords", "3,000 × 3,000, drawn keywords", Karat, || crowd(Variant::Keywords)),
    Workload::of_one("tiers", "3,000 × 3,000, three acceptances", Karat, || crowd(Variant::Tiers)),
    Workload::of_one("greedy", "3,000 × 3,000, keywords, greedy", Greedy, || crowd(Variant::Keywords)),
    Workload::of_one("score-5k", "5,000 × 5,000, one case, many files", Karat, || one(Shape::Spread, 5_000)),
    Workload::of_one("score-20k", "20,000 × 20,000, the same", Karat, || one(Shape::Spread, 20_000)),
    Workload::of_one("crb-5k", "5,000 × 5,000, profile crb", Crb, || one(Shape::Spread, 5_000)),
    Workload::of_one("crb-20k", "20,000 × 20,000, profile crb", Crb, || one(Shape::Spread, 20_000)),
    Workload::of_one("prose-20k", "20,000 × 20,000, prose", Karat, || one(Shape::Prose, 20_000)),
    Workload::of_one("line-1", "20,000 × 20,000, all on line 1, crb", Crb, || one(Shape::LineOne, 20_000)),
    Workload::of_one("one-file", "20,000 × 20,000 in one file", Karat, || one(Shape::OneFile, 20_000)),
    Workload::of_one("same", "20,000 × 20,000, all the same", Karat, || one(Shape::Same, 20_000)),
    Workload::of_one("same-crb", "20,000 × 20,000, the same, crb", Crb, || one(Shape::Same, 20_000)),
    Workload::of_one("keys-5k", "5,000 × 5,000, one case, keys", Identity, || one(Shape::Spread, 5_000)),
    Workload::of_one("keys-20k", "20,000 × 20,000, keys", Identity, || one(Shape::Spread, 20_000)),
    Workload::of_one("keys-100k", "100,000 × 100,000, keys", Identity, || one(Shape::Spread, 100_000)),
    Workload::of_one("keys-100", "the same in 100 cases", Identity, || one_case::draw(Shape::Spread, 100_000, 100)),
    Workload::of_one("keys-file", "100,000 × 100,000, one file and rule", Identity, || one(Shape::OneFile, 100_000)),
    Workload::of_one("keys-same", "100,000 × 100,000, one key", Identity, || one(Shape::Same, 100_000)),
    Workload::of_one("keys-glob", "100,000 × 100,000, globs", Identity, || one(Shape::Globs, 100_000)),
    Workload::of_one("keys-alias", "100,000 × 100,000, aliases", Identity, || one(Shape::Aliases, 100_000)),
    Workload::of_one("keys-fold", "100,000 × 100,000, folded reports", Identity, || one(Shape::Merged, 100_000)),
    Workload::of_one("keys-rule", "100,000 × 100,000, file and rule", Identity, || one(Shape::NoLines, 100_000)),
];

impl Workload {
    const fn of_many(
        name: &'static str,
        about: &'static str,
        threads: usize,
        draw: fn() -> (Suite, Vec<Trial>),
    ) -> Self {
        Self { name, about, threads, runs: 5, rules: Karat, draw }
    }

    /// One thread, so that time on the clock is processor time.
    const fn of_one(name: &'static str, about: &'static str, rules: Rules, draw: fn() -> (Suite, Vec<Trial>)) -> Self {
        Self { name, about, threads: 1, runs: 1, rules, draw }
    }
}

fn many(cases: usize, keywords: usize) -> (Suite, Vec<Trial>) {
    let suite = workload::suite(cases, keywords);
    let trials = workload::trials(&suite, "bench", 1);
    (suite, trials)
}

fn one(shape: Shape, size: usize) -> (Suite, Vec<Trial>) {
    one_case::draw(shape, size, 1)
}

fn crowd(variant: Variant) -> (Suite, Vec<Trial>) {
    pathological::draw(variant, 3_000)
}

/// What a process found out about one workload.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// The median time of scoring.
    pub(crate) seconds: f64,
    /// The mean time of all processors together, which other programs on the machine disturb less.
    pub(crate) cpu_seconds: f64,
    /// How many findings were scored.
    pub(crate) findings: f64,
    /// Memory that the input takes, in megabytes.
    pub(crate) input_mb: f64,
    /// The most memory that input and scoring took together, in megabytes.
    pub(crate) peak_mb: f64,
    /// How many goldens were found.
    pub(crate) matches: f64,
    /// The scores of all matches added up, in billionths.
    pub(crate) total: f64,
}

impl Measured {
    /// What [`Measured::parse`] reads.
    pub(crate) fn line(&self) -> String {
        let Self { seconds, cpu_seconds, findings, input_mb, peak_mb, matches, total } = self;
        format!("{seconds} {cpu_seconds} {findings} {input_mb} {peak_mb} {matches} {total}")
    }

    /// Reads what a child process wrote.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let numbers: Vec<f64> = line.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let [seconds, cpu_seconds, findings, input_mb, peak_mb, matches, total] = numbers[..] else { return None };
        Some(Self { seconds, cpu_seconds, findings, input_mb, peak_mb, matches, total })
    }
}

impl Workload {
    /// Draws the workload and scores it, in this process. Where a folder is named, the data is written there first.
    pub(crate) fn measure(&self, data: Option<&str>) -> Measured {
        let (suite, trials) = (self.draw)();
        if let Some(file) = data {
            dump::write(&suite, &trials, file);
        }
        let profile = self.rules.profile();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().expect("a pool of threads");
        let input_mb = status_mb("VmRSS");
        let mut times = Vec::new();
        let cpu_before = cpu_seconds();
        let mut measured = Measured::default();
        for run in 0..self.runs {
            let start = Instant::now();
            let card = pool.install(|| score(&suite, &trials, &[], &profile));
            times.push(start.elapsed().as_secs_f64());
            if run == 0 {
                measured = Measured { peak_mb: status_mb("VmHWM"), ..summary(&card) };
            }
        }
        let cpu_seconds = (cpu_seconds() - cpu_before) / self.runs as f64;
        times.sort_by(f64::total_cmp);
        let findings = trials.iter().map(|trial| trial.findings.len()).sum::<usize>() as f64;
        Measured { seconds: times[times.len() / 2], cpu_seconds, findings, input_mb, ..measured }
    }
}

fn summary(card: &Scorecard) -> Measured {
    let cases = card.tools.iter().flat_map(|tool| &tool.cases);
    let found = || cases.clone().flat_map(|case| &case.trials).flat_map(|trial| &trial.result.matches);
    let total: i64 = found().map(|m| quantum(m.score.unwrap_or_default())).sum();
    Measured { matches: found().count() as f64, total: total as f64, ..Measured::default() }
}

/// A figure of this process in megabytes (1,000,000 bytes), as Linux states it; not a number elsewhere.
fn status_mb(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

/// Processor time of this process so far, in steps of a hundredth of a second; not a number where Linux does not state it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program comes before the last bracket and may hold anything; user and system time are 12th and 13th after.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(2);
    let ticks: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
    ticks.filter(|ticks| ticks.len() == 2).map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / 100.0)
}
