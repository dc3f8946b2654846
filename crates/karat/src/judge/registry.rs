//! From the name of a judge to somebody who can be asked.

use super::local::{self, ParamsError};
use karat_core::ids::JudgeName;
use karat_core::local_judge::LocalJudge;
use karat_core::panel::Consensus;
use karat_core::profile::Profile;
use karat_format::document::suggest::nearest;
use karat_format::judge::JudgeConfigV1;
use karat_llm::engine::{Engine, EngineOptions, Prices};
use karat_llm::ledger::CacheMode;
use karat_llm::provider::{ProviderEnv, ProviderError};
use karat_llm::providers::{self, PROVIDERS};
use karat_llm::vendor;
use std::collections::BTreeMap;

/// Nobody.
pub const NONE: &str = "none";

/// Somebody who decides.
pub struct Judge {
    /// How they sign.
    pub name: JudgeName,
    pub(super) kind: Kind,
}

/// How somebody comes to a decision.
pub(super) enum Kind {
    /// By weights that were fitted, inside Karat.
    Local(Box<LocalJudge>),
    /// By a model that is sent a prompt.
    Model(Box<Engine>),
    /// By what people have said already.
    People,
    /// By what several others come to.
    Panel(Panel),
}

/// Several judges who decide together.
pub(super) struct Panel {
    /// The judges, none of them a panel.
    pub(super) members: Vec<Judge>,
    /// How their voices become a decision.
    pub(super) consensus: Consensus,
}

/// Where judges are looked for.
pub struct JudgeRegistry<'a> {
    /// Those of the suite, by name.
    pub declared: &'a BTreeMap<String, JudgeConfigV1>,
    /// What the environment adds.
    pub around: ProviderEnv<'a>,
    /// What the ledger is used for.
    pub cache: CacheMode,
    /// How several judges decide that are named together.
    pub consensus: Consensus,
}

