//! Finds the template of a record in the folders above it, parses and checks it.

use super::folder::{Bounded, Folder};
use super::record::SourceFile;
use crate::did_you_mean;
use crate::retrieval::embed::EMBEDDERS;
use crate::retrieval::rerank::RERANKERS;
use karat_core::assessment::record::Compliance;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::suggest::nearest;
use karat_format::document::{Segment, Syntax, decode_bytes, schema_of};
use karat_format::template::{TemplateRequirementV1, TemplateV1};
use karat_llm::providers::PROVIDERS;

/// A parsed template.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Template {
    pub id: String,
    pub config: TemplateV1,
    /// Paths in the template are relative to it.
    pub folder: Folder,
}

impl Template {
    /// The file as the user knows it.
    pub fn display_path(&self) -> String {
        self.folder.display(FILE)
    }
}

pub(super) enum TemplateError {
    Unknown { message: String, help: String },
    Faulty(Vec<Diagnostic>),
}

const FILE: &str = "config.yml";

/// Limit for records and templates, which are written by hand.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// Finds the template in the nearest of these folders that has it.
pub(super) fn find(id: &str, folders: &[Folder]) -> Result<Template, TemplateError> {
    let own = format!("templates/{id}");
    let file = format!("{own}/{FILE}");
    for place in folders {
        let shown = place.display(&file);
        if place.leads_out(&file) {
            let message = "this link leads out of the folder that templates/ lies in";
            return Err(TemplateError::Faulty(vec![Diagnostic::of_file(&shown, "path-escapes", message)]));
        }
        let bytes = match place.read(&file, MOST_BYTES) {
            Ok(Bounded::Absent) => continue,
            Ok(Bounded::Whole(bytes)) => bytes,
            Ok(Bounded::TooLarge) => return Err(TemplateError::Faulty(vec![too_large(&shown)])),
            Err(error) => {
                let fault = Diagnostic::of_file(&shown, "unreadable", error.to_string());
                return Err(TemplateError::Faulty(vec![fault]));
            }
        };
        let config = read(&shown, &bytes).map_err(TemplateError::Faulty)?;
        return Ok(Template { id: id.to_owned(), config, folder: place.join(&own) });
    }
    let mut there: Vec<String> = folders.iter().flat_map(|place| place.folders("templates")).collect();
    there.sort();
    there.dedup();
    let looked = match folders {
        [only] => only.display(""),
        [near, .., far] => format!("{} and the folders above it up to {}", near.display(""), far.display("")),
        [] => "no folder".to_owned(),
    };
    let message = format!("there is no template `{id}`: looked for {file} in {looked}");
    let known: Vec<&str> = there.iter().map(String::as_str).collect();
    let help = did_you_mean(id, &known, || match known.is_empty() {
        true => format!("write {file}; docs/formats.md shows a template"),
        false => format!("there is: {}", known[..known.len().min(8)].join(", ")),
    });
    Err(TemplateError::Unknown { message, help })
}

pub(super) fn too_large(file: &str) -> Diagnostic {
    let message = format!("the file is larger than the {} MiB that are read of one", MOST_BYTES >> 20);
    Diagnostic::of_file(file, "too-large", message).with_help("split it, or leave out what it does not need")
}

/// Parses a template; all faults are reported at once.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<TemplateV1, Vec<Diagnostic>> {
    let decoded = decode_bytes::<TemplateV1>(file, bytes, Syntax::Yaml, &schema_of::<TemplateV1>());
    let mut faults = decoded.faults;
    let Some((template, document)) = decoded.value else { return Err(faults) };
    let source = SourceFile(document);
    check(&template, &source, &mut faults);
    faults.sort_by_key(|fault| (fault.line, fault.column));
    if faults.is_empty() { Ok(template) } else { Err(faults) }
}

fn check(template: &TemplateV1, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    if template.requirements.is_empty() {
        let message = "a template has at least one requirement, and this one has none";
        faults.extend(source.at(&["requirements"], "no-requirements", message));
    }
    for (id, requirement) in template.requirements.iter() {
        source.check_key(&["requirements", id], faults);
        requirement_faults(id, requirement, source, faults);
        unasked(id, requirement, template, source, faults);
    }
    for (id, question) in template.questions.iter() {
        source.check_key(&["questions", id], faults);
        blank(&["questions".into(), id.into()], question, "the question", source, faults);
    }
    if let Some(language) = &template.search.language
        && language != "auto"
    {
        faults.extend(bad_language(language).and_then(|(message, help)| {
            source.at(&["search", "language"], "bad-language", message).map(|fault| fault.with_help(help))
        }));
    }
    let models: Vec<&str> = PROVIDERS.iter().filter(|entry| entry.reads_prompts()).map(|entry| entry.name).collect();
    let embedders: Vec<&str> = EMBEDDERS.iter().map(|entry| entry.name).collect();
    let rerankers: Vec<&str> = RERANKERS.iter().map(|entry| entry.name).collect();
    let endpoints = template.llm_endpoints.iter().map(|(name, config)| (name, &config.provider));
    check_providers("llm_endpoints", endpoints, &models, source, faults);
    let stated = template.embedding_providers.iter().map(|(name, config)| (name, &config.provider));
    check_providers("embedding_providers", stated, &embedders, source, faults);
    let stated = template.rerank_providers.iter().map(|(name, config)| (name, &config.provider));
    check_providers("rerank_providers", stated, &rerankers, source, faults);
    for message in template.scoring.faults() {
        // Each message starts with the value's name.
        let name = message.split(" = ").next().unwrap_or_default();
        let path: Vec<&str> = ["scoring"].into_iter().chain(name.split('.')).collect();
        let placed = source.at(&path, "bad-rule", &message).or_else(|| source.at(&["scoring"], "bad-rule", &message));
        faults.extend(placed);
    }
}

