//! Where every trial is, so that the trials of one case after the other can be read again.

use crate::failure::{Failure, Result};
use crate::judge::run::FindingKinds;
use crate::run_facts::StoredDetail;
use crate::submissions::{TrialText, appears_twice};
use karat_core::ids::{CaseId, ToolName};
use karat_core::metric::levels::Confidences;
use karat_core::scorecard::{StatedByTrial, TrialHead};
use karat_core::suite::Suite;
use karat_core::trial::{Outcome, Trial};
use karat_format::submission::TrialV1;
use karat_report::build::TrialCosts;
use karat_store::record::TrialKey;
use karat_store::{RunId, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The trials of a request, in the order in which they are given: what must be known of all, and where the rest of each is.
pub(crate) struct TrialIndex {
    entries: Vec<Entry>,
    /// By case of the suite, indices of its trials, upward.
    by_case: Vec<Vec<u32>>,
    numbers: HashMap<CaseId, u32>,
    tools: Vec<ToolName>,
    tool_numbers: HashMap<ToolName, u32>,
    /// By index of the trial: those of cases that are not in the suite.
    strangers: HashMap<u32, CaseId>,
    /// By index of the trial.
    notes: HashMap<u32, Arc<[String]>>,
    /// Tools often say the same of many trials.
    different_notes: HashSet<Arc<[String]>>,
    /// Case, tool and number of every trial that was given, wanted or not.
    seen: HashSet<(u32, u32, u32)>,
    seen_strangers: HashSet<(CaseId, u32, u32)>,
    files: Files,
    pub(crate) costs: TrialCosts,
    pub(crate) kinds: FindingKinds,
    pub(crate) confidences: Confidences,
}

struct Entry {
    case: u32,
    tool: u32,
    number: u32,
    findings: u32,
    outcome: Outcome,
    stated: StatedByTrial,
    place: Place,
    /// Of the line, which must be the same when it is read again.
    hash: u64,
}

#[derive(Clone, Copy)]
enum Place {
    Line { file: u32, length: u32, offset: u64 },
    Stored { attempt: u32 },
}

/// The case of a trial that is about no case of the suite.
const STRANGER: u32 = u32::MAX;

impl TrialIndex {
    pub(crate) fn new(suite: &Suite) -> Self {
        Self {
            entries: Vec::new(),
            by_case: vec![Vec::new(); suite.cases.len()],
            numbers: suite.cases.iter().map(|case| case.id.clone()).zip(0..).collect(),
            tools: Vec::new(),
            tool_numbers: HashMap::new(),
            strangers: HashMap::new(),
            notes: HashMap::new(),
            different_notes: HashSet::new(),
            seen: HashSet::new(),
            seen_strangers: HashSet::new(),
            files: Files::default(),
            costs: TrialCosts::default(),
            kinds: FindingKinds::default(),
            confidences: Confidences::default(),
        }
    }

    /// Adds a trial of a submission; one that is already given is refused. If it is not `wanted`, it is left out.
    pub(crate) fn add_submitted(&mut self, trial: &Trial, text: TrialText<'_>, wanted: bool) -> Result<()> {
        let tool = self.tool_number(&trial.tool);
        let case = self.numbers.get(&trial.case).copied().unwrap_or(STRANGER);
        let is_new = match case {
            STRANGER => self.seen_strangers.insert((trial.case.clone(), tool, trial.number)),
            case => self.seen.insert((case, tool, trial.number)),
        };
        if !is_new {
            return Err(appears_twice(trial));
        }
        if !wanted {
            return Ok(());
        }
        let place = match text {
            TrialText::Line { path, offset, text } => {
                (self.files.line_of(path, offset, text)?, hash_of(text.as_bytes()))
            }
            TrialText::Stream(text) => (self.files.spool(text.as_bytes())?, hash_of(text.as_bytes())),
            TrialText::Imported => {
                let line = serde_json::to_vec(&TrialV1::from(trial));
                let line = line.map_err(|error| Failure::io("a trial", error.into()))?;
                (self.files.spool(&line)?, hash_of(&line))
            }
        };
        self.add(trial, place);
        Ok(())
    }

    /// Adds a trial of a stored run.
    pub(crate) fn add_stored(&mut self, trial: &Trial, attempt: u32, wanted: bool) {
        let tool = self.tool_number(&trial.tool);
        let case = self.numbers.get(&trial.case).copied().unwrap_or(STRANGER);
        match case {
            STRANGER => drop(self.seen_strangers.insert((trial.case.clone(), tool, trial.number))),
            case => drop(self.seen.insert((case, tool, trial.number))),
        }
        if wanted {
            self.add(trial, (Place::Stored { attempt }, 0));
        }
    }

    fn add(&mut self, trial: &Trial, (place, hash): (Place, u64)) {
        let tool = self.tool_number(&trial.tool);
        let at = self.entries.len() as u32;
        let case = match self.numbers.get(&trial.case) {
            Some(case) => {
                self.by_case[*case as usize].push(at);
                *case
            }
            None => {
                self.strangers.insert(at, trial.case.clone());
                STRANGER
            }
        };
        if !trial.notes.is_empty() {
            let notes = match self.different_notes.get(trial.notes.as_slice()) {
                Some(known) => known.clone(),
                None => Arc::from(trial.notes.clone()),
            };
            self.different_notes.insert(Arc::clone(&notes));
            self.notes.insert(at, notes);
        }
        self.costs.add(trial);
        self.kinds.add(trial);
        self.confidences.add(trial);
        let (number, findings, outcome) = (trial.number, trial.findings.len() as u32, trial.outcome);
        self.entries.push(Entry { case, tool, number, findings, outcome, stated: trial.into(), place, hash });
    }

    fn tool_number(&mut self, tool: &ToolName) -> u32 {
        if let Some(number) = self.tool_numbers.get(tool) {
            return *number;
        }
        let number = self.tools.len() as u32;
        self.tools.push(tool.clone());
        self.tool_numbers.insert(tool.clone(), number);
        number
    }

    /// All trials are added.
    pub(crate) fn close(&mut self) -> Result<()> {
        (self.seen, self.seen_strangers) = (HashSet::new(), HashSet::new());
        self.different_notes = HashSet::new();
        self.files.close()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tools of all trials that were given, wanted or not.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &ToolName> {
        self.tools.iter()
    }

    /// Whether any trial was given, wanted or not.
    pub(crate) fn has_seen_any(&self) -> bool {
        !self.seen.is_empty() || !self.seen_strangers.is_empty()
    }

    /// What must be known of every trial before any is scored.
    pub(crate) fn heads<'i>(&'i self, suite: &'i Suite) -> impl Iterator<Item = TrialHead<'i>> {
        self.entries.iter().zip(0..).map(move |(entry, at)| TrialHead {
            case: self.strangers.get(&at).unwrap_or_else(|| &suite.cases[entry.case as usize].id),
            tool: &self.tools[entry.tool as usize],
            number: entry.number,
            outcome: entry.outcome,
            notes: self.notes.get(&at).map_or(&[], |notes| &**notes),
            stated: entry.stated,
        })
    }

    /// By tool, the numbers of its trials.
    pub(crate) fn trial_numbers(&self) -> BTreeMap<&ToolName, BTreeSet<u32>> {
        let mut numbers: BTreeMap<&ToolName, BTreeSet<u32>> = BTreeMap::new();
        for entry in &self.entries {
            numbers.entry(&self.tools[entry.tool as usize]).or_default().insert(entry.number);
        }
        numbers
    }

    /// The next cases, from `first` on, that together have not much more than so many findings and trials.
    pub(crate) fn batch(&self, first: usize, most: usize) -> Range<usize> {
        let (mut end, mut size) = (first, 0);
        while end < self.by_case.len() && size < most {
            let own = self.by_case[end].iter().map(|at| 4 + self.entries[*at as usize].findings as usize);
            size += 4 + own.sum::<usize>();
            end += 1;
        }
        first..end
    }

    /// Reads the trials of these cases, those of each case in the order in which they were given.
    pub(crate) fn load(
        &self,
        suite: &Suite,
        cases: Range<usize>,
        mut store: Option<(&mut Store, &RunId)>,
    ) -> Result<(Vec<Trial>, Vec<Option<StoredDetail>>)> {
        let (mut trials, mut details) = (Vec::new(), Vec::new());
        for case in cases {
            for at in &self.by_case[case] {
                let store = store.as_mut().map(|(store, run)| (&mut **store, *run));
                let (trial, detail) = self.read(suite, *at, store)?;
                trials.push(trial);
                details.push(detail);
            }
        }
        Ok((trials, details))
    }

    /// Reads all trials in the order in which they were given.
    pub(crate) fn load_all(
        &self,
        suite: &Suite,
        mut store: Option<(&mut Store, &RunId)>,
    ) -> Result<Vec<(Trial, Option<StoredDetail>)>> {
        (0..self.entries.len() as u32)
            .map(|at| self.read(suite, at, store.as_mut().map(|(store, run)| (&mut **store, *run))))
            .collect()
    }

    fn read(
        &self,
        suite: &Suite,
        at: u32,
        store: Option<(&mut Store, &RunId)>,
    ) -> Result<(Trial, Option<StoredDetail>)> {
        let entry = &self.entries[at as usize];
        let stranger = self.strangers.get(&at).cloned();
        let key = TrialKey {
            case: stranger.unwrap_or_else(|| suite.cases[entry.case as usize].id.clone()),
            tool: self.tools[entry.tool as usize].clone(),
            number: entry.number,
        };
        match (entry.place, store) {
            (Place::Stored { attempt }, Some((store, run))) => {
                let stored = store.trial(run, &key, attempt)?;
                Ok((stored.trial, Some((attempt, stored.detail))))
            }
            (Place::Stored { .. }, None) => {
                Err(Failure::failed("the trials of a run cannot be read without its store"))
            }
            (Place::Line { file, length, offset }, _) => {
                let bytes = self.files.read(file, offset, length)?;
                if hash_of(&bytes) != entry.hash {
                    return Err(self.files.changed(file));
                }
                let trial = serde_json::from_slice::<TrialV1>(&bytes).ok().map(|line| line.into_trial().0);
                let trial = trial.filter(|trial| TrialKey::from_trial(trial) == key);
                Ok((trial.ok_or_else(|| self.files.changed(file))?, None))
            }
        }
    }
}

/// The files that lines are read from; what cannot be read twice is copied to a temporary file.
#[derive(Default)]
struct Files {
    open: Vec<(PathBuf, File)>,
    spool: Option<Spool>,
}

struct Spool {
    number: u32,
    out: BufWriter<File>,
    length: u64,
}

impl Files {
    fn line_of(&mut self, path: &Path, offset: u64, text: &str) -> Result<Place> {
        let at = match self.open.iter().position(|(own, _)| own == path) {
            Some(at) => at,
            None => {
                let file = File::open(path).map_err(|error| Failure::io(path.display(), error))?;
                self.open.push((path.to_owned(), file));
                self.open.len() - 1
            }
        };
        Ok(Place::Line { file: at as u32, length: length(text.as_bytes())?, offset })
    }

    fn spool(&mut self, line: &[u8]) -> Result<Place> {
        let folder = std::env::temp_dir();
        let failed = |error| {
            Failure::failed(format!(
                "{}: could not keep trials there: {error}; set TMPDIR to use another folder",
                folder.display()
            ))
        };
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => {
                let file = unnamed_file(&folder).map_err(failed)?;
                self.open.push((folder.clone(), file.try_clone().map_err(failed)?));
                let number = self.open.len() as u32 - 1;
                self.spool.insert(Spool { number, out: BufWriter::with_capacity(1 << 16, file), length: 0 })
            }
        };
        spool.out.write_all(line).map_err(failed)?;
        let (offset, length) = (spool.length, length(line)?);
        spool.length += u64::from(length);
        Ok(Place::Line { file: spool.number, length, offset })
    }

    fn close(&mut self) -> Result<()> {
        match &mut self.spool {
            Some(spool) => spool
                .out
                .flush()
                .map_err(|error| Failure::failed(format!("could not keep trials in a temporary file: {error}"))),
            None => Ok(()),
        }
    }

    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        let read = self.open.get(file as usize).map(|(_, file)| file.read_exact_at(&mut bytes, offset));
        match read {
            Some(Ok(())) => Ok(bytes),
            _ => Err(self.changed(file)),
        }
    }

    fn changed(&self, file: u32) -> Failure {
        let path = self.open.get(file as usize).map_or_else(String::new, |(path, _)| path.display().to_string());
        Failure::bad_input(format!("{path} changed while it was scored; score it again"))
    }
}

