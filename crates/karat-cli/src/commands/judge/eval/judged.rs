//! Evaluates any judge by asking it about every judged pair.

use super::{Group, Measured};
use crate::args::EvalArgs;
use crate::commands::judge::labels::LabelInputs;
use crate::exit::Failure;
use crate::progress::JudgeProgress;
use crate::store_path;
use crate::terminal::{note, notes};
use karat::judge::run::{JudgeEnv, opened};
use karat::judge::session::ask_about;
use karat_core::judgement::{Decision, Judgement};
use karat_core::local_judge::evaluate::{Answer, evaluate_answers};
use karat_core::local_judge::labels::{LabelledTrial, Labels};
use karat_core::scorecard::{PairOrder, Question};
use karat_core::stats::agreement::{Estimate, Rating, Ratings, measure};
use karat_core::wording::count;
use karat_report::build::seed_from;
use karat_report::number::decimals;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Figures that only a judge other than the local one has.
#[derive(Serialize)]
pub(super) struct JudgedFigures {
    /// Labelled pairs without an answer; the figures exclude them.
    unjudged: usize,
    unjudged_pairs: Vec<Unjudged>,
    /// Agreement of its decisions with the labels, by pair.
    agreement: Agreement,
    #[serde(skip)]
    said: Vec<String>,
}

/// A pair without an answer.
#[derive(Serialize)]
struct Unjudged {
    case: String,
    tool: String,
    trial: u32,
    golden: String,
    finding: String,
    why: String,
}

#[derive(Serialize)]
struct Agreement {
    percent: Figure,
    kappa: Figure,
    ac1: Figure,
}

/// A figure with its 95 % interval.
#[derive(Serialize)]
struct Figure {
    value: Option<f64>,
    ci: Option<[f64; 2]>,
}

/// The identity of a pair.
type Place<'p> = (&'p str, &'p str, u32, &'p str, &'p str);

pub(super) fn measured(
    args: &EvalArgs,
    given: &LabelInputs,
    labels: &Labels<'_>,
) -> Result<(Measured, JudgedFigures), Failure> {
    let (loaded, ask) = (&given.loaded, args.who.ask());
    let judge = opened(loaded, &ask)?;
    let questions: Vec<Question<'_>> = labels.trials.iter().flat_map(questions).collect();
    let folder = store_path::folder(args.who.store.folder.as_deref());
    let mut progress = JudgeProgress::new(args.json);
    let env = JudgeEnv { request: &ask, store_folder: &folder, store: None, observer: &mut progress };
    let asked = env.with(&judge, loaded, given.trials(), |context| ask_about(&judge, &questions, context))?;
    let heard: HashMap<Place<'_>, Vec<&Judgement>> = by_pair(&asked.judgements);
    let answers: Vec<Vec<Option<Answer>>> = labels.trials.iter().map(|own| answers(own, &heard)).collect();
    if answers.iter().flatten().all(Option::is_none) {
        let why = asked.judgements.iter().find_map(|judgement| match &judgement.decision {
            Decision::Unjudged(pair) => Some(pair.why.clone()),
            _ => None,
        });
        let why = why.unwrap_or_else(|| "no answer".to_owned());
        let message =
            format!("the judge {} answered none of {}: {why}", judge.name, count(questions.len(), "question"));
        return Err(Failure::failed(message));
    }
    let unjudged_pairs: Vec<Unjudged> = questions.iter().filter_map(|question| unjudged(question, &heard)).collect();
    let figures = |chosen: &dyn Fn(&LabelledTrial<'_>) -> bool| {
        let both = labels.trials.iter().zip(&answers).filter(|(own, _)| chosen(own));
        let (trials, answers): (Vec<_>, Vec<_>) = both.map(|(own, answers)| (own.clone(), answers.clone())).unzip();
        evaluate_answers(&trials, &answers)
    };
    let groups: BTreeMap<String, Group> = match &given.field {
        None => BTreeMap::new(),
        Some(field) => {
            let names: std::collections::BTreeSet<String> =
                labels.trials.iter().map(|own| field.value(own.case)).collect();
            let group = |name: String| {
                let figures = figures(&|own| field.value(own.case) == name);
                (name, Group { threshold: None, figures })
            };
            names.into_iter().map(group).collect()
        }
    };
    let agreement = agreement(&labels.trials, &answers, seed_from(&loaded.suite));
    let all = figures(&|_| true);
    let told = JudgedFigures { unjudged: unjudged_pairs.len(), unjudged_pairs, agreement, said: asked.notes };
    Ok((Measured { params: None, all, groups }, told))
}

impl JudgedFigures {
    /// The agreement of labels and judge, in a line.
    pub(super) fn summary(&self) -> String {
        let figure = |name: &str, figure: &Figure| {
            let ci = figure
                .ci
                .map(|[low, high]| format!(" [{}, {}]", decimals(low, 3), decimals(high, 3)))
                .unwrap_or_default();
            figure.value.map(|value| format!("{name} {}{ci}", decimals(value, 3)))
        };
        let Agreement { percent, kappa, ac1 } = &self.agreement;
        let all = [figure("agree", percent), figure("κ", kappa), figure("AC1", ac1)];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!("\nby pair: {}; 95 % intervals\n", all.join(" · "))
    }

