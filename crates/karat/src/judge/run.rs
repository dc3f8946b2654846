//! Runs a judge on what is to be scored: it is asked about the pairs that the given judgements leave open.

use super::registry::{DefaultJudge, Judge, JudgeRegistry, NONE};
use super::session::{JudgeContext, JudgeEvent, ask, cannot_audit};
use crate::failure::{Category, Failure, Result};
use crate::run::plan::profile_of_plan;
use crate::suite::LoadedSuite;
use crate::work::Work;
use karat_core::ids::JudgeName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::NAME;
use karat_core::panel::Consensus;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::mark_unjudged;
use karat_core::trial::Trial;
use karat_core::wording::plural;
use karat_format::judge::EffortV1;
use karat_format::probe::ProbeV1;
use karat_format::report::{FindingKindV1, JudgeV1, MeasuredAgreementV1, ReportV1};
use karat_format::run::PlanV1;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_llm::ledger::{CacheMode, Ledger, MemoryLedger};
use karat_llm::provider::ProviderEnv;
use karat_llm::vendor;
use karat_store::label::labels_as_judgements;
use karat_store::{Store, StoreError, StoreLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which judge to ask, and how the ledger is used.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct JudgeRequest {
    /// Default: the profile's judge.
    pub judge: Option<String>,
    /// How several judges decide; default: by majority.
    pub consensus: Option<Consensus>,
    pub cache: CacheMode,
}

/// Observes a judge. Models take a while and cost money, so an observer can also cancel them.
pub trait JudgeObserver {
    /// A judge that asks models begins; the returned value cancels it.
    fn start(&mut self, _judge: &JudgeName) -> Result<Cancel> {
        Ok(Cancel::default())
    }

    /// Shows progress.
    fn observe(&mut self, _event: &JudgeEvent<'_>) {}

    /// The judge has ended, successfully or not.
    fn end(&mut self) {}
}

/// Shows nothing and never cancels.
#[derive(Default)]
pub(crate) struct NoObserver;

impl JudgeObserver for NoObserver {}

/// What a judge works with.
#[expect(missing_docs, reason = "field names say it")]
pub struct JudgeEnv<'a> {
    pub request: &'a JudgeRequest,
    /// Where the store is, for the ledger and the labels.
    pub location: &'a StoreLocation,
    /// The store, if it is already open.
    pub store: Option<&'a mut Store>,
    pub observer: &'a mut dyn JudgeObserver,
}

/// Asks the requested judge, or the profile's, about what the work leaves open. `models` lists the known models of tools.
pub fn run_judge(
    mut env: JudgeEnv<'_>,
    loaded: &LoadedSuite,
    models: &[(String, String)],
    work: &mut Work,
) -> Result<()> {
    let mut opened =
        OpenedJudge::new(env.request, loaded, env.store.is_some(), &mut work.judgements, &mut work.profile)?;
    work.notes.extend(opened.note.take());
    let Some(judge) = &opened.judge else {
        close_judged_trials(loaded, opened.recorded.then_some(opened.name.as_str()), work);
        return Ok(());
    };
    if !opened.recorded {
        add_human_labels(judge, &mut env, loaded, work)?;
    }
    work.notes.extend(same_vendor_note(judge, models));
    let kinds = FindingKinds::new(&work.trials);
    let mut describe = describe_judges(judge, &mut env, &work.profile, kinds, &mut work.notes);
    let given = std::mem::take(&mut work.judgements);
    let mut result =
        env.with(judge, loaded, &work.trials, |context| ask(judge, &work.trials, given, &work.profile, context))?;
    result.judges.iter_mut().for_each(&mut describe);
    work.judgements = result.judgements;
    work.voices = result.voices;
    work.asked = result.judges;
    work.spent = result.spent;
    work.notes.extend(result.notes);
    Ok(())
}

/// The judge that was asked for, or the profile's.
pub(crate) struct OpenedJudge {
    pub(crate) name: String,
    /// `None` if there is nobody to ask.
    pub(crate) judge: Option<Judge>,
    /// Whether the judgements that were given are its own.
    pub(crate) recorded: bool,
    /// Who chose it, where nobody typed its name.
    pub(crate) note: Option<String>,
}

impl OpenedJudge {
    /// Opens it, and names it in the profile. Of the given judgements only its own stay, if there are any.
    pub(crate) fn new(
        request: &JudgeRequest,
        loaded: &LoadedSuite,
        has_store: bool,
        given: &mut Vec<Judgement>,
        profile: &mut Profile,
    ) -> Result<Self> {
        let recorded = use_recorded_only(request, given);
        let registry = registry(loaded, request, profile.method);
        let DefaultJudge { name, note } = chosen_judge(request, &registry, profile)?;
        let judge = match registry.open(&name) {
            // It is unknown. A judge whose decisions were given need not be one that can be asked.
            Err(Failure::Message(Category::Usage, _)) if recorded => None,
            Err(Failure::Message(Category::Usage, error)) if !given.is_empty() => {
                let given: BTreeSet<&str> = given.iter().map(|judgement| judgement.judge.as_str()).collect();
                let given = Vec::from_iter(given).join(", ");
                return Err(Failure::usage(format!("{error}; judgements were given of {given}")));
            }
            other => other?,
        };
        // The judge of a stored run was confirmed when the run was started.
        if !has_store {
            require_key_consent(request, judge.as_ref())?;
        }
        profile.judge = judge.as_ref().map_or_else(|| NONE.to_owned(), |judge| judge.name.to_string());
        Ok(Self { name, judge, recorded, note })
    }

    /// Without a judge to ask, the judges whose judgements of a trial must cover all of its pairs. By default all recorded judges
    /// count except people, whose labels are samples and corrections.
    pub(crate) fn closing<'j>(&self, given: impl Iterator<Item = &'j Judgement>) -> BTreeSet<&'j JudgeName> {
        let named = self.recorded.then_some(self.name.as_str());
        given.map(|judgement| &judgement.judge).filter(|judge| closes(judge, named)).collect()
    }
}

