//! Resolves a request, or the plan of a run that goes on, into what is to be executed.

use super::grants::{AskingTool, require};
use super::{EvaluateObserver, EvaluateRequest};
use crate::failure::Failure;
use crate::judge::run::planned;
use crate::profile::request::resolve_for_suite;
use crate::run::execute::{self, LoadError, Loaded};
use crate::run::lookup::{declared, lookup};
use crate::run::plan::{Request as PlanRequest, USUAL_TRIALS, plan};
use crate::run::replay::Recordings;
use crate::suite::{LoadedSuite, load};
use crate::tool::catalogue::shipped;
use crate::tool::manifest::{Context, NO_MODEL, in_config};
use karat_core::panel::Consensus;
use karat_format::run::PlanV1;
use karat_format::shipped_suites::locate;
use karat_format::submission::MAX_TRIALS;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::files::Files;
use karat_sandbox::{Isolation, available, strongest};
use karat_store::{RunId, Store};
use std::path::PathBuf;

/// The plan, and all that its tools name.
pub struct Prepared {
    pub(super) loaded: LoadedSuite,
    pub(super) plan: PlanV1,
    pub(super) tools: Vec<Loaded>,
    /// The isolation that programs run in.
    pub(super) isolation: Isolation,
    /// The store and the run that goes on, where one does.
    pub(super) earlier: Option<(Store, RunId)>,
}

/// The isolation asked for, else the strongest there is; less than is required is refused, unless no program is run.
fn isolation(request: &EvaluateRequest, kinds: &[ToolKindV1]) -> Result<Isolation, Failure> {
    let required = request.require_isolation.filter(|_| kinds.contains(&ToolKindV1::Command));
    let refused = |why: String| Failure::failed(why);
    let Some(asked) = request.isolation else {
        return strongest(required).map_err(|error| refused(error.to_string()));
    };
    if let Some(why) = available().unavailable_reason(asked) {
        return Err(refused(format!("the isolation {} is not available: {why}", asked.as_str())));
    }
    match required {
        Some(required) if asked < required => {
            let words = (asked.as_str(), required.as_str());
            Err(Failure::usage(format!("--isolation {} is less than --require-isolation {}", words.0, words.1)))
        }
        _ => Ok(asked),
    }
}

