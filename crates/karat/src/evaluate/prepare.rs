//! Resolves a request, or the plan of a run that is resumed, into what is to be executed.

use super::grants::{AskingTool, require};
use super::{EvaluateObserver, EvaluateRequest};
use crate::failure::Failure;
use crate::judge::run::plan_judge;
use crate::profile::request::resolve_for_suite;
use crate::run::plan::{Request as PlanRequest, RequestedTool, plan};
use crate::run::tool_lookup::{declared, lookup};
use crate::suite::{LoadedSuite, load};
use crate::tool::catalogue::shipped;
use crate::tool::manifest::{Context, Manifest, NO_MODEL, in_config};
use crate::tool::replay::Recordings;
use crate::tool::{LoadError, LoadFault, Tool};
use karat_core::panel::Consensus;
use karat_format::run::PlanV1;
use karat_format::shipped_suites::locate;
use karat_format::submission::MAX_TRIALS;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::files::Files;
use karat_sandbox::{Isolation, available, strongest};
use karat_store::{RunId, Store};
use std::collections::HashSet;
use std::path::PathBuf;

/// The plan, and the tools that it names.
pub struct Prepared {
    pub(super) loaded: LoadedSuite,
    pub(super) plan: PlanV1,
    pub(super) tools: Vec<Box<dyn Tool>>,
    pub(super) isolation: Isolation,
    /// The store and the run that is resumed.
    pub(super) earlier: Option<(Store, RunId)>,
}

impl Prepared {
    /// What will be done.
    pub fn plan(&self) -> &PlanV1 {
        &self.plan
    }

    /// The isolation that programs run in.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }
}

