//! The one file that talks to servers: requests out, JSON in, and what failures mean. No key gets out of it except to the
//! server that it is for. Judges ask through it, and so does the search of documents.

use super::provider::{ProviderError, SendError, Surroundings};
use crate::diagnostic::harmless;
use crate::document::json;
use crate::format::judge::JudgeConfigV1;
use crate::secret::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

/// The longest answer that is read. What is longer is no answer, and must not fill the memory.
const LONGEST_BODY: usize = 4 * 1024 * 1024;

/// The most of a server's own words that is shown.
const LONGEST_WORDS: usize = 300;

/// The most of a server's own words that is searched for what it refuses.
const LONGEST_COMPLAINT: usize = 4_000;

/// How long a server may take to take a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// One address that questions are posted to.
pub(crate) struct Endpoint {
    url: Url,
    headers: HeaderMap,
    secret: Option<Secret>,
    /// What must be set before anybody can be asked.
    lacks: Option<String>,
    /// Where a key goes that the configuration alone, and neither the provider nor the environment, says to send there.
    entrusts: Option<String>,
    /// The longest answer that is read.
    longest: usize,
    client: OnceLock<Result<Client, String>>,
}

/// Where a provider's API is, by default.
pub(super) struct Site {
    /// The address without a variable or a setting.
    pub(super) base: &'static str,
    /// The variable with another address.
    pub(super) base_variable: &'static str,
    /// The variable with the key.
    pub(super) key_variable: &'static str,
    /// What follows the address.
    pub(super) path: &'static str,
    /// The header for the key, and what stands before the key in it.
    pub(super) key_header: (&'static str, &'static str),
    /// Further headers.
    pub(super) headers: &'static [(&'static str, &'static str)],
}

/// What a server said no to.
#[derive(Debug)]
pub(crate) struct Declined {
    /// The status.
    pub(super) status: u16,
    /// What that means for the question.
    pub(crate) error: SendError,
    /// The parameters that it names as the fault, each as a path such as `response_format.type`.
    pub(super) parameters: Vec<String>,
    /// The server's own words.
    pub(super) words: String,
}

