//! Questions, prompt templates, and the prompts made from them. The same question gives the same bytes on every machine.

use serde_json::Value;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

/// A prompt template from a versioned file. A published template never changes; another wording is another file.
#[derive(Debug)]
pub struct Template {
    /// Its path below `judges/prompts`, such as `pair/v1`.
    pub name: &'static str,
    /// The longest sensible answer, in tokens.
    pub max_tokens: u32,
    text: &'static str,
    schema: LazyLock<Arc<Value>>,
    hash: OnceLock<String>,
}

/// Something to ask a model.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Question {
    /// The caller's name for it, which is not sent to the model.
    pub id: String,
    pub template: &'static Template,
    /// Values for the template's holes, by name; each is fenced as data.
    pub fields: Vec<(&'static str, String)>,
    /// Overrides the template's requirements on the answer.
    pub form: Option<AnswerSpec>,
}

/// Requirements on the answer to one question, in place of those of its template.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AnswerSpec {
    pub schema: Arc<Value>,
    pub max_tokens: u32,
    /// What the schema cannot express. It must depend on the prompt and the schema only: equal questions share an answer.
    pub check: Arc<dyn AnswerCheck>,
}

/// A check of an answer that a schema cannot express.
pub trait AnswerCheck: fmt::Debug + Send + Sync {
    /// Returns what is wrong with an answer that fits the schema. The repair request quotes the same message.
    fn check(&self, answer: &Value) -> Result<(), String>;
}

/// What is sent to a model.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Prompt {
    pub system: String,
    pub user: String,
    pub schema: Arc<Value>,
    pub max_tokens: u32,
}

impl Template {
    /// A template from the text of its file: a part `# system`, then a part `# user` with a `{hole}` for each field.
    pub const fn new(name: &'static str, max_tokens: u32, text: &'static str, schema: fn() -> Arc<Value>) -> Self {
        Self { name, max_tokens, text, schema: LazyLock::new(schema), hash: OnceLock::new() }
    }

    /// The JSON Schema of the answer.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The BLAKE3 hash of everything the template adds to a question.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(self.text.as_bytes()).update(b"\0").update(self.schema.to_string().as_bytes());
            hasher.update(b"\0").update(self.max_tokens.to_string().as_bytes());
            hasher.finalize().to_hex().to_string()
        })
    }

    /// The system and user parts.
    pub fn parts(&self) -> (&'static str, &'static str) {
        let (system, user) = self.text.split_once("\n# user\n").unwrap_or(("", self.text));
        (system.strip_prefix("# system\n").unwrap_or(system).trim(), user.trim())
    }
}

impl Question {
    /// The prompt, with every field between fences that its text cannot close.
    pub fn prompt(&self) -> Prompt {
        let (system, user) = self.template.parts();
        let mark = choose_mark(&self.fields);
        let mut filled =
            String::with_capacity(user.len() + self.fields.iter().map(|(_, text)| text.len() + 80).sum::<usize>());
        // Only the template is searched for holes, never the text that was filled in.
        let mut rest = user;
        while let Some((before, name, after)) = next_hole(rest) {
            filled.push_str(before);
            match self.fields.iter().find(|(field, _)| *field == name) {
                Some((_, text)) => filled.push_str(&fence(&mark, name, text)),
                None => filled.push_str("(not given)"),
            }
            rest = after;
        }
        filled.push_str(rest);
        let form = self.form.as_ref();
        let schema = Arc::clone(form.map_or(&*self.template.schema, |form| &form.schema));
        let max_tokens = form.map_or(self.template.max_tokens, |form| form.max_tokens);
        Prompt { system: system.to_owned(), user: filled, schema, max_tokens }
    }
}

impl Prompt {
    /// The same question again, with the faulty answer and what is wrong with it.
    pub fn to_repair_prompt(&self, answer: &str, fault: &str) -> Self {
        let answer = truncate_text(answer, MAX_QUOTE_CHARS);
        let mark = choose_mark(&[("answer", answer.clone()), ("question", self.user.clone())]);
        let quoted = fence(&mark, "answer", &answer);
        let user = format!(
            "{}\n\nYou were asked this before, and your answer could not be used: {fault}. It was:\n\n{quoted}\n\n\
             Answer again, with one complete JSON object that fits the description and nothing else. Be brief.",
            self.user
        );
        Self { user, ..self.clone() }
    }
}

const MAX_QUOTE_CHARS: usize = 2_000;

/// The text, truncated to a number of characters.
pub fn truncate_text(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} [cut here]", &text[..end]),
    }
}

/// The text before the first hole, the hole's name, and the text after it.
fn next_hole(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

fn fence(mark: &str, name: &str, text: &str) -> String {
    format!("<data-{mark} {name}>\n{text}\n</data-{mark}>")
}

/// A fence mark that occurs in none of the texts: a hash of them, so nobody can write a text that contains its own.
fn choose_mark(fields: &[(&'static str, String)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in fields {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(name.as_bytes()).update(text.as_bytes());
    }
    loop {
        let mark = hasher.finalize().to_hex()[..16].to_owned();
        if !fields.iter().any(|(_, text)| text.contains(&mark)) {
            return mark;
        }
        hasher.update(mark.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::question;

    #[test]
    fn delimiter_occurs_in_none_of_the_texts() {
        let first = choose_mark(&[("a", "x".into())]);
        // A text cannot contain its own delimiter; an explicit list shows that a collision is detected.
        let again = choose_mark(&[("a", "x".into()), ("b", first.clone())]);
        assert_ne!(first, again);
        assert_eq!(first.len(), 16);
    }

    #[test]
    fn long_answers_are_truncated_in_repair_prompts() {
        let prompt = question("1", "text").prompt();
        let repaired = prompt.to_repair_prompt(&"y".repeat(1_000_000), "it is cut off");
        assert!(repaired.user.len() < prompt.user.len() + MAX_QUOTE_CHARS + 1_000);
        assert!(repaired.user.contains("could not be used: it is cut off"));
    }
}
