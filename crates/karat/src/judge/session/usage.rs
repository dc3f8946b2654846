//! What judges did, counted.

use super::{AskError, SessionResult};
use crate::judge::registry::{Judge, Kind};
use karat_core::judgement::Judgement;
use karat_core::wording::plural;
use karat_format::report::{AgreementV1, AnswerFormatV1, JudgeSpentV1, JudgeV1, SamplingV1};
use karat_llm::adaptation::{AdaptationRecord, AnswerFormat};
use karat_llm::engine::EngineStats;
use karat_llm::ledger::{Exchange, ExchangeOutcome, LedgerKey};
use std::collections::{BTreeMap, BTreeSet};

/// The usage_table of one asking: a page for each judge, by name.
#[derive(Debug, Default)]
pub(super) struct UsageTable {
    pages: BTreeMap<String, Usage>,
    voices: Vec<Judgement>,
    agreement: Option<AgreementV1>,
    notes: Vec<String>,
}

impl UsageTable {
    /// The page of a judge.
    pub(super) fn page(&mut self, judge: &Judge) -> &mut Usage {
        self.pages.entry(judge.name.to_string()).or_default()
    }

    /// Keeps what a judge said for itself.
    pub(super) fn keep(&mut self, voices: &[Judgement]) {
        self.voices.extend_from_slice(voices);
    }

    /// How far the members of a panel agree.
    pub(super) fn agree(&mut self, agreement: AgreementV1) {
        self.agreement = Some(agreement);
    }

    /// Something that a reader of the report should know.
    pub(super) fn note(&mut self, note: Option<String>) {
        self.notes.extend(note);
    }

