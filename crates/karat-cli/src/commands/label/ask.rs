//! Interactive labelling at a terminal. Each answer is stored at once.

use crate::exit::{Exit, Failure, Result};
use crate::terminal::{look, print, print_always, print_json, print_stderr, word};
use karat::label::page::draw;
use karat::label::question::{Choice, ShownQuestion, shown_question};
use karat::label::session::{AnnotationSession, Item, Queue};
use karat::suite::LoadedSuite;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_store::label::{Annotator, LabelAnswer, LabelKind, LabelQuestion, Source};
use karat_store::{OnExisting, Store, StoreLocation};
use serde_json::json;
use std::io::{BufRead, IsTerminal};

pub(super) struct LabelPrompt<'a> {
    pub(super) queue: &'a Queue,
    pub(super) loaded: &'a LoadedSuite,
    pub(super) location: &'a StoreLocation,
    /// The flags with which `karat label add` finds the same items.
    pub(super) flags: String,
    /// The plural noun in JSON and in text: `pairs`.
    pub(super) noun: &'static str,
    pub(super) skip: usize,
    pub(super) json: bool,
}

impl LabelPrompt<'_> {
    /// Asks at a terminal; elsewhere prints one item and the command that answers.
    pub(super) fn serve(&self, annotator: Annotator) -> Result<Exit> {
        let labels = if Store::is_at(self.location) { Store::open(self.location)?.labels()? } else { Vec::new() };
        let mut session = AnnotationSession::new(self.queue, &labels, annotator);
        let open = session.open();
        if self.json {
            return self.as_json(&session, open.get(self.skip).copied());
        }
        if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            let passed: Vec<String> = open.iter().take(self.skip).map(|item| item.key.clone()).collect();
            passed.iter().for_each(|key| session.skip(key));
            return self.ask(&mut session, &mut std::io::stdin().lock());
        }
        match open.get(self.skip) {
            None if self.skip > 0 => self.print_progress(&session, "nothing left after the skipped ones"),
            None => self.print_progress(&session, "nothing left"),
            Some(item) => {
                print(&self.drawn(item))?;
                self.print_progress(&session, "");
                let asked = shown_question(item.shown.question());
                let (question, answers) = (asked.question, asked.expected());
                print_stderr(&format!("{question} Answer {answers}:\n  {}", self.command(&session, item)));
            }
        }
        Ok(Exit::Ok)
    }

    fn as_json(&self, session: &AnnotationSession<'_>, open: Option<&Item>) -> Result<Exit> {
        let shown = open.map(|item| {
            let mut shown = item.as_json(&|case, path| self.loaded.source(case, path));
            shown["command"] = json!(self.command(session, item));
            shown
        });
        let progress = session.progress();
        print_json(&json!({
            "annotator": session.annotator, "labelled": progress.done, self.noun: self.queue.items.len(),
            "progress": progress, "next": shown,
        }))
    }

    fn ask(&self, session: &mut AnnotationSession<'_>, input: &mut dyn BufRead) -> Result<Exit> {
        while let Some(item) = session.next() {
            print(&format!("\n{}\n", self.drawn(item)))?;
            self.print_progress(session, "");
            match Input::read(input, item.shown.question())? {
                Input::Quit => return Ok(Exit::Ok),
                Input::Skip => session.skip(&item.key),
                Input::Undo => self.undo(session)?,
                Input::Answer(answer, note) => {
                    let Some(labels) = session.labels(item, answer, note, Source::Asked) else { continue };
                    // The store is opened for each answer, so that others can use it in between.
                    Store::create(self.location)?.add_labels(&labels, OnExisting::Refuse)?;
                    session.record(&labels);
                    // Shown only after the answer, to keep labelling blind.
                    let (tools, trials) = (count(item.tools, "tool"), count(item.trials, "trial"));
                    print_stderr(&format!("reported by {tools} in {trials}"));
                }
            }
        }
        self.print_progress(session, "nothing left");
        Ok(Exit::Ok)
    }

    fn undo(&self, session: &mut AnnotationSession<'_>) -> Result<()> {
        let mut store = Store::create(self.location)?;
        match store.undo_label(&session.annotator, Some(self.queue.kind), &|key| self.queue.holds(key).is_some())? {
            None => print_stderr("nothing to undo"),
            Some(undone) => {
                session.undone(&undone.keys);
                print_stderr(&format!("undid {}", undone.said));
            }
        }
        Ok(())
    }

    fn drawn(&self, item: &Item) -> String {
        draw(&item.shown, &item.code(&|case, path| self.loaded.source(case, path)), &look())
    }

    fn print_progress(&self, session: &AnnotationSession<'_>, more: &str) {
        let (progress, all) = (session.progress(), self.queue.items.len());
        let text = format!("{} of {all} {} labelled by {}", progress.done, self.noun, session.annotator);
        print_stderr(&harmless(&if more.is_empty() { text } else { format!("{text}; {more}") }));
        if let Some(advice) = progress.advice() {
            print_stderr(&advice);
        }
        if progress.labels > 0 && progress.bounds.is_some() {
            let remarks: String = progress.remarks().iter().map(|remark| format!("; {remark}")).collect();
            print_stderr(&harmless(&format!("{}{remarks}", progress.headline())));
        }
    }

    fn command(&self, session: &AnnotationSession<'_>, item: &Item) -> String {
        let asked = shown_question(item.shown.question());
        let answer = asked.answers.first().map_or("0.5", |choice| &choice.answer);
        let (id, name) = (item.id(), word(session.annotator.as_str()));
        harmless(&format!("karat label add {id} {answer} --as {name}{}", self.flags)).into_owned()
    }
}

