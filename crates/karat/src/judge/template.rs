//! From a question to the words a model reads. The same question gives the same bytes on every machine.

pub mod assess;
pub mod audit;
pub mod review;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::lines::Lines;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

/// A prompt with holes, in a versioned file. What was published never changes; other words are another file.
#[derive(Debug)]
pub struct Template {
    /// What it is called: its path below `judges/prompts`, such as `pair/v1`.
    pub name: &'static str,
    /// The longest answer that makes sense, in tokens.
    pub max_tokens: u32,
    text: &'static str,
    schema: LazyLock<Arc<Value>>,
    hash: OnceLock<String>,
}

/// Does a finding report a golden?
pub static PAIR: Template = Template {
    name: "pair/v1",
    max_tokens: 1024,
    text: include_str!("../../judges/prompts/pair/v1.md"),
    schema: LazyLock::new(pair_schema),
    hash: OnceLock::new(),
};

/// The same question with the finding shown before the golden, which must change no answer.
pub static PAIR_SWAPPED: Template = Template {
    name: "pair-swapped/v1",
    max_tokens: 1024,
    text: include_str!("../../judges/prompts/pair-swapped/v1.md"),
    schema: LazyLock::new(pair_schema),
    hash: OnceLock::new(),
};

/// All templates.
pub static TEMPLATES: &[&Template] = &[
    &PAIR,
    &PAIR_SWAPPED,
    &audit::AUDIT,
    &audit::AUDIT_SAFE,
    &review::REVIEW,
    &review::AUDIT_DIRECT,
    &review::AUDIT_NATURALISTIC,
    &review::AUDIT_ADVERSARIAL,
    &assess::RELEVANCE,
    &assess::COMPLIANCE,
];

/// Something to ask a model.
#[derive(Clone, Debug)]
pub struct Question {
    /// What the asker calls it. No model sees it.
    pub id: String,
    /// The words around it.
    pub template: &'static Template,
    /// What goes into the holes, by name; each is fenced as data. A hole without a value is said to be empty.
    pub fields: Vec<(&'static str, String)>,
    /// What its answer must be, where that is more than the template says.
    pub form: Option<Form>,
}

/// What the answer to one question must be, in place of what its template says of all answers.
#[derive(Clone, Debug)]
pub struct Form {
    /// The JSON Schema of the answer.
    pub schema: Arc<Value>,
    /// The longest answer that makes sense, in tokens.
    pub max_tokens: u32,
    /// What the schema cannot say. It may depend on nothing but the prompt and the schema, for questions that share them
    /// share their answer.
    pub check: Arc<dyn Check>,
}

/// What a schema cannot say of an answer.
pub trait Check: fmt::Debug + Send + Sync {
    /// What is wrong with an answer that fits the schema. The model is told in the same words.
    fn check(&self, answer: &Value) -> Result<(), String>;
}

/// What is sent to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// How to decide.
    pub system: String,
    /// What to decide.
    pub user: String,
    /// The JSON Schema of the answer.
    pub schema: Arc<Value>,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
}

impl Template {
    /// The BLAKE3 hash of everything the template adds to a question.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(self.text.as_bytes()).update(b"\0").update(self.schema.to_string().as_bytes());
            hasher.update(b"\0").update(self.max_tokens.to_string().as_bytes());
            hasher.finalize().to_hex().to_string()
        })
    }

    /// The parts for the system and for the user.
    fn parts(&self) -> (&'static str, &'static str) {
        let (system, user) = self.text.split_once("\n# user\n").unwrap_or(("", self.text));
        (system.strip_prefix("# system\n").unwrap_or(system).trim(), user.trim())
    }
}

impl Question {
    /// Asks whether a finding reports a golden. Who wrote the finding, and in which trial of which case, stays unsaid.
    pub fn pair(id: impl Into<String>, golden: &Golden, finding: &Finding, code: Option<&str>) -> Self {
        let mut fields = vec![("golden", golden_text(golden)), ("finding", finding_text(finding))];
        fields.extend(code.map(|code| ("code", shortened(code, LONGEST_CODE))));
        Self { id: id.into(), template: &PAIR, fields, form: None }
    }

    /// The same question about a pair, with the finding shown first.
    pub fn swapped(self) -> Self {
        Self { template: &PAIR_SWAPPED, ..self }
    }

