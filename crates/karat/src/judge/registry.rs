//! Opens judges by name: the local model, language models, people's labels, and panels of these.

use super::local;
use super::template::PAIR;
use crate::failure::{Failure, Result};
use crate::suggestion;
use karat_core::ids::JudgeName;
use karat_core::local_judge::LocalJudge;
use karat_core::panel::Consensus;
use karat_core::profile::Profile;
use karat_format::judge::{EffortV1, JudgeConfigV1};
use karat_format::report::JudgeIdentityV1;
use karat_llm::engine::{Engine, EngineOptions};
use karat_llm::judge_id::JudgeId;
use karat_llm::ledger::{CacheMode, sorted};
use karat_llm::provider::{ProviderEnv, ProviderError};
use karat_llm::providers::{self, NamedModel, PROVIDERS};
use serde_json::json;
use std::collections::BTreeMap;

/// The name that asks for no judge.
pub(crate) const NONE: &str = "none";

/// A judge: local model, language model, people's labels or panel.
pub struct Judge {
    /// The name under which its decisions are recorded.
    pub name: JudgeName,
    pub(super) kind: JudgeKind,
}

pub(super) enum JudgeKind {
    Local(Box<LocalJudge>),
    Model(Box<Engine>),
    /// Labels that people have given already.
    People,
    Panel(Panel),
}

pub(super) struct Panel {
    /// None of them is a panel.
    pub(super) members: Vec<Judge>,
    pub(super) consensus: Consensus,
}

pub(super) struct JudgeRegistry<'a> {
    pub(super) declared: &'a BTreeMap<String, JudgeConfigV1>,
    pub(super) env: ProviderEnv<'a>,
    pub(super) cache: CacheMode,
    /// How judges decide that are named together.
    pub(super) consensus: Consensus,
    /// How hard models think where their configuration does not say, if they can be told.
    pub(super) effort: Option<EffortV1>,
}

/// A judge that nobody named, and a note where a variable named it.
#[derive(Debug, PartialEq)]
pub(super) struct DefaultJudge {
    pub(super) name: String,
    pub(super) note: Option<String>,
}