/// The keys to type: `y(es) n(o)`, or `1 TARGET_MATCH, 2 PARTIAL_MATCH,`.
fn keys(asked: &ShownQuestion) -> String {
    let key = |choice: &Choice| match choice.answer.strip_prefix(choice.key.as_str()) {
        Some(rest) if !choice.key.starts_with(|c: char| c.is_ascii_digit()) => format!("{}({rest})", choice.key),
        _ => format!("{} {},", choice.key, choice.answer),
    };
    let mut keys: Vec<String> = asked.answers.iter().map(key).collect();
    keys.extend(asked.number.then(|| "or a number from 0 to 1,".to_owned()));
    keys.join(" ")
}

#[derive(Debug, PartialEq)]
enum Input {
    Answer(LabelAnswer, Option<String>),
    Skip,
    Undo,
    Quit,
}

impl Input {
    fn read(input: &mut dyn BufRead, question: LabelQuestion) -> Result<Self> {
        let asked = shown_question(question);
        let prompt = format!("{} {} s(kip) u(ndo) q(uit) > ", asked.question, keys(&asked));
        loop {
            print(&prompt)?;
            let mut line = String::new();
            if input.read_line(&mut line).map_err(|error| Failure::io("standard input", error))? == 0 {
                print("\n")?;
                return Ok(Self::Quit);
            }
            match Self::parse(question, &line) {
                Some(input) => return Ok(input),
                None if question.kind() == LabelKind::Audit => {
                    print_always("type one of these, with an optional note after it")
                }
                None => print_always("type a letter, with an optional note after it: `n another query`"),
            }
        }
    }

    fn parse(question: LabelQuestion, line: &str) -> Option<Self> {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let note = Some(rest.trim()).filter(|note| !note.is_empty()).map(ToOwned::to_owned);
        match first.to_lowercase().as_str() {
            "s" | "skip" => Some(Self::Skip),
            "u" | "undo" => Some(Self::Undo),
            "q" | "quit" => Some(Self::Quit),
            word => Some(Self::Answer(
                sure(question, word).or_else(|| shown_question(question).parse(question, word))?,
                note,
            )),
        }
    }
}

