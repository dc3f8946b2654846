//! Models behind a server: OpenAI's `/embeddings`, and `/rerank` of Jina and Cohere, as in Ollama, vLLM, llama.cpp or LiteLLM.

use super::cut::truncate_at_whitespace;
use super::provider::{Embedded, Embedder, ModelUse, RerankRequest, Reranked, Reranker, Side, unit, unusable_answer};
use super::{DocumentError, Result};
use karat_format::assessment::CutV1;
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::adaptation::{Adaptation, PartNames, classify_refusal};
use karat_llm::error::MAX_UNREACHED;
use karat_llm::http::{BEARER, Endpoint};
use karat_llm::provider::{ProviderEnv, SendError};
use karat_llm::runtime::BackgroundRuntime;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A few thousand long vectors.
const LONGEST_ANSWER: usize = 128 * 1024 * 1024;

const TIMEOUT: Duration = Duration::from_secs(120);

const RETRIES: u32 = 6;

/// The wait after the first failure, which doubles each time, and the longest, even if the server asks for more.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(60));

/// Default number of texts per request.
const BATCH: usize = 64;

/// Default limit of characters per text: most models read 8192 tokens.
const LONGEST_TEXT: usize = 24_000;

struct Server {
    who: &'static str,
    model: String,
    endpoint: Endpoint,
    adaptation: Mutex<Adaptation>,
    runtime: BackgroundRuntime,
}

impl Server {
    /// A server at a given address; a key is used only if a variable is named for it.
    fn open(
        who: &'static str,
        model: Option<&str>,
        base_url: Option<&str>,
        path: &str,
        key_env: Option<&str>,
        env: &ProviderEnv<'_>,
    ) -> Result<Self> {
        let needs = |field: &str| DocumentError::Usage(format!("{who} needs `{field}: …`"));
        let model = model.ok_or_else(|| needs("model"))?;
        let base_url = base_url.ok_or_else(|| needs("base_url"))?;
        let mut endpoint = Endpoint::open(base_url, path, LONGEST_ANSWER)?;
        if let Some(variable) = key_env {
            endpoint.set_key(BEARER, variable, true, true, env)?;
        }
        let (model, adaptation, runtime) = (model.to_owned(), Mutex::default(), BackgroundRuntime::default());
        Ok(Self { who, model, endpoint, adaptation, runtime })
    }

    /// Returns the answer and the number of requests. A parameter that the server rejects is left out from then on.
    fn post(&self, body: &Value, optional: &[&str]) -> Result<(Value, usize)> {
        let runtime = self.runtime.get("karat-search", 1).map_err(|error| self.failed(error.to_string()))?;
        runtime.block_on(async {
            let (mut requests, mut unreached) = (0, 0);
            loop {
                requests += 1;
                let (body, parameters) = self.adapted(body, optional);
                let parts = PartNames { parameters, format: &[], limit: &[], effort: &[] };
                let sent = tokio::time::timeout(TIMEOUT, self.endpoint.post(&body)).await;
                let sent = sent.map(|sent| sent.map_err(|declined| classify_refusal(declined, &parts)));
                unreached = if matches!(sent, Ok(Err(SendError::Unreached { .. }))) { unreached + 1 } else { 0 };
                let (after, why) = match sent {
                    Ok(Ok(value)) => return Ok((value, requests)),
                    Ok(Err(SendError::Retry { after, why })) => (after, why),
                    Ok(Err(SendError::AnswerLost { why })) => (None, why),
                    Ok(Err(SendError::Refused { refused, .. })) => {
                        let mut adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
                        if let Some(next) = adaptation.without(&refused, &[]) {
                            *adaptation = next;
                        }
                        continue;
                    }
                    Ok(Err(SendError::Unreached { why })) if unreached < MAX_UNREACHED => (None, why),
                    Ok(Err(SendError::Unreached { why })) => {
                        return Err(self.failed(format!("{why} {unreached} times in a row")));
                    }
                    Ok(Err(SendError::Rejected { why } | SendError::Exhausted { why } | SendError::Fatal { why })) => {
                        return Err(self.failed(why));
                    }
                    Err(_) => (None, format!("no answer within {} s", TIMEOUT.as_secs())),
                };
                if requests > RETRIES as usize {
                    return Err(self.failed(format!("{requests} requests failed, the last one: {why}")));
                }
                tokio::time::sleep(wait(requests as u32, after)).await;
            }
        })
    }

    fn adapted<'a>(&self, body: &Value, optional: &[&'a str]) -> (Value, Vec<&'a str>) {
        let adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
        let mut body = body.clone();
        if let Value::Object(entries) = &mut body {
            entries.retain(|name, _| adaptation.sends(name));
        }
        (body, optional.iter().filter(|name| adaptation.sends(name)).copied().collect())
    }

    fn failed(&self, why: String) -> DocumentError {
        DocumentError::Failed(format!("{}: {why}", self.who))
    }
}

