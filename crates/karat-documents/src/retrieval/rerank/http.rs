//! Reranks with a server that has the `/rerank` API of Jina and Cohere, such as vLLM, llama.cpp or LiteLLM.

use super::super::RetrievalError;
use super::super::cut::{Truncation, truncate_at_whitespace};
use super::super::server::Server;
use super::{RerankRequest, Reranked, Reranker};
use karat_format::retrieval::RerankProviderV1;
use karat_llm::provider::ProviderEnv;
use serde_json::{Value, json};

/// Default limit of characters per text.
const LONGEST_TEXT: usize = 24_000;

struct HttpReranker {
    server: Server,
    model: String,
    most: usize,
}

pub(super) fn open(config: &RerankProviderV1, around: &ProviderEnv<'_>) -> Result<Box<dyn Reranker>, RetrievalError> {
    let who = "the reranker `http`".to_owned();
    let model = config.model.clone().ok_or(RetrievalError::Needs { who: who.clone(), field: "model" })?;
    let server = Server::open(who, config.base_url.as_deref(), "/rerank", config.key_env.as_deref(), around)?;
    Ok(Box::new(HttpReranker { server, model, most: config.max_chars.map_or(LONGEST_TEXT, |most| most as usize) }))
}

impl Reranker for HttpReranker {
    fn id(&self) -> String {
        format!("http/{}", self.model)
    }

    fn missing_setting(&self) -> Option<&str> {
        self.server.missing_setting()
    }

    fn unconfirmed_key_host(&self) -> Option<&str> {
        self.server.unconfirmed_key_host()
    }

    fn remote_host(&self) -> Option<&str> {
        self.server.elsewhere()
    }

    fn rerank(&self, request: &RerankRequest<'_>) -> Result<Reranked, RetrievalError> {
        let mut cut = Truncation::default();
        let mut kept = |text| {
            let (kept, left_out) = truncate_at_whitespace(text, self.most);
            cut.count(left_out);
            kept
        };
        let query = kept(request.query);
        let documents: Vec<&str> = request.texts.iter().map(|text| kept(text)).collect();
        let body = json!({ "model": self.model, "query": query, "documents": documents, "top_n": documents.len() });
        let answer = self.server.post(&body, &["top_n"])?;
        let scores = read(&answer.value, documents.len()).map_err(|why| self.server.unreadable(why))?;
        Ok(Reranked { scores, cut, calls: answer.requests })
    }
}

/// Parses one score per text, in order.
fn read(answer: &Value, texts: usize) -> Result<Vec<f64>, String> {
    let items = answer["results"].as_array().ok_or("it has no list `results`")?;
    if items.len() != texts {
        return Err(format!("{texts} texts were sent, and {} scores came back", items.len()));
    }
    let mut scores = vec![None; texts];
    for (at, item) in items.iter().enumerate() {
        let index = item["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX);
        let place = scores.get_mut(index).ok_or_else(|| format!("item {at} has the index {}", item["index"]))?;
        if place.is_some() {
            return Err(format!("the index {index} is there twice"));
        }
        let score = item["relevance_score"].as_f64().filter(|score| score.is_finite());
        *place = Some(score.ok_or_else(|| format!("item {at} has the `relevance_score` {}", item["relevance_score"]))?);
    }
    Ok(scores.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_in_the_order_of_the_texts() {
        let answer = json!({"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -3}]});
        assert_eq!(read(&answer, 2).unwrap(), [-3.0, 0.9]);
    }

    #[test]
    fn what_is_no_score_is_told() {
        let check = |answer: Value, expect: &str| assert_eq!(read(&answer, 2).unwrap_err(), expect);
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
