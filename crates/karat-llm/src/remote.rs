//! Providers behind an HTTP API. A [`RemoteApi`] describes what distinguishes one from the others.

use super::adaptation::{Adaptation, AnswerFormat, EFFORT, PartNames, classify_refusal};
use super::error::SendError;
use super::http::Endpoint;
use super::models::{ModelTable, takes_effort};
use super::prompt::Prompt;
use super::provider::{Provider, ProviderEnv, ProviderError, ProviderId, Reply, SendFuture};
use karat_format::judge::JudgeConfigV1;
use karat_format::models::{ModelV1, RefusalV1};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// The API of a provider.
pub struct RemoteApi {
    pub(super) name: &'static str,
    /// The default variable of the API key.
    pub key: &'static str,
    /// The variable that overrides the address; other servers may need no key.
    pub base: &'static str,
    pub(super) address: &'static str,
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) wire: &'static WireFormat,
    /// For models that refuse the first one.
    pub(super) other_wire: Option<&'static WireFormat>,
}

/// The form of requests and responses.
pub struct WireFormat {
    pub(super) path: &'static str,
    pub(super) formats: &'static [AnswerFormat],
    /// Names of an answer format in error messages.
    pub(super) format_names: fn(AnswerFormat) -> &'static [&'static str],
    /// Names of the token limit in error messages; none where the API requires a limit.
    pub(super) limit_names: &'static [&'static str],
    /// Names of the effort in error messages.
    pub(super) effort_names: &'static [&'static str],
    pub(super) body: fn(&RequestParts<'_>) -> Value,
    /// Parses the JSON of a response.
    pub(super) read: fn(&Value) -> Result<Reply, SendError>,
}

/// What a request is made of, without parameters that every API has at the same place.
pub(super) struct RequestParts<'a> {
    pub(super) model: &'a str,
    pub(super) prompt: &'a Prompt,
    pub(super) effort: Option<&'a str>,
    pub(super) adaptation: &'a Adaptation,
}

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

struct RemoteProvider {
    id: ProviderId,
    channel: Channel,
    /// Another way to ask, for a model that turns out to refuse the first one.
    other: Option<Channel>,
    is_other_used: AtomicBool,
    /// What the table of models has of the model.
    known: Option<ModelV1>,
}

/// A form of requests, and where they are sent.
struct Channel {
    wire: &'static WireFormat,
    endpoint: Endpoint,
}

impl RemoteApi {
    /// Parses the JSON of a response in each form that there is.
    pub fn read(&self, response: &Value) -> Vec<Result<Reply, SendError>> {
        std::iter::once(self.wire).chain(self.other_wire).map(|wire| (wire.read)(response)).collect()
    }

    pub(super) fn open(
        &'static self,
        config: &JudgeConfigV1,
        env: &ProviderEnv<'_>,
    ) -> Result<Box<dyn Provider>, ProviderError> {
        let table = ModelTable::load(env.variable)?;
        let model = config.model.as_deref().or(table.default_model(self.name)).ok_or_else(|| {
            let needed = "needs `model = \"…\"`, or the variable KARAT_JUDGE_MODEL";
            ProviderError::Other(format!("the provider `{}` {needed}", self.name))
        })?;
        let known = table.find(self.name, model).cloned();
        let stated = config.base_url.clone().or_else(|| (env.variable)(self.base).filter(|url| !url.is_empty()));
        let open_channel = |wire: &'static WireFormat| -> Result<Channel, ProviderError> {
            let base = stated.as_deref().unwrap_or(self.address);
            let mut endpoint = Endpoint::open(base, wire.path, MAX_BODY_BYTES)?;
            self.headers.iter().for_each(|(name, value)| endpoint.set_header(name, value));
            let variable = config.key_env.as_deref().unwrap_or(self.key);
            // Servers other than the provider's own may need no key.
            let needs_key = stated.is_none() || config.key_env.is_some();
            endpoint.set_key(self.key_header, variable, needs_key, config.base_url.is_some(), env)?;
            // Recorded answers of a retired model stay good; only asking it is refused.
            if let Some(why) = known.as_ref().and_then(|known| table.retirement(known)) {
                endpoint.forbid(why);
            }
            Ok(Channel { wire, endpoint })
        };
        let channel = open_channel(self.wire)?;
        let other = self.other_wire.map(open_channel).transpose()?;
        let takes_other = known.as_ref().is_some_and(|known| known.refuses(RefusalV1::ChatCompletions));
        let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
        options.extend(config.effort.map(|effort| (EFFORT.to_owned(), json!(effort))));
        options.extend(config.api.clone());
        let id = ProviderId { provider: self.name.to_owned(), model: model.to_owned(), parameters: options.into() };
        Ok(Box::new(RemoteProvider { id, channel, other, is_other_used: AtomicBool::new(takes_other), known }))
    }
}

