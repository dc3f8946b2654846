//! The HTTP client: posts JSON, reads JSON, and classifies failures. The API key leaves this module only in requests to the
//! server it belongs to. Providers and document retrieval use it.

use super::error::{HttpFailure, ProviderError, SendError};
use karat_format::diagnostic::harmless;
use karat_format::document::json;
use karat_io::secret::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

const MAX_SHOWN_CHARS: usize = 300;

/// How much of a server's message is searched for refused parameters.
const MAX_MESSAGE_CHARS: usize = 4_000;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Where a provider finds what is not in its configuration.
pub struct ProviderEnv<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that relative paths start from, usually the suite's.
    pub folder: &'a Path,
}

impl ProviderEnv<'_> {
    /// The trimmed value of a variable, unless that is empty.
    pub(crate) fn filled_variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

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

/// The header of a key, and the prefix of its value.
pub const BEARER: (&str, &str) = ("authorization", "Bearer ");

impl Endpoint {
    /// The endpoint at an address. Longer responses are rejected, so that they cannot fill the memory.
    pub fn open(base: &str, path: &str, max_bytes: usize) -> Result<Self, ProviderError> {
        let url = join_url(base, path)?;
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let (secret, missing_setup, key_recipient, client) = (None, None, None, OnceLock::new());
        Ok(Self { url, headers, secret, missing_setup, key_recipient, max_bytes, client })
    }

    pub(super) fn set_header(&mut self, name: &'static str, value: &'static str) {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }

    /// Sends the key that a variable holds. `is_configured` says whether the address is from the configuration, rather than the
    /// provider's own or from the environment.
    pub fn set_key(
        &mut self,
        (header, prefix): (&'static str, &'static str),
        variable: &str,
        is_needed: bool,
        is_configured: bool,
        env: &ProviderEnv<'_>,
    ) -> Result<(), ProviderError> {
        let Some(key) = env.filled_variable(variable) else {
            // Recorded answers need no key, so a missing key is an error only when a request is sent.
            let missing = || format!("the variable {variable} holds no key; set it, or name another with `key_env`");
            self.missing_setup = is_needed.then(missing);
            return Ok(());
        };
        let mut value = HeaderValue::from_str(&format!("{prefix}{key}")).map_err(|_| {
            let help = "check it for line breaks and quotes";
            ProviderError::Other(format!("the key in the variable {variable} has invalid characters; {help}"))
        })?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(header), value);
        self.secret = Secret::new("[key]", &key);
        self.key_recipient = self.remote_host().filter(|_| is_configured).map(str::to_owned);
        Ok(())
    }

    /// Refuses every request for this reason.
    pub(super) fn forbid(&mut self, why: String) {
        self.missing_setup = Some(why);
    }

    /// What must be configured before it can be used, such as a key, or another model.
    pub fn missing_setup(&self) -> Option<&str> {
        self.missing_setup.as_deref()
    }

    /// The host that receives the API key only because the configuration, perhaps somebody else's, says so.
    pub fn key_recipient(&self) -> Option<&str> {
        self.key_recipient.as_deref()
    }

    /// The host that receives requests, unless it is this machine.
    pub fn remote_host(&self) -> Option<&str> {
        self.url.host_str().filter(|_| !is_local(&self.url))
    }

    /// Names the server and the key without telling the key: limits of rate are per key.
    pub(super) fn account(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, value) in self.headers.iter().filter(|(_, value)| value.is_sensitive()) {
            hasher.update(name.as_str().as_bytes()).update(value.as_bytes());
        }
        let key = hasher.finalize().to_hex();
        format!("{} {}", self.url.host_str().unwrap_or_default(), &key[..16])
    }

    /// Where requests are posted to.
    pub(super) fn address(&self) -> &str {
        self.url.as_str()
    }

    /// Removes the API key from what is to be stored or shown.
    pub(super) fn redact(&self, value: &mut Value) {
        if let Some(secret) = &self.secret {
            secret.redact_value(value);
        }
    }

    /// Posts a body and parses the JSON response. A server may echo the key, so it is removed from errors.
    pub async fn post(&self, body: &Value) -> Result<Value, HttpFailure> {
        match (self.exchange(body).await, &self.secret) {
            (Err(failure), Some(secret)) => Err(failure.redacted(secret)),
            (result, _) => result,
        }
    }

    async fn exchange(&self, body: &Value) -> Result<Value, HttpFailure> {
        if let Some(why) = self.missing_setup() {
            return Err(SendError::Fatal { why: why.to_owned() }.into());
        }
        let client = self.client.get_or_init(|| client(&self.url)).as_ref();
        let client = client.map_err(|why| SendError::Fatal { why: why.clone() })?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body.to_string());
        let response = request.send().await.map_err(|error| self.connection_failure(error))?;
        let (status, after) = (response.status(), retry_after(response.headers(), jiff::Timestamp::now()));
        let text = self.body(response).await;
        if !status.is_success() {
            // The status decides, whatever became of the words beside it.
            return Err(self.status_failure(status, after, &text.unwrap_or_default()));
        }
        let text = text?;
        // Our parser also rejects duplicate keys.
        let answer = json::parse(&text).map(|node| node.to_json()).map_err(|faults| {
            let first = faults.first().map(|fault| fault.message.as_str()).unwrap_or_default();
            SendError::answer_lost(format!("the server's answer is not JSON ({first})"))
        })?;
        // Some servers that pass requests on answer 200 and put the failure of the other server into the body.
        let passed_on = answer.pointer("/error/code").and_then(Value::as_u64).filter(|code| (400..600).contains(code));
        match passed_on.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok()) {
            Some(status) => Err(self.status_failure(status, after, &text)),
            None => Ok(answer),
        }
    }

    async fn body(&self, mut response: Response) -> Result<String, SendError> {
        let too_long =
            || SendError::answer_lost(format!("the server's answer is longer than {} bytes", self.max_bytes));
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

    fn connection_failure(&self, error: reqwest::Error) -> SendError {
        // Without a connection nothing was sent.
        let is_unsent = error.is_connect() || error.is_builder();
        let host = self.url.host_str().unwrap_or_default();
        // The URL may be long and adds nothing; the sources of the error do.
        let error = error.without_url();
        let (mut why, mut below) = (error.to_string(), std::error::Error::source(&error));
        while let Some(source) = below {
            let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
            if source.downcast_ref::<io::Error>().is_some_and(is_refused) {
                let port = self.url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
                return SendError::Unreached { why: format!("connection refused by {host}{port}") };
            }
            why = format!("{why}: {source}");
            below = source.source();
        }
        if is_unsent && UNKNOWN_NAME.iter().any(|words| why.contains(words)) {
            return SendError::Unreached { why: format!("no server has the name {host}") };
        }
        let why = format!("no answer from {host}: {}", format_message(&why));
        if is_unsent { SendError::temporary(why) } else { SendError::answer_lost(why) }
    }

    fn status_failure(&self, status: StatusCode, after: Option<Duration>, text: &str) -> HttpFailure {
        let (words, parameters) = parse_error_body(text);
        let host = self.url.host_str().unwrap_or_default();
        let (status, mut summary) = (status.as_u16(), format!("{host} answered {}", status.as_u16()));
        if !words.is_empty() {
            summary.push_str(&format!(": {}", format_message(&words)));
        }
        let error = match status {
            _ if is_exhausted(status, text) => SendError::Exhausted {
                why: format!("{summary}; look at the credit and the limits of the account and the key"),
            },
            408 | 409 | 425 | 429 | 500.. => {
                SendError::Retry { after: after.or_else(|| stated_delay(text)), why: summary }
            }
            300..=399 => SendError::Fatal {
                why: format!("{summary}; the API is elsewhere, and `base_url` must name the right place"),
            },
            401 | 403 => SendError::Fatal { why: format!("{summary}; the key was rejected, see `key_env`") },
            404 => SendError::Fatal { why: format!("{summary}; look at `model` and `base_url`") },
            _ => SendError::Rejected { why: summary },
        };
        HttpFailure { status, error, parameters, words }
    }
}

