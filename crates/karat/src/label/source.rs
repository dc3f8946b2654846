//! Loads what is labelled: the findings of a stored run, or of submissions to a suite. Labels are recorded item by item, imported
//! from files of judgements, and exported as judgements.

#![expect(missing_docs, reason = "names of fields say it")]

use super::context::LabelContext;
use super::question::shown_question;
use super::session::{Item, Queue, ShownPairs};
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::run_loader;
use crate::submissions::{open_lines, open_submissions, read_judgement_files, refuse_repeated_stdin};
use crate::suite::{LoadedSuite, load_suite};
use crate::work::Work;
use karat_core::ids::CaseId;
use karat_core::judgement::{Decision, Judgement};
use karat_core::panel::AuditField;
use karat_core::profile::Profile;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_store::label::{
    Annotator, FindingText, GoldenText, ImportContext, LabelAnswer, LabelKey, LabelKind, LabelQuestion, NewLabel,
    SHORT, Sample, Source, Subject, label_judgements, labels_as_judgements, read,
};
use karat_store::{AddedLabels, OnExisting, RunInfo, Store, StoreLocation};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// Where the items to label come from.
#[derive(Clone, Default)]
pub struct LabelRequest {
    /// A stored run; default: the latest.
    pub run: Option<String>,
    /// A suite with submissions, instead of a run.
    pub suite: Option<String>,
    /// Default: the suite's own.
    pub submissions: Vec<PathBuf>,
    pub profile: ProfileRequest,
    /// The judge that decides which findings are extras.
    pub judge: JudgeRequest,
    pub store: StoreLocation,
}

impl LabelRequest {
    /// Whether no stored judgements were made by this judge and profile.
    fn needs_judging(&self) -> bool {
        self.suite.is_some() || self.judge.judge.is_some() || !self.profile.is_empty()
    }
}

/// Which items are labelled.
pub enum QueueRequest {
    /// Pairs: all, a random sample, or those that a ranking may rest on.
    Pairs(ShownPairs),
    /// Extras that at least so many tools report.
    Extras { min_tools: usize },
    /// These decisions about responses and findings.
    Audits(BTreeSet<AuditField>),
}

/// The items to label, and their suite.
pub struct LabelItems {
    pub loaded: LoadedSuite,
    pub queue: Queue,
    /// The short id of the run, if it is a run.
    pub run: Option<String>,
}

impl LabelItems {
    /// All items of a run, of one kind; of audits, these decisions. Labels do not change them.
    pub fn load_run(store: &mut Store, run: &RunInfo, kind: LabelKind, fields: &BTreeSet<AuditField>) -> Result<Self> {
        let context = LabelContext::from_run(store, run, |loaded| loaded)?;
        let queue = match kind {
            LabelKind::Pair => context.pairs(ShownPairs::default())?,
            LabelKind::Extra => context.extras(1),
            LabelKind::Audit => Queue::audits(&context.loaded.suite, &context.trials, fields),
        };
        Ok(Self { loaded: context.loaded, queue, run: Some(run.short_id.clone()) })
    }

    /// The shown parts of an item: never who reported it, judgements or labels.
    pub fn item_json(&self, item: &Item) -> Value {
        item.as_json(&|case, path| self.loaded.source(case, path))
    }
}

/// Loads the items to label, in the order in which their labels help most.
pub fn label_queue(
    request: &LabelRequest,
    items: &QueueRequest,
    observer: &mut dyn JudgeObserver,
) -> Result<LabelItems> {
    let (source, profile) = LabelSource::load(request)?;
    let (profile, run) = (profile?, source.run.clone());
    let (queue, loaded) = match items {
        // Selected are the decisions of the judge that was asked: the stored ones of a run, unless other rules are named.
        QueueRequest::Pairs(shown) if shown.only.is_some() && request.needs_judging() => {
            let mut context = source.score(profile, request, observer)?;
            context.leave_out_people();
            (context.pairs(*shown)?, context.loaded)
        }
        QueueRequest::Pairs(shown) => {
            let context = LabelContext::new(source.loaded, source.trials, profile, source.judgements)?;
            (context.pairs(*shown)?, context.loaded)
        }
        QueueRequest::Extras { min_tools } => {
            let context = source.score(profile, request, observer)?;
            (context.extras(*min_tools), context.loaded)
        }
        QueueRequest::Audits(fields) => (Queue::audits(&source.loaded.suite, &source.trials, fields), source.loaded),
    };
    Ok(LabelItems { loaded, queue, run })
}

struct LabelSource {
    loaded: LoadedSuite,
    trials: Vec<Trial>,
    judgements: Vec<Judgement>,
    run: Option<String>,
    judge: JudgeRequest,
}