impl RemoteProvider {
    fn channel(&self) -> &Channel {
        let other = self.other.as_ref().filter(|_| self.is_other_used.load(Ordering::Relaxed));
        other.unwrap_or(&self.channel)
    }

    fn body(&self, wire: &WireFormat, prompt: &Prompt, adaptation: &Adaptation) -> Value {
        let options = self.id.parameters.as_object().into_iter().flatten();
        let options = options.filter(|(name, _)| adaptation.sends(name));
        let effort = self.id.parameters[EFFORT].as_str().filter(|_| adaptation.sends(EFFORT));
        let parts = RequestParts { model: &self.id.model, prompt, effort, adaptation };
        let mut body = (wire.body)(&parts);
        for (name, value) in options.filter(|(name, _)| *name != EFFORT) {
            match (&mut body[name.as_str()], value) {
                // Such as something else of `output_config`, beside what the request has there already.
                (Value::Object(own), Value::Object(more)) => own.extend(more.clone()),
                (slot, value) => *slot = value.clone(),
            }
        }
        body
    }
}

impl Provider for RemoteProvider {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        Some(&self.channel.endpoint)
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        self.channel.wire.formats
    }

    fn known_model(&self) -> Option<&ModelV1> {
        self.known.as_ref()
    }

    fn thinking_tokens(&self) -> u32 {
        let effort = self.id.parameters[EFFORT].as_str();
        match (effort, self.known.as_ref().is_some_and(takes_effort)) {
            (None, false) | (Some("none"), _) => 0,
            (Some("minimal" | "low"), _) => 4_096,
            (Some("medium"), _) => 16_384,
            _ => 32_768,
        }
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let Channel { wire, endpoint } = self.channel();
            let body = self.body(wire, prompt, adaptation);
            let failure = match endpoint.post(&body).await {
                Ok(answer) => {
                    let reply = (wire.read)(&answer)?;
                    return Ok(Reply { sent: Some(without_prompt(body)), ..reply });
                }
                Err(failure) => failure,
            };
            if self.other.as_ref().is_some_and(|other| failure.words.contains(&format!("v1{}", other.wire.path)))
                && !self.is_other_used.swap(true, Ordering::Relaxed)
            {
                return Err(SendError::temporary(failure.words));
            }
            let options = self.id.parameters.as_object().into_iter().flatten();
            let sends_effort = self.id.parameters.get(EFFORT).is_some() && adaptation.sends(EFFORT);
            let parts = PartNames {
                parameters: options.map(|(name, _)| name.as_str()).filter(|name| adaptation.sends(name)).collect(),
                format: (wire.format_names)(adaptation.answer_format),
                limit: if adaptation.limit().is_none() { &[] } else { wire.limit_names },
                effort: if sends_effort { wire.effort_names } else { &[] },
            };
            Err(classify_refusal(failure, &parts))
        })
    }
}

/// A request without what was asked: the parameters, and the form of the answer by name.
fn without_prompt(mut body: Value) -> Value {
    if let Value::Object(entries) = &mut body {
        entries.retain(|name, _| !["model", "system", "messages", "instructions", "input", "tools"].contains(&&**name));
    }
    for place in ["/output_config/format", "/response_format", "/text/format"] {
        if let Some(format) = body.pointer_mut(place) {
            *format = format["type"].take();
        }
    }
    body
}
