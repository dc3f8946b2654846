//! Results of cases without details, written as columns: in a list, names of figures would be nearly all of a large report.

#[cfg(test)]
mod tests;

use super::{CaseResultV1, DetailV1, FiguresV1, MetricsV1, TrialResultV1};
use karat_core::suite::Verdict;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use thin_vec::ThinVec;

/// The results of a tool: a list, or columns where no case has details.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes what is written")]
pub(super) enum CasesV1 {
    List(Vec<CaseResultV1>),
    Columns(Box<CaseColumnsV1>),
}

/// The cases of a tool in a report without details: a column for each figure, in the order of the cases. A figure that no case has
/// is left out.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct CaseColumnsV1 {
    /// The cases.
    case: Vec<String>,
    /// Whether every trial passed: 1 or 0.
    pass: ColumnV1,
    /// The defined values of metrics.
    values: BTreeMap<String, ColumnV1>,
    /// What cases add to metrics that are sums over cases; `null` stands for 0.
    sums: BTreeMap<String, ColumnV1>,
    /// Extras that are no false positives because they are on lines the change did not touch.
    untouched_extras: ColumnV1,
    /// How many trials each case has.
    trials_of_case: ColumnV1,
    /// The trials of all cases, those of the first case first.
    trials: TrialColumnsV1,
}

/// Columns of trials.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct TrialColumnsV1 {
    /// Which of the repetitions of its case it is.
    trial: Vec<u32>,
    /// How it ended: 1 for trials that ended so.
    outcome: BTreeMap<Outcome, ColumnV1>,
    /// Whether it enters the metrics: 1 or 0.
    counted: ColumnV1,
    /// What it said of the case as a whole: 1 for trials that said so.
    verdict: BTreeMap<Verdict, ColumnV1>,
    /// Whether that is the truth: 1 or 0.
    verdict_correct: ColumnV1,
    /// Whether it gave no verdict, and had to give none: 1 or 0.
    verdict_unknown: ColumnV1,
    /// Said vulnerable, rightly, without finding the target: 1 or 0.
    lucky_guess: ColumnV1,
    /// How sure it was.
    confidence: ColumnV1,
    /// |confidence − correctness of the verdict|.
    calibration_error: ColumnV1,
    /// Required goldens found.
    tp: ColumnV1,
    /// Findings that report nothing true.
    fp: ColumnV1,
    /// Required goldens missed.
    r#fn: ColumnV1,
    /// Extras that are no false positives because they are on lines the change did not touch.
    untouched_extras: ColumnV1,
}

/// A number for each case or trial, or none.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ColumnV1 {
    /// The same for all.
    Same(f64),
    /// One for each; `null` where there is none.
    Each(Vec<Option<f64>>),
    /// For a few of them, by position from 0.
    Few { at: Vec<usize>, is: Vec<f64> },
}

impl Default for ColumnV1 {
    fn default() -> Self {
        Self::Few { at: Vec::new(), is: Vec::new() }
    }
}

/// So many figures of all cases may be written as one number each, however many cases there are; more of them only for few cases. A small
/// file must not fill the memory.
const MOST_SAME: usize = 32;
const MOST_SAME_NUMBERS: usize = 1_000_000;

/// Counts above this are not exact as numbers of JSON.
const MAX_COUNT: f64 = 9_007_199_254_740_991.0;

/// Of as many numbers as this, one has to be there for a list of all to be shorter than one of positions.
const DENSE: usize = 3;

impl ColumnV1 {
    fn new(numbers: impl Iterator<Item = Option<f64>> + Clone) -> Self {
        let (mut all, mut there) = (0_usize, 0_usize);
        let (mut first, mut is_same) = (None, true);
        for number in numbers.clone() {
            all += 1;
            there += usize::from(number.is_some());
            let bits = number.map(f64::to_bits);
            is_same &= bits.is_some() && first.get_or_insert(number).map(f64::to_bits) == bits;
        }
        match first.flatten() {
            Some(number) if is_same => Self::Same(number),
            _ if there * DENSE >= all => Self::Each(numbers.collect()),
            _ => {
                let (at, is) = (0..).zip(numbers).filter_map(|(at, number)| Some((at, number?))).unzip();
                Self::Few { at, is }
            }
        }
    }

