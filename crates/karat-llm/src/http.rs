//! The HTTP client: posts JSON, reads JSON, and classifies failures. The API key leaves this module only in requests to the
//! server it belongs to. Providers and document retrieval use it.

use super::provider::{ProviderEnv, ProviderError, SendError};
use karat_format::diagnostic::harmless;
use karat_format::document::json;
use karat_format::judge::JudgeConfigV1;
use karat_io::secret::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

/// Longer responses are rejected, so that they cannot fill the memory.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// How much of a server's message is shown.
const MAX_SHOWN_CHARS: usize = 300;

/// How much of a server's message is searched for refused parameters.
const MAX_MESSAGE_CHARS: usize = 4_000;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A URL that requests are posted to.
pub struct Endpoint {
    url: Url,
    headers: HeaderMap,
    secret: Option<Secret>,
    missing_setup: Option<String>,
    key_recipient: Option<String>,
    max_bytes: usize,
    client: OnceLock<Result<Client, String>>,
}

/// The defaults of a provider's API.
pub(super) struct ApiDefaults {
    pub(super) base: &'static str,
    pub(super) base_variable: &'static str,
    pub(super) key_variable: &'static str,
    pub(super) path: &'static str,
    /// The header of the key, and the prefix of its value.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
}

/// A failed request.
#[derive(Debug)]
pub struct HttpFailure {
    /// The HTTP status, or 0 without one.
    pub status: u16,
    /// What the failure means for the question.
    pub error: SendError,
    /// The parameters that the server objects to, each as a path such as `response_format.type`.
    pub parameters: Vec<String>,
    /// The server's message.
    pub words: String,
}