fn hash_of(line: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(line).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

fn length(line: &[u8]) -> Result<u32> {
    u32::try_from(line.len()).map_err(|_| Failure::bad_input("a trial of more than 4 GiB"))
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A file that goes with the process, however it ends.
fn unnamed_file(folder: &Path) -> std::io::Result<File> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("karat-trials-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::suite::Case;

    #[test]
    fn submission_that_changes_while_it_is_scored_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.jsonl");
        let trial = Trial::reported(CaseId::new("c"), ToolName::new("t"), 1);
        let line = serde_json::to_string(&TrialV1::from(&trial)).unwrap();
        let cases = vec![Case::new("c")];
        let suite = Suite { name: "s".to_owned(), digest: "d".to_owned(), cases };
        for (changed, is_same) in
            [(line.clone(), true), (line.replace("reported", "crashed!"), false), (line[..9].to_owned(), false)]
        {
            fs::write(&path, &line).unwrap();
            let mut index = TrialIndex::new(&suite);
            let text = TrialText::Line { path: &path, offset: 0, text: &line };
            index.add_submitted(&trial, text, true).unwrap();
            index.close().unwrap();
            fs::write(&path, &changed).unwrap();
            match index.load(&suite, 0..1, None) {
                Ok((trials, _)) => assert!(is_same && trials == [trial.clone()], "{changed}"),
                Err(error) => {
                    let message = error.text();
                    assert!(!is_same && message.contains("all.jsonl changed while it was scored"), "{message}");
                }
            }
        }
    }
}
