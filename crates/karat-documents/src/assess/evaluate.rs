//! Runs assessors on the retrieved parts. All assessors see the same parts, and none sees the expected answers.

use super::assessor::model::{COMPLIANCE, EvaluationContext, Model, RELEVANCE};
use super::assessor::{Assessed, BASELINE, GivenAnswer, RequirementInput, ShownPart, baseline};
use super::bundle::RequirementRef;
use super::search::{RequirementSearch, SearchedBundle};
use super::{AssessEvent, Template};
use crate::retrieval::cut::truncate_at_whitespace;
use crate::{DocumentError, Result};
use karat_core::assessment::record::GoldenRecord;
use karat_format::assessment::{CutV1, StepV1, UnansweredV1};
use karat_format::document::suggest::did_you_mean;
use karat_format::judge::JudgeConfigV1;
use karat_llm::engine::{Engine, EngineError, EngineOptions, EngineStats};
use karat_llm::http::Endpoint;
use karat_llm::ledger::CacheMode;
use karat_llm::provider::{ProviderEnv, ProviderError};
use karat_llm::providers::{self, PROVIDERS};

/// Default for the characters of a part that are shown.
const LONGEST_PART: usize = 6_000;

pub struct Assessor {
    pub name: String,
    /// One model per distinct description; `None` for the baseline.
    models: Option<Vec<Model>>,
}

/// Opens an assessor by name: `baseline`, an endpoint of the template, or PROVIDER/MODEL. No connection is made yet.
pub fn open(
    name: &str,
    templates: &[&Template],
    variable: &dyn Fn(&str) -> Option<String>,
    cache: CacheMode,
) -> Result<Assessor> {
    if name == BASELINE {
        return Ok(Assessor { name: name.to_owned(), models: None });
    }
    let mut models: Vec<Model> = Vec::new();
    for template in templates {
        let config = described_by(name, template)?;
        let folder = template.folder.disk_path("").unwrap_or_default();
        let files = config.file.as_ref().map(|_| folder.clone());
        if let Some(same) = models.iter_mut().find(|own| own.config == config && own.folder == files) {
            same.templates.push(template.display_path());
            continue;
        }
        let env = ProviderEnv { variable, folder: &folder };
        let wrong = |error: ProviderError| DocumentError::BadInput(format!("the model `{name}`: {error}"));
        let provider = providers::open(&config, &env).map_err(wrong)?;
        let options = EngineOptions::for_provider(&config, cache, &*provider).map_err(wrong)?;
        if let Some(why) = provider.endpoint().and_then(Endpoint::missing_setup).filter(|_| cache != CacheMode::Only) {
            return Err(DocumentError::Failed(format!("the model `{name}` cannot be asked: {why}")));
        }
        let (engine, templates) = (Engine::new(provider, options).shared(), vec![template.display_path()]);
        models.push(Model { name: name.to_owned(), config, folder: files, templates, engine });
    }
    Ok(Assessor { name: name.to_owned(), models: Some(models) })
}

fn described_by(name: &str, template: &Template) -> Result<JudgeConfigV1> {
    let endpoints = &template.config.llm_endpoints;
    let (provider, model) = name.split_once('/').map_or((name, None), |(provider, model)| (provider, Some(model)));
    // Provider names take precedence over endpoints of the same name: the user means the provider's own address.
    if PROVIDERS.iter().any(|entry| entry.name == provider && entry.reads_prompts()) {
        let model = model.map(ToOwned::to_owned);
        return Ok(JudgeConfigV1 { provider: provider.to_owned(), model, ..JudgeConfigV1::default() });
    }
    if let Some(config) = endpoints.get(name) {
        return Ok(config.clone());
    }
    let known: Vec<&str> = endpoints.keys().map(String::as_str).chain([BASELINE]).collect();
    let hint = did_you_mean(name, known.iter().copied())
        .unwrap_or_else(|| format!("there are {}, and PROVIDER/MODEL", known.join(", ")));
    let template = template.display_path();
    Err(DocumentError::Usage(format!("there is no model `{name}` in {template}: {hint}")))
}

/// The answers of an assessor.
pub struct EvaluationResult<'a> {
    pub assessor: &'a Assessor,
    pub assessed: Vec<Vec<Assessed>>,
    /// `None` if no model was asked.
    pub tally: Option<EngineStats>,
    /// What was truncated of the parts shown.
    pub cut: CutV1,
    /// Why the model could not be asked any further.
    pub failed: Option<String>,
}

impl Assessor {
    /// Provider and model; `rules` for the baseline.
    pub fn provider_and_model(&self) -> (&str, &str) {
        let Some(models) = &self.models else { return ("rules", "") };
        let id = models.first().map(|model| model.engine.provider().id());
        id.map_or(("", ""), |id| (&id.provider, &id.model))
    }

