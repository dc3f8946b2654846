//! Finds the template of a record in the folders above it, parses and checks it.

use super::folder::{Bounded, Folder};
use super::record::SourceFile;
use crate::retrieval::embed::EMBEDDERS;
use crate::retrieval::rerank::RERANKERS;
use karat_core::assessment::record::Compliance;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::suggest::did_you_mean;
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

const FILE: &str = "config.yml";

/// Limit for records and templates, which are written by hand.
const MOST_BYTES: usize = 16 << 20;

/// The bytes of a record or template; `None` if missing.
pub(super) fn read_file(folder: &Folder, name: &str) -> Result<Option<Vec<u8>>, Vec<Diagnostic>> {
    let shown = folder.display(name);
    match folder.read(name, MOST_BYTES) {
        Ok(Bounded::Whole(bytes)) => Ok(Some(bytes)),
        Ok(Bounded::Absent) => Ok(None),
        Ok(Bounded::TooLarge) => {
            let message = format!("the file is larger than the {} MiB that are read of one", MOST_BYTES >> 20);
            let help = "split it, or leave out what it does not need";
            Err(vec![Diagnostic::of_file(shown, "too-large", message).with_help(help)])
        }
        Err(error) => Err(vec![Diagnostic::of_file(shown, "unreadable", error.to_string())]),
    }
}

/// Finds the template in the nearest of these folders that has it. Faults are reported in the source of the record.
pub(super) fn find(id: &str, folders: &[Folder], record: &mut SourceFile) -> Option<Template> {
    let own = format!("templates/{id}");
    let file = format!("{own}/{FILE}");
    for place in folders {
        let shown = place.display(&file);
        let config = match read_file(place, &file) {
            _ if place.leads_out(&file) => {
                let message = "this link leads out of the folder that templates/ lies in";
                Err(vec![Diagnostic::of_file(&shown, "path-escapes", message)])
            }
            Ok(None) => continue,
            Ok(Some(bytes)) => read(&shown, &bytes),
            Err(faults) => Err(faults),
        };
        let config = config.map_err(|faults| record.faults.extend(faults)).ok()?;
        return Some(Template { id: id.to_owned(), config, folder: place.join(&own) });
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
    let help = did_you_mean(id, known.iter().copied()).unwrap_or_else(|| match known.is_empty() {
        true => format!("write {file}; docs/formats.md shows a template"),
        false => format!("there is: {}", known[..known.len().min(8)].join(", ")),
    });
    record.report(&["template_id"], "unknown-template", message, Some(help));
    None
}

/// Parses a template; all faults are reported at once.
fn read(file: &str, bytes: &[u8]) -> Result<TemplateV1, Vec<Diagnostic>> {
    let decoded = decode_bytes::<TemplateV1>(file, bytes, Syntax::Yaml, &schema_of::<TemplateV1>());
    let (template, mut source) = SourceFile::new(decoded)?;
    check(&template, &mut source);
    source.faults.sort_by_key(|fault| (fault.line, fault.column));
    if source.faults.is_empty() { Ok(template) } else { Err(source.faults) }
}

fn check(template: &TemplateV1, source: &mut SourceFile) {
    if template.requirements.is_empty() {
        let message = "a template has at least one requirement, and this one has none";
        source.report(&["requirements"], "no-requirements", message, None);
    }
    for (id, requirement) in template.requirements.iter() {
        source.check_key(&["requirements", id]);
        check_requirement(id, requirement, template, source);
    }
    for (id, question) in template.questions.iter() {
        source.check_key(&["questions", id]);
        check_blank(&["questions", id], question, "the question", source);
    }
    if let Some(language) = &template.search.language
        && language != "auto"
        && let Some((message, help)) = bad_language(language)
    {
        source.report(&["search", "language"], "bad-language", message, Some(help));
    }
    let models: Vec<&str> = PROVIDERS.iter().filter(|entry| entry.reads_prompts()).map(|entry| entry.name).collect();
    let embedders: Vec<&str> = EMBEDDERS.iter().map(|entry| entry.name).collect();
    let rerankers: Vec<&str> = RERANKERS.iter().map(|entry| entry.name).collect();
    let endpoints = template.llm_endpoints.iter().map(|(name, config)| (name, &config.provider));
    check_providers("llm_endpoints", endpoints, &models, source);
    let stated = template.embedding_providers.iter().map(|(name, config)| (name, &config.provider));
    check_providers("embedding_providers", stated, &embedders, source);
    let stated = template.rerank_providers.iter().map(|(name, config)| (name, &config.provider));
    check_providers("rerank_providers", stated, &rerankers, source);
    for message in template.scoring.faults() {
        // Each message starts with the value's name.
        let name = message.split(" = ").next().unwrap_or_default();
        let path: Vec<&str> = ["scoring"].into_iter().chain(name.split('.')).collect();
        let known = source.faults.len();
        source.report(&path, "bad-rule", &message, None);
        if source.faults.len() == known {
            source.report(&["scoring"], "bad-rule", message, None);
        }
    }
}

fn check_providers<'t>(
    block: &str,
    stated: impl Iterator<Item = (&'t String, &'t String)>,
    known: &[&str],
    source: &mut SourceFile,
) {
    for (name, provider) in stated.filter(|(_, provider)| !known.contains(&provider.as_str())) {
        let message = format!("unknown provider `{provider}`; expected one of {}", known.join(", "));
        let help = did_you_mean(provider, known.iter().copied());
        source.report(&[block, name, "provider"], "unknown-provider", message, help);
    }
}