fn closes(judge: &JudgeName, named: Option<&str>) -> bool {
    named.map_or(!judge.is_human(), |name| judge.as_str() == name)
}

/// Says of every judge how many pairs its judgements do not cover.
pub(crate) fn uncovered_notes(by_judge: &BTreeMap<JudgeName, usize>) -> impl Iterator<Item = String> {
    by_judge.iter().map(|(judge, count)| {
        let pairs = plural(*count, "pair", "pairs");
        let are = if *count == 1 { "is" } else { "are" };
        format!(
            "{judge}: {pairs} that the score alone would match {are} unjudged and count as no match: the judgements given do \
             not cover them, and their judge cannot be asked"
        )
    })
}

/// What is stated of the judge and of a panel's members, beside what they did.
pub(crate) fn describe_judges(
    judge: &Judge,
    env: &mut JudgeEnv<'_>,
    profile: &Profile,
    kinds: FindingKinds,
    notes: &mut Vec<String>,
) -> impl FnMut(&mut JudgeV1) + use<> {
    let probes = latest_probes(judge, env, profile, notes);
    let agreements = measured_agreements(judge, kinds);
    move |own| {
        own.probe = probes.get(&own.judge).cloned();
        own.measured_agreement = agreements.get(&own.judge).copied();
    }
}

/// Of how many findings it is known who reports them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FindingKinds {
    pub(crate) all: usize,
    pub(crate) scanned: usize,
}

impl FindingKinds {
    fn new<'t>(trials: impl IntoIterator<Item = &'t Trial>) -> Self {
        let mut kinds = Self::default();
        trials.into_iter().for_each(|trial| kinds.add(trial));
        kinds
    }

    pub(crate) fn add(&mut self, trial: &Trial) {
        self.all += trial.findings.len();
        self.scanned += trial.findings.iter().filter(|finding| finding.is_from_scanner()).count();
    }
}

