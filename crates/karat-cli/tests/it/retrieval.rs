//! HTTP embedding and rerank providers against well-behaved and faulty servers.

use crate::project::report_skipped;
use karat_documents::retrieval::embed::{Embedder, Side, open_embedder};
use karat_documents::retrieval::rerank::{Reranker, open_reranker};
use karat_documents::retrieval::{Analysis, Index, Language, Passage, SearchOptions, SearchResults};
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::provider::ProviderEnv;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-test-5ecret0fTheSearch";

/// A response: status, extra headers, and the body computed from the request.
type Step = (u16, &'static str, fn(&Value) -> String);

/// A server that answers with its steps in order, and repeats the last one.
struct Server {
    port: u16,
    received: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    fn start(steps: &'static [Step]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let own = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let received = own.clone();
                std::thread::spawn(move || serve(stream, steps, &received));
            }
        });
        Self { port, received }
    }

    fn base(&self) -> String {
        format!("http://127.0.0.1:{}/v1/", self.port)
    }

    fn requests(&self) -> Vec<(String, Value)> {
        self.received.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, steps: &[Step], received: &Mutex<Vec<(String, Value)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let (status, headers, answer) = {
            let mut received = received.lock().unwrap();
            received.push((head, body.clone()));
            steps[received.len().min(steps.len()) - 1]
        };
        let answer = answer(&body);
        let _ = write!(stream, "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{answer}", answer.len());
    }
}

/// Embeddings that encode whether a text contains `a` and `b`.
fn vectors(body: &Value) -> String {
    let texts = body["input"].as_array().unwrap();
    let vector = |text: &Value| {
        let has = |letter: char| f64::from(u8::from(text.as_str().unwrap().contains(letter)));
        json!([2.0 * has('a'), 2.0 * has('b'), 0.5])
    };
    // In reverse order, since only the index counts.
    let data = texts.iter().enumerate().rev().map(|(at, text)| json!({ "index": at, "embedding": vector(text) }));
    json!({ "data": data.collect::<Vec<_>>() }).to_string()
}

/// Relevance scores equal to the length of the text.
fn scores(body: &Value) -> String {
    let texts = body["documents"].as_array().unwrap();
    let score = |(at, text): (usize, &Value)| json!({ "index": at, "relevance_score": text.as_str().unwrap().len() });
    json!({ "results": texts.iter().enumerate().map(score).rev().collect::<Vec<_>>() }).to_string()
}

fn empty_body(_: &Value) -> String {
    String::new()
}

fn embedder(server: &Server, change: impl FnOnce(&mut EmbeddingProviderV1)) -> Box<dyn Embedder> {
    let mut config = EmbeddingProviderV1 {
        provider: "http".into(),
        model: Some("m".into()),
        base_url: Some(server.base()),
        key_env: Some("SEARCH_KEY".into()),
        ..EmbeddingProviderV1::default()
    };
    change(&mut config);
    let env = ProviderEnv { variable: &|name| (name == "SEARCH_KEY").then(|| KEY.to_owned()), folder: Path::new(".") };
    open_embedder(&config, &env).unwrap().unwrap()
}

