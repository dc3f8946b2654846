//! Labels from files of judgements, read whole or refused whole.

use super::audit::{AuditLabel, NewAuditLabel, ShownAudit};
use super::extra::{ExtraLabel, NewExtraLabel, ShownExtra};
use super::pair::Pair;
use super::{Annotator, Answer, HUMAN, Label, NewLabel, SHORT, Source};
use crate::diagnostic::{Diagnostic, Faults};
use crate::document::{Line, decode_lines, schema_of, suggest};
use crate::format::judgement::JudgementV1;
use crate::format::remarks;
use crate::recorded::NamedLines;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::FindingId;
use karat_core::judgement::{AuditDecision, Decision, ExtraDecision, Judgement, PairDecision};
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
    /// What is kept already of audited findings.
    pub kept_audits: &'a [AuditLabel],
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
    /// Of audited findings.
    pub audits: Vec<NewAuditLabel>,
}

/// Reads labels, the same thing and annotator once. What is no label of a person, what is about something that is not there, and
/// what contradicts another line or a label that is kept, are faults; all are named at once.
pub fn read(inputs: Vec<NamedLines<'_>>, reading: &Reading<'_>) -> Result<NewLabels, Faults> {
    let schema = schema_of::<JudgementV1>();
    let desk = Desk::new(reading);
    let (mut labels, mut faults) = (NewLabels::default(), Vec::new());
    let mut said: HashMap<(String, Annotator), (&'static str, String)> = HashMap::new();
    for input in inputs {
        let file = input.file;
        faults.extend(decode_lines::<JudgementV1>(&file, input.reader, &schema, |number, value, line| {
            let (judgement, found) = value.into_judgement();
            let mut own = remarks(&found, line);
            let mut hear = |claim: &Claim<'_>| {
                let about = (claim.key.clone(), claim.annotator.clone());
                match said.get(&about) {
                    Some((word, _)) if *word == claim.word => Heard::Before,
                    Some((word, place)) => Heard::Against(claim.contradiction(line, word, place)),
                    None => {
                        said.insert(about, (claim.word, format!("{file}:{number}")));
                        match desk.against_kept(claim, line) {
                            Some(against) => Heard::Against(against),
                            None => Heard::New,
                        }
                    }
                }
            };
            let heard = match &judgement.decision {
                Decision::Extra(decision) => desk.extra(&judgement, decision, line).map(|label| {
                    let key = label.shown.key();
                    let claim = Claim::new(key.as_str(), &label.annotator, super::said(label.valid), &OF_EXTRAS);
                    let heard = hear(&claim);
                    heard.keep(label, &mut labels.extras)
                }),
                Decision::Audit(decision) => desk.audits(&judgement, decision, line).map(|all| {
                    let kept = all.into_iter().map(|label| {
                        let (key, word) = (label.shown.key(), label.classification.as_str());
                        let claim = Claim::new(key.as_str(), &label.annotator, word, &OF_AUDITS);
                        let heard = hear(&claim);
                        heard.keep(label, &mut labels.audits)
                    });
                    kept.flatten().collect()
                }),
                _ => desk.label(&judgement, line).map(|label| {
                    let (key, word) = (label.pair.key(), label.answer.word());
                    let claim = Claim::new(key.as_str(), &label.annotator, word, &OF_PAIRS);
                    let heard = hear(&claim);
                    heard.keep(label, &mut labels.pairs)
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

/// How a line about one kind of thing is spoken of.
struct Wording {
    /// The key of the answer in the line.
    field: &'static str,
    /// What it is about.
    about: &'static str,
    /// What its id is called.
    noun: &'static str,
}

const OF_PAIRS: Wording = Wording { field: "match", about: "golden and finding", noun: "pair" };
const OF_EXTRAS: Wording = Wording { field: "valid", about: "finding", noun: "extra" };
const OF_AUDITS: Wording = Wording { field: "findings", about: "finding", noun: "audited finding" };

/// What one line says of one thing.
struct Claim<'l> {
    key: String,
    annotator: &'l Annotator,
    word: &'static str,
    wording: &'static Wording,
}

impl<'l> Claim<'l> {
    fn new(key: &str, annotator: &'l Annotator, word: &'static str, wording: &'static Wording) -> Self {
        Self { key: key.to_owned(), annotator, word, wording }
    }

    /// Two lines of one person that cannot both be right.
    fn contradiction(&self, line: &Line<'_>, said: &str, place: &str) -> Diagnostic {
        let message = format!("{} says {said} of the same {} at {place}", self.annotator, self.wording.about);
        line.at(&[self.wording.field.into()], "contradiction", message).with_help("leave one of them out")
    }
}

/// What becomes of a line's label.
enum Heard {
    /// It is kept.
    New,
    /// Another line says it already.
    Before,
    /// It cannot be.
    Against(Diagnostic),
}

impl Heard {
    fn keep<T>(self, label: T, labels: &mut Vec<T>) -> Vec<Diagnostic> {
        match self {
            Self::New => labels.push(label),
            Self::Before => {}
            Self::Against(fault) => return vec![fault],
        }
        Vec::new()
    }
}

/// Everything that is there, by name.
struct Desk<'a> {
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
    /// What is kept already, by key and annotator, in words.
    kept: HashMap<(&'a str, &'a Annotator), &'static str>,
    change: bool,
}

impl<'a> Desk<'a> {
    fn new(reading: &Reading<'a>) -> Self {
        let trial = |trial: &'a Trial| ((trial.case.as_str(), trial.tool.as_str(), trial.number), trial);
        let pairs = reading.kept.iter().filter(|label| label.counts);
        let pairs = pairs.map(|label| ((label.pair.as_str(), &label.annotator), label.answer.word()));
        let extras = reading.kept_extras.iter().filter(|label| label.counts);
        let extras = extras.map(|label| ((label.extra.as_str(), &label.annotator), label.word()));
        let audits = reading.kept_audits.iter().filter(|label| label.counts);
        let audits = audits.map(|label| ((label.finding.as_str(), &label.annotator), label.classification.as_str()));
        Self {
            cases: reading.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: reading.trials.iter().map(trial).collect(),
            kept: pairs.chain(extras).chain(audits).collect(),
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

    /// The labels of findings that an audit is, or everything for which it is none.
    fn audits(
        &self,
        judgement: &Judgement,
        decision: &AuditDecision,
        line: &Line<'_>,
    ) -> Result<Vec<NewAuditLabel>, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let annotator = annotator(judgement, line, &mut faults);
        let case = self.case(judgement, line, &mut faults);
        let mut labels = Vec::new();
        for found in &decision.findings {
            let finding = self.finding(judgement, &found.finding, line, &mut faults);
            let (Some(annotator), Some(case), Some(finding)) = (&annotator, case, finding) else { continue };
            labels.push(NewAuditLabel {
                shown: ShownAudit::of(case, finding),
                annotator: annotator.clone(),
                classification: found.classification,
                note: note_of(&found.finding, decision),
                source: Source::Imported,
            });
        }
        if faults.is_empty() { Ok(labels) } else { Err(faults) }
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
            let message = "a label is about a finding and a golden, an extra, or an audited finding, and this line is about \
                           something else";
            let help = "import lines with kind \"pair\", \"extra\" or \"audit\"";
            faults.push(line.at(&["kind".into()], "no-label", message).with_help(help));
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
    fn against_kept(&self, claim: &Claim<'_>, line: &Line<'_>) -> Option<Diagnostic> {
        let Claim { key, annotator, word, wording } = claim;
        let said = self.kept.get(&(key.as_str(), *annotator)).filter(|said| said != &word)?;
        let id: String = key.chars().take(SHORT).collect();
        let message = format!("{annotator} has said {said} of this {} before ({} {id})", wording.about, wording.noun);
        let fault = line.at(&[wording.field.into()], "contradiction", message);
        (!self.change).then(|| fault.with_help("--change keeps what is new beside what was said, and counts it"))
    }
}

/// What an audit's explanation says of one finding, as an export writes it: from the line that begins with its name to the next
/// that begins with one.
fn note_of(finding: &FindingId, decision: &AuditDecision) -> Option<String> {
    let begins = |line: &str, id: &FindingId| line.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with(": "));
    let is_next = |line: &str| decision.findings.iter().any(|other| begins(line, &other.finding));
    let mut lines = decision.explanation.as_deref()?.split('\n').skip_while(|line| !begins(line, finding));
    let first = lines.next()?.get(finding.as_str().len() + 2..)?;
    let rest = lines.take_while(|line| !is_next(line));
    Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::judgement::{Classification, ClassifiedFinding};

    #[test]
    fn a_note_goes_on_until_the_next_finding() {
        let found = |id: &str| ClassifiedFinding {
            finding: id.into(),
            classification: Classification::Informational,
            matches_target: None,
            is_valid_concern: None,
        };
        let audit = AuditDecision {
            said_vulnerable: None,
            confidence_expressed: None,
            findings: ["f1", "f10", "f2", "f3"].map(found).to_vec(),
            target: None,
            explanation: Some(
                "a word before\nf1: seen\n\n  twice:\nf9: nobody\nf10: plain\nf2: first\nf2x: second".to_owned(),
            ),
        };
        let check = |id: &str, expect: Option<&str>| assert_eq!(note_of(&id.into(), &audit).as_deref(), expect, "{id}");
        check("f1", Some("seen\n\n  twice:\nf9: nobody"));
        check("f10", Some("plain"));
        check("f2", Some("first\nf2x: second"));
        check("f3", None);
    }
}
