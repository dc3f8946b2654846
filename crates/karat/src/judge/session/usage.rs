//! Counts what judges did.

use super::{JudgeContext, JudgeEvent, no_answer};
use crate::failure::{Failure, Result};
use crate::judge::registry::Judge;
use crate::judge::template::TEMPLATES;
use karat_core::judgement::Judgement;
use karat_core::panel::{AGREEMENT_SEED, AuditField};
use karat_core::stats::agreement::{Rating, Ratings, measure};
use karat_core::wording::plural;
use karat_format::report::{AgreementV1, AnswerFormatV1, JudgeIdentityV1, JudgeSpentV1, JudgeV1, SamplingV1};
use karat_llm::adaptation::{Adaptation, AnswerFormat};
use karat_llm::engine::{Engine, EngineEvent, EngineStats};
use karat_llm::ledger::{Answer, Exchange, LedgerKey, sorted};
use karat_llm::prompt::Question;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The judgements of a session, and their cost.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SessionResult {
    /// All judgements that count: those given, then those made.
    pub judgements: Vec<Judgement>,
    /// The judgements of every judge that was asked, including each member of a panel.
    pub voices: Vec<Judgement>,
    pub judges: Vec<JudgeV1>,
    /// The cost of this session by judge that is a model.
    pub spent: BTreeMap<String, JudgeSpentV1>,
    pub notes: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct UsageTable {
    by_judge: BTreeMap<String, Usage>,
    pub(super) voices: Vec<Judgement>,
    agreement: Option<AgreementV1>,
    pub(super) notes: Vec<String>,
}

impl UsageTable {
    pub(super) fn for_judge(&mut self, judge: &Judge) -> &mut Usage {
        self.by_judge.entry(judge.name.to_string()).or_default()
    }

    pub(super) fn set_agreement(
        &mut self,
        members: &[Judge],
        on: Option<AuditField>,
        items: impl Iterator<Item = Vec<Rating>>,
    ) {
        let ratings = Ratings::new(items);
        let figures = measure(&ratings, &[], AGREEMENT_SEED);
        self.agreement = Some(AgreementV1 {
            judges: members.iter().map(|member| member.name.to_string()).collect(),
            on,
            n: ratings.pairable(),
            percent: figures.percent.value.ok(),
            fleiss: figures.fleiss.value.ok(),
            krippendorff: figures.nominal.value.ok(),
            krippendorff_ci: figures.nominal.interval.ok().map(|interval| [interval.low, interval.high]),
            ac1: figures.ac1.value.ok(),
        });
    }

    pub(super) fn require_answers(&self, judge: &Judge) -> Result<()> {
        let Some(usage) = self.by_judge.get(judge.name.as_str()) else { return Ok(()) };
        match &usage.first_failure {
            Some(why) if usage.unjudged == usage.asked && usage.asked > 0 => {
                let kept = usage.where_unreadable().map(|kept| format!("; {kept}")).unwrap_or_default();
                Err(no_answer(&judge.name, usage.asked, &format!("{why}{kept}")))
            }
            _ => Ok(()),
        }
    }

    /// The figures of the judge and of a panel's members, without judgements.
    pub(super) fn finish(mut self, judge: &Judge, saved: usize) -> SessionResult {
        let mut result = SessionResult { voices: self.voices, notes: self.notes, ..SessionResult::default() };
        for one in std::iter::once(judge).chain(judge.members().iter().filter(|member| member.name != judge.name)) {
            let usage = self.by_judge.remove(one.name.as_str()).unwrap_or_default();
            result.notes.extend(usage.notes(one));
            result.judges.push(usage.report(one));
            if let Some(EngineStats { cached, requests, tokens_in, tokens_out, usd, .. }) = usage.spent {
                // Equal questions share an answer, which the ledger did not save.
                let from_ledger = cached.saturating_sub(usage.equal as u64);
                let spent = JudgeSpentV1 { from_ledger, requests, tokens_in, tokens_out, usd };
                result.spent.insert(one.name.to_string(), spent);
            }
        }
        result.judges[0].saved = saved;
        result.judges[0].agreement = self.agreement;
        result
    }
}

#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) asked: usize,
    unjudged: usize,
    refused: usize,
    equal: usize,
    /// Exchanges by key, so that equal questions are counted once. They are summed in the order of keys: answers come in any
    /// order, and a sum of fractions depends on it.
    paid: BTreeMap<LedgerKey, Paid>,
    failures: BTreeMap<String, usize>,
    first_failure: Option<String>,
    /// Answers that could not be read, and where they are kept.
    unreadable: usize,
    ledger: Option<String>,
    /// Over all rounds, if it is a model.
    spent: Option<EngineStats>,
    /// How requests were adapted to the provider, and how many answers that gave.
    adapted: BTreeMap<Adaptation, usize>,
    /// The parameters that were sent, by their text.
    sent: BTreeMap<String, Map<String, Value>>,
    tokens_thinking: u64,
    /// The names of the templates of its questions.
    templates: BTreeSet<String>,
}