impl Endpoint {
    /// The endpoint of a judge. Servers other than the provider's own may need no key.
    pub(super) fn open(
        site: &ApiDefaults,
        config: &JudgeConfigV1,
        env: &ProviderEnv<'_>,
    ) -> Result<Self, ProviderError> {
        let stated =
            config.base_url.clone().or_else(|| (env.variable)(site.base_variable).filter(|url| !url.is_empty()));
        let url = join_url(stated.as_deref().unwrap_or(site.base), site.path)?;
        let variable = config.key_env.as_deref().unwrap_or(site.key_variable);
        let key = (env.variable)(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        // Recorded answers need no key, so a missing key is an error only when a request is sent.
        let needed = key.is_none() && (stated.is_none() || config.key_env.is_some());
        let missing_setup = needed.then(|| ProviderError::NoKey { variable: variable.to_owned() }.to_string());
        let elsewhere = config.base_url.is_some() && !is_local(&url);
        let endpoint = Self::build(url, site.headers, site.key_header, key.map(|key| (variable, key)), elsewhere)?;
        Ok(Self { missing_setup, ..endpoint })
    }

    /// The endpoint at a configured address, with a key only if a variable is configured for it.
    pub fn from_address(
        base: &str,
        path: &str,
        key_env: Option<&str>,
        max_bytes: usize,
        env: &ProviderEnv<'_>,
    ) -> Result<Self, ProviderError> {
        let url = join_url(base, path)?;
        let read = |variable| (env.variable)(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let key = key_env.and_then(read);
        let missing = key_env.filter(|_| key.is_none());
        let missing_setup = missing.map(|variable| ProviderError::NoKey { variable: variable.to_owned() }.to_string());
        let elsewhere = !is_local(&url);
        let endpoint = Self::build(url, &[], ("authorization", "Bearer "), key_env.zip(key), elsewhere)?;
        Ok(Self { missing_setup, max_bytes, ..endpoint })
    }

    /// The key comes with the name of its variable.
    fn build(
        url: Url,
        further: &'static [(&'static str, &'static str)],
        (name, before): (&'static str, &'static str),
        key: Option<(&str, String)>,
        elsewhere: bool,
    ) -> Result<Self, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in further {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let key_recipient = (key.is_some() && elsewhere).then(|| url.host_str().unwrap_or_default().to_owned());
        if let Some((variable, key)) = &key {
            let value = HeaderValue::from_str(&format!("{before}{key}"));
            let mut value = value.map_err(|_| ProviderError::BadKey { variable: (*variable).to_owned() })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let secret = key.and_then(|(_, key)| Secret::new("[key]", &key));
        Ok(Self {
            url,
            headers,
            secret,
            missing_setup: None,
            key_recipient,
            max_bytes: MAX_BODY_BYTES,
            client: OnceLock::new(),
        })
    }

    /// What must be configured before it can be used.
    pub fn missing_setup(&self) -> Option<&str> {
        self.missing_setup.as_deref()
    }

    /// The host that receives the API key only because the configuration says so.
    pub fn key_recipient(&self) -> Option<&str> {
        self.key_recipient.as_deref()
    }

    /// The host that receives requests, unless it is this machine.
    pub fn remote_host(&self) -> Option<&str> {
        self.url.host_str().filter(|_| !is_local(&self.url))
    }

    /// Removes the API key from what is to be stored or shown.
    pub(super) fn redact(&self, value: &mut Value) {
        if let Some(secret) = &self.secret {
            secret.redact_value(value);
        }
    }

    /// Posts a body and parses the JSON response. A server may echo the key: it is removed from errors here, and the caller
    /// removes it from whatever is stored of the response.
    pub async fn post(&self, body: &Value) -> Result<Value, HttpFailure> {
        let answer = self.exchange(body).await;
        answer.map_err(|failure| match &self.secret {
            Some(secret) => failure.redacted(secret),
            None => failure,
        })
    }

    async fn exchange(&self, body: &Value) -> Result<Value, HttpFailure> {
        if let Some(why) = self.missing_setup() {
            return Err(HttpFailure::fatal(why.to_owned()));
        }
        let client =
            self.client.get_or_init(|| client(&self.url)).as_ref().map_err(|why| HttpFailure::fatal(why.clone()))?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_string());
        let response = request.send().await.map_err(|error| self.connection_failure(error))?;
        let (status, after) = (response.status(), retry_after(response.headers(), jiff::Timestamp::now()));
        let text = self.body(response).await?;
        if !status.is_success() {
            return Err(self.status_failure(status, after, &text));
        }
        // Our parser also rejects duplicate keys.
        let not_json = |faults: Vec<karat_format::document::Fault>| {
            let first = faults.first().map(|fault| fault.message.clone()).unwrap_or_default();
            HttpFailure::temporary(format!("the server's answer is no JSON ({first})"))
        };
        json::parse(&text).map(|node| node.to_json()).map_err(not_json)
    }

    async fn body(&self, mut response: Response) -> Result<String, HttpFailure> {
        let too_long =
            || HttpFailure::temporary(format!("the server's answer is longer than {} bytes", self.max_bytes));
        if response.content_length().is_some_and(|length| length > self.max_bytes as u64) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.connection_failure(error))? {
            if bytes.len() + chunk.len() > self.max_bytes {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The failure of a connection.
    fn connection_failure(&self, error: reqwest::Error) -> HttpFailure {
        let host = self.url.host_str().unwrap_or_default().to_owned();
        // The URL may be long and adds nothing; the sources of the error do.
        let error = error.without_url();
        let (mut why, mut below) = (error.to_string(), std::error::Error::source(&error));
        while let Some(source) = below {
            why = format!("{why}: {source}");
            below = source.source();
        }
        HttpFailure::temporary(format!("no answer from {host}: {}", format_message(&why)))
    }

    /// The failure for a status other than success.
    fn status_failure(&self, status: StatusCode, after: Option<Duration>, text: &str) -> HttpFailure {
        let (words, parameters) = parse_error_body(text);
        let host = self.url.host_str().unwrap_or_default();
        let summary = format!(
            "{host} answered {}{}",
            status.as_u16(),
            if words.is_empty() { String::new() } else { format!(": {}", format_message(&words)) }
        );
        let error = match status.as_u16() {
            // Waiting does not restore the quota.
            429 if text.contains("insufficient_quota") => {
                SendError::Fatal { why: format!("{summary}; look at the account's quota") }
            }
            408 | 409 | 425 | 429 | 500.. => SendError::Retry { after, why: summary },
            300..=399 => SendError::Fatal {
                why: format!("{summary}; the API is elsewhere, and `base_url` must name the right place"),
            },
            401 | 403 => SendError::Fatal { why: format!("{summary}; the key was rejected, see `key_env`") },
            404 => SendError::Fatal { why: format!("{summary}; look at `model` and `base_url`") },
            _ => SendError::Rejected { why: summary },
        };
        HttpFailure { status: status.as_u16(), error, parameters, words }
    }
}

impl HttpFailure {
    /// A failure that a retry may solve.
    pub(super) fn temporary(why: impl Into<String>) -> Self {
        Self::without_words(SendError::Retry { after: None, why: why.into() })
    }

    fn fatal(why: String) -> Self {
        Self::without_words(SendError::Fatal { why })
    }

    fn without_words(error: SendError) -> Self {
        Self { status: 0, error, parameters: Vec::new(), words: String::new() }
    }

    fn redacted(self, secret: &Secret) -> Self {
        let error = match self.error {
            SendError::Retry { after, why } => SendError::Retry { after, why: secret.redact(&why) },
            SendError::Rejected { why } => SendError::Rejected { why: secret.redact(&why) },
            SendError::Fatal { why } => SendError::Fatal { why: secret.redact(&why) },
            error @ SendError::Refused { .. } => error,
        };
        Self { error, words: secret.redact(&self.words), ..self }
    }
}

fn client(url: &Url) -> Result<Client, String> {
    // One cryptography provider for the whole process; fails if one is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder();
    // A local server is not behind a proxy, whatever the variables say.
    let builder = if is_local(url) { builder.no_proxy() } else { builder };
    let built = builder
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(30))
        .pool_idle_timeout(Duration::from_secs(60))
        // The key must not be sent wherever a server redirects to.
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("karat/", env!("CARGO_PKG_VERSION")))
        .build();
    built.map_err(|error| {
        format!("no connection can be set up: {error}; look at the proxy variables and the certificates")
    })
}

/// Whether a URL leads to this machine. An invalid one is rejected elsewhere.
pub(super) fn is_local_address(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_local(&url))
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn join_url(base: &str, path: &str) -> Result<Url, ProviderError> {
    let bad = |url: &str, reason: &str| ProviderError::BadUrl { url: url.to_owned(), reason: reason.to_owned() };
    let url =
        Url::parse(base).map_err(|error| bad(base.split('@').next_back().unwrap_or_default(), &error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad(
            url.host_str().unwrap_or_default(),
            "it contains a name or a password; put keys into the environment",
        ));
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad(base, "it is neither http nor https"));
    }
    Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).map_err(|error| bad(base, &error.to_string()))
}