/// A new run: what was typed and what `karat.toml` says, resolved.
fn fresh(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared, Failure> {
    let place = request.suite.as_deref().unwrap_or(".");
    let loaded = load(locate(place))?;
    let mut profile = resolve_for_suite(&request.profile, Some(&loaded))?;
    planned(&request.judge, &loaded, &mut profile)?;
    let model = request.model.clone();
    let asked = match request.tools.as_slice() {
        [] => declared(&loaded)?,
        some => some.iter().map(|text| lookup(text, &loaded)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let mut names = std::collections::HashSet::new();
    if let Some((twice, _)) = asked.iter().find(|(name, _)| !names.insert(name.clone())) {
        return Err(Failure::usage(format!("the tool `{twice}` is given twice")));
    }
    let place = place_of(&loaded);
    let asking = asked.iter().map(|(name, manifest)| AskingTool {
        name,
        manifest,
        trusted: is_built_in(&loaded) || loaded.config.tools.get(name) != Some(manifest),
    });
    require(&place, &asking.collect::<Vec<_>>(), request, observer)?;
    let isolation = isolation(request, &asked.iter().map(|(_, manifest)| manifest.kind).collect::<Vec<_>>())?;
    let home = request.variable("HOME").map(PathBuf::from);
    let context = Context { model: model.as_deref(), home: home.as_deref(), files_anywhere: false };
    let mut recordings = Recordings::default();
    let mut wanted = Vec::new();
    let mut tools = Vec::new();
    for (name, manifest) in &asked {
        let (tool, model) = load_tool(name, manifest, &loaded, &context, &mut recordings)?;
        wanted.push(tool.wanted(name, manifest, model, isolation));
        tools.push(tool);
    }
    let wish = PlanRequest {
        loaded: &loaded,
        place,
        profile: &profile,
        selection: &request.selection,
        trials: request.trials,
        model,
        seed: request.seed,
    };
    let plan = plan(&wish, wanted).map_err(|error| Failure::usage(error.to_string()))?;
    let consensus = Consensus::NAMES.iter().find(|(_, way)| Some(*way) == request.judge.consensus);
    let plan = PlanV1 { consensus: consensus.map(|(name, _)| (*name).to_owned()), ..plan };
    for (tool, wanted) in plan.tools.iter().zip(&asked) {
        let trials = request.trials.or(wanted.1.trials).or(loaded.config.scoring.trials);
        let trials = trials.unwrap_or(USUAL_TRIALS);
        if tool.trials < trials {
            observer.note(&format!(
                "{}: {} of {trials} trials were recorded, and no more can be told",
                tool.name, tool.trials
            ));
        }
    }
    Ok(Prepared { loaded, plan, tools, isolation, earlier: None })
}

/// The suite's folder, or its name where it is built in.
fn place_of(loaded: &LoadedSuite) -> String {
    match &loaded.files {
        Files::Disk(root) => root.canonicalize().unwrap_or_else(|_| root.clone()).display().to_string(),
        Files::Embedded(name, _) => (*name).to_owned(),
    }
}

fn is_built_in(loaded: &LoadedSuite) -> bool {
    matches!(loaded.files, Files::Embedded(..))
}

/// A run that goes on, by the plan it began with.
fn resumed(
    request: &EvaluateRequest,
    reference: &str,
    observer: &mut dyn EvaluateObserver,
) -> Result<Prepared, Failure> {
    let mut store = Store::open(&request.store_folder)?;
    let info = store.find(reference)?;
    let plan = store.plan(&info.id)?;
    let place = request.suite.as_deref().unwrap_or(&plan.suite.place);
    let loaded = load(locate(place))?;
    if loaded.suite.digest != plan.suite.digest {
        return Err(Failure::bad_input(format!(
            "{place} is not what it was when run {} began, and half a run on other cases is worth nothing; start a new run",
            info.short_id
        )));
    }
    if plan.tools.iter().any(|tool| !(1..=MAX_TRIALS).contains(&tool.trials)) {
        return Err(Failure::bad_input(format!(
            "the plan of run {} asks for an absurd number of trials",
            info.short_id
        )));
    }
    // A foreign plan could run anything, or send a key anywhere.
    if info.imported && plan.tools.iter().any(|tool| matches!(tool.kind, ToolKindV1::Command | ToolKindV1::Llm)) {
        return Err(Failure::bad_input(format!(
            "run {} came from a file, and so did the tools of its plan, which are not run; start a run of your own",
            info.short_id
        )));
    }
    // The store may have come with the suite, so its plan is trusted no more than the suite is.
    let asking = plan.tools.iter().map(|tool| AskingTool {
        name: &tool.name,
        manifest: &tool.manifest,
        trusted: came_with_karat(&tool.name, &tool.manifest, &loaded),
    });
    require(&place_of(&loaded), &asking.collect::<Vec<_>>(), request, observer)?;
    let isolation = isolation(request, &plan.tools.iter().map(|tool| tool.kind).collect::<Vec<_>>())?;
    let home = request.variable("HOME").map(PathBuf::from);
    let context = Context { model: plan.model.as_deref(), home: home.as_deref(), files_anywhere: false };
    let mut recordings = Recordings::default();
    let loading =
        plan.tools.iter().map(|tool| Ok(load_tool(&tool.name, &tool.manifest, &loaded, &context, &mut recordings)?.0));
    let tools = loading.collect::<Result<Vec<_>, Failure>>()?;
    Ok(Prepared { loaded, plan, tools, isolation, earlier: Some((store, info.id)) })
}

fn came_with_karat(name: &str, manifest: &ToolManifestV1, loaded: &LoadedSuite) -> bool {
    let of_catalogue = || shipped(name).and_then(|ready| ready.manifest().ok()).as_ref() == Some(manifest);
    (is_built_in(loaded) && loaded.config.tools.get(name) == Some(manifest)) || of_catalogue()
}

fn load_tool(
    name: &str,
    manifest: &ToolManifestV1,
    loaded: &LoadedSuite,
    context: &Context<'_>,
    recordings: &mut Recordings,
) -> Result<(Loaded, Option<String>), Failure> {
    let of_suite = loaded.config.tools.get(name) == Some(manifest);
    let context = Context { files_anywhere: !of_suite, ..*context };
    execute::load(name, manifest, loaded, &context, recordings).map_err(|error| match error {
        LoadError::Manifest { tool, faults } if of_suite => {
            // It stands in the suite's own file, so its faults have a place there.
            let places: Vec<_> = faults.iter().map(|fault| in_config(loaded, &tool, fault)).collect();
            if faults.iter().any(|fault| fault.code == NO_MODEL) {
                return Failure::from(LoadError::Manifest { tool, faults });
            }
            Failure::Faults(places.into())
        }
        other => other.into(),
    })
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

/// Resolves what was asked for, and makes sure that it can be done and is allowed.
pub fn prepare(request: &EvaluateRequest, observer: &mut dyn EvaluateObserver) -> Result<Prepared, Failure> {
    match &request.resume {
        Some(reference) => resumed(request, reference, observer),
        None => fresh(request, observer),
    }
}