    /// Notes the pairs without an answer.
    pub(super) fn print_notes(&self, answered: usize) {
        const MOST: usize = 5;
        if self.unjudged > 0 {
            let (open, all) = (self.unjudged, self.unjudged + answered);
            note(&format!(
                "{open} of {} have no answer and are excluded from the figures:",
                count(all, "labelled pair")
            ));
        }
        for pair in self.unjudged_pairs.iter().take(MOST) {
            let Unjudged { case, golden, tool, trial, finding, why } = pair;
            note(&format!("{case}/{golden}/{tool}/{trial}/{finding}: {why}"));
        }
        if self.unjudged > MOST {
            note(&format!("and {} more; --json lists them all", self.unjudged - MOST));
        }
        if self.unjudged == 0 {
            notes(&self.said);
        }
    }
}

/// The labelled pairs of a trial.
fn questions<'a>(own: &LabelledTrial<'a>) -> Vec<Question<'a>> {
    let (case, trial) = (own.case, own.trial);
    let width = trial.findings.len();
    let labelled = own.stated.iter().enumerate().filter(|(_, label)| label.is_some());
    let question = |(index, _): (usize, _)| Question {
        case,
        trial,
        golden: &case.goldens[index / width],
        finding: &trial.findings[index % width],
        score: 0.0,
        order: PairOrder::GoldenFirst,
    };
    labelled.map(question).collect()
}

fn by_pair(judgements: &[Judgement]) -> HashMap<Place<'_>, Vec<&Judgement>> {
    let mut heard: HashMap<Place<'_>, Vec<&Judgement>> = HashMap::new();
    for judgement in judgements {
        let (golden, finding) = match &judgement.decision {
            Decision::Pair(pair) => match &pair.golden {
                Some(golden) => (golden, &pair.finding),
                None => continue,
            },
            Decision::Unjudged(pair) => (&pair.golden, &pair.finding),
            Decision::Audit(_) | Decision::Extra(_) => continue,
        };
        let place = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        let place = (place.0, place.1, place.2, golden.as_str(), finding.as_str());
        heard.entry(place).or_default().push(judgement);
    }
    heard
}

/// The judge's decisions on every pair of a trial, in the order of its labels.
fn answers(own: &LabelledTrial<'_>, heard: &HashMap<Place<'_>, Vec<&Judgement>>) -> Vec<Option<Answer>> {
    let trial = own.trial;
    let pairs = own.case.goldens.iter().flat_map(|golden| trial.findings.iter().map(move |finding| (golden, finding)));
    let answer = |(golden, finding): (&karat_core::golden::Golden, &karat_core::finding::Finding)| {
        let place = (trial.case.as_str(), trial.tool.as_str(), trial.number, golden.id.as_str(), finding.id.as_str());
        settled(heard.get(&place)?)
    };
    pairs.map(answer).collect()
}

/// The decision of one judge, or of the majority of several people; none without a decision or on a tie.
fn settled(said: &[&Judgement]) -> Option<Answer> {
    let decided = said.iter().filter_map(|judgement| match &judgement.decision {
        Decision::Pair(pair) => Some(Answer::new(pair.matched, pair.confidence)),
        _ => None,
    });
    let decided: Vec<Answer> = decided.collect();
    let yes = decided.iter().filter(|answer| answer.matched).count();
    let matched = match (2 * yes).cmp(&decided.len()) {
        std::cmp::Ordering::Equal => return None,
        order => order.is_gt(),
    };
    let probability = decided.iter().map(|answer| answer.probability).sum::<f64>() / decided.len() as f64;
    Some(Answer { matched, probability })
}

fn unjudged(question: &Question<'_>, heard: &HashMap<Place<'_>, Vec<&Judgement>>) -> Option<Unjudged> {
    let trial = question.trial;
    let (golden, finding) = (question.golden.id.as_str(), question.finding.id.as_str());
    let said = heard.get(&(trial.case.as_str(), trial.tool.as_str(), trial.number, golden, finding));
    let said = said.map_or(&[][..], Vec::as_slice);
    if settled(said).is_some() {
        return None;
    }
    let why = said.iter().find_map(|judgement| match &judgement.decision {
        Decision::Unjudged(pair) => Some(pair.why.clone()),
        _ => None,
    });
    Some(Unjudged {
        case: trial.case.to_string(),
        tool: trial.tool.to_string(),
        trial: trial.number,
        golden: golden.to_owned(),
        finding: finding.to_owned(),
        why: why.unwrap_or_else(|| "the votes are tied".to_owned()),
    })
}

/// Labels and judge as two raters of the same pairs.
fn agreement(trials: &[LabelledTrial<'_>], answers: &[Vec<Option<Answer>>], seed: u64) -> Agreement {
    let pairs = trials.iter().zip(answers).flat_map(|(own, answers)| own.stated.iter().zip(answers));
    let items = pairs.filter_map(|(label, answer)| {
        let rating = |rater: usize, yes: bool| Rating { rater, category: usize::from(yes) };
        Some(vec![rating(0, (*label)?), rating(1, (*answer)?.matched)])
    });
    let figures = measure(&Ratings::new(items), &[(0, 1)], seed);
    let figure = |estimate: &Estimate| Figure {
        value: estimate.value.ok(),
        ci: estimate.interval.ok().map(|interval| [interval.low, interval.high]),
    };
    Agreement {
        percent: figure(&figures.percent),
        kappa: figures.cohen.first().map_or(Figure { value: None, ci: None }, |pair| figure(&pair.plain)),
        ac1: figure(&figures.ac1),
    }
}