/// Resolves a request, and makes sure that it can be done and is allowed.
pub fn prepare(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared, Failure> {
    match &request.resume {
        Some(reference) => prepare_resumed(request, reference, observer),
        None => prepare_new(request, observer),
    }
}

/// A new run, from the request and `karat.toml`.
fn prepare_new(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared, Failure> {
    let loaded = load(locate(request.suite.as_deref().unwrap_or(".")))?;
    let mut profile = resolve_for_suite(&request.profile, Some(&loaded))?;
    plan_judge(&request.judge, &loaded, &mut profile)?;
    let asked = match request.tools.as_slice() {
        [] => declared(&loaded)?,
        some => some.iter().map(|text| lookup(text, &loaded)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let mut names = HashSet::new();
    if let Some((twice, _)) = asked.iter().find(|(name, _)| !names.insert(name)) {
        return Err(Failure::usage(format!("the tool `{twice}` is given twice")));
    }
    let asking = asked.iter().map(|(name, manifest)| AskingTool {
        name,
        manifest,
        trusted: is_built_in(&loaded) || loaded.config.tools.get(name) != Some(manifest),
    });
    let asking: Vec<AskingTool<'_>> = asking.collect();
    let place = place_of(&loaded);
    let (manifests, isolation) = load_tools(&asking, &place, &loaded, request.model.as_deref(), request, observer)?;
    let wanted = asked.iter().zip(&manifests).map(|((name, manifest), (tool, model))| RequestedTool {
        name: name.clone(),
        manifest: manifest.clone(),
        model: model.clone(),
        llm: tool.planned_llm(),
        isolation: tool.isolation(isolation),
        max_trials: tool.max_trials(),
    });
    let plan_request = PlanRequest {
        loaded: &loaded,
        place,
        profile: &profile,
        selection: &request.selection,
        trials: request.trials,
        model: request.model.clone(),
        seed: request.seed,
    };
    let plan = plan(&plan_request, wanted.collect()).map_err(|error| Failure::usage(error.to_string()))?;
    for tool in &plan.tools {
        let wanted = plan_request.wanted_trials(&tool.manifest);
        if tool.trials < wanted {
            observer.note(&format!("{}: only {} of {wanted} trials were recorded", tool.name, tool.trials));
        }
    }
    let consensus = Consensus::NAMES.iter().find(|(_, consensus)| Some(*consensus) == request.judge.consensus);
    let plan = PlanV1 { consensus: consensus.map(|(name, _)| (*name).to_owned()), ..plan };
    let tools = manifests.into_iter().map(|(tool, _)| tool).collect();
    Ok(Prepared { loaded, plan, tools, isolation, earlier: None })
}

/// A run that is resumed, by the plan that it began with.
fn prepare_resumed(
    request: &EvaluateRequest,
    reference: &str,
    observer: &mut dyn EvaluateObserver,
) -> Result<Prepared, Failure> {
    let mut store = Store::open(&request.store_folder)?;
    let info = store.find(reference)?;
    let run = &info.short_id;
    let plan = store.plan(&info.id)?;
    let place = request.suite.as_deref().unwrap_or(&plan.suite.place);
    let loaded = load(locate(place))?;
    if loaded.suite.digest != plan.suite.digest {
        let message =
            format!("{place} has changed since run {run} began, so the run cannot be resumed; start a new run");
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
    let asking = plan.tools.iter().map(|tool| AskingTool {
        name: &tool.name,
        manifest: &tool.manifest,
        trusted: came_with_karat(&tool.name, &tool.manifest, &loaded),
    });
    let asking: Vec<AskingTool<'_>> = asking.collect();
    let (manifests, isolation) =
        load_tools(&asking, &place_of(&loaded), &loaded, plan.model.as_deref(), request, observer)?;
    let tools = manifests.into_iter().map(|(tool, _)| tool).collect();
    Ok(Prepared { loaded, plan, tools, isolation, earlier: Some((store, info.id)) })
}

/// A tool, and the model that it uses.
type LoadedTool = (Box<dyn Tool>, Option<String>);

/// Makes sure that what the tools ask for is allowed, chooses their isolation, and reads the files that they name.
fn load_tools(
    tools: &[AskingTool<'_>],
    place: &str,
    loaded: &LoadedSuite,
    model: Option<&str>,
    request: &EvaluateRequest,
    observer: &mut dyn EvaluateObserver,
) -> Result<(Vec<LoadedTool>, Isolation), Failure> {
    require(place, tools, request, observer)?;
    let executes = tools.iter().any(|tool| tool.manifest.kind == ToolKindV1::Command);
    let isolation = choose_isolation(request, executes)?;
    let home = request.variable("HOME").map(PathBuf::from);
    let mut recordings = Recordings::default();
    let mut all = Vec::new();
    for tool in tools {
        let of_suite = loaded.config.tools.get(tool.name) == Some(tool.manifest);
        let context = Context { model, home: home.as_deref(), files_anywhere: !of_suite };
        let failed = |fault| LoadError { tool: tool.name.to_owned(), fault };
        let manifest = Manifest::resolve(tool.name, tool.manifest, &context).map_err(|faults| {
            // The file of the suite has a place for each fault. A missing model is a fault of the request.
            if of_suite && faults.iter().all(|fault| fault.code != NO_MODEL) {
                let places: Vec<_> = faults.iter().map(|fault| in_config(loaded, tool.name, fault)).collect();
                return Failure::Faults(places.into());
            }
            Failure::from(failed(LoadFault::Manifest(faults)))
        })?;
        all.push((manifest.declaration.load(loaded, &mut recordings).map_err(failed)?, manifest.model));
    }
    Ok((all, isolation))
}

/// The isolation asked for, else the strongest there is. Less than is required is refused, unless nothing is executed.
fn choose_isolation(request: &EvaluateRequest, executes: bool) -> Result<Isolation, Failure> {
    let required = request.require_isolation.filter(|_| executes);
    let Some(asked) = request.isolation else {
        return strongest(required).map_err(|error| Failure::failed(error.to_string()));
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

fn came_with_karat(name: &str, manifest: &ToolManifestV1, loaded: &LoadedSuite) -> bool {
    let is_shipped = || shipped(name).and_then(|entry| entry.manifest().ok()).as_ref() == Some(manifest);
    (is_built_in(loaded) && loaded.config.tools.get(name) == Some(manifest)) || is_shipped()
}