fn check_providers<'t>(
    block: &str,
    stated: impl Iterator<Item = (&'t String, &'t String)>,
    known: &[&str],
    source: &SourceFile,
    faults: &mut Vec<Diagnostic>,
) {
    for (name, provider) in stated.filter(|(_, provider)| !known.contains(&provider.as_str())) {
        let message = format!("unknown provider `{provider}`; expected one of {}", known.join(", "));
        let help = nearest(provider, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let fault = source.at(&[block, name, "provider"], "unknown-provider", message);
        faults.extend(fault.map(|fault| Diagnostic { help, ..fault }));
    }
}

fn requirement_faults(
    id: &str,
    requirement: &TemplateRequirementV1,
    source: &SourceFile,
    faults: &mut Vec<Diagnostic>,
) {
    let at = |rest: &[Segment<'static>]| -> Vec<Segment<'_>> {
        ["requirements".into(), id.into()].into_iter().chain(rest.iter().copied()).collect()
    };
    blank(&at(&["title".into()]), &requirement.title, "the title", source, faults);
    blank(&at(&["description".into()]), &requirement.description, "the description", source, faults);
    for (language, query) in &requirement.queries {
        let path = ["requirements", id, "queries", language];
        if let Some((message, help)) = bad_language(language) {
            faults.extend(source.at_key(&path, "bad-language", message).map(|fault| fault.with_help(help)));
        }
        blank(&path.map(Segment::Key), query, "the query", source, faults);
    }
    for (verdict, text) in &requirement.guidance {
        let path = ["requirements", id, "guidance", verdict];
        if Compliance::parse(verdict).is_none() {
            let names = Compliance::ALL.map(Compliance::name);
            let message = format!("unknown verdict `{verdict}`; expected one of {}", names.join(", "));
            let help = nearest(verdict, names).map(|near| format!("did you mean `{near}`?"));
            let fault = source.at_key(&path, "unknown-verdict", message);
            faults.extend(fault.map(|fault| Diagnostic { help, ..fault }));
        }
        blank(&path.map(Segment::Key), text, "the guidance", source, faults);
    }
    for (i, sign) in requirement.signs.iter().enumerate() {
        blank(&at(&["signs".into(), i.into(), "about".into()]), &sign.about, "what the sign is", source, faults);
        for (j, words) in sign.any.iter().enumerate() {
            // A blank list item is not a substitute: the schema allows it.
            let path = at(&["signs".into(), i.into(), "any".into(), j.into()]);
            if words.trim().is_empty() && source.0.has(&path) {
                faults.push(source.0.at(&path, "blank", "the words to look for are blank"));
            }
        }
    }
}

/// An answer to a question that is never asked has no effect, so the requirement would always apply.
fn unasked(
    id: &str,
    requirement: &TemplateRequirementV1,
    template: &TemplateV1,
    source: &SourceFile,
    faults: &mut Vec<Diagnostic>,
) {
    for question in requirement.applies_when.keys().filter(|question| template.questions.get(question).is_none()) {
        let message = format!("there is no question `{question}` in this template");
        let known: Vec<&str> = template.questions.names().collect();
        let help = did_you_mean(question, &known, || "state it under `questions`".to_owned());
        let fault = source.at_key(&["requirements", id, "applies_when", question], "unknown-question", message);
        faults.extend(fault.map(|fault| fault.with_help(help)));
    }
}

/// Reports blank text; empty text is rejected by the schema.
fn blank(path: &[Segment<'_>], text: &str, what: &str, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    let empty_is_known = matches!(path.last(), Some(Segment::Key("title" | "description" | "about")));
    if text.trim().is_empty() && !(text.is_empty() && empty_is_known) && source.0.has(path) {
        faults.push(source.0.at(path, "blank", format!("{what} is blank")));
    }
}

fn bad_language(name: &str) -> Option<(String, String)> {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default();
    let letters = (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_lowercase());
    let regional = parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()));
    if letters && regional {
        return None;
    }
    let words = [
        ("en", ["english", "engelska", "englisch"]),
        ("sv", ["swedish", "svenska", "schwedisch"]),
        ("de", ["german", "tyska", "deutsch"]),
        ("fr", ["french", "franska", "français"]),
        ("nb", ["norwegian", "norska", "norsk"]),
        ("da", ["danish", "danska", "dansk"]),
        ("fi", ["finnish", "finska", "suomi"]),
    ];
    let lower = name.trim().to_lowercase();
    let code = words.iter().find(|(code, names)| *code == lower || names.contains(&lower.as_str()));
    let help = code.map_or_else(
        || "languages go by two or three small letters, such as `en` or `sv`".to_owned(),
        |(code, _)| format!("did you mean `{code}`?"),
    );
    Some((format!("{name:?} is no name of a language; expected one such as `en`, `sv` or `de`"), help))
}