impl Endpoint {
    /// The endpoint of a judge. Servers other than the provider's own may need no key.
    pub(super) fn open(site: &Site, config: &JudgeConfigV1, around: &Surroundings<'_>) -> Result<Self, ProviderError> {
        let stated =
            config.base_url.clone().or_else(|| (around.variable)(site.base_variable).filter(|url| !url.is_empty()));
        let url = address(stated.as_deref().unwrap_or(site.base), site.path)?;
        let variable = config.key_env.as_deref().unwrap_or(site.key_variable);
        let key = (around.variable)(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        // What is recorded can be told without a key, so one is missed only when somebody must be asked.
        let needed = key.is_none() && (stated.is_none() || config.key_env.is_some());
        let lacks = needed.then(|| ProviderError::NoKey { variable: variable.to_owned() }.to_string());
        let elsewhere = config.base_url.is_some() && !is_here(&url);
        let endpoint = Self::with(url, site.headers, site.key_header, key.map(|key| (variable, key)), elsewhere)?;
        Ok(Self { lacks, ..endpoint })
    }

    /// The endpoint at an address that a configuration names, with a key only where it names a variable for one.
    pub(crate) fn at(
        base: &str,
        path: &str,
        key_env: Option<&str>,
        longest: usize,
        around: &Surroundings<'_>,
    ) -> Result<Self, ProviderError> {
        let url = address(base, path)?;
        let read =
            |variable| (around.variable)(variable).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let key = key_env.and_then(read);
        let missing = key_env.filter(|_| key.is_none());
        let lacks = missing.map(|variable| ProviderError::NoKey { variable: variable.to_owned() }.to_string());
        let elsewhere = !is_here(&url);
        let endpoint = Self::with(url, &[], ("authorization", "Bearer "), key_env.zip(key), elsewhere)?;
        Ok(Self { lacks, longest, ..endpoint })
    }

    /// An endpoint with its headers. The key comes with the variable that it was found in.
    fn with(
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
        let entrusts = (key.is_some() && elsewhere).then(|| url.host_str().unwrap_or_default().to_owned());
        if let Some((variable, key)) = &key {
            let value = HeaderValue::from_str(&format!("{before}{key}"));
            let mut value = value.map_err(|_| ProviderError::BadKey { variable: (*variable).to_owned() })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let secret = key.and_then(|(_, key)| Secret::new("[key]", &key));
        Ok(Self { url, headers, secret, lacks: None, entrusts, longest: LONGEST_BODY, client: OnceLock::new() })
    }

    /// What must be set before anybody can be asked; nothing where all is there.
    pub(crate) fn lacks(&self) -> Option<&str> {
        self.lacks.as_deref()
    }

    /// The host that the configuration alone says to send a key to.
    pub(crate) fn entrusts(&self) -> Option<&str> {
        self.entrusts.as_deref()
    }

    /// The host beyond this machine that hears what is posted.
    pub(crate) fn elsewhere(&self) -> Option<&str> {
        self.url.host_str().filter(|_| !is_here(&self.url))
    }

    /// Strikes the key from what is to be stored or shown.
    pub(super) fn strike(&self, value: &mut Value) {
        if let Some(secret) = &self.secret {
            secret.strike_value(value);
        }
    }

    /// Posts a body and reads the JSON that comes back. A server may repeat the key: it is struck from errors here, and the
    /// caller strikes it from whatever of the answer is kept.
    pub(crate) async fn post(&self, body: &Value) -> Result<Value, Declined> {
        let answer = self.exchange(body).await;
        answer.map_err(|declined| match &self.secret {
            Some(secret) => declined.struck(secret),
            None => declined,
        })
    }

    async fn exchange(&self, body: &Value) -> Result<Value, Declined> {
        if let Some(why) = self.lacks() {
            return Err(Declined::fatal(why.to_owned()));
        }
        let client =
            self.client.get_or_init(|| client(&self.url)).as_ref().map_err(|why| Declined::fatal(why.clone()))?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_string());
        let response = request.send().await.map_err(|error| self.broken(error))?;
        let (status, after) = (response.status(), retry_after(response.headers(), jiff::Timestamp::now()));
        let text = self.body(response).await?;
        if !status.is_success() {
            return Err(self.declined(status, after, &text));
        }
        // Said twice is not said at all, so duplicate keys are refused with everything else that is no JSON.
        let told = |faults: Vec<crate::document::Fault>| {
            let first = faults.first().map(|fault| fault.message.clone()).unwrap_or_default();
            Declined::passing(format!("the server's answer is no JSON ({first})"))
        };
        json::parse(&text).map(|node| node.to_json()).map_err(told)
    }

    /// The body as text.
    async fn body(&self, mut response: Response) -> Result<String, Declined> {
        let too_long = || Declined::passing(format!("the server's answer is longer than {} bytes", self.longest));
        if response.content_length().is_some_and(|length| length > self.longest as u64) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            if bytes.len() + chunk.len() > self.longest {
                return Err(too_long());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A connection that could not be made, or broke.
    fn broken(&self, error: reqwest::Error) -> Declined {
        let host = self.url.host_str().unwrap_or_default().to_owned();
        // The address may be long and say nothing new; the reasons below the error do.
        let error = error.without_url();
        let (mut why, mut below) = (error.to_string(), std::error::Error::source(&error));
        while let Some(source) = below {
            why = format!("{why}: {source}");
            below = source.source();
        }
        Declined::passing(format!("no answer from {host}: {}", shown(&why)))
    }

    /// What a status other than success means.
    fn declined(&self, status: StatusCode, after: Option<Duration>, text: &str) -> Declined {
        let (words, parameters) = complaint(text);
        let host = self.url.host_str().unwrap_or_default();
        let said = format!(
            "{host} answered {}{}",
            status.as_u16(),
            if words.is_empty() { String::new() } else { format!(": {}", shown(&words)) }
        );
        let error = match status.as_u16() {
            // The quota does not come back by waiting.
            429 if text.contains("insufficient_quota") => {
                SendError::Fatal { why: format!("{said}; look at the account's quota") }
            }
            408 | 409 | 425 | 429 | 500.. => SendError::Retry { after, why: said },
            300..=399 => SendError::Fatal {
                why: format!("{said}; the API is elsewhere, and `base_url` must name the right place"),
            },
            401 | 403 => SendError::Fatal { why: format!("{said}; the key is not accepted, see `key_env`") },
            404 => SendError::Fatal { why: format!("{said}; look at `model` and `base_url`") },
            _ => SendError::Rejected { why: said },
        };
        Declined { status: status.as_u16(), error, parameters, words }
    }
}

impl Declined {
    /// An answer that makes no sense now and may make sense the next time.
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self::without_words(SendError::Retry { after: None, why: why.into() })
    }

    fn fatal(why: String) -> Self {
        Self::without_words(SendError::Fatal { why })
    }

    fn without_words(error: SendError) -> Self {
        Self { status: 0, error, parameters: Vec::new(), words: String::new() }
    }

    fn struck(self, secret: &Secret) -> Self {
        let error = match self.error {
            SendError::Retry { after, why } => SendError::Retry { after, why: secret.strike(&why) },
            SendError::Rejected { why } => SendError::Rejected { why: secret.strike(&why) },
            SendError::Fatal { why } => SendError::Fatal { why: secret.strike(&why) },
            error @ SendError::Refused { .. } => error,
        };
        Self { error, words: secret.strike(&self.words), ..self }
    }
}

fn client(url: &Url) -> Result<Client, String> {
    // One provider of cryptography for the whole process; somebody may have chosen one before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder();
    // A server on this machine is not behind a proxy, whatever the variables say of all others.
    let builder = if is_here(url) { builder.no_proxy() } else { builder };
    let built = builder
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(30))
        .pool_idle_timeout(Duration::from_secs(60))
        // A key must not follow wherever a server points.
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("karat/", env!("CARGO_PKG_VERSION")))
        .build();
    built.map_err(|error| {
        format!("no connection can be set up: {error}; look at the proxy variables and the certificates")
    })
}