    fn flags(flags: impl Iterator<Item = bool> + Clone) -> Self {
        Self::new(flags.map(|is| is.then_some(1.0))).or_zero()
    }

    fn counts(counts: impl Iterator<Item = usize> + Clone) -> Self {
        Self::new(counts.map(|count| (count > 0).then_some(count as f64))).or_zero()
    }

    /// Writes nothing as 0 in a list of all, which is shorter.
    fn or_zero(self) -> Self {
        match self {
            Self::Each(numbers) => Self::Each(numbers.into_iter().map(|number| number.or(Some(0.0))).collect()),
            other => other,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Few { at, .. } if at.is_empty())
    }

    /// An error says why it is no column of so many rows.
    fn check(&self, rows: usize) -> Result<(), String> {
        match self {
            Self::Same(_) => Ok(()),
            Self::Each(numbers) if numbers.len() == rows => Ok(()),
            Self::Each(numbers) => Err(format!("{} for {}", count(numbers.len(), "number"), count(rows, "row"))),
            Self::Few { at, is } if at.len() != is.len() => {
                Err(format!("{} of {}", count(at.len(), "position"), count(is.len(), "number")))
            }
            Self::Few { at, .. } if !at.is_sorted_by(|row, next| row < next) => {
                Err("positions that do not rise".to_owned())
            }
            Self::Few { at, .. } if at.last().is_some_and(|row| *row >= rows) => {
                Err(format!("a position beyond {}", count(rows, "row")))
            }
            Self::Few { .. } => Ok(()),
        }
    }

    fn expand(&self, name: &str, rows: usize) -> Result<Vec<Option<f64>>, String> {
        self.check(rows).map_err(|why| format!("{name}: {why}"))?;
        Ok(match self {
            Self::Same(number) => vec![Some(*number); rows],
            Self::Each(numbers) => numbers.clone(),
            Self::Few { at, is } => {
                let mut all = vec![None; rows];
                at.iter().zip(is).for_each(|(row, number)| all[*row] = Some(*number));
                all
            }
        })
    }

    fn expand_flags(&self, name: &str, rows: usize) -> Result<Vec<bool>, String> {
        Ok(self.expand(name, rows)?.into_iter().map(|number| number.is_some_and(|number| number != 0.0)).collect())
    }

    fn expand_counts(&self, name: &str, rows: usize) -> Result<Vec<usize>, String> {
        let as_count = |number: f64| {
            let is_count = (0.0..=MAX_COUNT).contains(&number) && number.fract() == 0.0;
            if is_count { Ok(number as usize) } else { Err(format!("{name}: {number} is no count")) }
        };
        self.expand(name, rows)?.into_iter().map(|number| as_count(number.unwrap_or(0.0))).collect()
    }
}

/// A number in as few characters as JSON allows.
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = self.0 as i64;
        // 0 and −0 are equal, and written differently.
        let is_whole =
            whole as f64 == self.0 && whole.unsigned_abs() < 1 << 53 && (whole != 0 || self.0.is_sign_positive());
        if is_whole { serializer.serialize_i64(whole) } else { serializer.serialize_f64(self.0) }
    }
}

impl Serialize for ColumnV1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Same(number) => Short(*number).serialize(serializer),
            Self::Each(numbers) => serializer.collect_seq(numbers.iter().map(|number| number.map(Short))),
            Self::Few { at, is } => {
                let is: Vec<Short> = is.iter().copied().map(Short).collect();
                let mut column = serializer.serialize_struct("ColumnV1", 2)?;
                column.serialize_field("at", at)?;
                column.serialize_field("is", &is)?;
                column.end()
            }
        }
    }
}