fn check_requirement(id: &str, requirement: &TemplateRequirementV1, template: &TemplateV1, source: &mut SourceFile) {
    check_blank(&["requirements", id, "title"], &requirement.title, "the title", source);
    check_blank(&["requirements", id, "description"], &requirement.description, "the description", source);
    for (language, query) in &requirement.queries {
        let path = ["requirements", id, "queries", language];
        if let Some((message, help)) = bad_language(language) {
            source.report_key(&path, "bad-language", message, Some(help));
        }
        check_blank(&path, query, "the query", source);
    }
    for (verdict, text) in &requirement.guidance {
        let path = ["requirements", id, "guidance", verdict];
        if Compliance::parse(verdict).is_none() {
            let names = Compliance::ALL.map(Compliance::as_str);
            let message = format!("unknown verdict `{verdict}`; expected one of {}", names.join(", "));
            let help = did_you_mean(verdict, names);
            source.report_key(&path, "unknown-verdict", message, help);
        }
        check_blank(&path, text, "the guidance", source);
    }
    for (i, sign) in requirement.signs.iter().enumerate() {
        let path = ["requirements".into(), id.into(), "signs".into(), i.into(), Segment::Key("about")];
        check_blank(&path, &sign.about, "what the sign is", source);
        for (j, _) in sign.any.iter().enumerate().filter(|(_, words)| words.trim().is_empty()) {
            // A blank list item is not a substitute: the schema allows it.
            let path = ["requirements".into(), id.into(), "signs".into(), i.into(), "any".into(), Segment::Index(j)];
            source.report(&path, "blank", "the words to look for are blank", None);
        }
    }
    // An answer to a question that is never asked has no effect, so the requirement would always apply.
    for question in requirement.applies_when.keys().filter(|question| template.questions.get(question).is_none()) {
        let message = format!("there is no question `{question}` in this template");
        let known: Vec<&str> = template.questions.names().collect();
        let help =
            did_you_mean(question, known.iter().copied()).unwrap_or_else(|| "state it under `questions`".to_owned());
        source.report_key(&["requirements", id, "applies_when", question], "unknown-question", message, Some(help));
    }
}

/// Reports blank text; empty text is rejected by the schema.
fn check_blank<'p, S: Into<Segment<'p>> + Copy>(path: &[S], text: &str, what: &str, source: &mut SourceFile) {
    let last = path.last().map(|step| (*step).into());
    let empty_is_known = matches!(last, Some(Segment::Key("title" | "description" | "about")));
    if text.trim().is_empty() && !(text.is_empty() && empty_is_known) {
        source.report(path, "blank", format!("{what} is blank"), None);
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