fn reranker(server: &Server, max_chars: Option<u32>) -> Box<dyn Reranker> {
    let config = RerankProviderV1 {
        provider: "http".into(),
        model: Some("r".into()),
        base_url: Some(server.base()),
        max_chars,
        ..RerankProviderV1::default()
    };
    let env = ProviderEnv { variable: &|_| Some(KEY.to_owned()), folder: Path::new(".") };
    open_reranker(&config, &env).unwrap().unwrap()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn texts_are_embedded_in_batches() {
    let server = Server::start(&[(200, "", vectors)]);
    let embedder = embedder(&server, |config| {
        (config.batch, config.max_chars) = (Some(2), Some(16));
        config.passage_prefix = Some("in: ".into());
    });
    let given = texts(&["a", "", "b", "neither a nor b but something longer"]);
    let embedded = embedder.embed(&given, Side::Passage).unwrap();
    // Blank texts are not sent; vectors are normalized and in the order of the texts.
    let first: Vec<Option<f32>> = embedded.vectors.iter().map(|own| own.first().map(|own| own[0])).collect();
    assert_eq!((first[1], first[2]), (None, Some(0.0)));
    assert!((first[0].unwrap() - 0.970_142_5).abs() < 1e-6, "{first:?}");
    let used = embedded.used;
    assert_eq!((used.calls, used.cut.texts, used.cut.characters), (2, 1, 21));
    let requests = server.requests();
    assert_eq!(requests[0].1["input"], json!(["in: a", "in: b"]));
    assert_eq!(requests[1].1, json!({"model": "m", "input": ["in: neither a nor b"], "encoding_format": "float"}));
    assert!(requests[0].0.starts_with("POST /v1/embeddings "), "{}", requests[0].0);
    assert!(requests[0].0.contains(&format!("authorization: Bearer {KEY}")), "{}", requests[0].0);
}

#[test]
fn missing_keys_and_remote_hosts_are_reported() {
    let server = Server::start(&[(200, "", vectors)]);
    let here = embedder(&server, |_| {});
    let settings = |embedder: &dyn Embedder| {
        let endpoint = embedder.endpoint().unwrap();
        [endpoint.missing_setup(), endpoint.key_recipient(), endpoint.remote_host()].map(|text| text.map(str::to_owned))
    };
    let host = || Some("vectors.example.com".to_owned());
    assert_eq!(settings(&*here), [None, None, None]);
    let elsewhere = embedder(&server, |config| config.base_url = Some("https://vectors.example.com/v1".into()));
    assert_eq!(settings(&*elsewhere)[1..], [host(), host()]);
    let keyless = embedder(&server, |config| {
        config.base_url = Some("https://vectors.example.com/v1".into());
        config.key_env = None;
    });
    assert_eq!(settings(&*keyless), [None, None, host()]);
    let keyless_environment = embedder(&server, |config| config.key_env = Some("OTHER_KEY".into()));
    assert_eq!(
        settings(&*keyless_environment)[0].as_deref(),
        Some("the variable OTHER_KEY holds no key; set it, or name another with `key_env`")
    );
    let message = keyless_environment.embed(&texts(&["a"]), Side::Query).unwrap_err().to_string();
    assert!(message.contains("OTHER_KEY holds no key") && server.requests().is_empty(), "{message}");
    // Without `key_env` no key is sent.
    let rerank_server = Server::start(&[(200, "", scores)]);
    search(None, Some(&*reranker(&rerank_server, None))).unwrap();
    assert!(!rerank_server.requests()[0].0.contains("authorization"), "{}", rerank_server.requests()[0].0);
}

fn search(
    embedder: Option<&dyn Embedder>,
    reranker: Option<&dyn Reranker>,
) -> Result<SearchResults, karat_documents::DocumentError> {
    let passage = |body: &str| Passage { heading: "Clause".into(), body: body.to_owned() };
    let passages = ["liability", "liability is limited", "payment is due"].map(passage);
    let analysis = Analysis::new(Language::by_name("en").unwrap(), &[]);
    let index = Index::new(&passages, &analysis, embedder)?;
    let options = SearchOptions { bm25_weight: if embedder.is_some() { 0.5 } else { 1.0 }, ..SearchOptions::default() };
    index.search(&["liability".to_owned()], &options, embedder, reranker)
}

#[test]
fn reranker_orders_candidates() {
    let server = Server::start(&[(200, "", scores)]);
    let searched = search(None, Some(&*reranker(&server, None))).unwrap();
    let parts: Vec<usize> = searched.ranked[0].iter().map(|hit| hit.part).collect();
    assert_eq!((parts, searched.reranker.calls), (vec![1, 0], 1));
    assert_eq!(searched.ranked[0][0].rerank, Some(28.0));
    let (head, body) = &server.requests()[0];
    assert!(head.starts_with("POST /v1/rerank "), "{head}");
    let documents = json!(["Clause\n\nliability", "Clause\n\nliability is limited"]);
    assert_eq!(body, &json!({"model": "r", "query": "liability", "documents": documents, "top_n": 2}));
    let searched = search(None, Some(&*reranker(&server, Some(20)))).unwrap();
    assert_eq!((searched.reranker.cut.texts, searched.reranker.cut.characters), (1, 8));
}

#[test]
fn transient_errors_are_retried() {
    static STEPS: &[Step] = &[
        (429, "retry-after: 0\r\n", empty_body),
        (503, "", empty_body),
        (200, "", |_| "{\"data\": [".to_owned()),
        (200, "", vectors),
    ];
    let server = Server::start(STEPS);
    let embedded = embedder(&server, |_| {}).embed(&texts(&["a"]), Side::Query).unwrap();
    assert_eq!((embedded.used.calls, server.requests().len()), (4, 4));
}

/// A parameter rejected by the server is omitted from then on.
#[test]
fn rejected_parameters_are_omitted() {
    static STEPS: &[Step] = &[
        (500, "", |_| "{\"error\": {\"message\": \"encoding_format is not supported\"}}".into()),
        (200, "", vectors),
        (200, "", vectors),
    ];
    let server = Server::start(STEPS);
    let embedder = embedder(&server, |_| {});
    for calls in [2, 1] {
        assert_eq!(embedder.embed(&texts(&["a"]), Side::Query).unwrap().used.calls, calls);
    }
    let sent: Vec<bool> = server.requests().iter().map(|(_, body)| body.get("encoding_format").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn permanent_errors_are_reported_without_the_key() {
    let check = |steps: &'static [Step], expect: &str, requests: usize| {
        let server = Server::start(steps);
        let message = embedder(&server, |_| {}).embed(&texts(&["a", "b"]), Side::Query).unwrap_err().to_string();
        assert!(message.contains(expect) && !message.contains(KEY), "{message}");
        assert_eq!(server.requests().len(), requests, "{message}");
    };
    check(
        &[(401, "", |_| format!("{{\"error\": \"no such key {KEY}\"}}"))],
        "no such key [key]; the key was rejected",
        1,
    );
    check(&[(404, "", empty_body)], "look at `model` and `base_url`", 1);
    check(&[(400, "", |_| "{\"error\": {\"message\": \"too long\"}}".into())], "answered 400: too long", 1);
    check(&[(302, "location: http://127.0.0.1:1/\r\n", empty_body)], "answered 302", 1);
    check(&[(200, "", |_| json!({"data": []}).to_string())], "2 texts were sent, and 0 vectors came back", 1);
    check(&[(200, "", |_| json!({"embedding": [1]}).to_string())], "it has no list `data`", 1);
    check(
        &[(200, "", |_| json!({"data": [{"embedding": [1, 2]}, {"embedding": [1]}]}).to_string())],
        "vector 1 has 1 numbers, and the first has 2",
        1,
    );
    let server = Server::start(&[(200, "", |_| json!({"results": [{"index": 0, "relevance_score": 1}]}).to_string())]);
    let message = search(None, Some(&*reranker(&server, None))).unwrap_err().to_string();
    assert!(message.contains("the reranker `http` gave an answer that cannot be used: 2 texts were sent"), "{message}");
}

#[test]
fn vectors_of_different_size_are_an_error() {
    static STEPS: &[Step] =
        &[(200, "", vectors), (200, "", |_| json!({"data": [{"index": 0, "embedding": [1, 2]}]}).to_string())];
    let server = Server::start(STEPS);
    let message = search(Some(&*embedder(&server, |_| {})), None).unwrap_err().to_string();
    assert!(message.contains("vectors of 2 numbers, but those of the index have 3"), "{message}");
}

/// The example of the model's page with its published similarities. `KARAT_MINILM` names a folder with all-MiniLM-L6-v2.
#[test]
fn minilm_reproduces_published_similarities() {
    let Ok(path) = std::env::var("KARAT_MINILM") else {
        return report_skipped("KARAT_MINILM does not name a folder with all-MiniLM-L6-v2");
    };
    let config = EmbeddingProviderV1 { provider: "folder".into(), path: Some(path), ..EmbeddingProviderV1::default() };
    let env = ProviderEnv { variable: &|_| None, folder: Path::new(".") };
    let embedder = open_embedder(&config, &env).unwrap().unwrap();
    let given =
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"];
    let vectors = embedder.embed(&texts(&given), Side::Passage).unwrap().vectors;
    let cosine = |at: usize| vectors[0][0].iter().zip(&vectors[at][0]).map(|(a, b)| a * b).sum::<f32>();
    for (at, expect) in [(1, 0.6946), (2, 0.9429), (3, 0.2569)] {
        assert!((cosine(at) - expect).abs() < 0.0005, "{}: {}", given[at], cosine(at));
    }
}
