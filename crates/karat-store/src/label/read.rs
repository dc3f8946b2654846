//! Reads labels from files of judgements; a file with any fault is rejected as a whole.

use super::judgements::note_head;
use super::subject::Subject;
use super::{Annotator, Answer, AuditLabel, HUMAN, Label, LabelAnswer, LabelKind, NewLabel, Source};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::FindingId;
use karat_core::judgement::{AuditDecision, Decision, Judgement, PairDecision};
use karat_core::panel::{AuditAnswer, AuditField};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::document::{Line, decode_lines, schema_of, suggest};
use karat_format::judgement::JudgementV1;
use karat_format::recorded::NamedLines;
use karat_format::value_diagnostics;
use std::collections::HashMap;

/// What the labels of a file are checked against.
#[expect(missing_docs, reason = "field names say it")]
pub struct ImportContext<'a> {
    pub suite: &'a Suite,
    pub trials: &'a [Trial],
    pub stored: &'a [Label],
    /// Whether annotators may change earlier answers.
    pub change: bool,
}

/// Reads labels, one per item and annotator. Judgements not made by a person, references to unknown cases, goldens, trials or
/// findings, and contradictions are faults; all are reported at once.
pub fn read(inputs: Vec<NamedLines<'_>>, context: &ImportContext<'_>) -> Result<Vec<NewLabel>, Faults> {
    let schema = schema_of::<JudgementV1>();
    let reader = LabelReader::new(context);
    let (mut labels, mut faults) = (Vec::new(), Vec::new());
    let mut answers: HashMap<(String, Annotator), (String, String)> = HashMap::new();
    for input in inputs {
        let file = input.file;
        faults.extend(decode_lines::<JudgementV1>(&file, input.reader, &schema, |number, value, line| {
            let (judgement, found) = value.into_judgement();
            let mut own = value_diagnostics(&found, line);
            let read = reader.labels(&judgement, line).unwrap_or_else(|more| {
                own.extend(more.into_iter().filter(|_| line.wrong.is_empty()));
                Vec::new()
            });
            for label in read {
                let word = label.answer.word();
                let about = (label.subject.key().to_string(), label.annotator.clone());
                match answers.get(&about) {
                    Some((earlier, _)) if *earlier == word => {}
                    Some((earlier, place)) => own.push(contradiction_in_files(&label, line, earlier, place)),
                    None => {
                        let conflict = reader.conflict_with_stored(&label, line);
                        answers.insert(about, (word, format!("{file}:{number}")));
                        match conflict {
                            Some(conflict) => own.push(conflict),
                            None => labels.push(label),
                        }
                    }
                }
            }
            own
        }));
    }
    if faults.is_empty() { Ok(labels) } else { Err(Faults(faults)) }
}

fn answer_field(kind: LabelKind) -> (&'static str, &'static str) {
    match kind {
        LabelKind::Pair => ("match", "golden and finding"),
        LabelKind::Extra => ("valid", "finding"),
        LabelKind::Audit => ("findings", "finding"),
    }
}

fn contradiction_in_files(label: &NewLabel, line: &Line<'_>, earlier: &str, place: &str) -> Diagnostic {
    let (field, about) = answer_field(label.answer.kind());
    let message = format!("{} says {earlier} about the same {about} at {place}", label.annotator);
    line.at(&[field.into()], "contradiction", message).with_help("remove one of them")
}

type Found<T> = Result<T, Box<Diagnostic>>;

struct LabelReader<'a> {
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
    stored: HashMap<(&'a str, &'a Annotator), String>,
    change: bool,
}

impl<'a> LabelReader<'a> {
    fn new(context: &ImportContext<'a>) -> Self {
        let trial = |trial: &'a Trial| ((trial.case.as_str(), trial.tool.as_str(), trial.number), trial);
        let current = context.stored.iter().filter(|label| label.counts);
        Self {
            cases: context.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: context.trials.iter().map(trial).collect(),
            stored: current.map(|label| ((label.key.as_str(), &label.annotator), label.answer.word())).collect(),
            change: context.change,
        }
    }