    /// The prompt, with every field between fences that its own text cannot close.
    pub fn prompt(&self) -> Prompt {
        let (system, user) = self.template.parts();
        let mark = mark(&self.fields);
        let mut filled =
            String::with_capacity(user.len() + self.fields.iter().map(|(_, text)| text.len() + 80).sum::<usize>());
        // Holes are looked for in the template alone: text that was filled in is never looked at again.
        let mut rest = user;
        while let Some((before, name, after)) = hole(rest) {
            filled.push_str(before);
            match self.fields.iter().find(|(field, _)| *field == name) {
                Some((_, text)) => filled.push_str(&fenced(&mark, name, text)),
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
    /// The same question once more, after an answer that was of no use.
    pub fn repaired(&self, answer: &str, fault: &str) -> Self {
        let answer = shortened(answer, LONGEST_QUOTE);
        let mark = mark(&[("answer", answer.clone()), ("question", self.user.clone())]);
        let quoted = fenced(&mark, "answer", &answer);
        let user = format!(
            "{}\n\nYou were asked this before, and your answer could not be used: {fault}. It was:\n\n{quoted}\n\n\
             Answer again, with one complete JSON object that fits the description and nothing else. Be brief.",
            self.user
        );
        Self { user, ..self.clone() }
    }
}

/// More of a text than this tells a judge nothing, and costs whatever somebody else chose to write.
const LONGEST_TEXT: usize = 8_000;
/// So much code goes around a place.
const LONGEST_CODE: usize = 16_000;
/// So much of a faulty answer is shown to whoever wrote it.
const LONGEST_QUOTE: usize = 2_000;

fn golden_text(golden: &Golden) -> String {
    let mut object = Map::new();
    text(&mut object, "title", golden.title.as_deref());
    text(&mut object, "description", golden.description.as_deref());
    text(&mut object, "file", golden.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", golden.lines.map(lines).as_deref());
    text(&mut object, "severity", golden.severity.map(|severity| severity.as_str()));
    text(&mut object, "category", golden.category.as_deref());
    if !golden.keywords.is_empty() {
        object.insert("keywords".to_owned(), json!(golden.keywords));
    }
    written(object)
}

fn finding_text(finding: &Finding) -> String {
    let mut object = Map::new();
    text(&mut object, "file", finding.file.as_ref().map(ToString::to_string).as_deref());
    text(&mut object, "lines", finding.lines().map(lines).as_deref());
    text(&mut object, "severity", finding.severity.map(|severity| severity.as_str()));
    text(&mut object, "category", finding.category.as_deref());
    // A finding that is a rule and nothing else says at least which.
    let silent = finding.title.is_none() && finding.message.is_none();
    text(&mut object, "title", finding.title.as_deref().or(finding.rule_id.as_deref().filter(|_| silent)));
    text(&mut object, "message", finding.message.as_deref());
    written(object)
}

fn text(object: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), Value::String(shortened(value, LONGEST_TEXT)));
    }
}

/// JSON, so that no text can pass for another field.
fn written(object: Map<String, Value>) -> String {
    serde_json::to_string_pretty(&object).unwrap_or_default()
}

fn lines(lines: Lines) -> String {
    if lines.start == lines.end { lines.start.to_string() } else { format!("{}-{}", lines.start, lines.end) }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} [cut here]", &text[..end]),
    }
}

/// The text before the first hole, the hole's name, and the text after it.
fn hole(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

fn fenced(mark: &str, name: &str, text: &str) -> String {
    format!("<data-{mark} {name}>\n{text}\n</data-{mark}>")
}

/// A mark that stands in none of the texts. It is drawn from them, so that it is the same whenever they are, and nobody can
/// write a text that holds its own.
fn mark(fields: &[(&'static str, String)]) -> String {
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

fn pair_schema() -> Arc<Value> {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "match": { "type": "boolean", "description": "whether the report describes the known problem" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure the decision is" },
            "partial": { "type": ["boolean", "null"], "description": "whether only a part of it is described" },
            "explanation": { "type": "string", "description": "one or two sentences, why" }
        },
        "required": ["match", "confidence", "partial", "explanation"],
        "additionalProperties": false
    }))
}

#[cfg(test)]
mod tests;
