//! Reads labels from files of judgements; a file with any fault is rejected as a whole.

use super::audit::{AuditLabel, AuditSubject, NewAuditLabel};
use super::extra::{ExtraLabel, ExtraSubject, NewExtraLabel};
use super::pair::PairSubject;
use super::{Annotator, Answer, HUMAN, Label, NewLabel, SHORT, Source};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::FindingId;
use karat_core::judgement::{AuditDecision, Decision, ExtraDecision, Judgement, PairDecision};
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
    pub kept: &'a [Label],
    pub kept_extras: &'a [ExtraLabel],
    pub kept_audits: &'a [AuditLabel],
    /// Whether annotators may change earlier answers.
    pub change: bool,
}

/// Labels read from files.
#[derive(Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct NewLabels {
    pub pairs: Vec<NewLabel>,
    pub extras: Vec<NewExtraLabel>,
    pub audits: Vec<NewAuditLabel>,
}

/// Reads labels, one per item and annotator. Judgements not made by a person, references to unknown cases, goldens, trials or
/// findings, and contradictions are faults; all are reported at once.
pub fn read(inputs: Vec<NamedLines<'_>>, context: &ImportContext<'_>) -> Result<NewLabels, Faults> {
    let schema = schema_of::<JudgementV1>();
    let reader = LabelReader::new(context);
    let (mut labels, mut faults) = (NewLabels::default(), Vec::new());
    let mut said: HashMap<(String, Annotator), (&'static str, String)> = HashMap::new();
    for input in inputs {
        let file = input.file;
        faults.extend(decode_lines::<JudgementV1>(&file, input.reader, &schema, |number, value, line| {
            let (judgement, found) = value.into_judgement();
            let mut own = value_diagnostics(&found, line);
            let mut check = |claim: &Claim<'_>| {
                let about = (claim.key.clone(), claim.annotator.clone());
                match said.get(&about) {
                    Some((word, _)) if *word == claim.word => LineOutcome::Before,
                    Some((word, place)) => LineOutcome::Against(claim.contradiction(line, word, place)),
                    None => {
                        said.insert(about, (claim.word, format!("{file}:{number}")));
                        match reader.conflict_with_stored(claim, line) {
                            Some(against) => LineOutcome::Against(against),
                            None => LineOutcome::New,
                        }
                    }
                }
            };
            let outcome = match &judgement.decision {
                Decision::Extra(decision) => reader.extra(&judgement, decision, line).map(|label| {
                    let key = label.shown.key();
                    let claim =
                        Claim::new(key.as_str(), &label.annotator, super::validity_word(label.valid), &OF_EXTRAS);
                    let outcome = check(&claim);
                    outcome.keep(label, &mut labels.extras)
                }),
                Decision::Audit(decision) => reader.audits(&judgement, decision, line).map(|all| {
                    let kept = all.into_iter().map(|label| {
                        let (key, word) = (label.shown.key(), label.classification.as_str());
                        let claim = Claim::new(key.as_str(), &label.annotator, word, &OF_AUDITS);
                        let outcome = check(&claim);
                        outcome.keep(label, &mut labels.audits)
                    });
                    kept.flatten().collect()
                }),
                _ => reader.label(&judgement, line).map(|label| {
                    let (key, word) = (label.pair.key(), label.answer.word());
                    let claim = Claim::new(key.as_str(), &label.annotator, word, &OF_PAIRS);
                    let outcome = check(&claim);
                    outcome.keep(label, &mut labels.pairs)
                }),
            };
            match outcome {
                Ok(against) => own.extend(against),
                Err(more) => own.extend(more.into_iter().filter(|_| line.wrong.is_empty())),
            }
            own
        }));
    }
    if faults.is_empty() { Ok(labels) } else { Err(Faults(faults)) }
}

struct Wording {
    field: &'static str,
    about: &'static str,
    noun: &'static str,
}

const OF_PAIRS: Wording = Wording { field: "match", about: "golden and finding", noun: "pair" };
const OF_EXTRAS: Wording = Wording { field: "valid", about: "finding", noun: "extra" };
const OF_AUDITS: Wording = Wording { field: "findings", about: "finding", noun: "audited finding" };

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

    fn contradiction(&self, line: &Line<'_>, said: &str, place: &str) -> Diagnostic {
        let message = format!("{} says {said} about the same {} at {place}", self.annotator, self.wording.about);
        line.at(&[self.wording.field.into()], "contradiction", message).with_help("remove one of them")
    }
}