/// Results of cases, each column made when it is written.
struct Columns<'a>(&'a [CaseResultV1]);

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cases = self.0.iter();
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("case", &Sequence(cases.clone().map(|case| case.case.as_str())))?;
        let pass = ColumnV1::flags(cases.clone().map(|case| case.pass));
        if !pass.is_empty() {
            out.serialize_entry("pass", &pass)?;
        }
        out.serialize_entry("values", &FigureColumns(self.0, |case| &case.values, false))?;
        out.serialize_entry("sums", &FigureColumns(self.0, |case| &case.sums, true))?;
        let untouched = ColumnV1::counts(cases.clone().map(|case| case.untouched_extras));
        if !untouched.is_empty() {
            out.serialize_entry("untouched_extras", &untouched)?;
        }
        out.serialize_entry("trials_of_case", &ColumnV1::counts(cases.map(|case| case.trials.len())))?;
        out.serialize_entry("trials", &TrialColumns(self.0))?;
        out.end()
    }
}

/// An iterator as a list.
struct Sequence<I>(I);

impl<T: Serialize, I: Iterator<Item = T> + Clone> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Figures of cases by name, and whether those that are not there are 0.
struct FigureColumns<'a>(&'a [CaseResultV1], fn(&CaseResultV1) -> &FiguresV1, bool);

impl Serialize for FigureColumns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(cases, figures, are_zero) = *self;
        let is_there = |number: &f64| !are_zero || *number != 0.0;
        let of_case = |case| figures(case).iter().filter(move |(_, number)| is_there(number));
        let mut there: BTreeMap<&str, usize> = BTreeMap::new();
        cases.iter().flat_map(of_case).for_each(|(name, _)| *there.entry(name).or_default() += 1);
        // Figures that few cases have, such as those of one confidence, may be many: all cases are gone through once for them.
        let is_rare = |count: usize| count * DENSE < cases.len();
        let mut rare: HashMap<&str, (Vec<usize>, Vec<f64>)> = HashMap::new();
        for (row, case) in cases.iter().enumerate() {
            for (name, number) in of_case(case).filter(|(name, _)| is_rare(there[name])) {
                let (at, is) = rare.entry(name).or_default();
                at.push(row);
                is.push(number);
            }
        }
        let mut out = serializer.serialize_map(Some(there.len()))?;
        let mut same = 0;
        for name in there.keys() {
            let mut column = match rare.remove(name) {
                Some((at, is)) => ColumnV1::Few { at, is },
                None => ColumnV1::new(cases.iter().map(|case| figures(case).get(name).filter(is_there))),
            };
            if let ColumnV1::Same(number) = column {
                same += 1;
                if too_many_same(same, cases.len()) {
                    column = ColumnV1::Each(vec![Some(number); cases.len()]);
                }
            }
            out.serialize_entry(name, &if are_zero { column.or_zero() } else { column })?;
        }
        out.end()
    }
}

fn too_many_same(columns: usize, cases: usize) -> bool {
    columns > MOST_SAME && columns.saturating_mul(cases) > MOST_SAME_NUMBERS
}

struct TrialColumns<'a>(&'a [CaseResultV1]);

impl Serialize for TrialColumns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trials = self.0.iter().flat_map(|case| &case.trials);
        let flag = |is: bool| f64::from(u8::from(is));
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("trial", &Sequence(trials.clone().map(|trial| trial.trial)))?;
        let mut write = |name: &str, column: ColumnV1| match column.is_empty() {
            true => Ok(()),
            false => out.serialize_entry(name, &column),
        };
        write("counted", ColumnV1::flags(trials.clone().map(|trial| trial.counted)))?;
        write("verdict_correct", ColumnV1::flags(trials.clone().map(|trial| trial.verdict_correct == Some(true))))?;
        write("verdict_unknown", ColumnV1::flags(trials.clone().map(|trial| trial.verdict_correct.is_none())))?;
        write("lucky_guess", ColumnV1::new(trials.clone().map(|trial| trial.lucky_guess.map(flag))))?;
        write("confidence", ColumnV1::new(trials.clone().map(|trial| trial.confidence)))?;
        write("calibration_error", ColumnV1::new(trials.clone().map(|trial| trial.calibration_error)))?;
        write("tp", ColumnV1::counts(trials.clone().map(|trial| trial.tp)))?;
        write("fp", ColumnV1::counts(trials.clone().map(|trial| trial.fp)))?;
        write("fn", ColumnV1::counts(trials.clone().map(|trial| trial.r#fn)))?;
        write("untouched_extras", ColumnV1::counts(trials.clone().map(|trial| trial.untouched_extras)))?;
        let outcome = |outcome| ColumnV1::flags(trials.clone().map(move |trial| trial.outcome == outcome));
        out.serialize_entry("outcome", &NamedColumns(&Outcome::ALL, outcome))?;
        if trials.clone().any(|trial| trial.verdict.is_some()) {
            let verdict = |verdict| ColumnV1::flags(trials.clone().map(move |trial| trial.verdict == Some(verdict)));
            out.serialize_entry("verdict", &NamedColumns(&[Verdict::Vulnerable, Verdict::Safe], verdict))?;
        }
        out.end()
    }
}

/// A column for each of these names, made when it is written; those without a number are left out.
struct NamedColumns<'a, K, F>(&'a [K], F);

