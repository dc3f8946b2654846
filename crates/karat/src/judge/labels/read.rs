//! Labels from files of judgements, read whole or refused whole.

use super::extra::{ExtraKey, ExtraLabel, NewExtraLabel, ShownExtra, said};
use super::pair::{Pair, PairKey};
use super::{Annotator, Answer, HUMAN, Label, NewLabel, Source};
use crate::diagnostic::{Diagnostic, Faults};
use crate::document::{Line, decode_lines, schema_of, suggest};
use crate::format::judgement::JudgementV1;
use crate::format::remarks;
use crate::recorded::NamedLines;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::FindingId;
use karat_core::judgement::{Decision, ExtraDecision, Judgement, PairDecision};
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
    /// What is kept already of extras.
    pub kept_extras: &'a [ExtraLabel],
    /// Whether an annotator may say something else than before.
    pub change: bool,
}

/// What files say.
#[derive(Debug, Default, PartialEq)]
pub struct NewLabels {
    /// Of pairs.
    pub pairs: Vec<NewLabel>,
    /// Of extras.
    pub extras: Vec<NewExtraLabel>,
}

/// Reads labels, the same pair or extra and annotator once. What is no label of a person, what is about something that is not
/// there, and what contradicts another line or a label that is kept, are faults; all are named at once.
pub fn read(inputs: Vec<NamedLines<'_>>, reading: &Reading<'_>) -> Result<NewLabels, Faults> {
    let schema = schema_of::<JudgementV1>();
    let desk = Desk::new(reading);
    let (mut labels, mut faults) = (NewLabels::default(), Vec::new());
    let mut pairs: HashMap<(PairKey, Annotator), (Answer, String)> = HashMap::new();
    let mut extras: HashMap<(ExtraKey, Annotator), (bool, String)> = HashMap::new();
    for input in inputs {
        let file = input.file;
        faults.extend(decode_lines::<JudgementV1>(&file, input.reader, &schema, |number, value, line| {
            let (judgement, found) = value.into_judgement();
            let mut own = remarks(&found, line);
            let place = || format!("{file}:{number}");
            let heard = match &judgement.decision {
                Decision::Extra(decision) => desk.extra(&judgement, decision, line).map(|label| {
                    let about = (label.shown.key(), label.annotator.clone());
                    match extras.get(&about) {
                        Some((valid, _)) if *valid == label.valid => None,
                        Some((valid, place)) => {
                            Some(contradiction(line, "valid", &label.annotator, said(*valid), place))
                        }
                        None => {
                            let against = desk.against_kept_extra(&about, &label, line);
                            extras.insert(about, (label.valid, place()));
                            labels.extras.push(label);
                            against
                        }
                    }
                }),
                _ => desk.label(&judgement, line).map(|label| {
                    let about = (label.pair.key(), label.annotator.clone());
                    match pairs.get(&about) {
                        Some((answer, _)) if label.answer.agrees(*answer) => None,
                        Some((answer, place)) => {
                            Some(contradiction(line, "match", &label.annotator, answer.word(), place))
                        }
                        None => {
                            let against = desk.against_kept(&about, &label, line);
                            pairs.insert(about, (label.answer, place()));
                            labels.pairs.push(label);
                            against
                        }
                    }
                }),
            };
            match heard {
                Ok(against) => own.extend(against),
                Err(more) => own.extend(more.into_iter().filter(|_| line.wrong.is_empty())),
            }
            own
        }));
    }
    if faults.is_empty() { Ok(labels) } else { Err(Faults(faults)) }
}

/// Two lines of one person that cannot both be right.
fn contradiction(line: &Line<'_>, key: &str, who: &Annotator, said: &str, place: &str) -> Diagnostic {
    let what = if key == "valid" { "finding" } else { "golden and finding" };
    let message = format!("{who} says {said} of the same {what} at {place}");
    line.at(&[key.into()], "contradiction", message).with_help("leave one of them out")
}

