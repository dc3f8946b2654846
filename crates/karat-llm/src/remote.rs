//! Providers behind an HTTP API. A [`RemoteApi`] describes what distinguishes one from the others.

use super::adaptation::{Adaptation, AnswerFormat, PartNames, classify_refusal};
use super::error::SendError;
use super::http::Endpoint;
use super::prompt::Prompt;
use super::provider::{Provider, ProviderEnv, ProviderError, ProviderId, Reply, SendFuture};
use karat_format::judge::JudgeConfigV1;
use serde_json::{Map, Value, json};

/// The API of a provider.
pub struct RemoteApi {
    pub(super) name: &'static str,
    /// The default variable of the API key.
    pub key: &'static str,
    /// The variable that overrides the address; other servers may need no key.
    pub base: &'static str,
    pub(super) address: &'static str,
    pub(super) path: &'static str,
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) default_model: Option<&'static str>,
    pub(super) formats: &'static [AnswerFormat],
    /// Names of the answer format in error messages.
    pub(super) format_names: &'static [&'static str],
    /// Names of the token limit in error messages; none where the API requires a limit.
    pub(super) limit_names: &'static [&'static str],
    pub(super) body: fn(&str, &Prompt, &Adaptation) -> Value,
    /// Parses the JSON of a response.
    pub read: fn(&Value) -> Result<Reply, SendError>,
}

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

struct RemoteProvider {
    api: &'static RemoteApi,
    id: ProviderId,
    endpoint: Endpoint,
}

impl RemoteApi {
    pub(super) fn open(
        &'static self,
        config: &JudgeConfigV1,
        env: &ProviderEnv<'_>,
    ) -> Result<Box<dyn Provider>, ProviderError> {
        let model = config.model.as_deref().or(self.default_model).ok_or_else(|| {
            let needed = "needs `model = \"…\"`, or the variable KARAT_JUDGE_MODEL";
            ProviderError::Other(format!("the provider `{}` {needed}", self.name))
        })?;
        let stated = config.base_url.clone().or_else(|| (env.variable)(self.base).filter(|url| !url.is_empty()));
        let mut endpoint = Endpoint::open(stated.as_deref().unwrap_or(self.address), self.path, MAX_BODY_BYTES)?;
        self.headers.iter().for_each(|(name, value)| endpoint.set_header(name, value));
        let variable = config.key_env.as_deref().unwrap_or(self.key);
        // Servers other than the provider's own may need no key.
        let needs_key = stated.is_none() || config.key_env.is_some();
        endpoint.set_key(self.key_header, variable, needs_key, config.base_url.is_some(), env)?;
        let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
        options.extend(config.api.clone());
        let id = ProviderId { provider: self.name.to_owned(), model: model.to_owned(), parameters: options.into() };
        Ok(Box::new(RemoteProvider { api: self, id, endpoint }))
    }
}

impl Provider for RemoteProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        Some(&self.endpoint)
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        self.api.formats
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let options = self.id.parameters.as_object().into_iter().flatten();
            let sent: Vec<(&String, &Value)> = options.filter(|(name, _)| adaptation.sends(name)).collect();
            let mut body = (self.api.body)(&self.id.model, prompt, adaptation);
            for (name, value) in &sent {
                body[name.as_str()] = (*value).clone();
            }
            let failure = match self.endpoint.post(&body).await {
                Ok(answer) => return (self.api.read)(&answer),
                Err(failure) => failure,
            };
            let parts = PartNames {
                parameters: sent.iter().map(|(name, _)| name.as_str()).collect(),
                format: if adaptation.answer_format == AnswerFormat::Text { &[] } else { self.api.format_names },
                limit: if adaptation.limit().is_none() { &[] } else { self.api.limit_names },
            };
            Err(classify_refusal(failure, &parts))
        })
    }
}
