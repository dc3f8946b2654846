//! Answers questions about pairs: by a single judge, or by the votes of a panel.

use super::{JudgeEvent, JudgeSession, NO_DECISION, judgement};
use crate::failure::Result;
use crate::judge::code_context;
use crate::judge::registry::{Judge, JudgeKind, Panel};
use crate::judge::template::{PAIR_SWAPPED, pair_question};
use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Grounds, Judgement, PairDecision, UnjudgedPair};
use karat_core::local_judge::LocalJudge;
use karat_core::panel::{Consensus, PanelDecision, Vote, settle_pairs};
use karat_core::profile::Profile;
use karat_core::scorecard::{PairOrder, PairQuestion, run_judge_rounds};
use karat_core::stats::agreement::Rating;
use karat_core::trial::Trial;
use karat_llm::engine::Engine;
use karat_llm::ledger::{Answer, Exchange};
use karat_llm::prompt::Question;
use rayon::prelude::*;
use std::collections::BTreeMap;

type PairKey = (CaseId, ToolName, u32, GoldenId, FindingId);

fn question_key(question: &PairQuestion<'_>) -> PairKey {
    let PairQuestion { trial, golden, finding, .. } = question;
    (trial.case.clone(), trial.tool.clone(), trial.number, golden.id.clone(), finding.id.clone())
}

/// What a panel answers: the votes of its members, which scoring merges, or one decision. Votes that are weighed by what is
/// learnt from all pairs are always answered as decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PanelAnswer {
    Votes,
    Decision,
}

/// The pair that a judgement is about, decided or not.
fn answered_pair(judgement: &Judgement) -> Option<PairKey> {
    let (golden, finding) = match &judgement.decision {
        Decision::Pair(pair) => (pair.golden.clone()?, pair.finding.clone()),
        Decision::Unjudged(pair) => (pair.golden.clone(), pair.finding.clone()),
        Decision::Audit(_) | Decision::Extra(_) => return None,
    };
    Some((judgement.case.clone(), judgement.tool.clone(), judgement.trial, golden, finding))
}

fn decided_pair(judgement: &Judgement) -> Option<(PairKey, &PairDecision)> {
    let Decision::Pair(pair) = &judgement.decision else { return None };
    let Judgement { case, tool, trial, .. } = judgement;
    Some(((case.clone(), tool.clone(), *trial, pair.golden.clone()?, pair.finding.clone()), pair))
}

/// The votes of a panel, and what came of them.
#[derive(Default)]
pub(super) struct PanelVotes {
    by_pair: BTreeMap<PairKey, Vec<Vote>>,
    /// What the members answered, failures included.
    answers: BTreeMap<PairKey, Vec<Judgement>>,
    /// The decisions that the current rounds rely on.
    returned: BTreeMap<PairKey, Option<bool>>,
    note: Option<String>,
}

