//! Resolves a request, or the plan of a run that is resumed, into what is to be executed.

use super::observer::{EvaluateObserver, Quiet};
use super::request::EvaluateRequest;
use crate::failure::{Category, Failure, Result};
use crate::judge::run::plan_judge;
use crate::profile::resolve_for_suite;
use crate::run::tool_lookup::{Named, declared, is_declared, join_styles, lookup};
use crate::suite::{LoadedSuite, load};
use crate::tool::Tool;
use crate::tool::catalogue::shipped;
use crate::tool::command::isolation_kind;
use crate::tool::doctor::version_installed;
use crate::tool::fixer::Fixer;
use crate::tool::grants::{Remembered, Request as GrantRequest, requested};
use crate::tool::manifest::{Context, Manifest, NO_MODEL, in_config};
use crate::tool::replay::Recordings;
use karat_core::panel::Consensus;
use karat_core::trial::Outcome;
use karat_format::config::SuiteKind;
use karat_format::report::RecordedV1;
use karat_format::run::{PLAN_SCHEMA, PlanV1, PlannedSuiteV1, PlannedToolV1};
use karat_format::shipped_suites::locate;
use karat_format::submission::MAX_TRIALS;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::files::Files;
use karat_llm::provider::{ProviderEnv, ProviderError};
use karat_llm::providers::{provider_of_model, split_model};
use karat_report::build::{profile_as_printed, seed_from};
use karat_sandbox::{Isolation, available, strongest};
use karat_store::record::TrialKey;
use karat_store::{RunId, Store};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

const DEFAULT_TRIALS: u32 = 3;

/// The plan, and the tools that it names.
#[expect(missing_docs, reason = "field names say it")]
pub struct Prepared {
    pub(super) loaded: LoadedSuite,
    pub plan: PlanV1,
    pub(super) tools: Vec<LoadedTool>,
    pub isolation: Isolation,
    /// The store and the run that is resumed.
    pub(super) earlier: Option<(Store, RunId)>,
    /// Trials of another run whose tool and case are the same.
    pub(super) taken_over: Option<TakenOver>,
}

/// Finished trials of a run that another one need not execute again, with their outcomes.
pub(super) struct TakenOver {
    pub(super) run: RunId,
    pub(super) trials: BTreeMap<TrialKey, (u32, Outcome)>,
}

