//! From the name of a judge to somebody who can be asked.

use super::engine::{Engine, EngineOptions};
use super::ledger::CacheMode;
use super::local::{self, ParamsError};
use super::provider::{self, PROVIDERS, ProviderError, Surroundings};
use super::vendor;
use crate::document::suggest::nearest;
use crate::format::judge::JudgeConfigV1;
use karat_core::ids::JudgeName;
use karat_core::local_judge::LocalJudge;
use karat_core::profile::Profile;
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
}

/// Where judges are looked for.
pub struct Roster<'a> {
    /// Those of the suite, by name.
    pub declared: &'a BTreeMap<String, JudgeConfigV1>,
    /// What the environment adds.
    pub around: Surroundings<'a>,
    /// What the ledger is used for.
    pub cache: CacheMode,
}

impl Roster<'_> {
    /// Who is asked by a profile where no flag names anybody.
    pub fn default_of(&self, profile: &Profile) -> String {
        let by_variable = profile.judge_by_variable.then(|| self.named_by_variable()).flatten();
        by_variable.unwrap_or_else(|| profile.judge.clone())
    }

    /// The judge of this name, or nobody: `none`, `local`, `human`, a judge of the suite, a provider, or a provider with a
    /// model as in `anthropic/claude-sonnet-4-20250514`.
    pub fn open(&self, name: &str) -> Result<Option<Judge>, RosterError> {
        if name == NONE {
            return Ok(None);
        }
        if let Some(config) = self.declared.get(name) {
            return self.described(name, config).map(Some);
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
        self.described(name, &config).map(Some)
    }

    fn described(&self, name: &str, config: &JudgeConfigV1) -> Result<Judge, RosterError> {
        let kind = match config.provider.as_str() {
            "local" => Kind::Local(Box::new(match &config.file {
                Some(file) => local::read(&self.around.folder.join(file))?,
                None => local::shipped()?,
            })),
            "human" => Kind::People,
            _ => {
                let wrong = |source| RosterError::Provider { judge: name.to_owned(), source };
                let model = config.model.clone().or_else(|| provider::judge_model(&self.around));
                let config = JudgeConfigV1 { model, ..config.clone() };
                let provider = provider::open(&config, &self.around).map_err(wrong)?;
                let options = EngineOptions::of(&config, self.cache).map_err(wrong)?;
                Kind::Model(Box::new(Engine::new(provider, options)))
            }
        };
        Ok(Judge { name: JudgeName::new(name), kind })
    }

    /// The judge that `KARAT_JUDGE_MODEL` or `CRB_JUDGE_MODEL` asks for.
    fn named_by_variable(&self) -> Option<String> {
        let model = provider::judge_model(&self.around)?;
        let stated = model.split_once('/').is_some_and(|(name, _)| PROVIDERS.iter().any(|entry| entry.name == name));
        let provider = if vendor::of_model(&model) == Some("openai") { "openai" } else { "anthropic" };
        Some(if stated { model } else { format!("{provider}/{model}") })
    }

    fn unknown(&self, name: &str) -> RosterError {
        let declared = self.declared.keys().map(String::as_str);
        let known: Vec<&str> = declared.chain([NONE]).chain(PROVIDERS.iter().map(|entry| entry.name)).collect();
        let hint = nearest(name, known.iter().copied()).map_or_else(
            || format!("there are {}, and PROVIDER/MODEL", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        RosterError::Unknown { name: name.to_owned(), hint }
    }
}

impl Judge {
    /// What must be set before they can be asked, such as a key; nothing where all is there.
    pub fn lacks(&self) -> Option<&str> {
        match &self.kind {
            Kind::Model(engine) => engine.provider().lacks(),
            Kind::Local(_) | Kind::People => None,
        }
    }

    /// Whose models decide, such as `anthropic`; nobody's where no model is asked.
    pub fn vendors(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Model(engine) => {
                let id = engine.provider().id();
                vec![vendor::of_model(&id.model).unwrap_or(&id.provider)]
            }
            Kind::Local(_) | Kind::People => Vec::new(),
        }
    }

    /// Whether a model is asked, so that exchanges come about.
    pub fn asks_models(&self) -> bool {
        matches!(self.kind, Kind::Model(_))
    }

    /// Whether people are asked, so that their labels are needed.
    pub fn asks_people(&self) -> bool {
        matches!(self.kind, Kind::People)
    }
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    /// No such judge.
    #[error("there is no judge `{name}`: {hint}")]
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
    /// The local judge's parameters cannot be used.
    #[error(transparent)]
    Params(#[from] ParamsError),
}