/// The wait after this many failures. There is one request at a time, so no jitter is needed.
fn wait(failures: u32, asked_for: Option<Duration>) -> Duration {
    let own = WAITS.0.saturating_mul(1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX));
    asked_for.map_or(own, |asked| asked.max(own)).min(WAITS.1)
}

/// The items of a list, one per text, in the order of the texts.
fn items_by_text<'a>(
    answer: &'a Value,
    list: &str,
    texts: usize,
    what: &str,
    in_order_by_default: bool,
) -> Result<Vec<&'a Value>, String> {
    let items = answer[list].as_array().ok_or_else(|| format!("it has no list `{list}`"))?;
    if items.len() != texts {
        return Err(format!("{texts} texts were sent, and {} {what} came back", items.len()));
    }
    let mut sorted = vec![None; texts];
    for (at, item) in items.iter().enumerate() {
        let index = match &item["index"] {
            Value::Null if in_order_by_default => at,
            index => index.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX),
        };
        let place = sorted.get_mut(index).ok_or_else(|| format!("item {at} has the index {}", item["index"]))?;
        if place.replace(item).is_some() {
            return Err(format!("the index {index} is there twice"));
        }
    }
    Ok(sorted.into_iter().flatten().collect())
}

struct HttpEmbedder {
    server: Server,
    config: EmbeddingProviderV1,
}

pub(super) fn open_embedder(config: &EmbeddingProviderV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Embedder>> {
    let EmbeddingProviderV1 { model, base_url, key_env, .. } = config;
    let who = "the embedder `http`";
    let server = Server::open(who, model.as_deref(), base_url.as_deref(), "/embeddings", key_env.as_deref(), env)?;
    Ok(Box::new(HttpEmbedder { server, config: config.clone() }))
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> String {
        format!("http/{}", self.server.model)
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        Some(&self.server.endpoint)
    }

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded> {
        let prefix = side.prefix(&self.config);
        let most = self.config.max_chars.map_or(LONGEST_TEXT, |most| most as usize);
        let mut embedded = Embedded { vectors: vec![Vec::new(); texts.len()], ..Embedded::default() };
        let mut sent = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let (kept, left_out) = truncate_at_whitespace(text, most);
            embedded.used.cut.count(left_out);
            // Servers reject blank texts.
            if !kept.trim().is_empty() {
                sent.push((number, format!("{prefix}{kept}")));
            }
        }
        for batch in sent.chunks(self.config.batch.map_or(BATCH, |batch| batch.max(1) as usize)) {
            let input: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let body = json!({ "model": self.server.model, "input": input, "encoding_format": "float" });
            let (answer, requests) = self.server.post(&body, &["encoding_format"])?;
            embedded.used += ModelUse { calls: requests, tokens: tokens(&answer), ..ModelUse::default() };
            let vectors = read_vectors(&answer, batch.len()).map_err(|why| unusable_answer(self.server.who, why))?;
            for ((number, _), vector) in batch.iter().zip(vectors) {
                embedded.vectors[*number].push(vector);
            }
        }
        Ok(embedded)
    }
}

/// Reads one vector per text, all of one length.
fn read_vectors(answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut length = None;
    let mut vectors = Vec::new();
    for (at, item) in items_by_text(answer, "data", texts, "vectors", true)?.into_iter().enumerate() {
        let numbers = item["embedding"].as_array().ok_or_else(|| format!("item {at} has no list `embedding`"))?;
        let expected = *length.get_or_insert(numbers.len());
        if numbers.is_empty() || numbers.len() != expected {
            return Err(format!("vector {at} has {} numbers, and the first has {expected}", numbers.len()));
        }
        let vector = numbers.iter().map(|number| Some(number.as_f64()? as f32)).collect::<Option<Vec<f32>>>();
        let vector = vector.and_then(unit);
        vectors.push(vector.ok_or_else(|| format!("vector {at} contains something that is not a finite number"))?);
    }
    Ok(vectors)
}

struct HttpReranker {
    server: Server,
    most: usize,
}