    fn labels(&self, judgement: &Judgement, line: &Line<'_>) -> Result<Vec<NewLabel>, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let annotator = keep(annotator(judgement, line), &mut faults);
        let mut answers = Vec::new();
        match &judgement.decision {
            Decision::Pair(decision) => {
                let golden = keep(self.golden(judgement, decision, line), &mut faults);
                let finding = keep(self.finding(judgement, &decision.finding, line), &mut faults);
                if let (Some((case, golden)), Some(finding)) = (golden, finding) {
                    let answer = Answer { matched: decision.matched, partial: decision.partial };
                    let answer = LabelAnswer::Pair { answer, confidence: decision.confidence };
                    let subject = Subject::pair(case, golden, finding);
                    answers.push((subject, answer, decision.explanation.clone(), decision.probability));
                }
            }
            Decision::Extra(decision) => {
                let case = keep(self.case(judgement, line), &mut faults);
                let finding = keep(self.finding(judgement, &decision.finding, line), &mut faults);
                if let (Some(case), Some(finding)) = (case, finding) {
                    let (subject, answer) =
                        (Subject::extra(&case.id, finding), LabelAnswer::Extra { valid: decision.valid });
                    answers.push((subject, answer, decision.explanation.clone(), decision.probability));
                }
            }
            Decision::Audit(decision) => {
                let case = keep(self.case(judgement, line), &mut faults);
                for (field, (id, answer)) in stated(decision) {
                    let subject = match id {
                        Some(id) => keep(self.finding(judgement, id, line), &mut faults)
                            .zip(case)
                            .map(|(f, c)| Subject::audit(c, f)),
                        None => keep(self.trial(judgement, line), &mut faults)
                            .zip(case)
                            .map(|(trial, case)| Subject::audit_response(case, trial)),
                    };
                    let Some(subject) = subject else { continue };
                    let answer = LabelAnswer::Audit(AuditLabel { field, answer });
                    answers.push((subject.asking(field), answer, audit_note(&note_head(id, field), decision), None));
                }
            }
            _ => {
                let message = "a label is about a finding and a golden, an extra, or an audited finding, and this line is \
                               about something else";
                let help = "import lines with kind \"pair\", \"extra\" or \"audit\"";
                faults.push(line.at(&["kind".into()], "no-label", message).with_help(help));
            }
        }
        let Some(annotator) = annotator.filter(|_| faults.is_empty()) else { return Err(faults) };
        let labels = answers.into_iter().map(|(subject, answer, note, picked_with_probability)| NewLabel {
            subject,
            annotator: annotator.clone(),
            answer,
            note,
            picked_with_probability,
            source: Source::Imported,
        });
        Ok(labels.collect())
    }