/// Fails if a model answered fewer than half of its questions, since the others count as no match, unless that is allowed.
pub fn refuse_incomplete(report: &ReportV1, allowed: bool) -> Result<()> {
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

/// The judge that the request names, else the profile's.
fn chosen_judge(request: &JudgeRequest, registry: &JudgeRegistry<'_>, profile: &Profile) -> Result<DefaultJudge> {
    match &request.judge {
        Some(name) => Ok(DefaultJudge { name: name.clone(), note: None }),
        None => registry.default_judge(profile),
    }
}

/// Resolves the judge of a plan into its profile, before anything is run. Fails if the judge could not be asked. Returns a note
/// if nobody typed its name.
pub(crate) fn plan_judge(
    request: &JudgeRequest,
    loaded: &LoadedSuite,
    profile: &mut Profile,
) -> Result<Option<String>> {
    let registry = registry(loaded, request, profile.method);
    let DefaultJudge { name, note } = chosen_judge(request, &registry, profile)?;
    let judge = registry.open(&name)?;
    require_key_consent(request, judge.as_ref())?;
    if let Some(missing) = judge.as_ref().filter(|_| request.cache != CacheMode::Only).and_then(missing_setup) {
        return Err(Failure::failed(format!("the judge `{name}` cannot be asked: {missing}")));
    }
    if let (Method::Audit, Some(name)) = (profile.method, judge.as_ref().and_then(Judge::cannot_audit)) {
        return Err(Failure::usage(cannot_audit(name)));
    }
    // The plan names the judge, so that a resumed run asks the same one, whatever the variables say then.
    profile.judge = name;
    profile.judge_by_variable = false;
    Ok(note)
}

/// The judge of a plan, opened; `None` where nobody is asked.
pub(crate) fn judge_of_plan(loaded: &LoadedSuite, plan: &PlanV1, request: &JudgeRequest) -> Result<Option<Judge>> {
    let profile = profile_of_plan(plan, "that is planned")?;
    registry(loaded, request, profile.method).open(&profile.judge)
}

/// Why the judge of a plan cannot be asked from here, such as for want of a key.
pub(crate) fn unaskable_judge(loaded: &LoadedSuite, plan: &PlanV1) -> Option<String> {
    match judge_of_plan(loaded, plan, &JudgeRequest::default()) {
        Ok(judge) => judge.as_ref().and_then(missing_setup).map(str::to_owned),
        Err(failure) => Some(failure.text()),
    }
}

fn missing_setup(judge: &Judge) -> Option<&str> {
    judge.engines().find_map(|engine| engine.provider().endpoint()?.missing_setup())
}

/// Opens the requested judge; default: the local one.
pub fn open_judge(loaded: &LoadedSuite, request: &JudgeRequest) -> Result<Judge> {
    let judge = registry(loaded, request, Method::Score).open(request.judge.as_deref().unwrap_or(NAME))?;
    judge.ok_or_else(|| Failure::usage("`--judge none` cannot be used here; name a judge with --judge, such as local"))
}

/// Suites are untrusted: a key is sent to a host that only the suite names if the user named the judge.
fn require_key_consent(request: &JudgeRequest, judge: Option<&Judge>) -> Result<()> {
    let Some(judge) = judge.filter(|_| request.judge.is_none() && request.cache != CacheMode::Only) else {
        return Ok(());
    };
    let Some(host) = judge.engines().find_map(|engine| engine.provider().endpoint()?.key_recipient()) else {
        return Ok(());
    };
    let name = &judge.name;
    Err(Failure::usage(format!(
        "the suite asks for the judge `{name}`, and would have your key sent to {host}; say --judge {name} to agree, or \
         --judge none to do without"
    )))
}

/// The judges of the suite, and those that flags and environment variables name. Whether two texts are about the same problem
/// takes little thought; auditing a whole response takes as much as the model sees fit.
fn registry<'a>(loaded: &'a LoadedSuite, request: &JudgeRequest, method: Method) -> JudgeRegistry<'a> {
    let folder = match &loaded.files {
        Files::Disk(root) => root.as_path(),
        Files::Embedded(..) => Path::new(""),
    };
    JudgeRegistry {
        declared: &loaded.config.judges,
        env: ProviderEnv { variable: &|name| std::env::var(name).ok(), folder },
        cache: request.cache,
        consensus: request.consensus.unwrap_or_default(),
        effort: (method != Method::Audit).then_some(EffortV1::Low),
    }
}

