//! Labels from files of judgements, read whole or refused whole.

use super::pair::{Pair, PairKey};
use super::{Annotator, Answer, HUMAN, Label, NewLabel, Source};
use crate::diagnostic::{Diagnostic, Faults};
use crate::document::{Line, decode_lines, schema_of, suggest};
use crate::format::judgement::JudgementV1;
use crate::format::remarks;
use crate::recorded::NamedLines;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use std::collections::HashMap;

/// What the labels of a file are held against.
pub struct Reading<'a> {
    /// The suite whose goldens they are about.
    pub suite: &'a Suite,
    /// The trials whose findings they are about.
    pub trials: &'a [Trial],
    /// What is kept already.
    pub kept: &'a [Label],
    /// Whether an annotator may say something else than before.
    pub change: bool,
}

/// Reads labels, the same pair and annotator once. What is no label of a person, what is about a pair that is not there, and
/// what contradicts another line or a label that is kept, are faults; all are named at once.
pub fn read(inputs: Vec<NamedLines<'_>>, reading: &Reading<'_>) -> Result<Vec<NewLabel>, Faults> {
    let schema = schema_of::<JudgementV1>();
    let desk = Desk::new(reading);
    let (mut labels, mut faults) = (Vec::new(), Vec::new());
    let mut stated: HashMap<(PairKey, Annotator), (Answer, String)> = HashMap::new();
    for input in inputs {
        let file = input.file;
        faults.extend(decode_lines::<JudgementV1>(&file, input.reader, &schema, |number, value, line| {
            let (judgement, found) = value.into_judgement();
            let mut own = remarks(&found, line);
            let label = match desk.label(&judgement, line) {
                Ok(label) => label,
                Err(more) => {
                    own.extend(more.into_iter().filter(|_| line.wrong.is_empty()));
                    return own;
                }
            };
            let about = (label.pair.key(), label.annotator.clone());
            if let Some((answer, place)) = stated.get(&about) {
                if !answer.agrees(label.answer) {
                    let said = answer.word();
                    let message = format!("{} says {said} of the same golden and finding at {place}", label.annotator);
                    own.push(line.at(&["match".into()], "contradiction", message).with_help("leave one of them out"));
                }
                return own;
            }
            own.extend(desk.against_kept(&about, &label, line));
            stated.insert(about, (label.answer, format!("{file}:{number}")));
            labels.push(label);
            own
        }));
    }
    if faults.is_empty() { Ok(labels) } else { Err(Faults(faults)) }
}

/// Everything that is there, by name.
struct Desk<'a> {
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
    kept: HashMap<(&'a PairKey, &'a Annotator), &'a Label>,
    change: bool,
}

impl<'a> Desk<'a> {
    fn new(reading: &Reading<'a>) -> Self {
        let trial = |trial: &'a Trial| ((trial.case.as_str(), trial.tool.as_str(), trial.number), trial);
        let counts = reading.kept.iter().filter(|label| label.counts);
        Self {
            cases: reading.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: reading.trials.iter().map(trial).collect(),
            kept: counts.map(|label| ((&label.pair, &label.annotator), label)).collect(),
            change: reading.change,
        }
    }

    /// The label that a judgement is, or everything for which it is none.
    fn label(&self, judgement: &Judgement, line: &Line<'_>) -> Result<NewLabel, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let annotator = annotator(judgement, line, &mut faults);
        let Decision::Pair(decision) = &judgement.decision else {
            let message = "a label says whether a finding reports a golden, and this line says something else";
            faults.push(line.at(&["kind".into()], "no-pair", message).with_help("import lines with kind \"pair\""));
            return Err(faults);
        };
        let golden = self.golden(judgement, decision, line, &mut faults);
        let finding = self.finding(judgement, decision, line, &mut faults);
        let (Some(annotator), Some((case, golden)), Some(finding)) = (annotator, golden, finding) else {
            return Err(faults);
        };
        Ok(NewLabel {
            pair: Pair::of(case, golden, finding),
            annotator,
            answer: Answer { matched: decision.matched, partial: decision.partial },
            confidence: decision.confidence,
            note: decision.explanation.clone(),
            picked_with_probability: decision.probability,
            source: Source::Imported,
        })
    }

    fn golden(
        &self,
        judgement: &Judgement,
        decision: &PairDecision,
        line: &Line<'_>,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<(&'a Case, &'a Golden)> {
        let Some(case) = self.cases.get(judgement.case.as_str()) else {
            let message = format!("the suite has no case `{}`", judgement.case);
            faults.push(line.at(&["case".into()], "unknown-case", message));
            return None;
        };
        let Some(id) = &decision.golden else {
            let message = "a label is about one golden, and this line names none";
            faults.push(line.at(&["golden".into()], "no-golden", message));
            return None;
        };
        let found = case.goldens.iter().find(|golden| golden.id == *id);
        if found.is_none() {
            let message = format!("the case `{}` has no golden `{id}`", case.id);
            let fault = line.at(&["golden".into()], "unknown-golden", message);
            faults.push(meant(fault, id.as_str(), case.goldens.iter().map(|golden| golden.id.as_str())));
        }
        Some((*case, found?))
    }

    fn finding(
        &self,
        judgement: &Judgement,
        decision: &PairDecision,
        line: &Line<'_>,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<&'a Finding> {
        let (case, tool, number) = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        let Some(trial) = self.trials.get(&(case, tool, number)) else {
            let message = format!("there is no trial {number} of {tool} on {case}");
            let help = "name the run or the submission that holds what was labelled";
            faults.push(line.at(&["trial".into()], "unknown-trial", message).with_help(help));
            return None;
        };
        let found = trial.findings.iter().find(|finding| finding.id == decision.finding);
        if found.is_none() {
            let message = format!("trial {number} of {tool} on {case} has no finding `{}`", decision.finding);
            let fault = line.at(&["finding".into()], "unknown-finding", message);
            faults.push(meant(fault, decision.finding.as_str(), trial.findings.iter().map(|f| f.id.as_str())));
        }
        found
    }

    /// What speaks against a label in what is kept already.
    fn against_kept(&self, about: &(PairKey, Annotator), label: &NewLabel, line: &Line<'_>) -> Option<Diagnostic> {
        let kept = self.kept.get(&(&about.0, &about.1)).filter(|kept| !kept.answer.agrees(label.answer))?;
        let (said, pair) = (kept.answer.word(), about.0.short());
        let message = format!("{} has said {said} of this golden and finding before (pair {pair})", about.1);
        let fault = line.at(&["match".into()], "contradiction", message);
        (!self.change).then(|| fault.with_help("--change keeps what is new beside what was said, and counts it"))
    }
}

fn annotator(judgement: &Judgement, line: &Line<'_>, faults: &mut Vec<Diagnostic>) -> Option<Annotator> {
    let at = |code: &'static str, message: String| line.at(&["judge".into()], code, message);
    let Some(name) = judgement.judge.as_str().strip_prefix(HUMAN) else {
        let message = format!("`{}` is no person, and labels are what people say", judgement.judge);
        let help = "a person signs as human:NAME; what other judges said is heard with `karat score --judgements`";
        faults.push(at("no-person", message).with_help(help));
        return None;
    };
    Annotator::new(name).map_err(|error| faults.push(at("bad-name", error.to_string()))).ok()
}

fn meant<'n>(fault: Diagnostic, word: &str, known: impl Iterator<Item = &'n str>) -> Diagnostic {
    match suggest::nearest(word, known) {
        Some(near) => fault.with_help(format!("did you mean `{near}`?")),
        None => fault,
    }
}