    /// A judge that answered nothing at all is no judge; people who have labelled nothing yet are told what to do instead.
    pub(super) fn refuse_silence(&self, judge: &Judge) -> Result<(), AskError> {
        let Some(page) = self.pages.get(judge.name.as_str()) else { return Ok(()) };
        match &page.first_failure {
            Some(why) if page.unjudged == page.asked && page.asked > 0 => {
                Err(AskError::NoAnswer { judge: judge.name.to_string(), questions: page.asked, why: why.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The figures of the judge and, where it is a panel, of its members; the judgements that count are left out.
    pub(super) fn close(mut self, judge: &Judge, saved: usize) -> SessionResult {
        let mut judges = Vec::new();
        let mut spent = BTreeMap::new();
        let mut notes = std::mem::take(&mut self.notes);
        let members = match &judge.kind {
            Kind::Panel(panel) => panel.members.as_slice(),
            _ => &[],
        };
        for (index, one) in std::iter::once(judge).chain(members).enumerate() {
            let page = self.pages.remove(one.name.as_str()).unwrap_or_default();
            notes.extend(page.notes(one));
            // Equal questions are answered once, by whomever, and are no merit of the ledger's.
            let from_ledger = |spent: &JudgeSpentV1| spent.from_ledger.saturating_sub(page.equal as u64);
            spent.extend(page.spent.iter().map(|spent| {
                (one.name.to_string(), JudgeSpentV1 { from_ledger: from_ledger(spent), ..spent.clone() })
            }));
            let agreement = self.agreement.clone().filter(|_| index == 0);
            judges.push(JudgeV1 { agreement, ..page.report(one, if index == 0 { saved } else { 0 }) });
        }
        SessionResult { judgements: Vec::new(), voices: self.voices, judges, spent, notes }
    }
}

/// What one judge did.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Questions that were put.
    pub(super) asked: usize,
    unjudged: usize,
    refused: usize,
    equal: usize,
    /// What was answered, so that equal questions are counted once, with the tokens and the cost of what the ledger keeps. It
    /// is added up in the order of keys: answers come in any order, and a sum of fractions depends on it.
    seen: BTreeMap<LedgerKey, Paid>,
    /// Questions that may have been paid twice.
    sent_before: u64,
    /// Why questions failed, and how often.
    failures: BTreeMap<String, usize>,
    first_failure: Option<String>,
    spent: Option<JudgeSpentV1>,
    /// How requests were adapted to what the provider takes, and how many answers came so.
    adapted: BTreeMap<AdaptationRecord, usize>,
}

impl Usage {
    /// Counts what came of a question to a model.
    pub(super) fn count(&mut self, exchange: &Exchange) {
        match &exchange.outcome {
            ExchangeOutcome::Decided(_) => {}
            ExchangeOutcome::Unjudged { why, .. } => self.fail(why),
            ExchangeOutcome::Refused { why } => {
                self.refused += 1;
                self.fail(&format!("it refused to answer: {why}"));
            }
        }
        let kept = exchange.is_final();
        let paid = Paid {
            tokens_in: if kept { exchange.tokens_in } else { 0 },
            tokens_out: if kept { exchange.tokens_out } else { 0 },
            usd: exchange.usd.filter(|_| kept),
        };
        if self.seen.insert(exchange.key.clone(), paid).is_some() {
            self.equal += 1;
            return;
        }
        if !exchange.replies.is_empty() {
            *self.adapted.entry(AdaptationRecord::from_parameters(&exchange.provider.parameters)).or_default() += 1;
        }
    }

    /// Counts a question without a decision.
    pub(super) fn fail(&mut self, why: &str) {
        self.unjudged += 1;
        self.first_failure.get_or_insert_with(|| why.to_owned());
        *self.failures.entry(why.to_owned()).or_default() += 1;
    }

    /// Counts what a round of requests took.
    pub(super) fn spend(&mut self, tally: &EngineStats) {
        let spent = self.spent.get_or_insert_with(JudgeSpentV1::default);
        self.sent_before += tally.sent_before;
        spent.from_ledger += tally.cached;
        spent.requests += tally.requests;
        spent.tokens_in = spent.tokens_in.saturating_add(tally.tokens_in);
        spent.tokens_out = spent.tokens_out.saturating_add(tally.tokens_out);
        if let Some(usd) = tally.usd {
            *spent.usd.get_or_insert(0.0) += usd;
        }
    }

    fn report(&self, judge: &Judge, saved: usize) -> JudgeV1 {
        JudgeV1 {
            judge: judge.name.to_string(),
            asked: self.asked,
            cached: self.equal,
            saved,
            unjudged: self.unjudged,
            refused: self.refused,
            beyond: 0,
            tokens: self
                .seen
                .values()
                .fold(0, |sum, paid| sum.saturating_add(paid.tokens_in).saturating_add(paid.tokens_out)),
            usd: judge.prices().map(|prices| {
                let usd = |paid: &Paid| paid.usd.unwrap_or_else(|| prices.cost(paid.tokens_in, paid.tokens_out));
                self.seen.values().map(usd).sum()
            }),
            sampling: self.sampling(),
            refused_parameters: self.refused_parameters(),
            answer_format: self.adapted.keys().map(|adapted| adapted.answer_format).max().and_then(answer_format),
            agreement: None,
            probe: None,
        }
    }

    fn sampling(&self) -> Option<SamplingV1> {
        let by_default = self.adapted.keys().filter(|adapted| adapted.samples_by_default()).count();
        match by_default {
            0 => None,
            n if n == self.adapted.len() => Some(SamplingV1::ProviderDefault),
            _ => Some(SamplingV1::Mixed),
        }
    }

    fn refused_parameters(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.adapted.keys().flat_map(|adapted| &adapted.dropped).collect();
        all.into_iter().cloned().collect()
    }

    /// What the provider refused, for people.
    fn adapted_note(&self, judge: &Judge) -> Option<String> {
        let refused: Vec<String> = self.refused_parameters().iter().map(|name| format!("`{name}`")).collect();
        if refused.is_empty() {
            return None;
        }
        let without: usize =
            self.adapted.iter().filter(|(adapted, _)| !adapted.dropped.is_empty()).map(|(_, n)| n).sum();
        let sampling = match self.sampling() {
            Some(_) => "; sampling was the provider's default, so that asking again may give other answers",
            None => "",
        };
        let refused = refused.join(", ");
        Some(format!("{}: the provider refused {refused}, and gave {without} answers without{sampling}", judge.name))
    }

    /// The commonest reasons why there is no decision, and what was not asked as configured.
    fn notes(&self, judge: &Judge) -> Vec<String> {
        const MOST: usize = 3;
        let mut reasons: Vec<(&String, &usize)> = self.failures.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let shown = |(why, n): &(&String, &usize)| {
            format!("{}: {n} of {} questions are unjudged and count as no match: {why}", judge.name, self.asked)
        };
        reasons.iter().take(MOST).map(shown).chain(self.adapted_note(judge)).chain(self.twice_note(judge)).collect()
    }

    /// What was sent before and never answered, for people.
    fn twice_note(&self, judge: &Judge) -> Option<String> {
        if self.sent_before == 0 {
            return None;
        }
        let questions = plural(self.sent_before as usize, "question was", "questions were");
        Some(format!("{}: {questions} in flight when the last run stopped and may have been paid twice", judge.name))
    }
}

/// What the ledger says that an exchange took.
#[derive(Debug)]
struct Paid {
    tokens_in: u64,
    tokens_out: u64,
    usd: Option<f64>,
}

fn answer_format(format: AnswerFormat) -> Option<AnswerFormatV1> {
    match format {
        AnswerFormat::Schema => None,
        AnswerFormat::JsonObject => Some(AnswerFormatV1::JsonObject),
        AnswerFormat::Text => Some(AnswerFormatV1::Text),
    }
}
