//! The order of the lines of a file: functions in another order, and lines that are new.

use super::new_names::choose;
use karat_source::language::Language;
use karat_source::rewrite::{FunctionRun, definition_lines, function_runs};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where the lines of a file go. Lines count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    lines: Vec<LineOrigin>,
    /// The new place of each old line.
    places: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LineOrigin {
    Old(usize),
    New(String),
}

impl Layout {
    fn new(lines: Vec<LineOrigin>, count: usize) -> Self {
        let mut places = vec![0; count];
        for (at, line) in lines.iter().enumerate() {
            if let LineOrigin::Old(old) = line
                && let Some(place) = places.get_mut(*old)
            {
                *place = at;
            }
        }
        Self { lines, places }
    }

    /// The text in the new order. It must have as many lines as the layout was made for.
    pub(super) fn apply(&self, text: &str) -> String {
        let old: Vec<&str> = text.split_inclusive('\n').collect();
        let line = |line: &LineOrigin| match line {
            LineOrigin::Old(at) => old.get(*at).copied().unwrap_or_default().to_owned(),
            LineOrigin::New(text) => text.clone(),
        };
        self.lines.iter().map(line).collect()
    }

    /// Where lines went, if they are still together and in order.
    pub(super) fn place(&self, lines: Range<usize>) -> Option<Range<usize>> {
        let places = self.places.get(lines.clone())?;
        let first = *places.first()?;
        let together = places.iter().enumerate().all(|(step, place)| *place == first + step);
        together.then_some(first..first + lines.len())
    }
}

/// What is new in a file: lines in front of a definition that has this name.
#[derive(Clone, Debug)]
pub(super) struct Insertion {
    pub(super) before: String,
    pub(super) lines: Vec<String>,
}

/// The layouts of all versions of a file, in step with each other: functions that two versions share have the same order in both.
pub(super) fn layouts(
    seed: u64,
    language: Language,
    versions: &[&str],
    reorder: bool,
    insertion: Option<&Insertion>,
) -> Vec<Layout> {
    let runs: Vec<Vec<FunctionRun>> = versions.iter().map(|text| function_runs(language, text)).collect();
    let reorder = reorder && are_in_step(&runs);
    let mut layouts = Vec::with_capacity(versions.len());
    for (text, runs) in versions.iter().zip(&runs) {
        let count = text.split_inclusive('\n').count();
        let mut lines: Vec<LineOrigin> = (0..count).map(LineOrigin::Old).collect();
        for run in runs.iter().filter(|run| reorder && run.is_free && run.blocks.len() > 1) {
            reorder_run(seed, run, &mut lines);
        }
        if let Some(insertion) = insertion
            && let Some((_, at)) = definition_lines(language, text).iter().find(|(name, _)| *name == insertion.before)
            && let Some(place) = lines.iter().position(|line| *line == LineOrigin::Old(*at))
        {
            lines.splice(place..place, insertion.lines.iter().cloned().map(LineOrigin::New));
        }
        layouts.push(Layout::new(lines, count));
    }
    layouts
}

/// Puts the blocks of a run in the order that the seed gives their names. What is between two blocks stays between two.
fn reorder_run(seed: u64, run: &FunctionRun, lines: &mut Vec<LineOrigin>) {
    let (Some(first), Some(last)) = (run.blocks.first(), run.blocks.last()) else { return };
    let mut order: Vec<usize> = (0..run.blocks.len()).collect();
    order.sort_by_key(|at| (choose(seed, &run.blocks[*at].key, usize::MAX), *at));
    let mut sorted = Vec::new();
    for (at, own) in order.iter().enumerate() {
        sorted.extend(run.blocks[*own].lines.clone().map(LineOrigin::Old));
        if let (Some(block), Some(next)) = (run.blocks.get(at), run.blocks.get(at + 1)) {
            sorted.extend((block.lines.end..next.lines.start).map(LineOrigin::Old));
        }
    }
    // Runs inside a moved block would have moved already: they are of classes, and classes are in no run.
    let start = lines.iter().position(|line| *line == LineOrigin::Old(first.lines.start));
    let length = last.lines.end - first.lines.start;
    if let Some(start) = start.filter(|start| start + length <= lines.len() && sorted.len() == length) {
        lines.splice(start..start + length, sorted);
    }
}

/// Whether the same functions are neighbours in all versions, and in the same order.
fn are_in_step(versions: &[Vec<FunctionRun>]) -> bool {
    let places = |runs: &[FunctionRun]| {
        let mut places: BTreeMap<String, Option<(usize, usize, bool)>> = BTreeMap::new();
        for (number, run) in runs.iter().enumerate() {
            for (at, block) in run.blocks.iter().enumerate() {
                let place = Some((number, at, run.is_free));
                // The same name in two classes is told apart by nothing.
                places.entry(block.key.clone()).and_modify(|place| *place = None).or_insert(place);
            }
        }
        places
    };
    let all: Vec<_> = versions.iter().map(|runs| places(runs)).collect();
    let Some((first, others)) = all.split_first() else { return false };
    if all.iter().any(|places| places.values().any(Option::is_none)) {
        return false;
    }
    others.iter().all(|other| {
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut order: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (key, place) in first {
            let (Some((run, at, free)), Some(Some((other_run, other_at, other_free)))) = (place, other.get(key)) else {
                continue;
            };
            if free != other_free {
                return false;
            }
            pairs.insert((*run, *other_run));
            order.entry(*run).or_default().push((*at, *other_at));
        }
        let firsts: BTreeSet<usize> = pairs.iter().map(|(run, _)| *run).collect();
        let seconds: BTreeSet<usize> = pairs.iter().map(|(_, run)| *run).collect();
        let is_ordered = order.into_values().all(|mut places| {
            places.sort_unstable();
            places.is_sorted_by_key(|(_, other)| *other)
        });
        firsts.len() == pairs.len() && seconds.len() == pairs.len() && is_ordered
    })
}
