//! `karat run`: tools, executed on every case, stored, scored and ranked.

mod finish;
mod grants;
mod work;

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::terminal::{note, print, print_json};
use crate::{inputs, judging, outputs, store_place};
use grants::AskingTool;
use karat::diagnostic::harmless;
use karat::format::run::PlanV1;
use karat::format::submission::MOST_TRIALS;
use karat::format::tool::{ToolKindV1, ToolManifestV1};
use karat::run::execute::{self, LoadError, Loaded};
use karat::run::lookup::{declared, lookup};
use karat::run::plan::{Request, describe, plan};
use karat::run::replay::Recordings;
use karat::run::selection::{CasePattern, Selection, Shard};
use karat::sandbox::{Isolation, available, strongest};
use karat::store::{RunId, Store};
use karat::suite::LoadedSuite;
use karat::suite::files::Files;
use karat::tool::catalogue::shipped;
use karat::tool::manifest::{Context, NO_MODEL, in_config};
use std::path::PathBuf;

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let prepared = match &args.resume {
        Some(reference) => resumed(args, reference)?,
        None => fresh(args)?,
    };
    if args.dry_run {
        match args.output.json {
            true => print_json(&prepared.plan)?,
            false => print(&harmless_lines(&describe(&prepared.plan)))?,
        }
        return Ok(Exit::Ok);
    }
    warn_of_weakness(&prepared.plan, prepared.isolation);
    let (done, ending) = work::execute(args, jobs, prepared)?;
    finish::finish(args, done, &ending)
}

/// The plan, and all that its tools name.
struct Prepared {
    loaded: LoadedSuite,
    plan: PlanV1,
    tools: Vec<Loaded>,
    /// The isolation that programs run in.
    isolation: Isolation,
    /// The store and the run that goes on, where one does.
    earlier: Option<(Store, RunId)>,
}

/// The isolation asked for, else the strongest there is; less than is required is refused, unless no program is run.
fn isolation(args: &RunArgs, kinds: &[ToolKindV1]) -> Result<Isolation, Failure> {
    let named = |name: &str| {
        Isolation::from_name(name).ok_or_else(|| {
            Failure::usage(format!("there is no isolation `{name}`; there are bubblewrap, landlock and process"))
        })
    };
    let required = match args.require_isolation.as_deref() {
        None => None,
        Some("any") => Some(Isolation::Landlock),
        Some(name) => Some(named(name)?),
    };
    let required = required.filter(|_| kinds.contains(&ToolKindV1::Command));
    let refused = |why: String| Failure::Message(Exit::Failed, why);
    let Some(asked) = args.isolation.as_deref().map(named).transpose()? else {
        return strongest(required).map_err(|error| refused(error.to_string()));
    };
    if let Some(why) = available().why_not(asked) {
        return Err(refused(format!("the isolation {} cannot be had: {why}", asked.as_str())));
    }
    match required {
        Some(required) if asked < required => {
            let words = (asked.as_str(), required.as_str());
            Err(Failure::usage(format!("--isolation {} is less than --require-isolation {}", words.0, words.1)))
        }
        _ => Ok(asked),
    }
}

fn warn_of_weakness(plan: &PlanV1, isolation: Isolation) {
    let executes = plan.tools.iter().any(|tool| tool.kind == ToolKindV1::Command);
    if executes && isolation == Isolation::Process {
        note(&format!("tools are only loosely isolated here: {}", isolation.describe()));
    }
}