/// If the requested judge is one whose judgements were given, keeps only these, and returns true.
fn use_recorded_only(request: &JudgeRequest, given: &mut Vec<Judgement>) -> bool {
    let is_own = |judgement: &Judgement| request.judge.as_deref() == Some(judgement.judge.as_str());
    let recorded = given.iter().any(is_own);
    if recorded {
        given.retain(is_own);
    }
    recorded
}

/// Without a judge to ask, the pairs that recorded judgements of a trial do not cover are unjudged, not decided by their score.
fn close_judged_trials(loaded: &LoadedSuite, named: Option<&str>, work: &mut Work) {
    let judges =
        work.judgements.iter().map(|judgement| &judgement.judge).filter(|judge| closes(judge, named)).collect();
    let open = mark_unjudged(&loaded.suite, &work.trials, &work.judgements, &work.profile, &judges);
    let mut by_judge: BTreeMap<JudgeName, usize> = BTreeMap::new();
    for judgement in &open {
        *by_judge.entry(judgement.judge.clone()).or_default() += 1;
    }
    work.notes.extend(uncovered_notes(&by_judge));
    work.judgements.extend(open);
}

/// Adds people's labels of a stored run, so that a judge is not asked what a person has decided.
fn add_human_labels(judge: &Judge, env: &mut JudgeEnv<'_>, loaded: &LoadedSuite, work: &mut Work) -> Result<()> {
    // A judge that uses labels gets them anyway.
    let Some(store) = env.store.as_mut().filter(|_| !judge.asks_people()) else { return Ok(()) };
    let labels = store.labels()?;
    if labels.is_empty() {
        return Ok(());
    }
    let audits = work.profile.method == Method::Audit;
    // Files may already contain a person's labels.
    let given: BTreeSet<JudgeName> = work.judgements.iter().map(|judgement| judgement.judge.clone()).collect();
    let labels = labels_as_judgements(&labels, &loaded.suite, &work.trials);
    work.judgements.extend(applicable_labels(labels, audits, &given));
    Ok(())
}

/// Audits apply only if responses are audited; otherwise they would decide verdicts.
pub(crate) fn applicable_labels(
    labels: Vec<Judgement>,
    audits: bool,
    given: &BTreeSet<JudgeName>,
) -> impl Iterator<Item = Judgement> {
    let applies = move |judgement: &Judgement| match judgement.decision {
        Decision::Extra(_) => true,
        Decision::Audit(_) => audits,
        _ => !audits,
    };
    labels.into_iter().filter(move |judgement| applies(judgement) && !given.contains(&judgement.judge))
}

/// How far the judge or a panel's members agree with what they were measured against, by name, for the kind of findings that most
/// are of; where nothing was measured on that kind, on the other.
fn measured_agreements(judge: &Judge, kinds: FindingKinds) -> BTreeMap<String, MeasuredAgreementV1> {
    let is_scanned = 2 * kinds.scanned > kinds.all;
    let (review, scanner) = (FindingKindV1::ReviewComments, FindingKindV1::ScannerFindings);
    let most_findings = if is_scanned { scanner } else { review };
    let agreement = |member: &Judge| {
        let params = member.local()?.params();
        let on_reviews = params.provenance.held_out.as_ref().map(|held_out| (held_out.kappa, review));
        let on_scanners = params.scanner.provenance.held_out.as_ref().map(|held_out| (held_out.kappa, scanner));
        let (kappa, on) = if is_scanned { on_scanners.or(on_reviews) } else { on_reviews.or(on_scanners) }?;
        Some((member.name.to_string(), MeasuredAgreementV1 { kappa, on, most_findings }))
    };
    judge.members().iter().filter_map(agreement).collect()
}

