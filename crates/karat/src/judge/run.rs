//! Runs a judge on what is to be scored: pairs that the given judgements leave open are put to it.

use super::registry::{Judge, JudgeRegistry, NONE, RegistryError};
use super::session::{AskError, JudgeContext, JudgeEvent, SessionResult, ask};
use crate::failure::Failure;
use crate::scoring::Work;
use crate::suite::LoadedSuite;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::panel::Consensus;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::mark_unjudged;
use karat_core::trial::Trial;
use karat_format::probe::ProbeV1;
use karat_format::report::{JudgeV1, ReportV1};
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_llm::ledger::{CacheMode, Ledger, MemoryLedger};
use karat_llm::provider::ProviderEnv;
use karat_llm::vendor;
use karat_store::label::{extra_label_judgements, labels_as_judgements};
use karat_store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which judge is wanted, and how the ledger is used.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    /// The judge's name; the profile's judge where there is none.
    pub judge: Option<String>,
    /// How several judges decide; the plan's way, else by majority, where there is none.
    pub consensus: Option<Consensus>,
    /// What the ledger is used for.
    pub cache: CacheMode,
}

impl Default for JudgeRequest {
    fn default() -> Self {
        Self { judge: None, consensus: None, cache: CacheMode::ReadWrite }
    }
}

/// Observes a judge. Models take a while and cost money, so whoever shows their progress can also stop them.
pub trait JudgeObserver {
    /// A judge that asks models begins; what it returns cancels it.
    fn start(&mut self, judge: &JudgeName) -> Result<Cancel, Failure>;
    /// Something happened.
    fn observe(&mut self, event: &JudgeEvent<'_>);
    /// The judge has ended, well or not.
    fn end(&mut self);
}

/// Shows nothing and never cancels.
#[derive(Default)]
pub struct NoObserver;

impl JudgeObserver for NoObserver {
    fn start(&mut self, _: &JudgeName) -> Result<Cancel, Failure> {
        Ok(Cancel::default())
    }

    fn observe(&mut self, _: &JudgeEvent<'_>) {}

    fn end(&mut self) {}
}

/// What a judge works with.
pub struct JudgeEnv<'a> {
    /// The judge that is wanted.
    pub request: &'a JudgeRequest,
    /// The folder of the store, for the ledger and the labels.
    pub store_folder: &'a Path,
    /// The store, where it is open already.
    pub store: Option<&'a mut Store>,
    /// Sees how it goes.
    pub observer: &'a mut dyn JudgeObserver,
}

/// A judge's work on one suite.
pub struct JudgeSession<'a> {
    /// What the judge works with.
    pub env: JudgeEnv<'a>,
    /// The suite.
    pub loaded: &'a LoadedSuite,
    /// The tools and their models, as far as they are known.
    pub models: Vec<(String, String)>,
}

/// Asks the judge that was named, or the profile's, about what the given judgements leave open. All that comes of it becomes
/// part of the work.
pub fn run_judge(mut session: JudgeSession<'_>, work: &mut Work) -> Result<(), Failure> {
    let recorded = use_recorded_only(session.env.request, work);
    let name = named(session.env.request, &work.profile, session.loaded);
    let judge = match with_registry(session.loaded, session.env.request, |registry| registry.open(&name)) {
        // A judge whose decisions were given need not be anybody who can be asked.
        Err(RegistryError::Unknown { .. }) if recorded => None,
        Err(error @ RegistryError::Unknown { .. }) if !work.judgements.is_empty() => {
            let given: BTreeSet<&str> = work.judgements.iter().map(|judgement| judgement.judge.as_str()).collect();
            let given: Vec<&str> = given.into_iter().collect();
            return Err(Failure::usage(format!("{error}; judgements were given of {}", given.join(", "))));
        }
        other => other?,
    };
    // Whoever started the run agreed to its judge.
    if session.env.store.is_none() {
        agreed(session.env.request, judge.as_ref())?;
    }
    work.profile.judge = judge.as_ref().map_or_else(|| NONE.to_owned(), |judge| judge.name.to_string());
    let Some(judge) = judge else {
        close_judged_trials(session.loaded, recorded.then_some(name.as_str()), work);
        return Ok(());
    };
    if !recorded {
        apply_human_labels(&judge, &mut session, work)?;
    }
    work.notes.extend(same_house(&judge, &session.models));
    let probes = probes(&judge, &mut session, work);
    let mut asked = ask_open_pairs(&judge, session, work)?;
    for told in &mut asked.judges {
        told.probe = probes.get(&told.judge).cloned();
    }
    work.judgements = asked.judgements;
    work.voices = asked.voices;
    work.asked = asked.judges;
    work.spent = asked.spent;
    work.notes.extend(asked.notes);
    Ok(())
}