/// The `Retry-After` header, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// The message of an error response, or the beginning of its text, and the parameters it objects to, as named by OpenAI and by
/// servers that validate with pydantic.
pub(super) fn parse_error_body(text: &str) -> (String, Vec<String>) {
    let value = json::parse(text).map(|node| node.to_json()).unwrap_or_default();
    let message =
        ["/error/message", "/message", "/error", "/detail"].iter().find_map(|path| value.pointer(path)?.as_str());
    let mut parameters: Vec<String> = ["/error/param", "/param"]
        .iter()
        .find_map(|path| value.pointer(path)?.as_str())
        .map(str::to_owned)
        .into_iter()
        .collect();
    let mut messages = Vec::new();
    for fault in value["detail"].as_array().into_iter().flatten() {
        let steps = fault["loc"].as_array().into_iter().flatten().filter_map(Value::as_str);
        parameters.push(steps.filter(|step| *step != "body").collect::<Vec<_>>().join("."));
        messages
            .extend(fault["msg"].as_str().map(|summary| format!("{}: {summary}", parameters[parameters.len() - 1])));
    }
    let summary = message.map(str::to_owned).or_else(|| (!messages.is_empty()).then(|| messages.join("; ")));
    let summary = summary.unwrap_or_else(|| text.to_owned());
    (summary.chars().take(MAX_MESSAGE_CHARS).collect(), parameters)
}

fn format_message(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    harmless(&line.chars().take(MAX_SHOWN_CHARS).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let check = |value: &str, expect: Option<u64>| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(value).unwrap())]);
            let now = jiff::Timestamp::from_second(1_792_000_000).unwrap();
            assert_eq!(retry_after(&headers, now), expect.map(Duration::from_secs), "{value}");
        };
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("-3", None);
        check("1e400", None);
        check("soon", None);
        check("Wed, 14 Oct 2026 18:14:40 GMT", Some(1_792_001_680 - 1_792_000_000));
        check("Wed, 14 Oct 2020 18:14:40 GMT", Some(0));
        assert_eq!(retry_after(&HeaderMap::new(), jiff::Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn addresses_are_joined() {
        let check = |base: &str, expect: &str| assert_eq!(join_url(base, "/v1/messages").unwrap().as_str(), expect);
        check("https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        check("http://localhost:8080/proxy/", "http://localhost:8080/proxy/v1/messages");
    }

    #[test]
    fn local_addresses_are_recognised() {
        let check = |base: &str, expect: bool| assert_eq!(is_local(&join_url(base, "").unwrap()), expect, "{base}");
        check("http://localhost:1/v1", true);
        check("http://127.0.0.1:1/v1", true);
        check("http://[::1]:1/v1", true);
        check("https://localhost.example.com", false);
        check("https://10.0.0.1", false);
    }

    #[test]
    fn server_messages_are_truncated_and_sanitized() {
        let words = |text: &str| format_message(&parse_error_body(text).0);
        let check = |text: &str, expect: &str| assert_eq!(words(text), expect, "{text}");
        check(r#"{"error":{"message":"no such model"}}"#, "no such model");
        check(r#"{"error":"plain"}"#, "plain");
        check("<html>\n  <b>Bad gateway</b>", "<html> <b>Bad gateway</b>");
        check("\u{1b}[31mred", "\u{241b}[31mred");
        let pydantic = r#"{"detail":[{"type":"extra","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#;
        check(pydantic, "seed: Extra inputs are not permitted");
        assert_eq!(parse_error_body(pydantic).1, ["seed"]);
        assert_eq!(words(&"x".repeat(10_000)).len(), MAX_SHOWN_CHARS);
    }
}
