//! A panelists of one judge or several, and what several come to.

use super::members::{by_model, by_people, by_weights, judgement};
use super::usage::UsageTable;
use super::{AskError, JudgeContext, JudgeEvent};
use crate::judge::registry::{Judge, Kind};
use karat_core::judgement::{Decision, Judgement, PairDecision, UnjudgedPair};
use karat_core::panel::{PanelDecision, Vote, settle_pairs};
use karat_core::scorecard::Question;
use karat_core::stats::agreement::{Rating, Ratings, measure};
use karat_format::report::AgreementV1;
use std::collections::{BTreeMap, BTreeSet};

/// A pair, by case, tool, trial, golden and finding.
type Pair = (String, String, u32, String, String);

/// Those who answer, with everything that several of them have said so far.
pub(super) struct Panelists<'a> {
    judge: &'a Judge,
    votes: BTreeMap<Pair, Vec<Vote>>,
    /// What the panel made of each pair when it was last asked for.
    told: BTreeMap<Pair, Option<bool>>,
    note: Option<String>,
}

impl<'a> Panelists<'a> {
    pub(super) fn new(judge: &'a Judge) -> Self {
        Self { judge, votes: BTreeMap::new(), told: BTreeMap::new(), note: None }
    }

    /// A judgement for each question; some of them say that there is none.
    pub(super) fn answer(
        &mut self,
        questions: &[Question<'_>],
        context: &mut JudgeContext<'_>,
        usage_table: &mut UsageTable,
    ) -> Result<Vec<Judgement>, AskError> {
        let Kind::Panel(panel) = &self.judge.kind else {
            let answers = one(self.judge, questions, context, usage_table)?;
            usage_table.keep(&answers);
            return Ok(answers);
        };
        let is_new = |question: &&Question<'_>| !self.votes.contains_key(&pair(question));
        let new: Vec<Question<'_>> = questions.iter().filter(is_new).copied().collect();
        let keys: BTreeSet<Pair> = new.iter().map(pair).collect();
        usage_table.page(self.judge).asked += new.len();
        self.votes.extend(keys.iter().map(|key| (key.clone(), Vec::new())));
        for (number, member) in panel.members.iter().enumerate() {
            let answers = one(member, &new, context, usage_table)?;
            for answer in &answers {
                if let Decision::Pair(PairDecision { golden: Some(golden), finding, matched, confidence, .. }) =
                    &answer.decision
                {
                    let place = (answer.case.to_string(), answer.tool.to_string(), answer.trial);
                    let key = (place.0, place.1, place.2, golden.to_string(), finding.to_string());
                    let vote = Vote { judge: number, matched: *matched, confidence: *confidence };
                    self.votes.entry(key).or_default().push(vote);
                }
            }
            usage_table.keep(&answers);
        }
        let rulings = self.rule();
        usage_table.agree(self.agreement());
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let key = pair(question);
            let ruling = rulings.get(&key).copied().flatten();
            if ruling.is_none() && keys.contains(&key) {
                usage_table.page(self.judge).fail(DIVIDED);
            }
            self.told.insert(key, ruling.map(|ruling| ruling.matched));
            answers.push(self.ruled(question, ruling));
        }
        Ok(answers)
    }

    /// Nothing counts as told any more: all questions are put once more.
    pub(super) fn begin(&mut self) {
        self.told.clear();
    }

    /// Whether everything that was told still holds after all that was said since.
    pub(super) fn is_settled(&mut self) -> bool {
        let rulings = self.rule();
        let now = |key: &Pair| rulings.get(key).copied().flatten().map(|ruling| ruling.matched);
        self.told.iter().all(|(key, then)| *then == now(key))
    }