impl JudgeRegistry<'_> {
    /// The judge of a profile if no flag names one.
    pub(super) fn default_judge(&self, profile: &Profile) -> Result<DefaultJudge> {
        let named = if profile.judge_by_variable { self.named_by_variable()? } else { None };
        Ok(named.unwrap_or_else(|| DefaultJudge { name: profile.judge.clone(), note: None }))
    }

    /// Opens the judge of this name: `none`, `local`, `human`, a judge of the suite, a provider, or a provider with a model as
    /// in `anthropic/claude-sonnet-5-5`. Several names with commas between them are a panel.
    pub(super) fn open(&self, name: &str) -> Result<Option<Judge>> {
        if name == NONE {
            return Ok(None);
        }
        if name.contains(',') && !self.declared.contains_key(name) {
            let members: Vec<String> = name.split(',').map(|member| member.trim().to_owned()).collect();
            return self.open_panel(name, &members, self.consensus).map(Some);
        }
        self.open_single(name).map(Some)
    }

    fn open_single(&self, name: &str) -> Result<Judge> {
        if let Some(config) = self.declared.get(name) {
            return self.open_configured(name, config);
        }
        let (provider, model) = name.split_once('/').map_or((name, None), |(provider, model)| (provider, Some(model)));
        if !PROVIDERS.iter().any(|entry| entry.name == provider) {
            return Err(self.unknown(name));
        }
        let config = JudgeConfigV1 {
            provider: provider.to_owned(),
            model: model.map(ToOwned::to_owned),
            ..JudgeConfigV1::default()
        };
        self.open_configured(name, &config)
    }

    fn open_panel(&self, name: &str, members: &[String], consensus: Consensus) -> Result<Judge> {
        let mut opened: Vec<Judge> = Vec::with_capacity(members.len());
        for member in members {
            let why = if opened.iter().any(|other| other.name.as_str() == member) {
                format!("`{member}` is given twice; each panel member votes once")
            } else if member == NONE || member.is_empty() {
                "`none` cannot be a panel member".to_owned()
            } else if member == name {
                "it lists itself as a member; name other judges, or rename the panel".to_owned()
            } else if self.declared.get(member).is_some_and(|config| config.provider == "panel") {
                // Checked before it is opened, since its members may include this panel.
                format!("`{member}` is a panel itself; name its members instead")
            } else {
                opened.push(self.open_single(member)?);
                continue;
            };
            return Err(wrong_panel(name, &why));
        }
        if opened.len() < 2 {
            return Err(wrong_panel(name, "a panel needs at least two members"));
        }
        Ok(Judge { name: JudgeName::new(name), kind: JudgeKind::Panel(Panel { members: opened, consensus }) })
    }

    fn open_configured(&self, name: &str, config: &JudgeConfigV1) -> Result<Judge> {
        let kind = match config.provider.as_str() {
            "local" => JudgeKind::Local(Box::new(match &config.file {
                // Whatever keeps it from being read, the suite names the wrong file.
                Some(file) => {
                    local::read(&self.env.folder.join(file)).map_err(|failure| Failure::bad_input(failure.text()))?
                }
                None => local::shipped()?,
            })),
            "human" => JudgeKind::People,
            "panel" => {
                let stated = config.consensus.as_deref();
                let consensus = stated.map_or(Some(self.consensus), Consensus::parse).ok_or_else(|| {
                    let known = Consensus::NAMES.map(|(name, _)| name).join(" and ");
                    wrong_panel(
                        name,
                        &format!("unknown consensus `{}`; available: {known}", stated.unwrap_or_default()),
                    )
                })?;
                return self.open_panel(name, &config.members, consensus);
            }
            _ => {
                let wrong = |error: ProviderError| Failure::bad_input(format!("the judge `{name}`: {error}"));
                let config = providers::complete(config, self.effort, &self.env).map_err(wrong)?;
                let provider = providers::open(&config, &self.env).map_err(wrong)?;
                let options = EngineOptions::for_provider(&config, self.cache, &*provider).map_err(wrong)?;
                // Questions come in rounds, and the budget is for all of them.
                JudgeKind::Model(Box::new(Engine::new(provider, options).shared()))
            }
        };
        Ok(Judge { name: JudgeName::new(name), kind })
    }

    /// The judge that `KARAT_JUDGE_MODEL` or `CRB_JUDGE_MODEL` asks for.
    fn named_by_variable(&self) -> Result<Option<DefaultJudge>> {
        let Some(NamedModel { variable, provider, model }) = providers::judge_model(&self.env) else { return Ok(None) };
        let wrong = |error: ProviderError| Failure::usage(format!("{variable}: {error}"));
        let provider = provider.map_or_else(|| providers::provider_of_model(&model, &self.env), Ok).map_err(wrong)?;
        let name = format!("{provider}/{model}");
        let note = Some(format!("{variable} names the judge: {name}; --judge names another one"));
        Ok(Some(DefaultJudge { name, note }))
    }

    /// The only usage error: all others are faults of the suite's judges.
    fn unknown(&self, name: &str) -> Failure {
        let declared = self.declared.keys().map(String::as_str);
        let known: Vec<&str> = declared.chain([NONE]).chain(PROVIDERS.iter().map(|entry| entry.name)).collect();
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let hint = suggestion(provider, known.iter().copied(), ";");
        Failure::usage(format!("unknown judge `{name}`{hint} choose one of: {}, or PROVIDER/MODEL", known.join(", ")))
    }
}

impl Judge {
    /// The judge itself, or the members of a panel.
    pub fn members(&self) -> &[Self] {
        match &self.kind {
            JudgeKind::Panel(panel) => &panel.members,
            _ => std::slice::from_ref(self),
        }
    }

    pub(super) fn engines(&self) -> impl Iterator<Item = &Engine> {
        self.members().iter().filter_map(Self::engine)
    }

    pub(super) fn engine(&self) -> Option<&Engine> {
        match &self.kind {
            JudgeKind::Model(engine) => Some(engine),
            _ => None,
        }
    }

    pub(super) fn local(&self) -> Option<&LocalJudge> {
        match &self.kind {
            JudgeKind::Local(local) => Some(local),
            _ => None,
        }
    }