impl JudgeRegistry<'_> {
    /// Who is asked by a profile where no flag names anybody.
    pub fn default_of(&self, profile: &Profile) -> String {
        let by_variable = profile.judge_by_variable.then(|| self.named_by_variable()).flatten();
        by_variable.unwrap_or_else(|| profile.judge.clone())
    }

    /// The judge of this name, or nobody: `none`, `local`, `human`, a judge of the suite, a provider, or a provider with a
    /// model as in `anthropic/claude-sonnet-4-20250514`. Several names with commas between them are a panel.
    pub fn open(&self, name: &str) -> Result<Option<Judge>, RegistryError> {
        if name == NONE {
            return Ok(None);
        }
        if name.contains(',') && !self.declared.contains_key(name) {
            let members: Vec<String> = name.split(',').map(|member| member.trim().to_owned()).collect();
            return self.panel(name, &members, self.consensus).map(Some);
        }
        self.single(name).map(Some)
    }

    fn single(&self, name: &str) -> Result<Judge, RegistryError> {
        if let Some(config) = self.declared.get(name) {
            return self.described(name, config);
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
        self.described(name, &config)
    }

    fn panel(&self, name: &str, members: &[String], consensus: Consensus) -> Result<Judge, RegistryError> {
        let wrong = |why: String| RegistryError::Panel { panel: name.to_owned(), why };
        let mut seated: Vec<Judge> = Vec::with_capacity(members.len());
        for member in members {
            if seated.iter().any(|other| other.name.as_str() == member) {
                return Err(wrong(format!("`{member}` is given twice; each panel member votes once")));
            }
            if member == NONE || member.is_empty() {
                return Err(wrong("`none` cannot be a panel member".to_owned()));
            }
            let judge = self.single(member)?;
            if matches!(judge.kind, Kind::Panel(_)) {
                return Err(wrong(format!("`{member}` is a panel itself; name its members instead")));
            }
            seated.push(judge);
        }
        if seated.len() < 2 {
            return Err(wrong("a panel needs at least two members".to_owned()));
        }
        Ok(Judge { name: JudgeName::new(name), kind: Kind::Panel(Panel { members: seated, consensus }) })
    }

    fn described(&self, name: &str, config: &JudgeConfigV1) -> Result<Judge, RegistryError> {
        let kind = match config.provider.as_str() {
            "local" => Kind::Local(Box::new(match &config.file {
                Some(file) => local::read(&self.around.folder.join(file))?,
                None => local::shipped()?,
            })),
            "human" => Kind::People,
            "panel" => {
                let stated = config.consensus.as_deref();
                let consensus = stated.map_or(Some(self.consensus), Consensus::parse).ok_or_else(|| {
                    let known = Consensus::NAMES.map(|(name, _)| name).join(" and ");
                    let why = format!("unknown consensus `{}`; available: {known}", stated.unwrap_or_default());
                    RegistryError::Panel { panel: name.to_owned(), why }
                })?;
                return self.panel(name, &config.members, consensus);
            }
            _ => {
                let wrong = |source| RegistryError::Provider { judge: name.to_owned(), source };
                let named = || providers::judge_model(&self.around);
                let remote = providers::entry(&config.provider).map_err(wrong)?.remote.is_some();
                let model = config.model.clone().or_else(|| named().filter(|_| remote));
                let config = JudgeConfigV1 { model, ..config.clone() };
                let provider = providers::open(&config, &self.around).map_err(wrong)?;
                let options = EngineOptions::from_config(&config, self.cache).map_err(wrong)?;
                // Questions come in rounds, and the budget is for all of them.
                Kind::Model(Box::new(Engine::new(provider, options).shared()))
            }
        };
        Ok(Judge { name: JudgeName::new(name), kind })
    }

    /// The judge that `KARAT_JUDGE_MODEL` or `CRB_JUDGE_MODEL` asks for.
    fn named_by_variable(&self) -> Option<String> {
        let model = providers::judge_model(&self.around)?;
        let stated = model.split_once('/').is_some_and(|(name, _)| PROVIDERS.iter().any(|entry| entry.name == name));
        let provider = if vendor::vendor_of_model(&model) == Some("openai") { "openai" } else { "anthropic" };
        Some(if stated { model } else { format!("{provider}/{model}") })
    }

    fn unknown(&self, name: &str) -> RegistryError {
        let declared = self.declared.keys().map(String::as_str);
        let known: Vec<&str> = declared.chain([NONE]).chain(PROVIDERS.iter().map(|entry| entry.name)).collect();
        let hint = nearest(name, known.iter().copied()).map_or_else(
            || format!("there are {}, and PROVIDER/MODEL", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        RegistryError::Unknown { name: name.to_owned(), hint }
    }
}

impl Judge {
    /// What must be set before they can be asked, such as a key; nothing where all is there.
    pub fn missing_setting(&self) -> Option<&str> {
        match &self.kind {
            Kind::Model(engine) => engine.provider().missing_setup(),
            Kind::Panel(panel) => panel.members.iter().find_map(Self::missing_setting),
            Kind::Local(_) | Kind::People => None,
        }
    }

    /// Who of them cannot audit a whole response, if anybody.
    pub fn cannot_audit(&self) -> Option<&JudgeName> {
        match &self.kind {
            Kind::Model(_) => None,
            Kind::Panel(panel) => panel.members.iter().find_map(Self::cannot_audit),
            Kind::Local(_) | Kind::People => Some(&self.name),
        }
    }

    /// The host to which a key is sent because the suite says so, and nobody else.
    pub fn unconfirmed_key_host(&self) -> Option<&str> {
        match &self.kind {
            Kind::Model(engine) => engine.provider().key_recipient(),
            Kind::Panel(panel) => panel.members.iter().find_map(Self::unconfirmed_key_host),
            Kind::Local(_) | Kind::People => None,
        }
    }

    /// Whose models decide, such as `anthropic`; nobody's where no model is asked.
    pub fn vendors(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Model(engine) => {
                let id = engine.provider().id();
                vec![vendor::vendor_of_model(&id.model).unwrap_or(&id.provider)]
            }
            Kind::Panel(panel) => panel.members.iter().flat_map(Self::vendors).collect(),
            Kind::Local(_) | Kind::People => Vec::new(),
        }
    }

    /// What its model's tokens cost, where it is a single model and that is known.
    pub(super) fn prices(&self) -> Option<Prices> {
        match &self.kind {
            Kind::Model(engine) => engine.prices(),
            Kind::Local(_) | Kind::People | Kind::Panel(_) => None,
        }
    }

    /// Whether a model is asked, so that exchanges come about.
    pub fn asks_models(&self) -> bool {
        self.any(|kind| matches!(kind, Kind::Model(_)))
    }

    /// Whether people are asked, so that their labels are needed.
    pub fn asks_people(&self) -> bool {
        self.any(|kind| matches!(kind, Kind::People))
    }

    fn any(&self, holds: fn(&Kind) -> bool) -> bool {
        match &self.kind {
            Kind::Panel(panel) => panel.members.iter().any(|member| member.any(holds)),
            kind => holds(kind),
        }
    }
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No such judge.
    #[error("unknown judge `{name}`: {hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        hint: String,
    },
    /// The provider cannot be opened.
    #[error("the judge `{judge}`: {source}")]
    Provider {
        /// The judge.
        judge: String,
        /// What is wrong.
        source: ProviderError,
    },
    /// A panel cannot be made of what was named.
    #[error("the panel `{panel}`: {why}")]
    Panel {
        /// The panel.
        panel: String,
        /// Why not.
        why: String,
    },
    /// The local judge's parameters cannot be used.
    #[error(transparent)]
    Params(#[from] ParamsError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const DECLARED: &str = "\
[sonnet]
provider = \"anthropic\"
model = \"claude-sonnet-4-20250514\"
[any]
provider = \"anthropic\"
[told]
provider = \"scripted\"
file = \"answers.jsonl\"
[three]
provider = \"panel\"
members = [\"local\", \"sonnet\", \"human\"]
consensus = \"dawid-skene\"
[odd]
provider = \"antropic\"
";

    fn check(name: &str, variables: &[(&str, &str)], expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("answers.jsonl"), "").unwrap();
        assert_eq!(told(name, variables, folder.path()), expect, "{name} {variables:?}");
    }

    fn told(name: &str, variables: &[(&str, &str)], folder: &Path) -> String {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let declared = toml::from_str(DECLARED).unwrap();
        let around = ProviderEnv { variable: &variable, folder };
        let registry =
            JudgeRegistry { declared: &declared, around, cache: CacheMode::Only, consensus: Consensus::Majority };
        match registry.open(name) {
            Ok(None) => "nobody".to_owned(),
            Ok(Some(judge)) => match &judge.kind {
                Kind::Local(_) => format!("{}: local", judge.name),
                Kind::People => format!("{}: people", judge.name),
                Kind::Panel(panel) => {
                    let members: Vec<&str> = panel.members.iter().map(|member| member.name.as_str()).collect();
                    format!("{}: {:?} of {}", judge.name, panel.consensus, members.join(" and "))
                }
                Kind::Model(engine) => {
                    let id = engine.provider().id();
                    format!("{}: {} {}", judge.name, id.provider, id.model)
                }
            },
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn judges_are_found_by_name() {
        check("none", &[], "nobody");
        check("local", &[], "local: local");
        check("human", &[], "human: people");
        check("sonnet", &[], "sonnet: anthropic claude-sonnet-4-20250514");
        check("told", &[], "told: scripted ");
        check("openai/gpt-4o", &[], "openai/gpt-4o: openai gpt-4o");
        check("anthropic", &[], "anthropic: anthropic claude-sonnet-4-20250514");
        check("lokal", &[], "unknown judge `lokal`: did you mean `local`?");
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
        check("local,none", &[], "the panel `local,none`: `none` cannot be a panel member");
        check("local,lokal", &[], "unknown judge `lokal`: did you mean `local`?");
    }

    /// A variable names the model of a judge that names none, and of no other: the members of a panel stay who they are.
    #[test]
    fn a_model_may_come_from_a_variable() {
        let new = [("CRB_JUDGE_MODEL", "old"), ("KARAT_JUDGE_MODEL", "new")];
        check("any", &new, "any: anthropic new");
        check("any", &new[..1], "any: anthropic old");
        check("any", &[("KARAT_JUDGE_MODEL", " ")], "any: anthropic claude-sonnet-4-20250514");
        check("sonnet", &new, "sonnet: anthropic claude-sonnet-4-20250514");
        check("told", &new, "told: scripted ");
    }

    #[test]
    fn a_profile_may_leave_the_choice_to_a_variable() {
        let profile = |name: &str| crate::profile::resolve(name, &crate::profile::no_files, &[]).unwrap();
        let check = |name: &str, value: Option<&str>, expect: &str| {
            let variable = |name: &str| value.filter(|_| name == "CRB_JUDGE_MODEL").map(ToOwned::to_owned);
            let around = ProviderEnv { variable: &variable, folder: Path::new("") };
            let registry = JudgeRegistry {
                declared: &BTreeMap::new(),
                around,
                cache: CacheMode::Only,
                consensus: Consensus::Majority,
            };
            assert_eq!(registry.default_of(&profile(name)), expect, "{name} {value:?}");
        };
        check("karat", None, "local");
        check("karat", Some("claude-x"), "local");
        check("crb", None, "none");
        check("crb", Some("claude-x"), "anthropic/claude-x");
        check("crb", Some("gpt-4o"), "openai/gpt-4o");
        check("crb", Some("openai/my-own"), "openai/my-own");
        check("identity", Some("claude-x"), "none");
    }
}
