//! Providers behind an HTTP API. A [`RemoteApi`] describes what distinguishes one from the others.

use super::adaptation::{Adaptation, AnswerFormat, PartNames, classify_refusal};
use super::error::SendError;
use super::http::{Endpoint, EndpointAddress};
use super::prompt::Prompt;
use super::provider::{Provider, ProviderId, Reply, SendFuture};
use super::setup::{ProviderEnv, ProviderError};
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
    /// The header of the key, and the prefix of its value.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) default_model: Option<&'static str>,
    /// The answer formats it supports, strictest first.
    pub(super) formats: &'static [AnswerFormat],
    /// Names of the answer format in error messages.
    pub(super) format_names: &'static [&'static str],
    /// Names of the token limit in error messages; none where the API requires a limit.
    pub(super) limit_names: &'static [&'static str],
    /// A request to a model, without the configured parameters.
    pub(super) body: fn(&str, &Prompt, &Adaptation) -> Value,
    /// Parses the JSON of a response.
    pub read: fn(&Value) -> Result<Reply, SendError>,
}

/// Longer responses are rejected, so that they cannot fill the memory.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

struct RemoteProvider {
    api: &'static RemoteApi,
    id: ProviderId,
    endpoint: Endpoint,
    options: Map<String, Value>,
}

impl RemoteApi {
    pub(super) fn open(
        &'static self,
        config: &JudgeConfigV1,
        env: &ProviderEnv<'_>,
    ) -> Result<Box<dyn Provider>, ProviderError> {
        let model = config.model.as_deref().or(self.default_model).ok_or(ProviderError::NoModel { name: self.name })?;
        let stated = config.base_url.clone().or_else(|| (env.variable)(self.base).filter(|url| !url.is_empty()));
        let address = EndpointAddress {
            base: stated.as_deref().unwrap_or(self.address),
            path: self.path,
            headers: self.headers,
            key_header: self.key_header,
            key_variable: Some(config.key_env.as_deref().unwrap_or(self.key)),
            // Servers other than the provider's own may need no key.
            needs_key: stated.is_none() || config.key_env.is_some(),
            is_configured: config.base_url.is_some(),
            max_bytes: MAX_BODY_BYTES,
        };
        let endpoint = Endpoint::open(&address, env)?;
        let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
        options.extend(config.api.clone());
        let parameters = Value::Object(options.clone());
        let id = ProviderId { provider: self.name.to_owned(), model: model.to_owned(), parameters };
        Ok(Box::new(RemoteProvider { api: self, id, endpoint, options }))
    }
}

impl Provider for RemoteProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn missing_setup(&self) -> Option<&str> {
        self.endpoint.missing_setup()
    }

    fn key_recipient(&self) -> Option<&str> {
        self.endpoint.key_recipient()
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        self.api.formats
    }

    fn redact(&self, value: &mut Value) {
        self.endpoint.redact(value);
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let sent: Vec<(&String, &Value)> = self.options.iter().filter(|(name, _)| adaptation.sends(name)).collect();
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
                format: if adaptation.format() == AnswerFormat::Text { &[] } else { self.api.format_names },
                limit: if adaptation.limit().is_none() { &[] } else { self.api.limit_names },
            };
            Err(classify_refusal(failure, &parts))
        })
    }
}