impl Usage {
    /// Asks a model and counts the exchanges; `receive` gets the index of each question and its exchange.
    pub(super) fn ask_model(
        &mut self,
        engine: &Engine,
        questions: impl IntoIterator<Item = Question>,
        context: &mut JudgeContext<'_>,
        receive: &mut dyn FnMut(usize, &Exchange),
    ) -> Result<()> {
        let report = &mut *context.report;
        let mut observe = |event: EngineEvent<'_>| match event {
            EngineEvent::Retrying(retry) => report(JudgeEvent::Retrying(retry)),
            EngineEvent::Settled { index, exchange } => {
                report(JudgeEvent::Settled { answered: exchange.answer.value().is_some() });
                self.count(&exchange);
                receive(index, &exchange);
            }
        };
        let stats = engine.ask(questions, context.ledger, context.cancel, &mut observe)?;
        self.ledger = context.ledger.place().filter(|_| engine.stores_answers());
        *self.spent.get_or_insert_default() += &stats;
        if context.cancel.is_cancelled() {
            let message = "stopped: what was answered is kept in the ledger, and the same command continues from there";
            return Err(Failure::failed(message));
        }
        Ok(())
    }

    fn count(&mut self, exchange: &Exchange) {
        match &exchange.answer {
            Answer::Given(_) => {}
            Answer::Missing { why, .. } => {
                self.unreadable += usize::from(exchange.answer.is_unreadable());
                self.fail(why);
            }
            Answer::Refused { why } => {
                self.refused += 1;
                self.fail(&format!("it refused to answer: {why}"));
            }
        }
        if !self.templates.contains(&exchange.template) {
            self.templates.insert(exchange.template.clone());
        }
        let Exchange { tokens_in, tokens_out, usd, .. } = *exchange;
        let paid = if exchange.is_final() { Paid { tokens_in, tokens_out, usd } } else { Paid::default() };
        if let Some(earlier) = self.paid.get_mut(&exchange.key) {
            self.equal += 1;
            if !exchange.cached {
                earlier.add(&paid);
            }
            return;
        }
        self.paid.insert(exchange.key.clone(), paid);
        for reply in &exchange.replies {
            self.tokens_thinking = self.tokens_thinking.saturating_add(reply.tokens_thinking);
            if let Some(Value::Object(sent)) = &reply.sent {
                self.sent.entry(sorted(&Value::Object(sent.clone())).to_string()).or_insert_with(|| sent.clone());
            }
        }
        if !exchange.replies.is_empty() {
            *self.adapted.entry(Adaptation::from_parameters(&exchange.provider.parameters)).or_default() += 1;
        }
    }

    pub(super) fn fail(&mut self, why: &str) {
        self.unjudged += 1;
        self.first_failure.get_or_insert_with(|| why.to_owned());
        *self.failures.entry(why.to_owned()).or_default() += 1;
    }

    fn report(&self, judge: &Judge) -> JudgeV1 {
        let add = |sum: u64, paid: &Paid| sum.saturating_add(paid.tokens_in).saturating_add(paid.tokens_out);
        let usd = judge.engine().and_then(Engine::prices).map(|prices| {
            let usd = |paid: &Paid| paid.usd.unwrap_or_else(|| prices.cost(paid.tokens_in, paid.tokens_out));
            self.paid.values().map(usd).sum()
        });
        JudgeV1 {
            judge: judge.name.to_string(),
            asked: self.asked,
            cached: self.equal,
            unjudged: self.unjudged,
            refused: self.refused,
            tokens: self.paid.values().fold(0, add),
            usd,
            sampling: self.sampling(),
            refused_parameters: self.refused_parameters(),
            sent: self.sent.values().cloned().collect(),
            tokens_thinking: usize::try_from(self.tokens_thinking).unwrap_or(usize::MAX),
            answer_format: self.adapted.keys().map(|adapted| adapted.answer_format).max().and_then(answer_format),
            identity: Some(self.identity(judge)),
            ..JudgeV1::default()
        }
    }

    fn identity(&self, judge: &Judge) -> JudgeIdentityV1 {
        let prompt = |name: &String| match TEMPLATES.iter().find(|template| template.name == name) {
            Some(template) => format!("{name} {:.8}", template.hash()),
            None => name.clone(),
        };
        JudgeIdentityV1 { prompts: self.templates.iter().map(prompt).collect(), ..judge.stated_identity() }
    }

    fn sampling(&self) -> Option<SamplingV1> {
        match self.adapted.keys().filter(|adapted| adapted.samples_by_default()).count() {
            0 => None,
            n if n == self.adapted.len() => Some(SamplingV1::ProviderDefault),
            _ => Some(SamplingV1::Mixed),
        }
    }

    fn refused_parameters(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.adapted.keys().flat_map(|adapted| &adapted.dropped).collect();
        all.into_iter().cloned().collect()
    }

    /// Where the answers are that could not be read, and what becomes of them.
    fn where_unreadable(&self) -> Option<String> {
        let ledger = self.ledger.as_ref().filter(|_| self.unreadable > 0)?;
        let are = plural(self.unreadable, "answer that could not be read is", "answers that could not be read are");
        Some(format!("{are} in the ledger of {ledger}; the same command asks again"))
    }

    /// The most common reasons for missing decisions, and what was not asked as configured.
    fn notes(&self, judge: &Judge) -> Vec<String> {
        const MOST: usize = 3;
        let name = &judge.name;
        let mut reasons: Vec<(&String, &usize)> = self.failures.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let mut notes: Vec<String> = Vec::new();
        for (why, n) in reasons.into_iter().take(MOST) {
            notes.push(format!("{name}: {n} of {} questions are unjudged and count as no match: {why}", self.asked));
        }
        notes.extend(self.where_unreadable().map(|kept| format!("{name}: {kept}")));
        let refused: Vec<String> = self.refused_parameters().iter().map(|name| format!("`{name}`")).collect();
        if !refused.is_empty() {
            let adapted = self.adapted.iter().filter(|(adapted, _)| !adapted.dropped.is_empty());
            let without: usize = adapted.map(|(_, n)| n).sum();
            let sampling = match self.sampling() {
                Some(_) => "; sampling was the provider's default, so that asking again may give other answers",
                None => "",
            };
            let refused = refused.join(", ");
            notes.push(format!("{name}: the model refuses {refused}, and gave {without} answers without{sampling}"));
        }
        if let Some(stats) = self.spent.as_ref().filter(|stats| stats.sent_before > 0) {
            let questions = plural(stats.sent_before as usize, "question was", "questions were");
            notes.push(format!("{name}: {questions} in flight when the last run stopped and may have been paid twice"));
        }
        notes
    }
}

#[derive(Debug, Default)]
struct Paid {
    tokens_in: u64,
    tokens_out: u64,
    usd: Option<f64>,
}

impl Paid {
    fn add(&mut self, other: &Self) {
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
        if let Some(usd) = other.usd {
            *self.usd.get_or_insert_default() += usd;
        }
    }
}

fn answer_format(format: AnswerFormat) -> Option<AnswerFormatV1> {
    match format {
        AnswerFormat::Schema | AnswerFormat::Tool => None,
        AnswerFormat::JsonObject => Some(AnswerFormatV1::JsonObject),
        AnswerFormat::Text => Some(AnswerFormatV1::Text),
    }
}
