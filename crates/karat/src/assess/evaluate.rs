//! Assessors put to what was found: each sees the same parts, and none sees what is right.

use super::Template;
use super::assessor::model::{Desk, Model, Told};
use super::assessor::{Assessed, BASELINE, Known, Matter, Shown, Unanswered, baseline};
use super::event::{About, AssessEvent, Named};
use super::search::{Looked, Sought};
use crate::document::suggest::nearest;
use crate::format::assessment::{CutV1, StepV1};
use crate::format::judge::JudgeConfigV1;
use crate::judge::engine::{EngineError, Tally};
use crate::judge::ledger::{CacheMode, Ledger};
use crate::judge::provider::{ProviderError, Surroundings};
use crate::judge::providers::PROVIDERS;
use crate::judge::template::assess::{COMPLIANCE, RELEVANCE};
use crate::retrieval::cut::truncate_at_whitespace;
use crate::sandbox::Cancel;
use karat_core::assessment::record::GoldenRecord;
use std::path::PathBuf;

/// So many characters of a part are shown where a template says nothing else.
const LONGEST_PART: usize = 6_000;

/// Somebody who assesses.
pub struct Evaluation {
    /// What they are called.
    pub name: String,
    kind: Kind,
}

enum Kind {
    /// The rules of the templates.
    Rules,
    /// A model for each template that describes it; those that describe the very same share one.
    Models(Vec<Described>),
}

struct Described {
    /// The files of the templates.
    templates: Vec<String>,
    config: JudgeConfigV1,
    /// What a file that it names is relative to; nothing where it names none.
    folder: Option<PathBuf>,
    model: Model,
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// No such assessor.
    #[error("there is no model `{name}` in {template}: {hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        template: String,
        /// What was probably meant.
        hint: String,
    },
    /// The provider cannot be opened.
    #[error("the model `{name}`: {source}")]
    Provider {
        /// What was asked for.
        name: String,
        /// What is wrong.
        source: ProviderError,
    },
    /// Something must be set first.
    #[error("the model `{name}` cannot be asked: {why}")]
    NotReady {
        /// What was asked for.
        name: String,
        /// What is missing.
        why: String,
    },
    /// One is named twice.
    #[error("`{name}` is named twice; once is enough")]
    Twice {
        /// Which.
        name: String,
    },
}

/// From a name to somebody who assesses: `baseline`, an endpoint of the template, or PROVIDER/MODEL.
pub fn open(
    name: &str,
    templates: &[&Template],
    variable: &dyn Fn(&str) -> Option<String>,
    cache: CacheMode,
) -> Result<Evaluation, EvaluationError> {
    if name == BASELINE {
        return Ok(Evaluation { name: name.to_owned(), kind: Kind::Rules });
    }
    let mut described: Vec<Described> = Vec::new();
    for template in templates {
        let config = described_by(name, template)?;
        let folder = template.folder.disk_path("").unwrap_or_default();
        let files = config.file.as_ref().map(|_| folder.clone());
        if let Some(same) = described.iter_mut().find(|own| own.config == config && own.folder == files) {
            same.templates.push(template.shown());
            continue;
        }
        let around = Surroundings { variable, folder: &folder };
        let wrong = |source| EvaluationError::Provider { name: name.to_owned(), source };
        let model = Model::open(name, &config, &around, cache).map_err(wrong)?;
        if let Some(why) = model.lacks().filter(|_| cache != CacheMode::Only) {
            return Err(EvaluationError::NotReady { name: name.to_owned(), why: why.to_owned() });
        }
        described.push(Described { templates: vec![template.shown()], config, folder: files, model });
    }
    Ok(Evaluation { name: name.to_owned(), kind: Kind::Models(described) })
}

fn described_by(name: &str, template: &Template) -> Result<JudgeConfigV1, EvaluationError> {
    let endpoints = &template.config.llm_endpoints;
    let (provider, model) = name.split_once('/').map_or((name, None), |(provider, model)| (provider, Some(model)));
    // A provider goes by its own name, whatever a template calls so: who names it means its own address.
    if PROVIDERS.iter().any(|entry| entry.name == provider && entry.reads_prompts()) {
        let model = model.map(ToOwned::to_owned);
        return Ok(JudgeConfigV1 { provider: provider.to_owned(), model, ..JudgeConfigV1::default() });
    }
    if let Some(config) = endpoints.get(name) {
        return Ok(config.clone());
    }
    let known: Vec<&str> = endpoints.keys().map(String::as_str).chain([BASELINE]).collect();
    let hint = nearest(name, known.iter().copied()).map_or_else(
        || format!("there are {}, and PROVIDER/MODEL", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(EvaluationError::Unknown { name: name.to_owned(), template: template.shown(), hint })
}

/// What came of asking somebody about everything.
pub struct Evaluated {
    /// By bundle, then by requirement.
    pub assessed: Vec<Vec<Assessed>>,
    /// What it took; nothing where nobody was asked.
    pub tally: Option<Tally>,
    /// What was cut of parts, and shown without it.
    pub cut: CutV1,
    /// Why it could not be asked any more, where that is so.
    pub failed: Option<String>,
}

/// Where assessors are asked.
pub struct Office<'a> {
    /// What was answered before.
    pub ledger: &'a mut dyn Ledger,
    /// A wish to stop.
    pub cancel: &'a Cancel,
    /// Who hears how it goes.
    pub tell: &'a mut dyn FnMut(AssessEvent<'_>),
}

impl Evaluation {
    /// The provider and the model; `rules` where nobody is asked.
    pub fn who(&self) -> (&str, &str) {
        match &self.kind {
            Kind::Rules => ("rules", ""),
            Kind::Models(described) => described.first().map_or(("", ""), |own| {
                let id = own.model.id();
                (&id.provider, &id.model)
            }),
        }
    }

