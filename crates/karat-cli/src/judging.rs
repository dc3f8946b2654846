//! Between what is to be scored and its score: somebody is asked about the pairs that nobody has judged yet.

use crate::args::AskArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Judging;
use crate::signals::cancel_on_signals;
use crate::store_place;
use karat::format::probe::ProbeV1;
use karat::format::report::{JudgeV1, ReportV1};
use karat::judge::asking::{AskError, Asked, Desk, ask};
use karat::judge::labels::{extras_heard, labels_as_judgements};
use karat::judge::ledger::{CacheMode, Ledger, MemoryLedger};
use karat::judge::provider::Surroundings;
use karat::judge::roster::{Judge, NONE, Roster, RosterError};
use karat::judge::vendor;
use karat::sandbox::Cancel;
use karat::scoring::Work;
use karat::store::{Store, StoreError};
use karat::suite::LoadedSuite;
use karat::suite::files::Files;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::panel::Consensus;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::leave_unjudged;
use karat_core::trial::Trial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is known when somebody is asked.
pub(crate) struct Sitting<'a> {
    /// What was typed.
    pub(crate) args: &'a AskArgs,
    /// The suite.
    pub(crate) loaded: &'a LoadedSuite,
    /// The store's folder, where it was typed.
    pub(crate) folder: Option<&'a Path>,
    /// The store, where it is open already.
    pub(crate) store: Option<&'a mut Store>,
    /// The tools and their models, as far as they are known.
    pub(crate) models: Vec<(String, String)>,
    /// Whether nothing is told on the way.
    pub(crate) quiet: bool,
}

