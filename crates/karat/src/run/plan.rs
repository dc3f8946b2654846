//! From a plan, in which everything is decided, to the trials that are left.

use crate::failure::{Failure, Result};
use crate::tool::{Task, failed};
use karat_core::ids::{CaseId, ToolName};
use karat_core::profile::Profile;
use karat_core::trial::Outcome;
use karat_format::run::PlanV1;
use karat_store::record::TrialKey;
use std::collections::BTreeMap;

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

/// The trials that are left when these are done. Those that met an outage are tried once more; with `again`, failed ones too.
pub(crate) fn remaining_tasks(plan: &PlanV1, done: &BTreeMap<TrialKey, (u32, Outcome)>, again: bool) -> Vec<Task> {
    let left = trials(plan).filter_map(|key| match done.get(&key) {
        None => Some(Task { key, attempt: 1 }),
        Some((attempt, outcome)) if *outcome == Outcome::Unavailable || again && failed(*outcome) => {
            Some(Task { key, attempt: attempt + 1 })
        }
        Some(_) => None,
    });
    left.collect()
}

/// The profile of a plan; `run` names it in errors.
pub(crate) fn profile_of_plan(plan: &PlanV1, run: &str) -> Result<Profile> {
    let profile = serde_json::to_value(&plan.profile).and_then(serde_json::from_value);
    profile.map_err(|error| Failure::bad_input(format!("the profile of run {run}: {error}")))
}

/// The plan as text.
pub fn describe(plan: &PlanV1) -> String {
    let all: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();
    let (suite, cases) = (&plan.suite, plan.cases.len());
    let mut out = format!("suite      {} · {cases} of {} cases · {}\n", suite.name, suite.cases, suite.place);
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
            let style = match llm.style.as_slice() {
                [] => String::new(),
                [only] => format!(" · style {}", only.as_str()),
                several => {
                    let names: Vec<&str> = several.iter().map(|style| style.as_str()).collect();
                    format!(" · styles {} by turns", names.join(", "))
                }
            };
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
    use karat_format::config::SuiteKind;
    use karat_format::run::{PLAN_SCHEMA, PlannedSuiteV1, PlannedToolV1};
    use karat_format::tool::{ToolKindV1, ToolManifestV1};

    fn planned(tools: Vec<PlannedToolV1>, cases: &[&str]) -> PlanV1 {
        let profile = crate::profile::resolve("karat", &crate::profile::no_files, &[]).unwrap();
        PlanV1 {
            schema: PLAN_SCHEMA.to_owned(),
            kind: SuiteKind::Findings,
            suite: PlannedSuiteV1 { name: "s".into(), place: "s".into(), digest: String::new(), cases: cases.len() },
            profile: karat_report::build::profile_as_printed(&profile),
            consensus: None,
            seed: 1,
            model: None,
            model_cutoff: None,
            isolation: None,
            require_isolation: None,
            tools,
            cases: cases.iter().map(|case| (*case).to_owned()).collect(),
            selected_by: Vec::new(),
        }
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
            manifest_dir: None,
        }
    }

    fn task_names(tasks: &[Task]) -> Vec<String> {
        let one = |t: &Task| format!("{} {} {} {}", t.key.case, t.key.number, t.key.tool, t.attempt);
        tasks.iter().map(one).collect()
    }

    #[test]
    fn trials_come_case_by_case_and_tool_by_tool() {
        let plan = planned(vec![tool("a", 2), tool("b", 1)], &["x", "y"]);
        let all = remaining_tasks(&plan, &BTreeMap::new(), false);
        assert_eq!(task_names(&all), ["x 1 a 1", "x 1 b 1", "x 2 a 1", "y 1 a 1", "y 1 b 1", "y 2 a 1"]);
        let done: BTreeMap<TrialKey, (u32, Outcome)> = all
            .iter()
            .zip([Outcome::Reported, Outcome::Crashed, Outcome::TimedOut, Outcome::Skipped])
            .map(|(task, outcome)| (task.key.clone(), (1, outcome)))
            .collect();
        assert_eq!(task_names(&remaining_tasks(&plan, &done, false)), ["y 1 b 1", "y 2 a 1"]);
        assert_eq!(task_names(&remaining_tasks(&plan, &done, true)), ["x 1 b 2", "x 2 a 2", "y 1 b 1", "y 2 a 1"]);
        let outage = BTreeMap::from_iter(all.iter().map(|task| (task.key.clone(), (3, Outcome::Unavailable))).take(1));
        for again in [false, true] {
            assert_eq!(task_names(&remaining_tasks(&plan, &outage, again))[0], "x 1 a 4");
        }
    }
}