impl LabelSource {
    /// Loads trials, and the profile that selects the pairs to label.
    fn load(request: &LabelRequest) -> Result<(Self, Result<Profile>)> {
        let location = &request.store;
        if let Some(name) = &request.suite {
            let loaded = load_suite(name)?;
            let nothing = "nothing to label; add a submission with --submission FILE";
            let trials = submitted_trials(request, &loaded, nothing)?;
            let profile = resolve_for_suite(&request.profile, Some(&loaded));
            let judge = request.judge.clone();
            return Ok((Self { loaded, trials, judgements: Vec::new(), run: None, judge }, profile));
        }
        if request.run.is_none() && !Store::is_at(location) {
            let help = "use a suite with --suite and --submission instead";
            return Err(Failure::usage(format!("no runs in {location}; {help}")));
        }
        let mut store = Store::open(location)?;
        let run = run_loader::run(&mut store, request.run.as_deref().unwrap_or("latest"))?;
        let judgements = run_loader::judgements(&mut store, &run.info)?;
        let (profile, judge) = (run.profile(&request.profile), run.judge_request(&request.judge));
        let trials = run.trials.into_iter().map(|stored| stored.trial).collect();
        Ok((Self { loaded: run.loaded, trials, judgements, run: Some(run.info.short_id), judge }, profile))
    }

    /// Scores the trials: which findings are extras depends on the judge of the pairs.
    fn score(self, profile: Profile, request: &LabelRequest, observer: &mut dyn JudgeObserver) -> Result<LabelContext> {
        let mut work = Work::new(self.trials, profile);
        let env = JudgeEnv { request: &self.judge, location: &request.store, store: None, observer };
        run_judge(env, &self.loaded, &[], &mut work)?;
        Ok(LabelContext::from_work(self.loaded, work))
    }

    /// All subjects whose key has this prefix. Any finding may be an extra, depending on the judge of the pairs.
    fn subjects_like(&self, prefix: &str) -> BTreeMap<String, Subject> {
        let is_like = |key: &LabelKey| key.as_str().starts_with(prefix);
        let texts = |case: &Case| case.goldens.iter().map(|golden| GoldenText::new(case, golden).text()).collect();
        let cases: HashMap<&CaseId, (&Case, Vec<String>)> =
            self.loaded.suite.cases.iter().map(|case| (&case.id, (case, texts(case)))).collect();
        let of_findings = AuditField::ALL.into_iter().filter(|field| field.is_of_finding());
        let of_responses = AuditField::ALL.into_iter().filter(|field| !field.is_of_finding());
        let mut found = Vec::new();
        for trial in &self.trials {
            let case = cases.get(&trial.case);
            if let Some((case, _)) = case.filter(|_| !trial.is_silent()) {
                let response = Subject::audit_response(case, trial);
                found.extend(of_responses.clone().map(|field| response.asking(field)));
            }
            for finding in &trial.findings {
                found.push(Subject::extra(&trial.case, finding));
                let Some((case, goldens)) = case else { continue };
                let audited = Subject::audit(case, finding);
                found.extend(of_findings.clone().map(|field| audited.asking(field)));
                let text = FindingText::new(finding).text();
                for (golden, known) in case.goldens.iter().zip(goldens) {
                    if is_like(&LabelKey::pair(known, &text)) {
                        found.push(Subject::pair(case, golden, finding));
                    }
                }
            }
        }
        let keyed = found.into_iter().map(|subject| (subject.key(), subject)).filter(|(key, _)| is_like(key));
        keyed.map(|(key, subject)| (key.to_string(), subject)).collect()
    }
}

fn submitted_trials(request: &LabelRequest, loaded: &LoadedSuite, nothing: &str) -> Result<Vec<Trial>> {
    let files = open_submissions(&request.submissions, loaded)?;
    if files.is_empty() {
        return Err(Failure::usage(nothing));
    }
    Ok(read_trials(files, Some(&loaded.suite))?)
}