    fn case(&self, judgement: &Judgement, line: &Line<'_>) -> Found<&'a Case> {
        let message = || format!("the suite has no case `{}`", judgement.case);
        let found = self.cases.get(judgement.case.as_str()).copied();
        found.ok_or_else(|| line.at(&["case".into()], "unknown-case", message()).into())
    }

    fn golden(&self, judgement: &Judgement, decision: &PairDecision, line: &Line<'_>) -> Found<(&'a Case, &'a Golden)> {
        let case = self.case(judgement, line)?;
        let Some(id) = &decision.golden else {
            let message = "a label is about one golden, and this line names none";
            return Err(line.at(&["golden".into()], "no-golden", message).into());
        };
        let Some(golden) = case.goldens.iter().find(|golden| golden.id == *id) else {
            let message = format!("the case `{}` has no golden `{id}`", case.id);
            let fault = line.at(&["golden".into()], "unknown-golden", message);
            let known = case.goldens.iter().map(|golden| golden.id.as_str());
            return Err(with_suggestion(fault, id.as_str(), known).into());
        };
        Ok((case, golden))
    }

    fn trial(&self, judgement: &Judgement, line: &Line<'_>) -> Found<&'a Trial> {
        let (case, tool, number) = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
        self.trials.get(&(case, tool, number)).copied().ok_or_else(|| {
            let message = format!("there is no trial {number} of {tool} on {case}");
            let help = "name the run or the submission that holds what was labelled";
            line.at(&["trial".into()], "unknown-trial", message).with_help(help).into()
        })
    }

    fn finding(&self, judgement: &Judgement, id: &FindingId, line: &Line<'_>) -> Found<&'a Finding> {
        let trial = self.trial(judgement, line)?;
        let (case, tool, number) = (&trial.case, &trial.tool, trial.number);
        trial.findings.iter().find(|finding| finding.id == *id).ok_or_else(|| {
            let message = format!("trial {number} of {tool} on {case} has no finding `{id}`");
            let fault = line.at(&["finding".into()], "unknown-finding", message);
            with_suggestion(fault, id.as_str(), trial.findings.iter().map(|finding| finding.id.as_str())).into()
        })
    }

    fn conflict_with_stored(&self, label: &NewLabel, line: &Line<'_>) -> Option<Diagnostic> {
        let (key, kind) = (label.subject.key(), label.answer.kind());
        let stored = self.stored.get(&(key.as_str(), &label.annotator))?;
        if self.change || *stored == label.answer.word() {
            return None;
        }
        let (field, about) = answer_field(kind);
        let (annotator, id) = (&label.annotator, key.short());
        let message =
            format!("{annotator} has said {stored} of this {about} before ({} {id})", label.answer.question().noun());
        let fault = line.at(&[field.into()], "contradiction", message);
        Some(fault.with_help("use --change to add a correction, which then counts"))
    }
}

/// All decisions of an audit, with the finding where one is about a finding.
fn stated(decision: &AuditDecision) -> impl Iterator<Item = (AuditField, (Option<&FindingId>, Option<AuditAnswer>))> {
    AuditField::ALL.into_iter().flat_map(|field| field.stated(decision).into_iter().map(move |own| (field, own)))
}

/// The part of an audit's explanation about one decision: from the line that starts with this head to the next such line.
fn audit_note(head: &str, decision: &AuditDecision) -> Option<String> {
    let heads: Vec<String> = stated(decision).map(|(field, (finding, _))| note_head(finding, field)).collect();
    let begins = |line: &str, head: &str| line.strip_prefix(head).is_some_and(|rest| rest.starts_with(": "));
    let is_next = |line: &str| heads.iter().any(|other| begins(line, other));
    let mut lines = decision.explanation.as_deref()?.split('\n').skip_while(|line| !begins(line, head));
    let first = lines.next()?.get(head.len() + 2..)?;
    let rest = lines.take_while(|line| !is_next(line));
    Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n"))
}

fn annotator(judgement: &Judgement, line: &Line<'_>) -> Found<Annotator> {
    let at = |code: &'static str, message: String| line.at(&["judge".into()], code, message);
    let Some(name) = judgement.judge.as_str().strip_prefix(HUMAN) else {
        let message = format!("`{}` is not a person; labels are decisions of people", judgement.judge);
        let help = "a person signs as human:NAME; use `karat score --judgements` for the decisions of other judges";
        return Err(at("no-person", message).with_help(help).into());
    };
    Annotator::new(name).map_err(|error| at("bad-name", error).into())
}

fn keep<T>(found: Found<T>, faults: &mut Vec<Diagnostic>) -> Option<T> {
    found.map_err(|fault| faults.push(*fault)).ok()
}

fn with_suggestion<'n>(fault: Diagnostic, word: &str, known: impl Iterator<Item = &'n str>) -> Diagnostic {
    match suggest::did_you_mean(word, known) {
        Some(question) => fault.with_help(question),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::judgement::{Classification, ClassifiedFinding};

    #[test]
    fn note_extends_to_the_next_finding() {
        let found = |id: &str| ClassifiedFinding {
            classification: Some(Classification::Informational),
            ..ClassifiedFinding::unasked(id.into())
        };
        let audit = AuditDecision {
            findings: ["f1", "f10", "f2", "f3"].map(found).to_vec(),
            explanation: Some(
                "a word before\nf1: seen\n\n  twice:\nf9: nobody\nf10: plain\nf2: first\nf2x: second".to_owned(),
            ),
            ..AuditDecision::default()
        };
        let check = |id: &str, expect: Option<&str>| assert_eq!(audit_note(id, &audit).as_deref(), expect, "{id}");
        check("f1", Some("seen\n\n  twice:\nf9: nobody"));
        check("f10", Some("plain"));
        check("f2", Some("first\nf2x: second"));
        check("f3", None);
    }
}