pub(super) fn open_reranker(config: &RerankProviderV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Reranker>> {
    let RerankProviderV1 { model, base_url, key_env, .. } = config;
    let who = "the reranker `http`";
    let server = Server::open(who, model.as_deref(), base_url.as_deref(), "/rerank", key_env.as_deref(), env)?;
    Ok(Box::new(HttpReranker { server, most: config.max_chars.map_or(LONGEST_TEXT, |most| most as usize) }))
}

impl Reranker for HttpReranker {
    fn id(&self) -> String {
        format!("http/{}", self.server.model)
    }

    fn endpoint(&self) -> Option<&Endpoint> {
        Some(&self.server.endpoint)
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked> {
        let mut cut = CutV1::default();
        let mut kept = |text| {
            let (kept, left_out) = truncate_at_whitespace(text, self.most);
            cut.count(left_out);
            kept
        };
        let query = kept(request.query);
        let documents: Vec<&str> = request.texts.iter().map(|text| kept(text)).collect();
        let body =
            json!({ "model": self.server.model, "query": query, "documents": documents, "top_n": documents.len() });
        let (answer, calls) = self.server.post(&body, &["top_n"])?;
        let scores = read_scores(&answer, documents.len()).map_err(|why| unusable_answer(self.server.who, why))?;
        Ok(Reranked { scores, used: ModelUse { calls, cut, tokens: tokens(&answer) } })
    }
}

/// The tokens that a server says it read: in `usage`, as OpenAI and Jina have it, or in `meta`, as Cohere has it.
fn tokens(answer: &Value) -> Option<u64> {
    let (usage, meta) = (&answer["usage"], &answer["meta"]);
    let counts = [
        &usage["prompt_tokens"],
        &usage["total_tokens"],
        &meta["tokens"]["input_tokens"],
        &meta["billed_units"]["input_tokens"],
    ];
    counts.into_iter().find_map(Value::as_u64)
}

fn read_scores(answer: &Value, texts: usize) -> Result<Vec<f64>, String> {
    let items = items_by_text(answer, "results", texts, "scores", false)?.into_iter().enumerate();
    let score = |(at, item): (usize, &Value)| {
        let score = item["relevance_score"].as_f64().filter(|score| score.is_finite());
        score.ok_or_else(|| format!("item {at} has the `relevance_score` {}", item["relevance_score"]))
    };
    items.map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_maximum() {
        let check = |failures: u32, asked: Option<u64>, expect: u64| {
            assert_eq!(wait(failures, asked.map(Duration::from_millis)), Duration::from_millis(expect));
        };
        check(1, None, 250);
        check(3, None, 1000);
        check(40, None, 60_000);
        check(1, Some(2000), 2000);
        check(1, Some(10), 250);
        check(1, Some(3_600_000), 60_000);
    }

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let answer = json!({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3.0, 4.0]}]});
        assert_eq!(read_vectors(&answer, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let answer = json!({"data": [{"embedding": [1]}, {"embedding": [0]}]});
        assert_eq!(read_vectors(&answer, 2).unwrap(), [[1.0], [0.0]]);
    }

    #[test]
    fn tokens_are_read_in_each_notation() {
        let check = |answer: Value, expect: Option<u64>| assert_eq!(tokens(&answer), expect, "{answer}");
        check(json!({"usage": {"prompt_tokens": 7, "total_tokens": 7}}), Some(7));
        check(json!({"usage": {"total_tokens": 8}}), Some(8));
        check(json!({"meta": {"tokens": {"input_tokens": 9, "output_tokens": 0}}}), Some(9));
        check(json!({"meta": {"billed_units": {"search_units": 1}}}), None);
        check(json!({"data": []}), None);
        check(json!([]), None);
    }

    #[test]
    fn invalid_vectors_are_errors() {
        let check = |answer: Value, expect: &str| assert_eq!(read_vectors(&answer, 2).unwrap_err(), expect);
        let two =
            |one: Value, two: Value| json!({"data": [{"index": 0, "embedding": one}, {"index": 1, "embedding": two}]});
        check(json!({}), "it has no list `data`");
        check(json!([]), "it has no list `data`");
        check(json!({"data": [{"embedding": [1]}]}), "2 texts were sent, and 1 vectors came back");
        check(two(json!([1, 2]), json!([1])), "vector 1 has 1 numbers, and the first has 2");
        check(two(json!([]), json!([])), "vector 0 has 0 numbers, and the first has 0");
        check(two(json!([1]), json!([null])), "vector 1 contains something that is not a finite number");
        check(two(json!([1]), json!([1e300])), "vector 1 contains something that is not a finite number");
        check(two(json!([1]), json!("abc")), "item 1 has no list `embedding`");
        let twice = json!({"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [1]}]});
        check(twice, "the index 1 is there twice");
        let beyond = json!({"data": [{"index": -1, "embedding": [1]}, {"index": 1, "embedding": [1]}]});
        check(beyond, "item 0 has the index -1");
    }

    #[test]
    fn scores_are_in_the_order_of_the_texts() {
        let answer = json!({"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -3}]});
        assert_eq!(read_scores(&answer, 2).unwrap(), [-3.0, 0.9]);
    }

    #[test]
    fn invalid_scores_are_errors() {
        let check = |answer: Value, expect: &str| assert_eq!(read_scores(&answer, 2).unwrap_err(), expect);
        let two = |one: Value, two: Value| json!({"results": [one, two]});
        let good = json!({"index": 0, "relevance_score": 1});
        check(json!("no"), "it has no list `results`");
        check(json!({"results": []}), "2 texts were sent, and 0 scores came back");
        check(two(good.clone(), good.clone()), "the index 0 is there twice");
        check(two(good.clone(), json!({"index": 2, "relevance_score": 1})), "item 1 has the index 2");
        check(two(good.clone(), json!({"relevance_score": 1})), "item 1 has the index null");
        check(two(good, json!({"index": 1, "relevance_score": "NaN"})), "item 1 has the `relevance_score` \"NaN\"");
    }
}
