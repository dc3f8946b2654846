//! Embeds with a server that has OpenAI's `/embeddings` API, such as Ollama, vLLM, llama.cpp or LiteLLM.

use super::super::RetrievalError;
use super::super::cut::{Truncation, truncate_at_whitespace};
use super::super::server::Server;
use super::{Embedded, Embedder, Side, unit};
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;
use serde_json::{Value, json};

/// Default number of texts per request.
const BATCH: usize = 64;

/// Default limit of characters per text: most models read 8192 tokens.
const LONGEST_TEXT: usize = 24_000;

struct HttpEmbedder {
    server: Server,
    model: String,
    config: EmbeddingProviderV1,
}

pub(super) fn open(
    config: &EmbeddingProviderV1,
    around: &ProviderEnv<'_>,
) -> Result<Box<dyn Embedder>, RetrievalError> {
    let who = "the embedder `http`".to_owned();
    let model = config.model.clone().ok_or(RetrievalError::Needs { who: who.clone(), field: "model" })?;
    let server = Server::open(who, config.base_url.as_deref(), "/embeddings", config.key_env.as_deref(), around)?;
    Ok(Box::new(HttpEmbedder { server, model, config: config.clone() }))
}

impl Embedder for HttpEmbedder {
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

    fn embed(&self, texts: &[String], side: Side) -> Result<Embedded, RetrievalError> {
        let prefix = match side {
            Side::Query => &self.config.query_prefix,
            Side::Passage => &self.config.passage_prefix,
        };
        let prefix = prefix.as_deref().unwrap_or_default();
        let most = self.config.max_chars.map_or(LONGEST_TEXT, |most| most as usize);
        let (mut cut, mut sent) = (Truncation::default(), Vec::new());
        for (number, text) in texts.iter().enumerate() {
            let (kept, left_out) = truncate_at_whitespace(text, most);
            cut.count(left_out);
            // Servers reject blank texts.
            if !kept.trim().is_empty() {
                sent.push((number, format!("{prefix}{kept}")));
            }
        }
        let mut embedded = Embedded { vectors: vec![Vec::new(); texts.len()], cut, calls: 0 };
        for batch in sent.chunks(self.config.batch.map_or(BATCH, |batch| batch.max(1) as usize)) {
            let input: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let body = json!({ "model": self.model, "input": input, "encoding_format": "float" });
            let answer = self.server.post(&body, &["encoding_format"])?;
            embedded.calls += answer.requests;
            let vectors = read(&answer.value, batch.len()).map_err(|why| self.server.unreadable(why))?;
            for ((number, _), vector) in batch.iter().zip(vectors) {
                embedded.vectors[*number].push(vector);
            }
        }
        Ok(embedded)
    }
}

/// Parses one vector per text, all of one length, in order.
fn read(answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let items = answer["data"].as_array().ok_or("it has no list `data`")?;
    if items.len() != texts {
        return Err(format!("{texts} texts were sent, and {} vectors came back", items.len()));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    let mut length = None;
    for (at, item) in items.iter().enumerate() {
        let index = match &item["index"] {
            Value::Null => at,
            index => index.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX),
        };
        let place = vectors.get_mut(index).ok_or_else(|| format!("item {at} has the index {}", item["index"]))?;
        if place.is_some() {
            return Err(format!("the index {index} is there twice"));
        }
        let numbers = item["embedding"].as_array().ok_or_else(|| format!("item {at} has no list `embedding`"))?;
        if *length.get_or_insert(numbers.len()) != numbers.len() || numbers.is_empty() {
            return Err(format!(
                "vector {at} has {} numbers, and the first has {}",
                numbers.len(),
                length.unwrap_or(0)
            ));
        }
        let number = |number: &Value| number.as_f64().map(|number| number as f32);
        let vector = numbers.iter().map(number).collect::<Option<Vec<f32>>>().and_then(unit);
        *place = Some(vector.ok_or_else(|| format!("vector {at} holds something that is no finite number"))?);
    }
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer = json!({"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3.0, 4.0]}]});
        assert_eq!(read(&answer, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let answer = json!({"data": [{"embedding": [1]}, {"embedding": [0]}]});
        assert_eq!(read(&answer, 2).unwrap(), [[1.0], [0.0]]);
    }

    #[test]
    fn what_is_no_vector_is_told() {
        let check = |answer: Value, expect: &str| assert_eq!(read(&answer, 2).unwrap_err(), expect);
        let two =
            |one: Value, two: Value| json!({"data": [{"index": 0, "embedding": one}, {"index": 1, "embedding": two}]});
        check(json!({}), "it has no list `data`");
        check(json!([]), "it has no list `data`");
        check(json!({"data": [{"embedding": [1]}]}), "2 texts were sent, and 1 vectors came back");
        check(two(json!([1, 2]), json!([1])), "vector 1 has 1 numbers, and the first has 2");
        check(two(json!([]), json!([])), "vector 0 has 0 numbers, and the first has 0");
        check(two(json!([1]), json!([null])), "vector 1 holds something that is no finite number");
        check(two(json!([1]), json!([1e300])), "vector 1 holds something that is no finite number");
        check(two(json!([1]), json!("abc")), "item 1 has no list `embedding`");
        let twice = json!({"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [1]}]});
        check(twice, "the index 1 is there twice");
        let beyond = json!({"data": [{"index": -1, "embedding": [1]}, {"index": 1, "embedding": [1]}]});
        check(beyond, "item 0 has the index -1");
    }
}