    /// Whether a model answers, and not rules.
    pub fn asks_model(&self) -> bool {
        self.models.is_some()
    }

    pub fn prompts(&self) -> Vec<String> {
        let templates = self.models.iter().flat_map(|_| [&RELEVANCE, &COMPLIANCE]);
        templates.map(|template| template.name.to_owned()).collect()
    }

    /// Only a failed ledger, or a missing exchange when replaying, is an error; other failures leave requirements unanswered.
    pub fn assess(
        &self,
        bundles: &[SearchedBundle<'_>],
        context: &mut EvaluationContext<'_>,
    ) -> Result<EvaluationResult<'_>, EngineError> {
        let assessed = vec![Vec::new(); bundles.len()];
        let mut done = EvaluationResult { assessor: self, assessed, tally: None, cut: CutV1::default(), failed: None };
        match &self.models {
            None => {
                for (at, bundle) in bundles.iter().enumerate() {
                    let words = |text: &str| bundle.analysis.words(text);
                    for search in &bundle.requirements {
                        // Rules read the whole part.
                        let input = requirement_input(bundle, search, usize::MAX, &mut CutV1::default());
                        done.assessed[at].push(Ok(baseline::assess(&input, &search.query, &words)));
                    }
                }
            }
            Some(models) => models.iter().try_for_each(|model| ask(model, bundles, context, &mut done))?,
        }
        for (bundle, assessed) in bundles.iter().zip(&done.assessed) {
            for (search, assessed) in bundle.requirements.iter().zip(assessed) {
                let about = about(bundle, search);
                (context.observer)(AssessEvent::Assessed { model: &self.name, about, assessed });
            }
        }
        Ok(done)
    }
}

fn ask(
    model: &Model,
    bundles: &[SearchedBundle<'_>],
    context: &mut EvaluationContext<'_>,
    done: &mut EvaluationResult<'_>,
) -> Result<(), EngineError> {
    let own = |bundle: &SearchedBundle<'_>| model.templates.contains(&bundle.bundle.template.display_path());
    let mut inputs = Vec::new();
    let mut bundle_of_input = Vec::new();
    for (at, bundle) in bundles.iter().enumerate().filter(|(_, bundle)| own(bundle)) {
        let most = bundle.bundle.template.config.max_part_chars.map_or(LONGEST_PART, |most| most as usize);
        for search in &bundle.requirements {
            inputs.push(requirement_input(bundle, search, most, &mut done.cut));
            bundle_of_input.push(at);
        }
    }
    let assessed = match model.assess(&inputs, context) {
        Ok((assessed, tally)) => {
            *done.tally.get_or_insert_default() += &tally;
            assessed
        }
        Err(EngineError::Provider { why, .. }) => {
            (context.observer)(AssessEvent::ModelFailed { model: &model.name, why: &why });
            done.failed = Some(why.clone());
            let none = UnansweredV1 { step: StepV1::Relevance, kind: "unreachable".to_owned(), why };
            vec![Err(none); inputs.len()]
        }
        Err(other) => return Err(other),
    };
    for (at, assessed) in bundle_of_input.into_iter().zip(assessed) {
        done.assessed[at].push(assessed);
    }
    Ok(())
}

fn about<'a>(bundle: &'a SearchedBundle<'_>, search: &'a RequirementSearch<'_>) -> RequirementRef<'a> {
    let own = bundle.bundle;
    let requirement_id = search.requirement.id.as_str();
    RequirementRef { bundle_id: &own.record.bundle, template_id: &own.template.id, requirement_id }
}

/// A requirement as given to an assessor, without anything of the record's expected answers.
fn requirement_input<'a>(
    bundle: &'a SearchedBundle<'_>,
    search: &'a RequirementSearch<'_>,
    most: usize,
    cut: &mut CutV1,
) -> RequirementInput<'a> {
    let mut shown = |hit: &crate::retrieval::Hit| {
        let part = &bundle.parts[hit.part];
        let (text, lost) = truncate_at_whitespace(&part.section.body, most);
        cut.count(lost);
        ShownPart { document: part.document.to_owned(), heading: part.full_heading(), text: text.to_owned() }
    };
    let GoldenRecord { question_answers, .. } = &bundle.bundle.record;
    let words = &bundle.bundle.template.config.questions;
    let known = |given: &'a karat_core::assessment::record::QuestionAnswer| GivenAnswer {
        question: &given.question,
        words: words.get(&given.question).map_or("", String::as_str),
        answer: &given.answer,
    };
    RequirementInput {
        about: about(bundle, search),
        requirement: search.stated,
        answers: question_answers.iter().map(known).collect(),
        parts: search.hits.iter().map(&mut shown).collect(),
    }
}