/// Ends in failure where a model answered fewer than half of its questions: what it left open counts as no match, and the
/// figures say more of the judge than of the tools.
pub fn refuse_incomplete(report: &ReportV1, allowed: bool) -> Result<(), Failure> {
    let incomplete = |judge: &&JudgeV1| {
        report.measured.judges.contains_key(&judge.judge) && 2 * judge.unjudged.min(judge.asked) > judge.asked
    };
    let Some(judge) = report.judges.iter().find(incomplete).filter(|_| !allowed) else { return Ok(()) };
    let (name, answered) = (&judge.judge, judge.asked - judge.unjudged.min(judge.asked));
    Err(Failure::failed(format!(
        "the judge {name} answered {answered} of {} questions, and the others count as no match; the report says why. Its \
             answers are kept: raise its budget or mend what failed and score again, or accept the report as it is with \
             --allow-incomplete-judging",
        judge.asked
    )))
}

/// The rules with the judge that will be asked: for a plan, before anything is run. What is missing to ask is told now.
pub fn planned(request: &JudgeRequest, loaded: &LoadedSuite, profile: &mut Profile) -> Result<(), Failure> {
    let name = named(request, profile, loaded);
    let judge = with_registry(loaded, request, |registry| registry.open(&name))?;
    agreed(request, judge.as_ref())?;
    if let Some(lacks) = judge.as_ref().and_then(Judge::missing_setting).filter(|_| request.cache != CacheMode::Only) {
        return Err(Failure::usage(format!("the judge `{name}` cannot be asked: {lacks}")));
    }
    if let (Method::Audit, Some(name)) = (profile.method, judge.as_ref().and_then(Judge::cannot_audit)) {
        return Err(Failure::usage(AskError::CannotAudit { judge: name.to_string() }.to_string()));
    }
    // The plan says who was found, so that a resumed run asks the same, whatever the variables say then.
    profile.judge = name;
    profile.judge_by_variable = false;
    Ok(())
}

/// A suite may come from anybody. A key goes where the suite says, and nobody else does, only when the judge was typed.
fn agreed(request: &JudgeRequest, judge: Option<&Judge>) -> Result<(), Failure> {
    let Some(judge) = judge.filter(|_| request.judge.is_none() && request.cache != CacheMode::Only) else {
        return Ok(());
    };
    judge.unconfirmed_key_host().map_or(Ok(()), |host| {
        let name = &judge.name;
        Err(Failure::usage(format!(
            "the suite asks for the judge `{name}`, and would have your key sent to {host}; say --judge {name} to agree, or \
             --judge none to do without"
        )))
    })
}

/// The judge that was named, who must be somebody.
pub fn opened(loaded: &LoadedSuite, request: &JudgeRequest) -> Result<Judge, Failure> {
    let name = request.judge.as_deref().unwrap_or(NAME);
    let judge = with_registry(loaded, request, |registry| registry.open(name))?;
    judge.ok_or_else(|| Failure::usage("`--judge none` cannot be used here; name a judge with --judge, such as local"))
}