impl JudgeSession<'_, '_> {
    /// The judgements, and how many open pairs could not change anything.
    pub(super) fn ask_pairs(
        &mut self,
        trials: &[Trial],
        given: &[Judgement],
        profile: &Profile,
    ) -> Result<(Vec<Judgement>, usize)> {
        let (judge, suite) = (self.judge, &self.context.loaded.suite);
        loop {
            self.votes.returned.clear();
            let mut answer = |questions: &[PairQuestion<'_>]| self.answer(questions, PanelAnswer::Votes);
            let rounds = run_judge_rounds(suite, trials, given.to_vec(), profile, &judge.name, &mut answer)?;
            // Votes on later pairs may change a panel's decision about earlier ones, and then other pairs may matter.
            if self.is_settled() {
                self.usage.notes.extend(self.votes.note.as_ref().map(|note| format!("{}: {note}", judge.name)));
                return Ok((rounds.judgements, rounds.saved));
            }
        }
    }

    /// Judgements about each question, which may be that there is none. Members of a panel are asked only about pairs they have
    /// not voted on.
    pub(super) fn answer(
        &mut self,
        questions: &[PairQuestion<'_>],
        panel_answer: PanelAnswer,
    ) -> Result<Vec<Judgement>> {
        (self.context.report)(JudgeEvent::Round(questions.len()));
        let judge = self.judge;
        let JudgeKind::Panel(panel) = &judge.kind else { return self.answer_alone(judge, questions) };
        let is_new = |question: &&PairQuestion<'_>| !self.votes.by_pair.contains_key(&question_key(question));
        let new: Vec<PairQuestion<'_>> = questions.iter().filter(is_new).copied().collect();
        self.usage.for_judge(judge).asked += new.len();
        self.votes.by_pair.extend(new.iter().map(|question| (question_key(question), Vec::new())));
        for (number, member) in panel.members.iter().enumerate() {
            let answers = self.answer_alone(member, &new)?;
            for (key, pair) in answers.iter().filter_map(decided_pair) {
                let vote = Vote { judge: number, matched: pair.matched, confidence: pair.confidence };
                self.votes.by_pair.entry(key).or_default().push(vote);
            }
            for answer in answers {
                if let Some(key) = answered_pair(&answer) {
                    self.votes.answers.entry(key).or_default().push(answer);
                }
            }
        }
        let ratings = self.votes.by_pair.values().map(|votes| {
            votes.iter().map(|vote| Rating { rater: vote.judge, category: usize::from(vote.matched) }).collect()
        });
        self.usage.set_agreement(&panel.members, None, ratings);
        let decisions = self.votes.settle(panel);
        for question in &new {
            if !decisions.contains_key(&question_key(question)) {
                self.usage.for_judge(judge).fail(NO_DECISION);
            }
        }
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let key = question_key(question);
            if panel.consensus == Consensus::Majority && panel_answer == PanelAnswer::Votes {
                // Scoring merges them, as it does when they are read from a file.
                answers.extend(self.votes.answers.get(&key).into_iter().flatten().cloned());
                continue;
            }
            let decided = decisions.get(&key);
            let decision = match decided {
                None => leave_open(question, NO_DECISION),
                Some(decided) => Decision::Pair(PairDecision {
                    confidence: Some(decided.confidence),
                    explanation: Some(self.votes.list(&key, panel)),
                    ..decide(question, decided.matched)
                }),
            };
            answers.push(judgement(question.trial, &judge.name, None, decision));
            self.votes.returned.insert(key, decided.map(|decided| decided.matched));
        }
        Ok(answers)
    }

    /// Whether the decisions of these rounds still hold after all votes; those of a single judge do.
    fn is_settled(&mut self) -> bool {
        let JudgeKind::Panel(panel) = &self.judge.kind else { return true };
        let decisions = self.votes.settle(panel);
        let holds = |(key, matched): (&PairKey, &Option<bool>)| *matched == decisions.get(key).map(|own| own.matched);
        self.votes.returned.iter().all(holds)
    }

    fn answer_alone(&mut self, judge: &Judge, questions: &[PairQuestion<'_>]) -> Result<Vec<Judgement>> {
        self.usage.for_judge(judge).asked += questions.len();
        let answers = match &judge.kind {
            JudgeKind::Local(local) => {
                let answers = answer_locally(local, &judge.name, questions);
                questions.iter().for_each(|_| (self.context.report)(JudgeEvent::Settled { answered: true }));
                answers
            }
            JudgeKind::Model(engine) => self.by_model(engine, judge, questions)?,
            JudgeKind::People => self.by_labels(judge, questions),
            // The registry makes no panels of panels.
            JudgeKind::Panel(_) => Vec::new(),
        };
        self.usage.voices.extend_from_slice(&answers);
        Ok(answers)
    }

    fn by_model(&mut self, engine: &Engine, judge: &Judge, questions: &[PairQuestion<'_>]) -> Result<Vec<Judgement>> {
        let loaded = self.context.loaded;
        let prompts = questions.iter().map(|question| {
            let PairQuestion { case, trial, golden, finding, order, .. } = question;
            // For scripts and messages; no model sees it.
            let id = format!("{}/{}/{}/{}/{}", trial.case, golden.id, trial.tool, trial.number, finding.id);
            let code = code_context::excerpts(loaded, &case.id, [*golden], [*finding]);
            let prompt = pair_question(id, golden, finding, code.as_deref());
            match order {
                PairOrder::GoldenFirst => prompt,
                PairOrder::FindingFirst => Question { template: &PAIR_SWAPPED, ..prompt },
            }
        });
        let mut judgements: Vec<Option<Judgement>> = vec![None; questions.len()];
        self.usage.for_judge(judge).ask_model(engine, prompts, self.context, &mut |index, exchange| {
            if let (Some(slot), Some(question)) = (judgements.get_mut(index), questions.get(index)) {
                let key = exchange.is_final().then(|| exchange.key.to_string());
                *slot = Some(judgement(question.trial, &judge.name, key, decision_from_answer(question, exchange)));
            }
        })?;
        Ok(judgements.into_iter().flatten().collect())
    }

    /// People's labels of these pairs; a pair may have several.
    fn by_labels(&mut self, judge: &Judge, questions: &[PairQuestion<'_>]) -> Vec<Judgement> {
        const UNLABELLED: &str = "it is unlabelled; `karat label next` shows it";
        let mut by_pair: BTreeMap<PairKey, Vec<&Judgement>> = BTreeMap::new();
        for label in self.context.labels {
            if let Some((key, _)) = decided_pair(label) {
                by_pair.entry(key).or_default().push(label);
            }
        }
        let mut judgements = Vec::new();
        for question in questions {
            match by_pair.get(&question_key(question)) {
                Some(labels) => judgements.extend(labels.iter().copied().cloned()),
                None => {
                    self.usage.for_judge(judge).fail(UNLABELLED);
                    judgements.push(judgement(question.trial, &judge.name, None, leave_open(question, UNLABELLED)));
                }
            }
        }
        judgements
    }
}

/// The local judge looks at a trial as a whole, since its other findings are rivals.
pub(super) fn answer_locally(local: &LocalJudge, name: &JudgeName, questions: &[PairQuestion<'_>]) -> Vec<Judgement> {
    let trials: Vec<&[PairQuestion<'_>]> = questions.chunk_by(|a, b| std::ptr::eq(a.trial, b.trial)).collect();
    let answer_trial = |asked: &&[PairQuestion<'_>]| {
        let Some(first) = asked.first() else { return Vec::new() };
        let (goldens, findings) = (&first.case.goldens, &first.trial.findings);
        let indices = |question: &PairQuestion<'_>| {
            let golden = goldens.iter().position(|golden| std::ptr::eq(golden, question.golden))?;
            let finding = findings.iter().position(|finding| std::ptr::eq(finding, question.finding))?;
            Some((golden, finding))
        };
        let wanted: Vec<(usize, usize)> = asked.iter().filter_map(indices).collect();
        let opinions = local.judge(goldens, findings, &wanted);
        let judged = asked.iter().zip(opinions).map(|(question, opinion)| {
            let decision = PairDecision {
                confidence: Some(if opinion.matched { opinion.probability } else { 1.0 - opinion.probability }),
                explanation: Some(opinion.explanation()),
                grounds: Some(Grounds { threshold: local.params().threshold, reasons: opinion.reasons() }),
                ..decide(question, opinion.matched)
            };
            judgement(question.trial, name, None, Decision::Pair(decision))
        });
        judged.collect()
    };
    trials.par_iter().map(answer_trial).collect::<Vec<_>>().concat()
}

fn decision_from_answer(question: &PairQuestion<'_>, exchange: &Exchange) -> Decision {
    match &exchange.answer {
        Answer::Given(answer) => Decision::Pair(PairDecision {
            partial: answer["partial"].as_bool(),
            confidence: answer["confidence"].as_f64(),
            explanation: answer["explanation"].as_str().map(ToOwned::to_owned),
            ..decide(question, answer["match"].as_bool().unwrap_or(false))
        }),
        Answer::Missing { why, .. } => leave_open(question, why),
        Answer::Refused { why } => leave_open(question, &format!("it refused to answer: {why}")),
    }
}

fn decide(question: &PairQuestion<'_>, matched: bool) -> PairDecision {
    PairDecision {
        golden: Some(question.golden.id.clone()),
        finding: question.finding.id.clone(),
        matched,
        partial: None,
        confidence: None,
        explanation: None,
        probability: None,
        grounds: None,
    }
}

fn leave_open(question: &PairQuestion<'_>, why: &str) -> Decision {
    let (golden, finding) = (question.golden.id.clone(), question.finding.id.clone());
    Decision::Unjudged(UnjudgedPair { golden, finding, why: why.to_owned() })
}

impl PanelVotes {
    /// The panel's decisions; pairs without one are left out.
    fn settle(&mut self, panel: &Panel) -> BTreeMap<PairKey, PanelDecision> {
        let votes: Vec<Vec<Vote>> = self.by_pair.values().cloned().collect();
        let settled = settle_pairs(&votes, panel.consensus);
        self.note = settled.note;
        self.by_pair.keys().zip(settled.items).filter_map(|(key, decided)| Some((key.clone(), decided?))).collect()
    }

    /// Such as `local: yes, human: no answer`.
    fn list(&self, key: &PairKey, panel: &Panel) -> String {
        let votes = &self.by_pair[key];
        let words = panel.members.iter().enumerate().map(|(number, member)| {
            let word = match votes.iter().find(|vote| vote.judge == number) {
                Some(vote) if vote.matched => "yes",
                Some(_) => "no",
                None => "no answer",
            };
            format!("{}: {word}", member.name)
        });
        words.collect::<Vec<_>>().join(", ")
    }
}