    /// The first member that cannot audit a whole response.
    pub(super) fn cannot_audit(&self) -> Option<&JudgeName> {
        self.members().iter().find(|member| member.engine().is_none()).map(|member| &member.name)
    }

    pub(crate) fn asks_models(&self) -> bool {
        self.engines().next().is_some()
    }

    pub(crate) fn asks_people(&self) -> bool {
        self.members().iter().any(|member| matches!(member.kind, JudgeKind::People))
    }

    /// What its probes are stored under; `None` for people and panels.
    pub fn identity(&self) -> Option<JudgeId> {
        match &self.kind {
            JudgeKind::Local(local) => {
                let params = serde_json::to_value(local.params()).unwrap_or_default();
                let hash = blake3::hash(sorted(&params).to_string().as_bytes()).to_hex().to_string();
                let parameters = json!({ "params": hash });
                Some(JudgeId { provider: "local".to_owned(), model: None, parameters, prompt: None })
            }
            JudgeKind::Model(engine) => {
                let id = engine.provider().id();
                let (provider, parameters) = (id.provider.clone(), id.parameters.clone());
                let model = Some(id.model.clone()).filter(|model| !model.is_empty());
                Some(JudgeId { provider, model, parameters, prompt: Some(PAIR.hash().to_owned()) })
            }
            JudgeKind::People | JudgeKind::Panel(_) => None,
        }
    }

    /// The same for reports, of every kind of judge; the prompts depend on what it was asked.
    pub(super) fn stated_identity(&self) -> JudgeIdentityV1 {
        let of_kind = |provider: &str| JudgeIdentityV1 { provider: provider.to_owned(), ..JudgeIdentityV1::default() };
        match (&self.kind, self.identity()) {
            (JudgeKind::Panel(Panel { members, consensus }), _) => {
                let consensus = Consensus::NAMES.iter().find(|(_, known)| known == consensus);
                JudgeIdentityV1 {
                    members: members.iter().map(|member| member.name.to_string()).collect(),
                    consensus: consensus.map(|(name, _)| (*name).to_owned()),
                    ..of_kind("panel")
                }
            }
            (_, Some(JudgeId { provider, model, parameters, .. })) => {
                JudgeIdentityV1 { provider, model, parameters, ..JudgeIdentityV1::default() }
            }
            (_, None) => of_kind("human"),
        }
    }
}