/// Looks up judges: those of the suite, and those that the flags and the environment lead to.
pub fn with_registry<T>(loaded: &LoadedSuite, request: &JudgeRequest, look: impl FnOnce(&JudgeRegistry<'_>) -> T) -> T {
    let folder = match &loaded.files {
        Files::Disk(root) => root.clone(),
        Files::Embedded(..) => PathBuf::new(),
    };
    let variable = |name: &str| std::env::var(name).ok();
    let around = ProviderEnv { variable: &variable, folder: &folder };
    let consensus = request.consensus.unwrap_or_default();
    look(&JudgeRegistry { declared: &loaded.config.judges, around, cache: request.cache, consensus })
}

fn named(request: &JudgeRequest, profile: &Profile, loaded: &LoadedSuite) -> String {
    request.judge.clone().unwrap_or_else(|| with_registry(loaded, request, |registry| registry.default_of(profile)))
}

/// Where the judge that was named is one of those given, only their judgements are heard.
fn use_recorded_only(request: &JudgeRequest, work: &mut Work) -> bool {
    let Some(name) = request.judge.as_deref() else { return false };
    let given: BTreeSet<&str> = work.judgements.iter().map(|judgement| judgement.judge.as_str()).collect();
    let recorded = given.contains(name);
    if recorded {
        work.judgements.retain(|judgement| judgement.judge.as_str() == name);
    }
    recorded
}

/// Nobody will be asked. In a trial that recorded judgements decide, the pairs they do not cover are unjudged, rather than
/// decided by their score. `named` is the judge that was named; else every judge that was given counts but people, whose labels
/// are samples and corrections.
fn close_judged_trials(loaded: &LoadedSuite, named: Option<&str>, work: &mut Work) {
    let given = |judge: &&JudgeName| named.map_or(!judge.is_human(), |name| judge.as_str() == name);
    let judges = work.judgements.iter().map(|judgement| &judgement.judge).filter(given).collect();
    let open = mark_unjudged(&loaded.suite, &work.trials, &work.judgements, &work.profile, &judges);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for judgement in &open {
        *counts.entry(judgement.judge.to_string()).or_default() += 1;
    }
    for (judge, count) in counts {
        let (are, pairs) = if count == 1 { ("is", "pair") } else { ("are", "pairs") };
        work.notes.push(format!(
            "{judge}: {count} {pairs} that the score alone would match {are} unjudged and count as no match: the judgements \
             given do not cover them, and nobody can be asked"
        ));
    }
    work.judgements.extend(open);
}

/// What people said of a stored run is heard before anybody is asked: nobody is asked what a person has decided. A judge who
/// asks people hears of it anyway.
fn apply_human_labels(judge: &Judge, session: &mut JudgeSession<'_>, work: &mut Work) -> Result<(), Failure> {
    let Some(store) = session.env.store.as_mut().filter(|_| !judge.asks_people()) else { return Ok(()) };
    let labels = store.all_labels()?;
    if labels.is_empty() {
        return Ok(());
    }
    let mut said = labels.judgements(&session.loaded.suite, &work.trials);
    // Audits are of use where responses are audited, and elsewhere they would decide verdicts.
    let audits = work.profile.method == Method::Audit;
    said.retain(|judgement| audits == matches!(judgement.decision, Decision::Audit(_)) || is_extra(judgement));
    // Nobody votes twice: what files say in somebody's name they need not be asked again.
    let given: BTreeSet<String> = work.judgements.iter().map(|judgement| judgement.judge.to_string()).collect();
    said.retain(|judgement| !given.contains(judgement.judge.as_str()));
    work.judgements.extend(said);
    Ok(())
}

fn is_extra(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Extra(_))
}

fn ask_open_pairs(judge: &Judge, session: JudgeSession<'_>, work: &mut Work) -> Result<SessionResult, Failure> {
    let given = std::mem::take(&mut work.judgements);
    let JudgeSession { env, loaded, .. } = session;
    env.with(judge, loaded, &work.trials, |context| ask(judge, &work.trials, given, &work.profile, context))
}

