//! What comes back from models: bodies of servers' answers, and the words in them, by every prompt's schema.

use karat::judge::template::TEMPLATES;
use karat_llm::answer;
use karat_llm::prompt::Question;
use karat_llm::provider::Reply;
use karat_llm::providers::PROVIDERS;
use serde_json::Value;
use std::sync::OnceLock;

/// The first byte chooses a prompt. What is read from a text reads the same again, by that text alone and as a provider's
/// structured answer; a server's body becomes a reply or is refused in words.
pub fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let schemas = schemas();
    let schema = &schemas[usize::from(choice) % schemas.len()];
    let text = String::from_utf8_lossy(bytes);
    read(&Reply { text: text.clone().into_owned(), ..Reply::default() }, schema);
    let Ok(body) = serde_json::from_str::<Value>(&text) else { return };
    read(&Reply { structured: Some(body.clone()), ..Reply::default() }, schema);
    for provider in PROVIDERS {
        for reply in provider.remote.into_iter().flat_map(|remote| remote.read(&body)) {
            match reply {
                Ok(reply) => read(&reply, schema),
                Err(error) => assert!(!error.to_string().is_empty(), "refused without a reason"),
            }
        }
    }
}

fn read(reply: &Reply, schema: &Value) {
    match answer::parse_reply(reply, schema) {
        Err(fault) => assert!(!fault.to_string().is_empty(), "refused without a reason"),
        Ok(value) => {
            assert_eq!(answer::parse_text(&value.to_string(), schema), Ok(value.clone()));
            let structured = Reply { structured: Some(value.clone()), ..Reply::default() };
            assert_eq!(answer::parse_reply(&structured, schema), Ok(value));
        }
    }
}

fn schemas() -> &'static [Value] {
    static SCHEMAS: OnceLock<Vec<Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let question = |template| Question { id: String::new(), template, fields: Vec::new(), form: None };
        TEMPLATES.iter().map(|template| Value::clone(&question(template).prompt().schema)).collect()
    })
}