    /// What a panel makes of these pairs after all that was said; nothing where a single judge was asked.
    pub(super) fn settled(&mut self, questions: &[Question<'_>]) -> Option<Vec<Judgement>> {
        if !matches!(self.judge.kind, Kind::Panel(_)) {
            return None;
        }
        let rulings = self.rule();
        Some(questions.iter().map(|q| self.ruled(q, rulings.get(&pair(q)).copied().flatten())).collect())
    }

    /// What a reader should know of how it was decided.
    pub(super) fn note(&self) -> Option<String> {
        self.note.as_ref().map(|note| format!("{}: {note}", self.judge.name))
    }

    fn rule(&mut self) -> BTreeMap<Pair, Option<PanelDecision>> {
        let Kind::Panel(panel) = &self.judge.kind else { return BTreeMap::new() };
        let votes: Vec<Vec<Vote>> = self.votes.values().cloned().collect();
        let rulings = settle_pairs(&votes, panel.consensus);
        self.note = rulings.note;
        self.votes.keys().cloned().zip(rulings.items).collect()
    }

    fn ruled(&self, question: &Question<'_>, ruling: Option<PanelDecision>) -> Judgement {
        let (golden, finding) = (question.golden.id.clone(), question.finding.id.clone());
        let decision = match ruling {
            None => Decision::Unjudged(UnjudgedPair { golden, finding, why: DIVIDED.to_owned() }),
            Some(ruling) => Decision::Pair(PairDecision {
                probability: None,
                golden: Some(golden),
                finding,
                matched: ruling.matched,
                partial: None,
                confidence: Some(ruling.confidence),
                explanation: Some(self.voices(question)),
            }),
        };
        judgement(question, &self.judge.name, None, decision)
    }

    /// Who said what.
    fn voices(&self, question: &Question<'_>) -> String {
        let Kind::Panel(panel) = &self.judge.kind else { return String::new() };
        let votes = self.votes.get(&pair(question)).map_or(&[][..], Vec::as_slice);
        let said = panel.members.iter().enumerate().map(|(number, member)| {
            let word = match votes.iter().find(|vote| vote.judge == number) {
                Some(vote) if vote.matched => "yes",
                Some(_) => "no",
                None => "no answer",
            };
            format!("{}: {word}", member.name)
        });
        said.collect::<Vec<_>>().join(", ")
    }

    fn agreement(&self) -> AgreementV1 {
        let Kind::Panel(panel) = &self.judge.kind else { return agreement(Vec::new(), Vec::new()) };
        let items = self.votes.values().map(|votes| {
            let rating = |vote: &Vote| Rating { rater: vote.judge, category: usize::from(vote.matched) };
            votes.iter().map(rating).collect()
        });
        agreement(panel.members.iter().map(|member| member.name.to_string()).collect(), items.collect())
    }
}

/// Nobody answered, or the voices are even.
pub(super) const DIVIDED: &str = "the panel came to no decision";

/// How far judges agree who rated these items.
pub(super) fn agreement(judges: Vec<String>, items: Vec<Vec<Rating>>) -> AgreementV1 {
    let ratings = Ratings::new(items);
    // The seed is fixed, as the same votes must give the same figures.
    let figures = measure(&ratings, &[], 0);
    AgreementV1 {
        judges,
        n: ratings.pairable(),
        percent: figures.percent.value.ok(),
        fleiss: figures.fleiss.value.ok(),
        krippendorff: figures.nominal.value.ok(),
        krippendorff_ci: figures.nominal.interval.ok().map(|interval| [interval.low, interval.high]),
        ac1: figures.ac1.value.ok(),
    }
}

/// What a single judge says.
fn one(
    judge: &Judge,
    questions: &[Question<'_>],
    context: &mut JudgeContext<'_>,
    usage_table: &mut UsageTable,
) -> Result<Vec<Judgement>, AskError> {
    let page = usage_table.page(judge);
    page.asked += questions.len();
    match &judge.kind {
        Kind::Local(local) => {
            let answers = by_weights(local, &judge.name, questions);
            questions.iter().for_each(|_| (context.tell)(JudgeEvent::Settled { answered: true }));
            Ok(answers)
        }
        Kind::Model(engine) => by_model(engine, &judge.name, questions, context, page),
        Kind::People => Ok(by_people(&judge.name, questions, context.labels, page)),
        // The registry makes no panels of panels.
        Kind::Panel(_) => Ok(Vec::new()),
    }
}

fn pair(question: &Question<'_>) -> Pair {
    let trial = question.trial;
    (
        trial.case.to_string(),
        trial.tool.to_string(),
        trial.number,
        question.golden.id.to_string(),
        question.finding.id.to_string(),
    )
}