/// A client for a server: TLS, proxies and timeouts as everywhere in Karat, and no redirects.
pub fn client(url: &Url) -> Result<Client, String> {
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
pub fn is_local_address(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_local(&url))
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn join_url(base: &str, path: &str) -> Result<Url, ProviderError> {
    let bad = |url: &str, reason: &str| {
        ProviderError::Other(format!("the address {url:?} cannot be used: {reason}; write one such as https://host/v1"))
    };
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

fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// What the system says of a name that does not exist, unlike one that could not be looked up this time.
const UNKNOWN_NAME: [&str; 3] =
    ["Name or service not known", "nodename nor servname provided", "No address associated with hostname"];

/// What providers put into `type`, `code` or `status` of an error where credit, a quota or the limit of a key is used up.
const EXHAUSTED_CODES: [&str; 5] = [
    "insufficient_quota",
    "exceeded_current_quota",
    "billing_error",
    "billing_not_active",
    "billing_hard_limit_reached",
];

/// What providers write, in lower case, in the message of such an error.
const EXHAUSTED_MESSAGES: [&str; 11] = [
    "exceeded your current quota",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credit",
    "insufficient_quota",
    "used all available credits",
    "key limit exceeded",
    "spending limit",
    "specified api usage limits",
    "billing hard limit",
    "arrearage",
];

/// Whether an answer says that credit, a quota or the limit of a key is used up, so that asking again is useless. Only codes and the
/// message count: a body may repeat the prompt, which may be about anything.
fn is_exhausted(status: u16, text: &str) -> bool {
    let (message, parameters) = parse_error_body(text);
    let message = message.to_lowercase();
    let value = json::parse(text).map(|node| node.to_json()).unwrap_or_default();
    let value = value.get(0).unwrap_or(&value);
    let codes: Vec<String> = [value.get("error"), Some(value)]
        .into_iter()
        .flatten()
        .flat_map(|error| ["type", "code", "status"].map(|key| error.get(key).and_then(Value::as_str)))
        .flatten()
        .map(str::to_lowercase)
        .collect();
    let is_stated = codes.iter().any(|code| EXHAUSTED_CODES.contains(&code.as_str()))
        || EXHAUSTED_MESSAGES.iter().any(|words| message.contains(words));
    match status {
        402 => true,
        // A quota for a minute passes, whatever else is said of it; one for a day does not.
        429 if codes.iter().any(|code| code == "resource_exhausted") => {
            let details = value["error"]["details"].to_string().to_lowercase();
            let passes = details.contains("perminute") || stated_delay(text).is_some();
            details.contains("perday") || is_stated && !passes
        }
        // A request that names the parameter at fault was refused for its content.
        400 => is_stated && parameters.is_empty(),
        401 | 403 | 429 => is_stated,
        _ => false,
    }
}

/// The delay that Google states in the body, such as `"retryDelay": "20.5s"`.
fn stated_delay(text: &str) -> Option<Duration> {
    let value = json::parse(text).ok()?.to_json();
    // One of the servers wraps the error into a list.
    let error = value.get(0).unwrap_or(&value).get("error")?;
    let stated = error["details"].as_array()?.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(stated.strip_suffix('s')?.parse().ok()?).ok()
}

/// The message of an error response, or the start of its text, and the parameters that it objects to.
pub(super) fn parse_error_body(text: &str) -> (String, Vec<String>) {
    let value = json::parse(text).map(|node| node.to_json()).unwrap_or_default();
    let message = ["/error/message", "/0/error/message", "/message", "/error", "/detail"]
        .iter()
        .find_map(|path| value.pointer(path)?.as_str());
    let named = ["/error/param", "/param"].iter().find_map(|path| value.pointer(path)?.as_str());
    let mut parameters: Vec<String> = named.map(str::to_owned).into_iter().collect();
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
    use std::io::{Read, Write};
    use std::net::TcpListener;

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

    /// The error of a post to a server that answers with these bytes and closes the connection; `None` if nobody listens.
    fn failed_post(answer: Option<&'static str>) -> SendError {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::open(&format!("http://{}", listener.local_addr().unwrap()), "/", 100).unwrap();
        let server = answer.map(|answer| {
            std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"{}") {
                    let mut bytes = [0; 1024];
                    let n = stream.read(&mut bytes).unwrap();
                    request.extend_from_slice(&bytes[..n]);
                }
                stream.write_all(answer.as_bytes()).unwrap();
            })
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let failed = runtime.block_on(endpoint.post(&serde_json::json!({}))).unwrap_err().error;
        if let Some(server) = server {
            server.join().unwrap();
        }
        failed
    }

    /// A provider may send a bill for whatever it answered, unless it says that it failed.
    #[test]
    fn lost_answers_are_told_from_refused_requests() {
        let check = |answer: Option<&'static str>, is_lost: bool| {
            let error = failed_post(answer);
            assert_eq!(matches!(error, SendError::AnswerLost { .. }), is_lost, "{answer:?}: {error:?}");
            assert_eq!(matches!(error, SendError::Retry { .. }), !is_lost, "{answer:?}: {error:?}");
        };
        check(Some("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}"), false);
        check(Some("HTTP/1.1 503 Unavailable\r\ncontent-length: 9\r\n\r\ncut"), false);
        check(Some(""), true);
        check(Some("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ncut"), true);
        check(Some("HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n"), true);
        check(Some("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{\"a"), true);
    }

    #[test]
    fn refused_connections_are_told_from_other_failures() {
        let error = failed_post(None);
        assert!(
            matches!(&error, SendError::Unreached { why } if why.starts_with("connection refused by 127.0.0.1:")),
            "{error:?}"
        );
    }

    /// What providers answer where credit, quotas or limits are used up, and what only looks like it.
    #[test]
    fn used_up_accounts_are_told_from_rates() {
        let exhausted = [
            (402, ""),
            (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}"#,
            ),
            (429, r#"{"error":{"message":"Your account is not active","code":"billing_not_active"}}"#),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}"#,
            ),
            (403, r#"{"error":{"message":"Key limit exceeded (total limit).","code":403}}"#),
            (
                429,
                r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"20s"}]}}"#,
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED"}}]"#,
            ),
        ];
        for (status, text) in exhausted {
            assert!(is_exhausted(status, text), "{status} {text}");
        }
        let others = [
            (429, r#"{"error":{"type":"rate_limit_error","message":"rate limit"}}"#),
            (
                429,
                r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"retryDelay":"20s"}]}}"#,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"Resource exhausted. Please try again later.","status":"RESOURCE_EXHAUSTED"}}"#,
            ),
            // An echoed prompt that is about billing.
            (
                400,
                r#"{"error":{"message":"prompt is too long"},"input":"insufficient_quota: credit balance is too low"}"#,
            ),
            (400, r#"{"error":{"message":"messages: 'spending limit' is not allowed","param":"messages"}}"#),
            (429, r#"{"error":{"type":"rate_limit_error","message":"busy"},"request":{"text":"billing_error"}}"#),
            (403, r#"{"error":{"message":"invalid key"}}"#),
            (400, r#"{"error":{"message":"temperature is not supported"}}"#),
            (500, "insufficient_quota"),
        ];
        for (status, text) in others {
            assert!(!is_exhausted(status, text), "{status} {text}");
        }
        assert_eq!(stated_delay(others[1].1), Some(Duration::from_secs(20)));
        assert_eq!(stated_delay(others[0].1), None);
    }

    /// A server that passes requests on may put the failure of the other server into a body of its own.
    #[test]
    fn failures_in_a_successful_answer_are_failures() {
        let body = "HTTP/1.1 200 OK\r\ncontent-length: 39\r\n\r\n{\"error\":{\"code\":402,\"message\":\"no\"}}  ";
        assert!(matches!(failed_post(Some(body)), SendError::Exhausted { .. }));
        let body = "HTTP/1.1 200 OK\r\ncontent-length: 39\r\n\r\n{\"error\":{\"code\":503,\"message\":\"no\"}}  ";
        assert!(matches!(failed_post(Some(body)), SendError::Retry { .. }));
    }

    #[test]
    fn urls_are_joined() {
        let check = |base: &str, expect: &str| assert_eq!(join_url(base, "/v1/messages").unwrap().as_str(), expect);
        check("https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
        check("http://localhost:8080/proxy/", "http://localhost:8080/proxy/v1/messages");
    }

    #[test]
    fn local_urls_are_recognised() {
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