    /// The prompts it is asked with.
    pub fn prompts(&self) -> Vec<String> {
        match &self.kind {
            Kind::Rules => Vec::new(),
            Kind::Models(_) => [&RELEVANCE, &COMPLIANCE].map(|template| template.name.to_owned()).to_vec(),
        }
    }

    /// Whether a model is asked, so that exchanges come about.
    pub fn asks_models(&self) -> bool {
        matches!(self.kind, Kind::Models(_))
    }

    /// Asks about everything that was found. A model that cannot be asked leaves the rest unanswered and takes nothing from the
    /// others; only a ledger that fails, or that lacks what it should have, is an error.
    pub fn assess(&self, looked: &[Looked<'_>], office: &mut Office<'_>) -> Result<Evaluated, EngineError> {
        let mut done =
            Evaluated { assessed: vec![Vec::new(); looked.len()], tally: None, cut: CutV1::default(), failed: None };
        match &self.kind {
            Kind::Rules => {
                for (at, bundle) in looked.iter().enumerate() {
                    let words = |text: &str| bundle.corpus.analysis.words(text);
                    for sought in &bundle.sought {
                        // Rules read on to the end of a part.
                        let matter = matter(bundle, sought, usize::MAX, &mut CutV1::default());
                        done.assessed[at].push(Ok(baseline::assess(&matter, &sought.query, &words)));
                    }
                }
            }
            Kind::Models(described) => {
                for one in described {
                    self.ask(one, looked, office, &mut done)?;
                }
            }
        }
        for (bundle, assessed) in looked.iter().zip(&done.assessed) {
            for (sought, assessed) in bundle.sought.iter().zip(assessed) {
                let about = about(bundle, sought);
                (office.tell)(AssessEvent::Assessed { model: &self.name, about, assessed });
            }
        }
        Ok(done)
    }

    /// Asks one model about all bundles of its templates at once.
    fn ask(
        &self,
        one: &Described,
        looked: &[Looked<'_>],
        office: &mut Office<'_>,
        done: &mut Evaluated,
    ) -> Result<(), EngineError> {
        let own = |bundle: &Looked<'_>| one.templates.contains(&bundle.corpus.bundle.template.shown());
        let (mut matters, mut places) = (Vec::new(), Vec::new());
        for (at, bundle) in looked.iter().enumerate().filter(|(_, bundle)| own(bundle)) {
            let most = bundle.corpus.bundle.template.config.max_part_chars.map_or(LONGEST_PART, |most| most as usize);
            for (nth, sought) in bundle.sought.iter().enumerate() {
                matters.push(matter(bundle, sought, most, &mut done.cut));
                places.push((at, nth));
            }
        }
        let name = self.name.as_str();
        let tell = &mut *office.tell;
        let mut hear = |told: Told<'_>| match told {
            Told::Round(questions) => tell(AssessEvent::Round { model: name, questions }),
            Told::Retrying { wait, why } => tell(AssessEvent::Retrying { model: name, wait, why }),
            Told::Settled(call) => {
                let (at, nth) = places[call.matter];
                let about = about(&looked[at], &looked[at].sought[nth]);
                tell(AssessEvent::Settled { model: name, about, call });
            }
        };
        let mut desk = Desk { ledger: office.ledger, cancel: office.cancel, tell: &mut hear };
        let assessed = match one.model.assess(&matters, &mut desk) {
            Ok((assessed, tally)) => {
                match &mut done.tally {
                    Some(sum) => *sum += &tally,
                    None => done.tally = Some(tally),
                }
                assessed
            }
            Err(EngineError::Provider { why, .. }) => {
                (office.tell)(AssessEvent::ModelFailed { model: name, why: &why });
                done.failed = Some(why.clone());
                let none = Unanswered { step: StepV1::Relevance, kind: "unreachable", why };
                vec![Err(none); matters.len()]
            }
            Err(other) => return Err(other),
        };
        for ((at, _), assessed) in places.into_iter().zip(assessed) {
            done.assessed[at].push(assessed);
        }
        Ok(())
    }
}

fn about<'a>(bundle: &'a Looked<'_>, sought: &'a Sought<'_>) -> About<'a> {
    let own = bundle.corpus.bundle;
    let named = Named { bundle_id: &own.record.bundle, template_id: &own.template.id };
    About { bundle: named, requirement_id: sought.requirement.id.as_str() }
}

/// A requirement as an assessor sees it: nothing of what the record holds to be right is in it.
fn matter<'a>(bundle: &'a Looked<'_>, sought: &'a Sought<'_>, most: usize, cut: &mut CutV1) -> Matter<'a> {
    let mut shown = |hit: &crate::retrieval::Hit| {
        let part = &bundle.corpus.parts[hit.part];
        let (text, lost) = truncate_at_whitespace(&part.section.body, most);
        cut.texts += usize::from(lost > 0);
        cut.characters += lost;
        Shown { document: part.document.to_owned(), heading: part.full_heading(), text: text.to_owned() }
    };
    let GoldenRecord { bundle: id, question_answers, .. } = &bundle.corpus.bundle.record;
    let words = &bundle.corpus.bundle.template.config.questions;
    let known = |given: &'a karat_core::assessment::record::QuestionAnswer| Known {
        question: &given.question,
        words: words.get(&given.question).map_or("", String::as_str),
        answer: &given.answer,
    };
    Matter {
        id: format!("{id}/{}", sought.requirement.id),
        requirement: sought.stated,
        answers: question_answers.iter().map(known).collect(),
        parts: sought.hits.iter().map(&mut shown).collect(),
    }
}