/// How the judge and the members of a panel did when they were probed, by name. No store is made for that.
fn probes(judge: &Judge, session: &mut JudgeSession<'_>, work: &mut Work) -> BTreeMap<String, ProbeV1> {
    // A probe is about pairs, and says nothing of how somebody audits.
    if work.profile.method == Method::Audit {
        return BTreeMap::new();
    }
    let folder = session.env.store_folder;
    let mut opened = match &session.env.store {
        None if Store::is_at(folder) => Some(Store::read_only(folder)),
        _ => None,
    };
    let store = match (&mut session.env.store, &mut opened) {
        (Some(store), _) => &mut **store,
        (None, Some(Ok(store))) => store,
        // One that must first be brought up to date has never seen a probe.
        (None, None | Some(Err(StoreError::ReadOnly { .. }))) => return BTreeMap::new(),
        (None, Some(Err(error))) => {
            work.notes.push(format!("it is unknown whether the judge {} was probed: {error}", judge.name));
            return BTreeMap::new();
        }
    };
    let mut found = BTreeMap::new();
    for (name, member) in judge.members() {
        let probe = member.identity().map(|identity| store.latest_probe(&identity.key()));
        match probe.transpose() {
            Ok(probe) => found.extend(probe.flatten().map(|probe| (name.to_string(), probe))),
            Err(error) => work.notes.push(format!("it is unknown whether the judge {name} was probed: {error}")),
        }
    }
    found
}

impl JudgeEnv<'_> {
    /// Opens what the judge needs of the store, and does the work with it.
    pub fn with<T>(
        self,
        judge: &Judge,
        loaded: &LoadedSuite,
        trials: &[Trial],
        work: impl FnOnce(&mut JudgeContext<'_>) -> Result<T, AskError>,
    ) -> Result<T, Failure> {
        let folder = self.store_folder;
        let cache = self.request.cache;
        let there = Store::is_at(folder);
        let mut opened = match &self.store {
            Some(_) => None,
            None if judge.asks_models() && cache == CacheMode::ReadWrite => Some(Store::create(folder)?),
            None if there && (judge.asks_people() || judge.asks_models() && cache.reads()) => {
                Some(Store::open(folder)?)
            }
            None => None,
        };
        let mut store = self.store.or(opened.as_mut());
        let labels = match &mut store {
            Some(store) if judge.asks_people() => {
                let mut labels = labels_as_judgements(&store.labels()?, &loaded.suite, trials);
                let extras = store.extra_labels()?;
                labels.extend(extra_label_judgements(&extras, trials).into_iter().map(|(_, judgement)| judgement));
                labels
            }
            _ => Vec::new(),
        };
        let mut none = MemoryLedger::default();
        let ledger: &mut dyn Ledger = match store {
            Some(store) => store,
            None => &mut none,
        };
        // Nothing else checks for cancellation, and what does not check must not be offered it.
        let observer = self.observer;
        let asks_models = judge.asks_models();
        let cancel = if asks_models { observer.start(&judge.name)? } else { Cancel::default() };
        let mut tell = |event: JudgeEvent<'_>| {
            if asks_models {
                observer.observe(&event);
            }
        };
        let done = work(&mut JudgeContext { loaded, ledger, labels: &labels, cancel: &cancel, tell: &mut tell });
        if asks_models {
            observer.end();
        }
        Ok(done?)
    }
}

/// A judge may favour its own kind, and a reader should know.
fn same_house(judge: &Judge, models: &[(String, String)]) -> Option<String> {
    let vendors = judge.vendors();
    let kin: Vec<&str> = models
        .iter()
        .filter(|(_, model)| vendor::vendor_of_model(model).is_some_and(|vendor| vendors.contains(&vendor)))
        .map(|(tool, _)| tool.as_str())
        .collect();
    let verb = if kin.len() == 1 { "uses" } else { "use" };
    (!kin.is_empty()).then(|| {
        format!(
            "the judge {} is a model of {}, and so is what {} {verb}: a judge may favour its own kind",
            judge.name,
            vendors.join(" and "),
            kin.join(", ")
        )
    })
}