/// Scores findings of submissions or of a run against a suite, by what people said of extras in the store and in files of
/// labels; models' judgements of extras may not change a suite.
pub fn score_for_adoption(
    suite: &str,
    request: &LabelRequest,
    labels: &[PathBuf],
    observer: &mut dyn JudgeObserver,
) -> Result<LabelContext> {
    let loaded = load_suite(suite)?;
    if !matches!(loaded.files, karat_io::files::Files::Disk(_)) {
        return Err(Failure::usage("a built-in suite is read-only; copy it first"));
    }
    let profile = resolve_for_suite(&request.profile, Some(&loaded))?;
    let trials = match &request.run {
        Some(run) => {
            let run = run_loader::run(&mut Store::open(&request.store)?, run)?;
            run.trials.into_iter().map(|stored| stored.trial).collect()
        }
        None => {
            let nothing = "nothing to adopt from; name a run, or add a submission with --submission FILE";
            submitted_trials(request, &loaded, nothing)?
        }
    };
    let mut work = Work::new(trials, profile);
    let env = JudgeEnv { request: &request.judge, location: &request.store, store: None, observer };
    run_judge(env, &loaded, &[], &mut work)?;
    work.judgements.retain(|judgement| !matches!(judgement.decision, Decision::Extra(_)));
    let mut labels = read_judgement_files(labels, &loaded.suite)?;
    if Store::is_at(&request.store) {
        let stored = Store::open(&request.store)?.labels()?;
        labels.extend(labels_as_judgements(&stored, &loaded.suite, &work.trials));
    }
    // One label per person and finding.
    let mut seen = BTreeSet::new();
    labels.retain(|label| match &label.decision {
        Decision::Extra(extra) if label.judge.is_human() => {
            let Judgement { judge, case, tool, trial, .. } = label.clone();
            seen.insert((judge, case, tool, trial, extra.finding.clone()))
        }
        _ => false,
    });
    work.judgements.extend(labels);
    Ok(LabelContext::from_work(loaded, work))
}

const MIN_ID: usize = 4;

/// A label to add.
pub struct AddLabelRequest {
    /// Where the item was shown.
    pub source: LabelRequest,
    /// Id of the pair, extra or audited finding, or a prefix of it.
    pub id: String,
    /// `yes`, `no`, `partial`, or a class.
    pub answer: String,
    pub annotator: Annotator,
    pub note: Option<String>,
    /// Whether an earlier label is replaced.
    pub change: bool,
    /// The sample in which a pair was shown.
    pub sample: Option<Sample>,
}

/// Labels that were added: of the given item, then of extras that report the same.
pub struct AddedLabel {
    pub first: NewLabel,
    pub others: Vec<NewLabel>,
    pub added: AddedLabels,
}

/// Adds a label of one item.
pub fn add_label(request: &AddLabelRequest, observer: &mut dyn JudgeObserver) -> Result<AddedLabel> {
    require_known_answer(&request.answer)?;
    let (subject, source) = find(request)?;
    let kind = subject.kind;
    if kind != LabelKind::Pair && request.sample.is_some() {
        return Err(Failure::usage("--sample applies only to pairs; leave it out"));
    }
    let answer = parse_answer(subject.question(), &request.answer)?;
    let picked_with_probability = probability(request.sample, &subject.key())?;
    let others: Vec<Subject> = match source {
        // The other extras that report the same.
        Some((source, profile)) if kind == LabelKind::Extra => {
            let key = subject.key();
            let queue = source.score(profile, &request.source, observer)?.extras(1);
            let same = queue.holds(key.as_str()).into_iter();
            let texts = same.flat_map(|item| std::iter::once(&item.shown).chain(&item.others));
            texts.filter(|text| text.key() != key).cloned().collect()
        }
        _ => Vec::new(),
    };
    let note = request.note.clone().filter(|note| !note.trim().is_empty());
    let label = |subject| {
        let (annotator, note) = (request.annotator.clone(), note.clone());
        NewLabel { subject, annotator, answer, note, picked_with_probability, source: Source::Added }
    };
    let on_existing = if request.change { OnExisting::Correct } else { OnExisting::Refuse };
    let mut store = Store::create(&request.source.store)?;
    let first = label(subject);
    if kind == LabelKind::Pair {
        store.add_label(&first, on_existing)?;
        return Ok(AddedLabel { first, others: Vec::new(), added: AddedLabels::default() });
    }
    // Earlier labels of the others stay, unless they are to be changed.
    let stored = store.labels()?.into_iter();
    let done: BTreeSet<LabelKey> =
        stored.filter(|label| label.annotator == request.annotator).map(|label| label.key).collect();
    let is_open = |subject: &Subject| request.change || !done.contains(&subject.key());
    let others: Vec<NewLabel> = others.into_iter().filter(is_open).map(label).collect();
    let labels: Vec<NewLabel> = std::iter::once(&first).chain(&others).cloned().collect();
    Ok(AddedLabel { first, others, added: store.add_labels(&labels, on_existing)? })
}

/// Refuses a word that answers no question, before anything is loaded.
fn require_known_answer(word: &str) -> Result<()> {
    let audits = AuditField::ALL.map(LabelQuestion::Audit);
    let mut questions = [LabelQuestion::Pair, LabelQuestion::Extra].into_iter().chain(audits);
    if questions.any(|question| LabelAnswer::parse(question, word).is_some()) {
        return Ok(());
    }
    let class = shown_question(LabelQuestion::Audit(AuditField::Classification)).expected();
    Err(Failure::usage(format!(
        "invalid answer `{word}`: expected yes, no or partial; of audits {class}, another of its words, or a number from 0 to 1"
    )))
}