impl<K: Serialize + Copy, F: Fn(K) -> ColumnV1> Serialize for NamedColumns<'_, K, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for name in self.0 {
            let column = self.1(*name);
            if !column.is_empty() {
                out.serialize_entry(name, &column)?;
            }
        }
        out.end()
    }
}

impl CaseColumnsV1 {
    fn into_results(self) -> Result<Vec<CaseResultV1>, String> {
        let rows = self.case.len();
        let mut names = HashSet::with_capacity(rows);
        if let Some(twice) = self.case.iter().find(|case| !names.insert(case.as_str())) {
            return Err(format!("case: `{twice}` is there twice"));
        }
        let trials_of_case = self.trials_of_case.expand_counts("trials_of_case", rows)?;
        let all = trials_of_case.iter().try_fold(0_usize, |sum, own| sum.checked_add(*own));
        if all != Some(self.trials.trial.len()) {
            let trials = count(self.trials.trial.len(), "trial");
            return Err(format!("trials.trial: {trials}, which trials_of_case does not add up to"));
        }
        let mut trials = self.trials.into_results()?.into_iter();
        let pass = self.pass.expand_flags("pass", rows)?;
        let untouched = self.untouched_extras.expand_counts("untouched_extras", rows)?;
        let mut values = FigureRows::new("values", &self.values, rows)?;
        let mut sums = FigureRows::new("sums", &self.sums, rows)?;
        let results = self.case.into_iter().enumerate().map(|(row, case)| CaseResultV1 {
            case,
            pass: pass[row],
            metrics: MetricsV1::new(),
            values: values.row(row).collect(),
            // A sum of 0 is none.
            sums: sums.row(row).filter(|(_, sum)| *sum != 0.0).collect(),
            untouched_extras: untouched[row],
            trials: trials.by_ref().take(trials_of_case[row]).collect(),
        });
        Ok(results.collect())
    }
}

/// Columns of figures, read row by row.
struct FigureRows<'a> {
    dense: Vec<(&'a str, &'a ColumnV1)>,
    /// Of each row, what is in columns of few numbers.
    few: Vec<Vec<(&'a str, f64)>>,
}

impl<'a> FigureRows<'a> {
    fn new(of: &str, columns: &'a BTreeMap<String, ColumnV1>, rows: usize) -> Result<Self, String> {
        let same = columns.values().filter(|column| matches!(column, ColumnV1::Same(_))).count();
        if too_many_same(same, rows) {
            let (columns, cases) = (count(same, "column"), count(rows, "case"));
            return Err(format!("{of}: {columns} have the same number for all {cases}, and {MOST_SAME} may"));
        }
        let mut dense = Vec::new();
        let mut few: Vec<Vec<(&str, f64)>> = Vec::new();
        for (name, column) in columns {
            column.check(rows).map_err(|why| format!("{of}.{name}: {why}"))?;
            match column {
                ColumnV1::Same(_) | ColumnV1::Each(_) => dense.push((name.as_str(), column)),
                ColumnV1::Few { at, is } => {
                    few.resize_with(rows, Vec::new);
                    at.iter().zip(is).for_each(|(row, number)| few[*row].push((name, *number)));
                }
            }
        }
        Ok(Self { dense, few })
    }