enum LineOutcome {
    New,
    Before,
    Against(Diagnostic),
}

impl LineOutcome {
    fn keep<T>(self, label: T, labels: &mut Vec<T>) -> Vec<Diagnostic> {
        match self {
            Self::New => labels.push(label),
            Self::Before => {}
            Self::Against(fault) => return vec![fault],
        }
        Vec::new()
    }
}

struct LabelReader<'a> {
    cases: HashMap<&'a str, &'a Case>,
    trials: HashMap<(&'a str, &'a str, u32), &'a Trial>,
    /// Stored answers, by key and annotator.
    kept: HashMap<(&'a str, &'a Annotator), &'static str>,
    change: bool,
}

impl<'a> LabelReader<'a> {
    fn new(context: &ImportContext<'a>) -> Self {
        let trial = |trial: &'a Trial| ((trial.case.as_str(), trial.tool.as_str(), trial.number), trial);
        let pairs = context.kept.iter().filter(|label| label.counts);
        let pairs = pairs.map(|label| ((label.pair.as_str(), &label.annotator), label.answer.word()));
        let extras = context.kept_extras.iter().filter(|label| label.counts);
        let extras = extras.map(|label| ((label.extra.as_str(), &label.annotator), label.word()));
        let audits = context.kept_audits.iter().filter(|label| label.counts);
        let audits = audits.map(|label| ((label.finding.as_str(), &label.annotator), label.classification.as_str()));
        Self {
            cases: context.suite.cases.iter().map(|case| (case.id.as_str(), case)).collect(),
            trials: context.trials.iter().map(trial).collect(),
            kept: pairs.chain(extras).chain(audits).collect(),
            change: context.change,
        }
    }

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
            shown: ExtraSubject::new(&case.id, finding),
            annotator,
            valid: decision.valid,
            note: decision.explanation.clone(),
            picked_with_probability: decision.probability,
            source: Source::Imported,
        })
    }

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
                shown: AuditSubject::new(case, finding),
                annotator: annotator.clone(),
                classification: found.classification,
                note: finding_note(&found.finding, decision),
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
            pair: PairSubject::new(case, golden, finding),
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
            faults.push(with_suggestion(fault, id.as_str(), case.goldens.iter().map(|golden| golden.id.as_str())));
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
            faults.push(with_suggestion(fault, id.as_str(), trial.findings.iter().map(|f| f.id.as_str())));
        }
        found
    }

    fn conflict_with_stored(&self, claim: &Claim<'_>, line: &Line<'_>) -> Option<Diagnostic> {
        let Claim { key, annotator, word, wording } = claim;
        let said = self.kept.get(&(key.as_str(), *annotator)).filter(|said| said != &word)?;
        let id: String = key.chars().take(SHORT).collect();
        let message = format!("{annotator} has said {said} of this {} before ({} {id})", wording.about, wording.noun);
        let fault = line.at(&[wording.field.into()], "contradiction", message);
        (!self.change).then(|| fault.with_help("use --change to add a correction, which then counts"))
    }
}

/// The part of an audit's explanation about one finding, as exports write it: from the line that starts with its id up to the
/// next such line.
fn finding_note(finding: &FindingId, decision: &AuditDecision) -> Option<String> {
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
        let message = format!("`{}` is not a person; labels are decisions of people", judgement.judge);
        let help = "a person signs as human:NAME; use `karat score --judgements` for the decisions of other judges";
        faults.push(at("no-person", message).with_help(help));
        return None;
    };
    Annotator::new(name).map_err(|error| faults.push(at("bad-name", error.to_string()))).ok()
}

fn with_suggestion<'n>(fault: Diagnostic, word: &str, known: impl Iterator<Item = &'n str>) -> Diagnostic {
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
        let check =
            |id: &str, expect: Option<&str>| assert_eq!(finding_note(&id.into(), &audit).as_deref(), expect, "{id}");
        check("f1", Some("seen\n\n  twice:\nf9: nobody"));
        check("f10", Some("plain"));
        check("f2", Some("first\nf2x: second"));
        check("f3", None);
    }
}