/// Asks the judge that was named, or the profile's, about what the given judgements leave open. All that comes of it becomes
/// part of the work.
pub(crate) fn sit(mut sitting: Sitting<'_>, work: &mut Work) -> Result<(), Failure> {
    let recorded = hear_only(sitting.args, work);
    let name = named(sitting.args, &work.profile, sitting.loaded);
    let judge = match with_roster(sitting.loaded, sitting.args, |roster| roster.open(&name)) {
        // A judge whose decisions were given need not be anybody who can be asked.
        Err(RosterError::Unknown { .. }) if recorded => None,
        Err(error @ RosterError::Unknown { .. }) if !work.judgements.is_empty() => {
            let given: BTreeSet<&str> = work.judgements.iter().map(|judgement| judgement.judge.as_str()).collect();
            let given: Vec<&str> = given.into_iter().collect();
            return Err(Failure::usage(format!("{error}; judgements were given of {}", given.join(", "))));
        }
        other => other?,
    };
    // Whoever started the run agreed to its judge.
    if sitting.store.is_none() {
        agreed(sitting.args, judge.as_ref())?;
    }
    work.profile.judge = judge.as_ref().map_or_else(|| NONE.to_owned(), |judge| judge.name.to_string());
    let Some(judge) = judge else {
        close_judged_trials(sitting.loaded, recorded.then_some(name.as_str()), work);
        return Ok(());
    };
    if !recorded {
        hear_people(&judge, &mut sitting, work)?;
    }
    work.notes.extend(same_house(&judge, &sitting.models));
    let probes = probes(&judge, &mut sitting, work);
    let mut asked = put(&judge, sitting, work)?;
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
pub(crate) fn refuse_incomplete(report: &ReportV1, allowed: bool) -> Result<(), Failure> {
    let incomplete = |judge: &&JudgeV1| {
        report.measured.judges.contains_key(&judge.judge) && 2 * judge.unjudged.min(judge.asked) > judge.asked
    };
    let Some(judge) = report.judges.iter().find(incomplete).filter(|_| !allowed) else { return Ok(()) };
    let (name, answered) = (&judge.judge, judge.asked - judge.unjudged.min(judge.asked));
    Err(Failure::Message(
        Exit::Failed,
        format!(
            "the judge {name} answered {answered} of {} questions, and the others count as no match; the report says why. Its \
             answers are kept: raise its budget or mend what failed and score again, or accept the report as it is with \
             --allow-incomplete-judging",
            judge.asked
        ),
    ))
}

/// The rules with the judge that will be asked: for a plan, before anything is run. What is missing to ask is told now.
pub(crate) fn planned(args: &AskArgs, loaded: &LoadedSuite, profile: &mut Profile) -> Result<(), Failure> {
    let name = named(args, profile, loaded);
    let judge = with_roster(loaded, args, |roster| roster.open(&name))?;
    agreed(args, judge.as_ref())?;
    if let Some(lacks) = judge.as_ref().and_then(Judge::lacks).filter(|_| cache_mode(args) != CacheMode::Only) {
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
fn agreed(args: &AskArgs, judge: Option<&Judge>) -> Result<(), Failure> {
    let Some(judge) = judge.filter(|_| args.judge.is_none() && cache_mode(args) != CacheMode::Only) else {
        return Ok(());
    };
    judge.entrusts().map_or(Ok(()), |host| {
        let name = &judge.name;
        Err(Failure::usage(format!(
            "the suite asks for the judge `{name}`, and would have your key sent to {host}; say --judge {name} to agree, or \
             --judge none to do without"
        )))
    })
}

/// The judge that was named, who must be somebody.
pub(crate) fn opened(loaded: &LoadedSuite, args: &AskArgs) -> Result<Judge, Failure> {
    let name = args.judge.as_deref().unwrap_or(NAME);
    let judge = with_roster(loaded, args, |roster| roster.open(name))?;
    judge.ok_or_else(|| Failure::usage("nobody cannot be asked; name a judge with --judge, such as local"))
}

/// Looks up judges: those of the suite, and those that the flags and the environment lead to.
pub(crate) fn with_roster<T>(loaded: &LoadedSuite, args: &AskArgs, look: impl FnOnce(&Roster<'_>) -> T) -> T {
    let folder = match &loaded.files {
        Files::Disk(root) => root.clone(),
        Files::Embedded(..) => PathBuf::new(),
    };
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { variable: &variable, folder: &folder };
    let consensus = args.consensus.as_deref().and_then(Consensus::named).unwrap_or_default();
    look(&Roster { declared: &loaded.config.judges, around, cache: cache_mode(args), consensus })
}

/// What the ledger is used for.
pub(crate) fn cache_mode(args: &AskArgs) -> CacheMode {
    match args.judge_cache.as_str() {
        "read" => CacheMode::Read,
        "only" => CacheMode::Only,
        "off" => CacheMode::Off,
        _ => CacheMode::ReadWrite,
    }
}

fn named(args: &AskArgs, profile: &Profile, loaded: &LoadedSuite) -> String {
    args.judge.clone().unwrap_or_else(|| with_roster(loaded, args, |roster| roster.default_of(profile)))
}

/// Where the judge that was named is one of those given, only their judgements are heard.
fn hear_only(args: &AskArgs, work: &mut Work) -> bool {
    let Some(name) = args.judge.as_deref() else { return false };
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
    let open = leave_unjudged(&loaded.suite, &work.trials, &work.judgements, &work.profile, &judges);
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
fn hear_people(judge: &Judge, sitting: &mut Sitting<'_>, work: &mut Work) -> Result<(), Failure> {
    let Some(store) = sitting.store.as_mut().filter(|_| !judge.asks_people()) else { return Ok(()) };
    let labels = store.all_labels()?;
    if labels.is_empty() {
        return Ok(());
    }
    let mut said = labels.judgements(&sitting.loaded.suite, &work.trials);
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

fn put(judge: &Judge, sitting: Sitting<'_>, work: &mut Work) -> Result<Asked, Failure> {
    let given = std::mem::take(&mut work.judgements);
    let desk = Office { args: sitting.args, folder: sitting.folder, store: sitting.store, quiet: sitting.quiet };
    desk.with(judge, sitting.loaded, &work.trials, |desk| ask(judge, &work.trials, given, &work.profile, desk))
}

/// How the judge and the members of a panel did when they were probed, by name. No store is made for that.
fn probes(judge: &Judge, sitting: &mut Sitting<'_>, work: &mut Work) -> BTreeMap<String, ProbeV1> {
    // A probe is about pairs, and says nothing of how somebody audits.
    if work.profile.method == Method::Audit {
        return BTreeMap::new();
    }
    let folder = store_place::folder(sitting.folder);
    let mut opened = match &sitting.store {
        None if Store::is_at(&folder) => Some(Store::read_only(&folder)),
        _ => None,
    };
    let store = match (&mut sitting.store, &mut opened) {
        (Some(store), _) => &mut **store,
        (None, Some(Ok(store))) => store,
        // One that must first be brought up to date has never seen a probe.
        (None, None | Some(Err(StoreError::ReadOnly { .. }))) => return BTreeMap::new(),
        (None, Some(Err(error))) => {
            work.notes.push(format!("whether the judge {} was probed is not known: {error}", judge.name));
            return BTreeMap::new();
        }
    };
    let mut found = BTreeMap::new();
    for (name, member) in judge.members() {
        let probe = member.identity().map(|identity| store.latest_probe(&identity.key()));
        match probe.transpose() {
            Ok(probe) => found.extend(probe.flatten().map(|probe| (name.to_string(), probe))),
            Err(error) => work.notes.push(format!("whether the judge {name} was probed is not known: {error}")),
        }
    }
    found
}

/// Where judges are asked: the ledger, the labels of people, and somebody who hears how it goes.
pub(crate) struct Office<'a> {
    /// What was typed.
    pub(crate) args: &'a AskArgs,
    /// The store's folder, where it was typed.
    pub(crate) folder: Option<&'a Path>,
    /// The store, where it is open already.
    pub(crate) store: Option<&'a mut Store>,
    /// Whether nothing is told on the way.
    pub(crate) quiet: bool,
}

impl Office<'_> {
    /// Does something at a desk for asking a judge about trials.
    pub(crate) fn with<T>(
        self,
        judge: &Judge,
        loaded: &LoadedSuite,
        trials: &[Trial],
        work: impl FnOnce(&mut Desk<'_>) -> Result<T, AskError>,
    ) -> Result<T, Failure> {
        let folder = store_place::folder(self.folder);
        let there = Store::is_at(&folder);
        let mut opened = match &self.store {
            Some(_) => None,
            None if judge.asks_models() && cache_mode(self.args) == CacheMode::ReadWrite => {
                Some(Store::create(&folder)?)
            }
            None if there && (judge.asks_people() || judge.asks_models() && cache_mode(self.args).reads()) => {
                Some(Store::open(&folder)?)
            }
            None => None,
        };
        let mut store = self.store.or(opened.as_mut());
        let labels = match &mut store {
            Some(store) if judge.asks_people() => {
                let mut labels = labels_as_judgements(&store.labels()?, &loaded.suite, trials);
                let extras = store.extra_labels()?;
                labels.extend(extras_heard(&extras, trials).into_iter().map(|(_, judgement)| judgement));
                labels
            }
            _ => Vec::new(),
        };
        let mut none = MemoryLedger::default();
        let ledger: &mut dyn Ledger = match store {
            Some(store) => store,
            None => &mut none,
        };
        // Nobody else looks at a wish to stop, and who does not look must not catch it.
        let cancel = if judge.asks_models() { cancel_on_signals()? } else { Cancel::default() };
        let mut progress = Judging::new(&judge.name, self.quiet || !judge.asks_models());
        let mut tell = |told: karat::judge::asking::Told<'_>| progress.hear(&told);
        let done = work(&mut Desk { loaded, ledger, labels: &labels, cancel: &cancel, tell: &mut tell });
        progress.end();
        Ok(done?)
    }
}

/// A judge may favour its own kind, and a reader should know.
fn same_house(judge: &Judge, models: &[(String, String)]) -> Option<String> {
    let vendors = judge.vendors();
    let kin: Vec<&str> = models
        .iter()
        .filter(|(_, model)| vendor::of_model(model).is_some_and(|vendor| vendors.contains(&vendor)))
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

impl From<RosterError> for Failure {
    fn from(error: RosterError) -> Self {
        match error {
            RosterError::Unknown { .. } => Self::usage(error.to_string()),
            _ => Self::bad_input(error.to_string()),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::Message(Exit::Failed, error.to_string())
    }
}