    fn row(&mut self, row: usize) -> impl Iterator<Item = (&'a str, f64)> {
        let few = self.few.get_mut(row).map(std::mem::take).unwrap_or_default();
        let dense = self.dense.iter().filter_map(move |(name, column)| {
            let number = match column {
                ColumnV1::Same(number) => Some(*number),
                ColumnV1::Each(numbers) => numbers[row],
                ColumnV1::Few { .. } => None,
            };
            Some((*name, number?))
        });
        dense.chain(few)
    }
}

impl TrialColumnsV1 {
    fn into_results(self) -> Result<Vec<TrialResultV1>, String> {
        let rows = self.trial.len();
        let mut outcomes: Vec<Option<Outcome>> = vec![None; rows];
        for (outcome, column) in &self.outcome {
            set_where("trials.outcome", column, *outcome, &mut outcomes)?;
        }
        let mut verdicts: Vec<Option<Verdict>> = vec![None; rows];
        for (verdict, column) in &self.verdict {
            set_where("trials.verdict", column, *verdict, &mut verdicts)?;
        }
        let counted = self.counted.expand_flags("trials.counted", rows)?;
        let correct = self.verdict_correct.expand_flags("trials.verdict_correct", rows)?;
        let unknown = self.verdict_unknown.expand_flags("trials.verdict_unknown", rows)?;
        let lucky = self.lucky_guess.expand("trials.lucky_guess", rows)?;
        let confidence = self.confidence.expand("trials.confidence", rows)?;
        let calibration = self.calibration_error.expand("trials.calibration_error", rows)?;
        let tp = self.tp.expand_counts("trials.tp", rows)?;
        let fp = self.fp.expand_counts("trials.fp", rows)?;
        let missed = self.r#fn.expand_counts("trials.fn", rows)?;
        let untouched = self.untouched_extras.expand_counts("trials.untouched_extras", rows)?;
        let result = |(row, trial): (usize, u32)| {
            Ok(TrialResultV1 {
                trial,
                detail: DetailV1::None,
                outcome: outcomes[row].ok_or_else(|| format!("trials.outcome: trial {row} of {rows} has none"))?,
                counted: counted[row],
                notes: ThinVec::new(),
                verdict: verdicts[row],
                verdict_correct: (!unknown[row]).then_some(correct[row]),
                lucky_guess: lucky[row].map(|number| number != 0.0),
                confidence: confidence[row],
                calibration_error: calibration[row],
                tp: tp[row],
                fp: fp[row],
                r#fn: missed[row],
                untouched_extras: untouched[row],
                findings: ThinVec::new(),
                matches: ThinVec::new(),
                misses: ThinVec::new(),
                extras: ThinVec::new(),
                duplicates: ThinVec::new(),
                acceptable: ThinVec::new(),
                audit: None,
            })
        };
        self.trial.into_iter().enumerate().map(result).collect()
    }
}

/// Sets what a column has flags for, each once.
fn set_where<T>(name: &str, column: &ColumnV1, value: T, all: &mut [Option<T>]) -> Result<(), String>
where
    T: Copy,
{
    for (row, is_set) in column.expand_flags(name, all.len())?.into_iter().enumerate() {
        if is_set && all[row].replace(value).is_some() {
            return Err(format!("{name}: trial {row} of {} has two", all.len()));
        }
    }
    Ok(())
}

/// Whether columns say everything about these cases.
fn have_no_details(cases: &[CaseResultV1]) -> bool {
    let mut trials = cases.iter().flat_map(|case| &case.trials).peekable();
    trials.peek().is_some()
        && trials.all(|trial| trial.detail == DetailV1::None && trial.notes.is_empty() && trial.audit.is_none())
        && cases.iter().all(|case| case.metrics.is_empty())
}

pub(super) fn serialize<S: Serializer>(cases: &[CaseResultV1], serializer: S) -> Result<S::Ok, S::Error> {
    match have_no_details(cases) {
        true => Columns(cases).serialize(serializer),
        false => cases.serialize(serializer),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CaseResultV1>, D::Error> {
    struct Cases;

    impl<'de> Visitor<'de> for Cases {
        type Value = Vec<CaseResultV1>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a list of cases, or columns")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            let columns = CaseColumnsV1::deserialize(MapAccessDeserializer::new(map))?;
            columns.into_results().map_err(A::Error::custom)
        }
    }

    deserializer.deserialize_any(Cases)
}
