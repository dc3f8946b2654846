//! The identity of judges, which probes are stored under.

use super::registry::{Judge, Kind};
use super::template::PAIR;
use karat_core::ids::JudgeName;
use karat_core::local_judge::LocalJudge;
use karat_llm::engine::Engine;
use karat_llm::judge_id::JudgeId;
use karat_llm::ledger::sorted;
use serde_json::json;

fn model_id(engine: &Engine) -> JudgeId {
    let id = engine.provider().id();
    JudgeId {
        provider: id.provider.clone(),
        model: Some(id.model.clone()).filter(|model| !model.is_empty()),
        parameters: id.parameters.clone(),
        prompt: Some(PAIR.hash().to_owned()),
    }
}

fn local_judge_id(local: &LocalJudge) -> JudgeId {
    let params = serde_json::to_value(local.params()).unwrap_or_default();
    let hash = blake3::hash(sorted(&params).to_string().as_bytes()).to_hex().to_string();
    JudgeId { provider: "local".to_owned(), model: None, parameters: json!({ "params": hash }), prompt: None }
}

impl Judge {
    /// Who it is; nobody in particular where people or several judges decide.
    pub fn identity(&self) -> Option<JudgeId> {
        match &self.kind {
            Kind::Local(local) => Some(local_judge_id(local)),
            Kind::Model(engine) => Some(model_id(engine)),
            Kind::People | Kind::Panel(_) => None,
        }
    }

    /// The judge, or the members of a panel, by name.
    pub fn members(&self) -> Vec<(&JudgeName, &Self)> {
        match &self.kind {
            Kind::Panel(panel) => panel.members.iter().map(|member| (&member.name, member)).collect(),
            _ => vec![(&self.name, self)],
        }
    }
}