/// Everything that is there, by name.
struct Desk<'a> {
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
    kept: HashMap<(&'a PairKey, &'a Annotator), &'a Label>,
    kept_extras: HashMap<(&'a ExtraKey, &'a Annotator), &'a ExtraLabel>,
    change: bool,
}

impl<'a> Desk<'a> {
    fn new(reading: &Reading<'a>) -> Self {
        let trial = |trial: &'a Trial| ((trial.case.as_str(), trial.tool.as_str(), trial.number), trial);
        let counts = reading.kept.iter().filter(|label| label.counts);
        let of_extras = reading.kept_extras.iter().filter(|label| label.counts);
        Self {
            cases: reading.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: reading.trials.iter().map(trial).collect(),
            kept: counts.map(|label| ((&label.pair, &label.annotator), label)).collect(),
            kept_extras: of_extras.map(|label| ((&label.extra, &label.annotator), label)).collect(),
            change: reading.change,
        }
    }

    /// The label of an extra that a judgement is, or everything for which it is none.
    fn extra(
        &self,
        judgement: &Judgement,
        decision: &ExtraDecision,
        line: &Line<'_>,
    ) -> Result<NewExtraLabel, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let annotator = annotator(judgement, line, &mut faults);
        let case = self.case(judgement, line, &mut faults);
        let finding = self.finding(judgement, &decision.finding, line, &mut faults);
        let (Some(annotator), Some(case), Some(finding)) = (annotator, case, finding) else {
            return Err(faults);
        };
        Ok(NewExtraLabel {
            shown: ShownExtra::of(&case.id, finding),
            annotator,
            valid: decision.valid,
            note: decision.explanation.clone(),
            picked_with_probability: decision.probability,
            source: Source::Imported,
        })
    }

    fn case(&self, judgement: &Judgement, line: &Line<'_>, faults: &mut Vec<Diagnostic>) -> Option<&'a Case> {
        let found = self.cases.get(judgement.case.as_str()).copied();
        if found.is_none() {
            let message = format!("the suite has no case `{}`", judgement.case);
            faults.push(line.at(&["case".into()], "unknown-case", message));
        }
        found
    }

    /// The label that a judgement is, or everything for which it is none.
    fn label(&self, judgement: &Judgement, line: &Line<'_>) -> Result<NewLabel, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let annotator = annotator(judgement, line, &mut faults);
        let Decision::Pair(decision) = &judgement.decision else {
            let message =
                "a label is about a finding and a golden, or about an extra, and this line is about something else";
            let help = "import lines with kind \"pair\" or \"extra\"";
            faults.push(line.at(&["kind".into()], "no-pair", message).with_help(help));
            return Err(faults);
        };
        let golden = self.golden(judgement, decision, line, &mut faults);
        let finding = self.finding(judgement, &decision.finding, line, &mut faults);
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
        let case = self.case(judgement, line, faults)?;
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
        Some((case, found?))
    }

    fn finding(
        &self,
        judgement: &Judgement,
        id: &FindingId,
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
        let found = trial.findings.iter().find(|finding| finding.id == *id);
        if found.is_none() {
            let message = format!("trial {number} of {tool} on {case} has no finding `{id}`");
            let fault = line.at(&["finding".into()], "unknown-finding", message);
            faults.push(meant(fault, id.as_str(), trial.findings.iter().map(|f| f.id.as_str())));
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

impl Desk<'_> {
    /// What speaks against a label of an extra in what is kept already.
    fn against_kept_extra(
        &self,
        about: &(ExtraKey, Annotator),
        label: &NewExtraLabel,
        line: &Line<'_>,
    ) -> Option<Diagnostic> {
        let kept = self.kept_extras.get(&(&about.0, &about.1)).filter(|kept| kept.valid != label.valid)?;
        let message =
            format!("{} has said {} of this finding before (extra {})", about.1, kept.word(), about.0.short());
        let fault = line.at(&["valid".into()], "contradiction", message);
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