/// A new run: what was typed and what `karat.toml` says, resolved.
fn fresh(args: &RunArgs) -> Result<Prepared, Failure> {
    let place = args.suite.as_deref().unwrap_or(".");
    let loaded = inputs::suite(place)?;
    let mut profile = inputs::profile(&args.rules, Some(&loaded))?;
    judging::planned(&args.ask, &loaded, &mut profile)?;
    let selection = selection(args)?;
    let model = args.model.clone().or_else(|| variable("KARAT_TOOL_MODEL")).or_else(|| variable("CRB_TOOL_MODEL"));
    let asked = match args.tools.as_slice() {
        [] => declared(&loaded)?,
        some => some.iter().map(|text| lookup(text, &loaded)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let mut names = std::collections::HashSet::new();
    if let Some((twice, _)) = asked.iter().find(|(name, _)| !names.insert(name.clone())) {
        return Err(Failure::usage(format!("the tool `{twice}` is asked for twice")));
    }
    let place = place_of(&loaded);
    let asking = asked.iter().map(|(name, manifest)| AskingTool {
        name,
        manifest,
        trusted: is_built_in(&loaded) || loaded.config.tools.get(name) != Some(manifest),
    });
    grants::require(&place, &asking.collect::<Vec<_>>(), &args.allow, args.dry_run)?;
    let isolation = isolation(args, &asked.iter().map(|(_, manifest)| manifest.kind).collect::<Vec<_>>())?;
    let home = variable("HOME").map(PathBuf::from);
    let context = Context { model: model.as_deref(), home: home.as_deref(), files_anywhere: false };
    let mut recordings = Recordings::default();
    let mut wanted = Vec::new();
    let mut tools = Vec::new();
    for (name, manifest) in &asked {
        let (tool, model) = load_tool(name, manifest, &loaded, &context, &mut recordings)?;
        wanted.push(tool.wanted(name, manifest, model, isolation));
        tools.push(tool);
    }
    let request = Request {
        loaded: &loaded,
        place,
        profile: &profile,
        selection: &selection,
        trials: args.trials,
        model,
        seed: args.seed,
    };
    let plan = plan(&request, wanted).map_err(|error| Failure::usage(error.to_string()))?;
    let plan = PlanV1 { consensus: args.ask.consensus.clone(), ..plan };
    for (tool, wanted) in plan.tools.iter().zip(&asked) {
        let trials = args.trials.or(wanted.1.trials).or(loaded.config.scoring.trials);
        let trials = trials.unwrap_or(karat::run::plan::USUAL_TRIALS);
        if tool.trials < trials {
            note(&format!("{}: {} of {trials} trials were recorded, and no more can be told", tool.name, tool.trials));
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
fn resumed(args: &RunArgs, reference: &str) -> Result<Prepared, Failure> {
    let mut store = store_place::open(args.store.folder.as_deref())?;
    let info = store.find(reference)?;
    let plan = store.plan(&info.id)?;
    let place = args.suite.as_deref().unwrap_or(&plan.suite.place);
    let loaded = inputs::suite(place)?;
    if loaded.suite.digest != plan.suite.digest {
        return Err(Failure::bad_input(format!(
            "{place} is not what it was when run {} began, and half a run on other cases is worth nothing; start a new run",
            info.short_id
        )));
    }
    if plan.tools.iter().any(|tool| !(1..=MOST_TRIALS).contains(&tool.trials)) {
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
    grants::require(&place_of(&loaded), &asking.collect::<Vec<_>>(), &args.allow, args.dry_run)?;
    let isolation = isolation(args, &plan.tools.iter().map(|tool| tool.kind).collect::<Vec<_>>())?;
    tell_ignored(args);
    let home = variable("HOME").map(PathBuf::from);
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

/// What was typed and cannot count, as a resumed run follows the plan it began with.
fn tell_ignored(args: &RunArgs) {
    let typed = [
        ("--tool", !args.tools.is_empty()),
        ("--trials", args.trials.is_some()),
        ("--only", !args.only.is_empty()),
        ("--skip", !args.skip.is_empty()),
        ("--shard", args.shard.is_some()),
        ("--model", args.model.is_some()),
        ("--seed", args.seed.is_some()),
        ("--judge", args.ask.judge.is_some()),
        ("--consensus", args.ask.consensus.is_some()),
        ("--profile", args.rules.profile.is_some()),
        ("--set", !args.rules.sets.is_empty()),
    ];
    let ignored: Vec<&str> = typed.iter().filter(|(_, typed)| *typed).map(|(flag, _)| *flag).collect();
    if !ignored.is_empty() {
        note(&format!("a resumed run keeps the plan it began with; {} counts for nothing", ignored.join(", ")));
    }
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

fn selection(args: &RunArgs) -> Result<Selection, Failure> {
    let patterns = |texts: &[String]| texts.iter().map(|text| CasePattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let parse = || {
        let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
        Ok(Selection { only: patterns(&args.only)?, skip: patterns(&args.skip)?, shard })
    };
    parse().map_err(|error: karat::run::selection::SelectionError| Failure::usage(error.to_string()))
}

fn harmless_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", harmless(line))).collect()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
