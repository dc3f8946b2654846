//! From a request to a plan in which everything is decided, and from a plan to the trials that are left.

use super::selection::{Selection, SelectionError};
use crate::suite::LoadedSuite;
use crate::tool::{Task, failed};
use karat_core::ids::{CaseId, ToolName};
use karat_core::profile::Profile;
use karat_core::trial::Outcome;
use karat_format::run::{PLAN_SCHEMA, PlanV1, PlannedLlmV1, PlannedSuiteV1, PlannedToolV1};
use karat_format::tool::ToolManifestV1;
use karat_report::build::{profile_as_printed, seed_from};
use karat_store::record::TrialKey;
use std::collections::BTreeMap;

/// How often a tool runs on each case by default.
pub(crate) const DEFAULT_TRIALS: u32 = 3;

/// What is to be planned.
#[expect(missing_docs, reason = "field names say it")]
pub struct Request<'a> {
    pub loaded: &'a LoadedSuite,
    /// Where the suite was found.
    pub place: String,
    pub profile: &'a Profile,
    pub selection: &'a Selection,
    pub trials: Option<u32>,
    /// The model for every tool.
    pub model: Option<String>,
    pub seed: Option<u64>,
}

/// A tool that was asked for.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RequestedTool {
    pub name: String,
    /// Files that it names are absolute, or relative to the suite.
    pub manifest: ToolManifestV1,
    pub model: Option<String>,
    pub llm: Option<PlannedLlmV1>,
    pub isolation: String,
    /// The most trials on one case that are possible.
    pub max_trials: Option<u32>,
}

/// Makes a plan.
pub fn plan(request: &Request<'_>, wanted: Vec<RequestedTool>) -> Result<PlanV1, SelectionError> {
    let suite = &request.loaded.suite;
    let cases = request.selection.select(suite)?;
    let tools = wanted.into_iter().map(|tool| {
        let trials = request.wanted_trials(&tool.manifest);
        PlannedToolV1 {
            kind: tool.manifest.kind,
            trials: trials.min(tool.max_trials.unwrap_or(trials)),
            name: tool.name,
            model: tool.model,
            llm: tool.llm,
            isolation: tool.isolation,
            manifest: tool.manifest,
        }
    });
    Ok(PlanV1 {
        schema: PLAN_SCHEMA.to_owned(),
        suite: PlannedSuiteV1 {
            name: suite.name.clone(),
            place: request.place.clone(),
            digest: suite.digest.clone(),
            cases: suite.cases.len(),
        },
        profile: profile_as_printed(request.profile),
        consensus: None,
        seed: request.seed.unwrap_or_else(|| seed_from(suite)),
        model: request.model.clone(),
        tools: tools.collect(),
        cases: cases.iter().map(|case| case.id.to_string()).collect(),
        selected_by: request.selection.describe(),
    })
}

impl Request<'_> {
    /// How often a tool should run on each case: a flag overrides the manifest, and the manifest the suite.
    pub(crate) fn wanted_trials(&self, manifest: &ToolManifestV1) -> u32 {
        self.trials.or(manifest.trials).or(self.loaded.config.scoring.trials).unwrap_or(DEFAULT_TRIALS)
    }
}

/// Every trial of a plan, in the order in which they begin: case by case, so that a case is prepared once, and within it
/// every tool once before any of them a second time.
fn trials(plan: &PlanV1) -> impl Iterator<Item = TrialKey> {
    let most = plan.tools.iter().map(|tool| tool.trials).max().unwrap_or_default();
    let numbered = plan.cases.iter().flat_map(move |case| (1..=most).map(move |number| (case, number)));
    numbered.flat_map(|(case, number)| {
        let tools = plan.tools.iter().filter(move |tool| number <= tool.trials);
        tools.map(move |tool| TrialKey { tool: ToolName::new(&tool.name), case: CaseId::new(case), number })
    })
}

/// The trials that are left when these are done; with `again`, failed ones are tried once more.
pub(crate) fn remaining_tasks(plan: &PlanV1, done: &BTreeMap<TrialKey, (u32, Outcome)>, again: bool) -> Vec<Task> {
    let left = trials(plan).filter_map(|key| match done.get(&key) {
        None => Some(Task { key, attempt: 1 }),
        Some((attempt, outcome)) if again && failed(*outcome) => Some(Task { key, attempt: attempt + 1 }),
        Some(_) => None,
    });
    left.collect()
}