/// Resolves a request, and makes sure that it can be done and is allowed.
pub fn prepare(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared> {
    match &request.resume {
        Some(reference) => prepare_resumed(request, reference, observer),
        None => prepare_new(request, observer),
    }
}

fn prepare_new(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared> {
    let loaded = load(locate(request.suite.as_deref().unwrap_or(".")))?;
    let mut profile = resolve_for_suite(&request.profile, Some(&loaded))?;
    if let Some(note) = plan_judge(&request.judge, &loaded, &mut profile)? {
        observer.note(&note);
    }
    let asked = match request.tools.as_slice() {
        [] => {
            let mut tools = declared(&loaded)?;
            if let Some((tool, note)) = model_of_challenges(&loaded, request)? {
                observer.note(&note);
                tools.push(tool);
            }
            tools
        }
        some => some.iter().map(|text| lookup(text, &loaded)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    note_installed(&asked, request, observer)?;
    let asked = join_styles(asked, request.separate_styles);
    let mut names = HashSet::new();
    if let Some((twice, _)) = asked.iter().find(|(name, _)| !names.insert(name)) {
        return Err(Failure::usage(format!("the tool `{twice}` is given twice")));
    }
    let trusted = |(name, manifest): &Named| is_built_in(&loaded) || !is_declared(&loaded, name, manifest);
    let (tools, isolation) = load_tools(&asked, &trusted, &loaded, request.model.as_deref(), request, observer)?;
    let suite = &loaded.suite;
    let cases = request.selection.select(suite)?;
    let mut planned = Vec::new();
    for ((name, manifest), (tool, model)) in asked.iter().zip(&tools) {
        // A flag overrides the manifest, and the manifest the suite.
        let stated = request.trials.or(manifest.trials).or(loaded.config.scoring.trials);
        let llm = tool.planned_llm();
        // As many with each style.
        let styles = llm.as_ref().map_or(1, |llm| llm.style.len().max(1)) as u32;
        let wanted = stated.unwrap_or(DEFAULT_TRIALS).saturating_mul(styles);
        let trials = wanted.min(tool.max_trials().unwrap_or(wanted));
        match tool.max_trials() {
            Some(recorded) if recorded < wanted => {
                observer.note(&format!("{name}: only {recorded} of {wanted} trials were recorded"));
            }
            Some(recorded) if recorded > trials => observer.note(&format!(
                "{name}: replays {trials} of the {recorded} recorded trials of a case; --trials {recorded} replays all"
            )),
            Some(recorded) if recorded > 1 => {
                observer.inform(&format!("{name}: replays the {recorded} recorded trials of a case"));
            }
            _ => {}
        }
        planned.push(PlannedToolV1 {
            name: name.clone(),
            kind: manifest.kind,
            trials,
            model: model.clone(),
            llm,
            isolation: tool.isolation(isolation),
            manifest: manifest.clone(),
            manifest_dir: manifest.manifest_dir.clone(),
        });
    }
    let consensus = Consensus::NAMES.iter().find(|(_, consensus)| Some(*consensus) == request.judge.consensus);
    let plan = PlanV1 {
        schema: PLAN_SCHEMA.to_owned(),
        kind: SuiteKind::Findings,
        suite: PlannedSuiteV1 {
            name: suite.name.clone(),
            place: place_of(&loaded),
            digest: suite.digest.clone(),
            cases: suite.cases.len(),
        },
        profile: profile_as_printed(&profile),
        consensus: consensus.map(|(name, _)| (*name).to_owned()),
        seed: request.seed.unwrap_or_else(|| seed_from(suite)),
        model: request.model.clone(),
        model_cutoff: request.model_cutoff.clone(),
        isolation: request.isolation.map(isolation_kind),
        require_isolation: request.require_isolation.map(isolation_kind),
        tools: planned,
        cases: cases.iter().map(|case| case.id.to_string()).collect(),
        selected_by: request.selection.describe(),
    };
    Ok(Prepared { loaded, plan, tools, isolation, earlier: None, taken_over: None })
}

/// Says of recordings which of their tools are installed, unless they were asked for as recordings.
fn note_installed(asked: &[Named], request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<()> {
    let is_meant = |name: &str| request.tools.iter().any(|text| *text == format!("{name}@recorded"));
    for (name, manifest) in asked.iter().filter(|(name, own)| own.kind == ToolKindV1::Replay && !is_meant(name)) {
        if let Some(version) = version_installed(name, &request.environment, &request.supervisor)? {
            let recorded = RecordedV1 { on: manifest.recorded.clone() }.words();
            observer.note(&format!("{name} is {recorded}; {version} is installed, and --tool {name}@live runs it"));
        }
    }
    Ok(())
}

/// The model that reviews a folder of challenges, where one is named for all tools and no tool is.
fn model_of_challenges(loaded: &LoadedSuite, request: &EvaluateRequest) -> Result<Option<(Named, String)>> {
    let Some(named) = request.model.as_deref().filter(|_| loaded.is_challenge_folder()) else { return Ok(None) };
    let variable = |name: &str| request.variable(name);
    let env = ProviderEnv { variable: &variable, folder: Path::new("") };
    let (stated, model) = split_model(named);
    let wrong = |error: ProviderError| Failure::usage(error.to_string());
    let provider = stated.map_or_else(|| provider_of_model(model, &env), Ok).map_err(wrong)?;
    let text = format!("llm:{provider}/{model}");
    let tool = lookup(&text, loaded)?.pop().ok_or_else(|| Failure::failed(format!("`{text}` is no tool")))?;
    let note = format!("the model {model} reviews the challenges, as with --tool {text}; --tool names other tools");
    Ok(Some((tool, note)))
}

fn prepare_resumed(
    request: &EvaluateRequest,
    reference: &str,
    observer: &mut dyn EvaluateObserver,
) -> Result<Prepared> {
    let mut store = Store::open(&request.store)?;
    let info = store.find_findings(reference)?;
    let run = &info.short_id;
    let plan = store.plan(&info.id)?;
    let place = request.suite.as_deref().unwrap_or(&plan.suite.place);
    let loaded = load(locate(place))?;
    if loaded.suite.digest != plan.suite.digest {
        let message = format!(
            "{place} has changed since run {run} began, so the run cannot be resumed; start a new run, or score its trials \
                     with the present goldens: karat score {place} --run {run}"
        );
        return Err(Failure::bad_input(message));
    }
    if plan.tools.iter().any(|tool| !(1..=MAX_TRIALS).contains(&tool.trials)) {
        let message = format!("the plan of run {run} is invalid: expected 1 to {MAX_TRIALS} trials for each tool");
        return Err(Failure::bad_input(message));
    }
    // An imported plan could run anything, or send a key anywhere.
    if info.imported && plan.tools.iter().any(|tool| matches!(tool.kind, ToolKindV1::Command | ToolKindV1::Llm)) {
        let message = format!("run {run} was imported, and the tools of an imported plan are not run; start a new run");
        return Err(Failure::bad_input(message));
    }
    // The store may have come with the suite, so its plan is trusted no more than the suite is.
    let trusted = |tool: &Named| came_with_karat(tool, &loaded);
    let planned = plan.tools.iter().map(|tool| {
        let manifest = ToolManifestV1 { manifest_dir: tool.manifest_dir.clone(), ..tool.manifest.clone() };
        (tool.name.clone(), manifest)
    });
    let asked: Vec<Named> = planned.collect();
    let (tools, isolation) = load_tools(&asked, &trusted, &loaded, plan.model.as_deref(), request, observer)?;
    Ok(Prepared { loaded, plan, tools, isolation, earlier: Some((store, info.id)), taken_over: None })
}

/// Loads a tool of a plan on a worker. What it may do was agreed to when the run was planned.
pub(crate) fn load_planned_tool(
    planned: &PlannedToolV1,
    loaded: &LoadedSuite,
    model: Option<&str>,
    request: &EvaluateRequest,
) -> Result<(LoadedTool, Isolation)> {
    let manifest = ToolManifestV1 { manifest_dir: planned.manifest_dir.clone(), ..planned.manifest.clone() };
    let asked = [(planned.name.clone(), manifest)];
    let (mut tools, isolation) = load_tools(&asked, &|_| true, loaded, model, request, &mut Quiet::default())?;
    let tool = tools.pop().ok_or_else(|| Failure::failed("the tool is missing"))?;
    Ok((tool, isolation))
}

/// A tool, and the model that it uses.
pub(crate) type LoadedTool = (Box<dyn Tool>, Option<String>);

/// Makes sure that what the tools ask for is allowed, chooses their isolation, and reads the files that they name. A manifest
/// is trusted if the user gave it or it came with Karat, not with the suite.
fn load_tools(
    tools: &[Named],
    trusted: &dyn Fn(&Named) -> bool,
    loaded: &LoadedSuite,
    model: Option<&str>,
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<(Vec<LoadedTool>, Isolation)> {
    require_consent(&place_of(loaded), tools, trusted, request, observer)?;
    let executes = tools.iter().any(|(_, manifest)| manifest.kind == ToolKindV1::Command);
    let isolation = choose_isolation(request, executes)?;
    let mut recordings = Recordings::default();
    let mut all = Vec::new();
    for tool in tools {
        let manifest = resolve_manifest(tool, loaded, model, request)?;
        let loaded_tool = manifest.declaration.load(loaded, &mut recordings).map_err(|failure| match failure {
            Failure::Message(_, text) => Failure::bad_input(format!("the tool `{}`: {text}", tool.0)),
            faults => faults,
        })?;
        all.push((loaded_tool, manifest.model));
    }
    Ok((all, isolation))
}

fn resolve_manifest(
    (name, raw): &Named,
    loaded: &LoadedSuite,
    model: Option<&str>,
    request: &EvaluateRequest,
) -> Result<Manifest> {
    let home = request.variable("HOME").map(PathBuf::from);
    let of_suite = loaded.config.tools.get(name) == Some(raw);
    let context = Context { model, home: home.as_deref(), files_anywhere: !of_suite };
    Manifest::resolve(name, raw, &context).map_err(|faults| {
        // The file of the suite has a place for each fault. A missing model is a fault of the request.
        let no_model = faults.iter().any(|fault| fault.code == NO_MODEL);
        if of_suite && !no_model {
            let places: Vec<_> = faults.iter().map(|fault| in_config(loaded, name, fault)).collect();
            return Failure::Faults(places.into());
        }
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Failure::Message(Category::usage_if(no_model), format!("the tool `{name}`: {}", texts.join("; ")))
    })
}

/// A fixer that may be run, with its manifest.
pub(crate) struct LoadedFixer {
    pub(crate) name: String,
    pub(crate) manifest: ToolManifestV1,
    pub(crate) model: Option<String>,
    pub(crate) fixer: Fixer,
    pub(crate) isolation: Isolation,
}

/// Loads the request's only tool, which must be a fixer, and makes sure that what it asks for is allowed.
pub(crate) fn load_fixer(
    loaded: &LoadedSuite,
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<LoadedFixer> {
    let mut asked = request.tools.iter().map(|text| lookup(text, loaded)).collect::<Result<Vec<_>, _>>()?.concat();
    let Some(tool) = asked.pop().filter(|_| asked.is_empty()) else {
        return Err(Failure::usage("name one fixer with --with"));
    };
    if tool.1.kind != ToolKindV1::Fixer {
        let (name, kind) = (&tool.0, tool.1.kind.as_str());
        let message = format!("`{name}` is no fixer: its manifest has kind = \"{kind}\"");
        return Err(Failure::usage(format!("{message}\nhelp: docs/fix-through.md shows the manifest of a fixer")));
    }
    let trusted = |(name, manifest): &Named| is_built_in(loaded) || loaded.config.tools.get(name) != Some(manifest);
    require_consent(&place_of(loaded), std::slice::from_ref(&tool), &trusted, request, observer)?;
    let isolation = choose_isolation(request, true)?;
    let resolved = resolve_manifest(&tool, loaded, request.model.as_deref(), request)?;
    let (name, manifest) = tool;
    let fixer = resolved.declaration.into_fixer();
    let fixer = fixer.ok_or_else(|| Failure::failed(format!("`{name}` could not be loaded as a fixer")))?;
    Ok(LoadedFixer { name, manifest, model: resolved.model, fixer, isolation })
}

/// The isolation asked for, else the strongest there is. Less than is required is refused, unless nothing is executed.
fn choose_isolation(request: &EvaluateRequest, executes: bool) -> Result<Isolation> {
    let required = request.require_isolation.filter(|_| executes);
    let Some(asked) = request.isolation else {
        return Ok(strongest(required)?);
    };
    let name = asked.as_str();
    if let Some(why) = available().unavailable_reason(asked) {
        return Err(Failure::failed(format!("the isolation {name} is not available: {why}")));
    }
    match required {
        Some(required) if asked < required => {
            let required = required.as_str();
            Err(Failure::usage(format!("--isolation {name} is less than --require-isolation {required}")))
        }
        _ => Ok(asked),
    }
}

/// The suite's folder, or its name if it is built in.
fn place_of(loaded: &LoadedSuite) -> String {
    match &loaded.files {
        Files::Disk(root) => root.canonicalize().unwrap_or_else(|_| root.clone()).display().to_string(),
        Files::Embedded(name, _) => (*name).to_owned(),
    }
}

fn is_built_in(loaded: &LoadedSuite) -> bool {
    matches!(loaded.files, Files::Embedded(..))
}

fn came_with_karat((name, manifest): &Named, loaded: &LoadedSuite) -> bool {
    let is_shipped = || shipped(name).and_then(|entry| entry.manifest().ok()).as_ref() == Some(manifest);
    (is_built_in(loaded) && loaded.config.tools.get(name) == Some(manifest)) || is_shipped()
}

/// Requires that everything the tools ask for is allowed: by a flag, by an earlier answer, or by an answer given now.
fn require_consent(
    suite: &str,
    tools: &[Named],
    trusted: &dyn Fn(&Named) -> bool,
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<()> {
    let allowed = &request.allow;
    if let Some(unknown) = allowed.iter().find(|own| tools.iter().all(|(name, _)| *name != own.tool)) {
        let message = format!("--allow names the tool `{}`, which is not part of this run", unknown.tool);
        return Err(Failure::usage(message));
    }
    let remembered = Remembered::new(&|name| request.variable(name));
    let mut open = Vec::new();
    for tool in tools {
        let (name, manifest) = tool;
        if requested(manifest).is_empty() {
            continue;
        }
        if trusted(tool) {
            if !request.plan_only {
                // A run that is resumed knows its tools only from the store.
                remember(remembered.as_ref(), suite, tool, observer);
            }
            continue;
        }
        if remembered.as_ref().is_some_and(|answers| answers.allows(suite, name, manifest)) {
            continue;
        }
        open.extend(GrantRequest::new(name, manifest, allowed).map(|request| (tool, request)));
    }
    if open.is_empty() {
        return Ok(());
    }
    let refusal = refusal(&open);
    if request.plan_only {
        observer.note(&refusal);
        return Ok(());
    }
    for (tool, asked) in open {
        match observer.consent(&asked)? {
            None => return Err(Failure::usage(refusal)),
            Some(false) => {
                let message = format!("the tool `{}` was not given the permissions it asks for", asked.tool);
                return Err(Failure::usage(message));
            }
            Some(true) => remember(remembered.as_ref(), suite, tool, observer),
        }
    }
    Ok(())
}

fn remember(answers: Option<&Remembered>, suite: &str, tool: &Named, observer: &mut dyn EvaluateObserver) {
    let Some(answers) = answers else { return };
    if let Err(error) = answers.allow(suite, &tool.0, &tool.1) {
        observer.note(&format!("{}: the answer could not be saved: {error}", answers.file.display()));
    }
}

fn refusal(open: &[(&Named, GrantRequest)]) -> String {
    let ask = |request: &GrantRequest| format!("`{}` asks to {}", request.tool, request.describe().join("; to "));
    let asks = open.iter().map(|(_, request)| ask(request)).collect::<Vec<_>>().join(", and ");
    let flags = open.iter().map(|(_, request)| format!("--allow '{}'", request.flag_value()));
    let flags = flags.collect::<Vec<_>>().join(" ");
    format!(
        "tools of the suite ask for more than the closed sandbox gives: {asks}; help: read them in karat.toml, and add {flags}"
    )
}