/// Parses an answer prefixed by a confidence in tenths: `7y`.
fn sure(question: LabelQuestion, word: &str) -> Option<LabelAnswer> {
    let tenths = word.chars().next()?.to_digit(10).filter(|tenths| *tenths > 0)?;
    match LabelAnswer::parse(question, word.get(1..)?)? {
        LabelAnswer::Pair { answer, .. } => {
            Some(LabelAnswer::Pair { answer, confidence: Some(f64::from(tenths) / 10.0) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::judgement::Classification;
    use karat_core::panel::AuditField;
    use karat_store::label::{Answer, AuditLabel};

    #[test]
    fn what_is_typed_is_understood() {
        let check =
            |question, line: &str, expect: Option<Input>| assert_eq!(Input::parse(question, line), expect, "{line:?}");
        let pair = |answer| LabelAnswer::Pair { answer, confidence: None };
        let note = |text: &str| Some(text.to_owned());
        check(LabelQuestion::Pair, "y\n", Some(Input::Answer(pair(Answer::YES), None)));
        check(
            LabelQuestion::Pair,
            " N  another query \r\n",
            Some(Input::Answer(pair(Answer::NO), note("another query"))),
        );
        check(LabelQuestion::Pair, "partial", Some(Input::Answer(pair(Answer::PARTIAL), None)));
        check(
            LabelQuestion::Pair,
            "7y sure",
            Some(Input::Answer(LabelAnswer::Pair { answer: Answer::YES, confidence: Some(0.7) }, note("sure"))),
        );
        let class = LabelQuestion::Audit(AuditField::Classification);
        for question in [LabelQuestion::Pair, LabelQuestion::Extra, class, LabelQuestion::Audit(AuditField::Ava)] {
            check(question, "s", Some(Input::Skip));
            check(question, "u", Some(Input::Undo));
            check(question, "quit", Some(Input::Quit));
            for nothing in ["", "ye", "yn", "0y", "é"] {
                check(question, nothing, None);
            }
        }
        check(LabelQuestion::Extra, "n no", Some(Input::Answer(LabelAnswer::Extra { valid: false }, note("no"))));
        check(LabelQuestion::Extra, "p", None);
        check(LabelQuestion::Extra, "7y", None);
        let audit =
            |field, word: &str| Some(Input::Answer(LabelAnswer::Audit(AuditLabel::parse(field, word).unwrap()), None));
        check(class, "4", Some(Input::Answer(LabelAnswer::class(Classification::Hallucinated), None)));
        check(class, "y", None);
        // A key is a level; what has a point is a number.
        check(LabelQuestion::Audit(AuditField::Rcir), "1", audit(AuditField::Rcir, "0.25"));
        check(LabelQuestion::Audit(AuditField::Rcir), "0.3", audit(AuditField::Rcir, "0.3"));
        check(
            LabelQuestion::Audit(AuditField::ConfidenceExpressed),
            "x",
            audit(AuditField::ConfidenceExpressed, "none"),
        );
        check(
            LabelQuestion::Audit(AuditField::ConfidenceExpressed),
            "85%",
            audit(AuditField::ConfidenceExpressed, "0.85"),
        );
        check(LabelQuestion::Audit(AuditField::SaidVulnerable), "n", audit(AuditField::SaidVulnerable, "safe"));
        check(LabelQuestion::Audit(AuditField::TypeMatch), "5", audit(AuditField::TypeMatch, "not_mentioned"));
    }

    #[test]
    fn keys_are_shown_with_what_they_mean() {
        let check = |question, expected: &str| assert_eq!(keys(&shown_question(question)), expected);
        check(LabelQuestion::Pair, "y(es) n(o) p(artial)");
        check(LabelQuestion::Extra, "y(es) n(o)");
        check(LabelQuestion::Audit(AuditField::SaidVulnerable), "y vulnerable, n safe, x none,");
        check(LabelQuestion::Audit(AuditField::Rcir), "0 0, 1 0.25, 2 0.5, 3 0.75, 4 1,");
        check(LabelQuestion::Audit(AuditField::ConfidenceExpressed), "x none, or a number from 0 to 1,");
    }
}