/// The plan as text.
pub fn describe(plan: &PlanV1) -> String {
    let mut out = String::new();
    let all: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();
    out.push_str(&format!(
        "suite      {} · {} of {} cases · {}\n",
        plan.suite.name,
        plan.cases.len(),
        plan.suite.cases,
        plan.suite.place
    ));
    if !plan.selected_by.is_empty() {
        out.push_str(&format!("selection  {}\n", plan.selected_by.join(", ")));
    }
    out.push_str(&format!("profile    {}\nseed       {}\n", plan.profile.name, plan.seed));
    if let Some(model) = &plan.model {
        out.push_str(&format!("model      {model}\n"));
    }
    out.push_str("\ntools\n");
    for tool in &plan.tools {
        let model = tool.model.as_deref().map(|model| format!(" · model {model}")).unwrap_or_default();
        out.push_str(&format!(
            "  {} · {} · {} each · isolation {}{model}\n",
            tool.name,
            tool.kind.as_str(),
            karat_core::wording::count(tool.trials as usize, "trial"),
            tool.isolation
        ));
        if !tool.manifest.command.is_empty() {
            out.push_str(&format!("    {}\n", tool.manifest.command.join(" ")));
        }
        if let Some(llm) = &tool.llm {
            let style = llm.style.map(|style| format!(" · style {}", style.as_str())).unwrap_or_default();
            let (role, prompts) = (llm.role.as_str(), llm.prompts.join(", "));
            out.push_str(&format!("    asks {} · role {role}{style} · prompts {prompts}\n", llm.provider));
        }
    }
    out.push_str("\ncases\n");
    const MOST: usize = 40;
    plan.cases.iter().take(MOST).for_each(|case| out.push_str(&format!("  {case}\n")));
    if plan.cases.len() > MOST {
        out.push_str(&format!("  and {} more\n", plan.cases.len() - MOST));
    }
    out.push_str(&format!("\n{} in all\n", karat_core::wording::count(all, "trial")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::load;
    use karat_format::run::PlannedToolV1;
    use karat_format::shipped_suites::locate;
    use karat_format::tool::ToolKindV1;

    fn planned() -> PlanV1 {
        let loaded = load(locate("starter")).unwrap();
        let profile = crate::profile::resolve("karat", &crate::profile::no_files, &[]).unwrap();
        let selection = Selection::default();
        let request = Request {
            loaded: &loaded,
            place: "starter".to_owned(),
            profile: &profile,
            selection: &selection,
            trials: None,
            model: None,
            seed: None,
        };
        plan(&request, Vec::new()).unwrap()
    }

    fn tool(name: &str, trials: u32) -> PlannedToolV1 {
        PlannedToolV1 {
            name: name.to_owned(),
            kind: ToolKindV1::Command,
            trials,
            model: None,
            llm: None,
            isolation: String::new(),
            manifest: ToolManifestV1::default(),
        }
    }

    fn task_names(tasks: &[Task]) -> Vec<String> {
        let one = |t: &Task| format!("{} {} {} {}", t.key.case, t.key.number, t.key.tool, t.attempt);
        tasks.iter().map(one).collect()
    }

    #[test]
    fn trials_come_case_by_case_and_tool_by_tool() {
        let plan = PlanV1 {
            tools: vec![tool("a", 2), tool("b", 1)],
            cases: vec!["x".to_owned(), "y".to_owned()],
            ..planned()
        };
        let all = remaining_tasks(&plan, &BTreeMap::new(), false);
        assert_eq!(task_names(&all), ["x 1 a 1", "x 1 b 1", "x 2 a 1", "y 1 a 1", "y 1 b 1", "y 2 a 1"]);
        let done: BTreeMap<TrialKey, (u32, Outcome)> = all
            .iter()
            .zip([Outcome::Reported, Outcome::Crashed, Outcome::TimedOut, Outcome::Skipped])
            .map(|(task, outcome)| (task.key.clone(), (1, outcome)))
            .collect();
        assert_eq!(task_names(&remaining_tasks(&plan, &done, false)), ["y 1 b 1", "y 2 a 1"]);
        assert_eq!(task_names(&remaining_tasks(&plan, &done, true)), ["x 1 b 2", "x 2 a 2", "y 1 b 1", "y 2 a 1"]);
    }
}