fn parse_answer(question: LabelQuestion, word: &str) -> Result<LabelAnswer> {
    let article = if question == LabelQuestion::Pair { "a" } else { "an" };
    LabelAnswer::parse(question, word).ok_or_else(|| {
        let (noun, expected) = (question.noun(), shown_question(question).expected());
        Failure::usage(format!("invalid answer for {article} {noun}: expected {expected}"))
    })
}

/// The probability with which the pair was sampled, if it was; refuses a pair outside the sample.
fn probability(sample: Option<Sample>, key: &LabelKey) -> Result<Option<f64>> {
    let Some(sample) = sample else { return Ok(None) };
    if sample.place(key).is_none() {
        let message =
            format!("the pair {} is not in this sample; use the --sample and --seed it was shown with", key.short());
        return Err(Failure::usage(message));
    }
    Ok(Some(sample.probability()))
}

/// Resolves an id to a labelled item, or to an item of the run or submission, which is returned if it was loaded.
fn find(request: &AddLabelRequest) -> Result<(Subject, Option<(LabelSource, Profile)>)> {
    let id = request.id.trim().to_lowercase();
    if id.len() < MIN_ID || !id.chars().all(|c| c.is_ascii_hexdigit()) {
        let message = format!("invalid id `{}`: expected at least {MIN_ID} hexadecimal digits", request.id);
        return Err(Failure::usage(format!("{message}, as `karat label next` shows them")));
    }
    let mut found: BTreeMap<String, Subject> = BTreeMap::new();
    let location = &request.source.store;
    if Store::is_at(location) {
        let labelled = Store::open(location)?.labelled_subjects(&id)?;
        found.extend(labelled.into_iter().map(|subject| (subject.key().to_string(), subject)));
    }
    // A labelled item needs no run. Others, and extras that report the same, are looked up in the run or submission.
    let whole = found.len() == 1 && id.len() >= SHORT;
    let placed = request.source.run.is_some() || request.source.suite.is_some();
    let is_extra = found.values().all(|subject| subject.kind == LabelKind::Extra);
    let mut source = None;
    if !whole || is_extra && placed {
        match LabelSource::load(&request.source).and_then(|(own, profile)| Ok((own, profile?))) {
            Ok(own) => {
                found.extend(own.0.subjects_like(&id));
                source = Some(own);
            }
            Err(failure) if found.is_empty() => return Err(failure),
            Err(_) => {}
        }
    }
    if found.len() > 1 {
        let keys = found.keys().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("ambiguous id `{id}`: matches {keys}; use a longer prefix")));
    }
    let Some(subject) = found.into_values().next() else {
        let help = "select the run or submission that contains it with --run, or --suite and --submission";
        return Err(Failure::usage(format!("no pair, extra, finding or response has the id `{id}`; {help}")));
    };
    Ok((subject, source))
}

/// Labels as judgements of a run or a submission.
pub struct ExportedLabels {
    pub judgements: Vec<Judgement>,
    pub labels: usize,
    /// Labels of findings that the run or submission does not have.
    pub skipped: usize,
}

/// Exports labels as judgements, of one annotator or of all.
pub fn export_labels(request: &LabelRequest, only: Option<&Annotator>) -> Result<ExportedLabels> {
    let mut labels = Store::open(&request.store)?.labels()?;
    labels.retain(|label| only.is_none_or(|only| label.annotator == *only));
    let (source, _) = LabelSource::load(request)?;
    let judged = label_judgements(&labels, &source.loaded.suite, &source.trials);
    let used: HashSet<i64> = judged.iter().flat_map(|(labels, _)| labels).map(|label| label.sequence).collect();
    let skipped = labels.len() - used.len();
    let judgements = judged.into_iter().map(|(_, judgement)| judgement).collect();
    Ok(ExportedLabels { judgements, labels: labels.len(), skipped })
}

/// Imports labels from files of judgements, all or none.
pub fn import_labels(request: &LabelRequest, files: &[PathBuf], change: bool) -> Result<AddedLabels> {
    refuse_repeated_stdin(files.iter().chain(&request.submissions))?;
    let (source, _) = LabelSource::load(request)?;
    let inputs = files.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>, _>>()?;
    let location = &request.store;
    let stored = if Store::is_at(location) { Store::open(location)?.labels()? } else { Vec::new() };
    let (suite, trials) = (&source.loaded.suite, &source.trials);
    let labels = read(inputs, &ImportContext { suite, trials, stored: &stored, change })?;
    Ok(Store::create(location)?.add_labels(&labels, if change { OnExisting::Correct } else { OnExisting::Refuse })?)
}