/// Whether an address leads to this machine; one that cannot be read leads nowhere, and is refused elsewhere.
pub(super) fn stays_here(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_here(&url))
}

fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn address(base: &str, path: &str) -> Result<Url, ProviderError> {
    let bad = |url: &str, reason: &str| ProviderError::BadUrl { url: url.to_owned(), reason: reason.to_owned() };
    let url =
        Url::parse(base).map_err(|error| bad(base.split('@').next_back().unwrap_or_default(), &error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad(
            url.host_str().unwrap_or_default(),
            "it holds a name or a password; keys belong into the environment",
        ));
    }
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad(base, "it is neither http nor https"));
    }
    Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).map_err(|error| bad(base, &error.to_string()))
}

/// How long a server asks to be left alone, in seconds or until a date.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// What a server says of its failure, and the parameters that it names as the fault. The message in its JSON, or the beginning
/// of whatever it sent; parameters as OpenAI names them, and as servers do that check requests with pydantic.
pub(super) fn complaint(text: &str) -> (String, Vec<String>) {
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
        messages.extend(fault["msg"].as_str().map(|said| format!("{}: {said}", parameters[parameters.len() - 1])));
    }
    let said = message.map(str::to_owned).or_else(|| (!messages.is_empty()).then(|| messages.join("; ")));
    let said = said.unwrap_or_else(|| text.to_owned());
    (said.chars().take(LONGEST_COMPLAINT).collect(), parameters)
}

fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    harmless(&line.chars().take(LONGEST_WORDS).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_ask_for_time_in_two_ways() {
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
        let check = |base: &str, expect: &str| assert_eq!(address(base, "/v1/messages").unwrap().as_str(), expect);
        check("https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        check("http://localhost:8080/proxy/", "http://localhost:8080/proxy/v1/messages");
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        let check = |base: &str, expect: bool| assert_eq!(is_here(&address(base, "").unwrap()), expect, "{base}");
        check("http://localhost:1/v1", true);
        check("http://127.0.0.1:1/v1", true);
        check("http://[::1]:1/v1", true);
        check("https://localhost.example.com", false);
        check("https://10.0.0.1", false);
    }

    #[test]
    fn a_server_is_quoted_briefly_and_harmlessly() {
        let words = |text: &str| shown(&complaint(text).0);
        let check = |text: &str, expect: &str| assert_eq!(words(text), expect, "{text}");
        check(r#"{"error":{"message":"no such model"}}"#, "no such model");
        check(r#"{"error":"plain"}"#, "plain");
        check("<html>\n  <b>Bad gateway</b>", "<html> <b>Bad gateway</b>");
        check("\u{1b}[31mred", "\u{241b}[31mred");
        let pydantic = r#"{"detail":[{"type":"extra","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#;
        check(pydantic, "seed: Extra inputs are not permitted");
        assert_eq!(complaint(pydantic).1, ["seed"]);
        assert_eq!(words(&"x".repeat(10_000)).len(), LONGEST_WORDS);
    }
}