fn wrong_panel(name: &str, why: &str) -> Failure {
    Failure::bad_input(format!("the panel `{name}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const DECLARED: &str = "\
[sonnet]
provider = \"anthropic\"
model = \"claude-sonnet-5\"
[any]
provider = \"anthropic\"
[told]
provider = \"scripted\"
file = \"answers.jsonl\"
[three]
provider = \"panel\"
members = [\"local\", \"sonnet\", \"human\"]
consensus = \"dawid-skene\"
[self]
provider = \"panel\"
members = [\"local\", \"self\"]
[ring]
provider = \"panel\"
members = [\"three\", \"ring\"]
[odd]
provider = \"antropic\"
";

    const UNKNOWN: &str = "unknown judge `lokal`, did you mean `local`? choose one of: any, odd, ring, self, sonnet, three, told, \
        none, anthropic, openai, google, scripted, replay, local, panel, human, or PROVIDER/MODEL";

    fn check(name: &str, variables: &[(&str, &str)], expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("answers.jsonl"), "").unwrap();
        assert_eq!(opened(name, variables, folder.path()), expect, "{name} {variables:?}");
    }

    fn opened(name: &str, variables: &[(&str, &str)], folder: &Path) -> String {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let declared = toml::from_str(DECLARED).unwrap();
        let env = ProviderEnv { variable: &variable, folder };
        let (cache, consensus) = (CacheMode::Only, Consensus::Majority);
        let registry = JudgeRegistry { declared: &declared, env, cache, consensus, effort: None };
        match registry.open(name) {
            Ok(None) => "nobody".to_owned(),
            Ok(Some(judge)) => match &judge.kind {
                JudgeKind::Local(_) => format!("{}: local", judge.name),
                JudgeKind::People => format!("{}: people", judge.name),
                JudgeKind::Panel(panel) => {
                    let members: Vec<&str> = panel.members.iter().map(|member| member.name.as_str()).collect();
                    format!("{}: {:?} of {}", judge.name, panel.consensus, members.join(" and "))
                }
                JudgeKind::Model(engine) => {
                    let id = engine.provider().id();
                    format!("{}: {} {}", judge.name, id.provider, id.model)
                }
            },
            Err(failure) => failure.text(),
        }
    }

    #[test]
    fn judges_are_found_by_name() {
        check("none", &[], "nobody");
        check("local", &[], "local: local");
        check("human", &[], "human: people");
        check("sonnet", &[], "sonnet: anthropic claude-sonnet-5");
        check("told", &[], "told: scripted ");
        check("openai/gpt-4o", &[], "openai/gpt-4o: openai gpt-4o");
        check("anthropic", &[], "anthropic: anthropic claude-sonnet-5-5");
        check("lokal", &[], UNKNOWN);
        check("odd", &[], "the judge `odd`: unknown provider `antropic`; did you mean `anthropic`?");
        check(
            "openai",
            &[],
            "the judge `openai`: the provider `openai` needs `model = \"…\"`, or the variable KARAT_JUDGE_MODEL",
        );
    }

    #[test]
    fn several_are_a_panel() {
        check("local,sonnet", &[], "local,sonnet: Majority of local and sonnet");
        check("three", &[], "three: DawidSkene of local and sonnet and human");
        check("local,local", &[], "the panel `local,local`: `local` is given twice; each panel member votes once");
        check("local,three", &[], "the panel `local,three`: `three` is a panel itself; name its members instead");
        check("self", &[], "the panel `self`: it lists itself as a member; name other judges, or rename the panel");
        check("ring", &[], "the panel `ring`: `three` is a panel itself; name its members instead");
        check("local,panel", &[], "the panel `panel`: a panel needs at least two members");
        check("local,none", &[], "the panel `local,none`: `none` cannot be a panel member");
        check("local,lokal", &[], UNKNOWN);
    }

    /// A variable names the model of a judge that names none, and of no other: the members of a panel stay who they are.
    #[test]
    fn a_model_may_come_from_a_variable() {
        let new = [("CRB_JUDGE_MODEL", "old"), ("KARAT_JUDGE_MODEL", "new")];
        check("any", &new, "any: anthropic new");
        check("any", &new[..1], "any: anthropic old");
        check("any", &[("KARAT_JUDGE_MODEL", " ")], "any: anthropic claude-sonnet-5-5");
        check("sonnet", &new, "sonnet: anthropic claude-sonnet-5");
        check("told", &new, "told: scripted ");
    }

    #[test]
    fn a_profile_may_leave_the_choice_to_a_variable() {
        let profile = |name: &str| crate::profile::resolve(name, &crate::profile::no_files, &[]).unwrap();
        let check = |name: &str, value: Option<&str>, expect: &str| {
            let variable = |name: &str| value.filter(|_| name == "CRB_JUDGE_MODEL").map(ToOwned::to_owned);
            let env = ProviderEnv { variable: &variable, folder: Path::new("") };
            let registry = JudgeRegistry {
                declared: &BTreeMap::new(),
                env,
                cache: CacheMode::Only,
                consensus: Consensus::Majority,
                effort: None,
            };
            let judge = registry.default_judge(&profile(name)).unwrap();
            assert_eq!(judge.name, expect, "{name} {value:?}");
            assert_eq!(judge.note.is_some(), expect.contains('/'), "{judge:?}");
        };
        check("karat", None, "local");
        check("karat", Some("claude-x"), "local");
        check("crb", None, "none");
        check("crb", Some("claude-x"), "anthropic/claude-x");
        check("crb", Some("gpt-4o"), "openai/gpt-4o");
        check("crb", Some("openai/my-own"), "openai/my-own");
        check("crb", Some("gemini-3.8-flash"), "google/gemini-3.8-flash");
        check("identity", Some("claude-x"), "none");
    }
}