/// The latest probes of the judge or of a panel's members, by name. No store is created for that.
fn latest_probes(
    judge: &Judge,
    env: &mut JudgeEnv<'_>,
    profile: &Profile,
    notes: &mut Vec<String>,
) -> BTreeMap<String, ProbeV1> {
    // A probe is about pairs and says nothing about audits.
    if profile.method == Method::Audit {
        return BTreeMap::new();
    }
    let mut opened = match &env.store {
        None if Store::is_at(env.location) => Some(Store::read_only(env.location)),
        _ => None,
    };
    let store = match (&mut env.store, &mut opened) {
        (Some(store), _) => &mut **store,
        (None, Some(Ok(store))) => store,
        // A store of an earlier version contains no probes.
        (None, None | Some(Err(StoreError::ReadOnly { .. }))) => return BTreeMap::new(),
        (None, Some(Err(error))) => {
            notes.push(format!("it is unknown whether the judge {} was probed: {error}", judge.name));
            return BTreeMap::new();
        }
    };
    let mut found = BTreeMap::new();
    for member in judge.members() {
        let Some(identity) = member.identity() else { continue };
        let name = member.name.to_string();
        match store.latest_probe(&identity.key()) {
            Ok(probe) => found.extend(probe.map(|probe| (name, probe))),
            Err(error) => notes.push(format!("it is unknown whether the judge {name} was probed: {error}")),
        }
    }
    found
}

impl JudgeEnv<'_> {
    /// Opens what the judge needs of the store, and calls `work` with it.
    pub fn with<T>(
        self,
        judge: &Judge,
        loaded: &LoadedSuite,
        trials: &[Trial],
        work: impl FnOnce(&mut JudgeContext<'_>) -> Result<T>,
    ) -> Result<T> {
        let location = self.location;
        let cache = self.request.cache;
        let mut opened = match &self.store {
            Some(_) => None,
            None if judge.asks_models() && cache == CacheMode::ReadWrite => Some(Store::create(location)?),
            None if Store::is_at(location) && (judge.asks_people() || judge.asks_models() && cache.reads()) => {
                Some(Store::open(location)?)
            }
            None => None,
        };
        let mut store = self.store.or(opened.as_mut());
        let labels = match &mut store {
            Some(store) if judge.asks_people() => {
                let mut labels = labels_as_judgements(&store.labels()?, &loaded.suite, trials);
                labels.retain(|judgement| !matches!(judgement.decision, Decision::Audit(_)));
                labels
            }
            _ => Vec::new(),
        };
        let mut none = MemoryLedger::default();
        let ledger: &mut dyn Ledger = match store {
            Some(store) => store,
            None => &mut none,
        };
        // Only models check for cancellation.
        let observer = self.observer;
        let asks_models = judge.asks_models();
        let cancel = if asks_models { observer.start(&judge.name)? } else { Cancel::default() };
        let mut report = |event: JudgeEvent<'_>| {
            if asks_models {
                observer.observe(&event);
            }
        };
        let result = work(&mut JudgeContext { loaded, ledger, labels: &labels, cancel: &cancel, report: &mut report });
        if asks_models {
            observer.end();
        }
        result
    }
}

pub(crate) fn same_vendor_note(judge: &Judge, models: &[(String, String)]) -> Option<String> {
    let ids = judge.engines().map(|engine| engine.provider().id());
    let vendors: Vec<&str> = ids.map(|id| vendor::vendor_of_model(&id.model).unwrap_or(&id.provider)).collect();
    let same = |model: &str| vendor::vendor_of_model(model).is_some_and(|vendor| vendors.contains(&vendor));
    let tools: Vec<&str> = models.iter().filter(|(_, model)| same(model)).map(|(tool, _)| tool.as_str()).collect();
    if tools.is_empty() {
        return None;
    }
    let uses = if tools.len() == 1 { "uses" } else { "use" };
    let (name, vendors, tools) = (&judge.name, vendors.join(" and "), tools.join(", "));
    Some(format!(
        "the judge {name} is a model of {vendors}, and so is what {tools} {uses}: a judge may favour its own kind"
    ))
}
