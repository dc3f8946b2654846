//! Interactive labelling at a terminal. Each answer is stored at once.

use crate::exit::{Exit, Failure, Result};
use crate::terminal::{look, print, print_always, print_json, print_stderr, word};
use karat::label::page::draw;
use karat::label::session::{AnnotationSession, Item, Queue};
use karat::suite::LoadedSuite;
use karat_core::judgement::Classification;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_store::label::{Annotator, LabelAnswer, LabelKind, Source};
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
                let (question, answers, _) = self.question();
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
        let (question, _, keys) = self.question();
        let question = format!("{question} {keys} s(kip) u(ndo) q(uit) > ");
        while let Some(item) = session.next() {
            print(&format!("\n{}\n", self.drawn(item)))?;
            self.print_progress(session, "");
            match Input::read(input, &question, self.queue.kind)? {
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
        self.print_progress(session, &format!("this is the last {}", self.queue.kind.noun()));
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
        let answer = if self.queue.kind == LabelKind::Audit { "TARGET_MATCH" } else { "yes" };
        let (id, name) = (item.id(), word(session.annotator.as_str()));
        harmless(&format!("karat label add {id} {answer} --as {name}{}", self.flags)).into_owned()
    }

    /// The question, the answers of `karat label add`, and the keys to type.
    fn question(&self) -> (&'static str, String, String) {
        let (question, answers, keys) = match self.queue.kind {
            LabelKind::Pair => {
                ("Does the report describe the known problem?", "yes, no or partial", "y(es) n(o) p(artial)")
            }
            LabelKind::Extra => ("Is it a real problem?", "yes or no", "y(es) n(o)"),
            LabelKind::Audit => {
                let classes = Classification::ALL.map(Classification::as_str);
                let keys: Vec<String> = (1..).zip(classes).map(|(at, class)| format!("{at} {class},")).collect();
                return ("What is it?", format!("one of {}", classes.join(", ")), keys.join(" "));
            }
        };
        (question, answers.to_owned(), keys.to_owned())
    }
}

#[derive(Debug, PartialEq)]
enum Input {
    Answer(LabelAnswer, Option<String>),
    Skip,
    Undo,
    Quit,
}

impl Input {
    fn read(input: &mut dyn BufRead, question: &str, kind: LabelKind) -> Result<Self> {
        loop {
            print(question)?;
            let mut line = String::new();
            if input.read_line(&mut line).map_err(|error| Failure::io("standard input", error))? == 0 {
                print("\n")?;
                return Ok(Self::Quit);
            }
            match Self::parse(kind, &line) {
                Some(input) => return Ok(input),
                None if kind == LabelKind::Audit => {
                    print_always("type a number from 1 to 9, with an optional note after it")
                }
                None => print_always("type a letter, with an optional note after it: `n another query`"),
            }
        }
    }

    fn parse(kind: LabelKind, line: &str) -> Option<Self> {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let note = Some(rest.trim()).filter(|note| !note.is_empty()).map(ToOwned::to_owned);
        match first.to_lowercase().as_str() {
            "s" | "skip" => Some(Self::Skip),
            "u" | "undo" => Some(Self::Undo),
            "q" | "quit" => Some(Self::Quit),
            word => Some(Self::Answer(sure(kind, word).or_else(|| LabelAnswer::parse(kind, word))?, note)),
        }
    }
}

/// Parses an answer prefixed by a confidence in tenths: `7y`.
fn sure(kind: LabelKind, word: &str) -> Option<LabelAnswer> {
    let tenths = word.chars().next()?.to_digit(10).filter(|tenths| *tenths > 0)?;
    match LabelAnswer::parse(kind, word.get(1..)?)? {
        LabelAnswer::Pair { answer, .. } => {
            Some(LabelAnswer::Pair { answer, confidence: Some(f64::from(tenths) / 10.0) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_store::label::Answer;

    #[test]
    fn what_is_typed_is_understood() {
        let check = |kind, line: &str, expect: Option<Input>| assert_eq!(Input::parse(kind, line), expect, "{line:?}");
        let pair = |answer| LabelAnswer::Pair { answer, confidence: None };
        let note = |text: &str| Some(text.to_owned());
        check(LabelKind::Pair, "y\n", Some(Input::Answer(pair(Answer::YES), None)));
        check(LabelKind::Pair, " N  another query \r\n", Some(Input::Answer(pair(Answer::NO), note("another query"))));
        check(LabelKind::Pair, "partial", Some(Input::Answer(pair(Answer::PARTIAL), None)));
        check(
            LabelKind::Pair,
            "7y sure",
            Some(Input::Answer(LabelAnswer::Pair { answer: Answer::YES, confidence: Some(0.7) }, note("sure"))),
        );
        for kind in LabelKind::ALL {
            check(kind, "s", Some(Input::Skip));
            check(kind, "u", Some(Input::Undo));
            check(kind, "quit", Some(Input::Quit));
            for nothing in ["", "ye", "yn", "0y", "é"] {
                check(kind, nothing, None);
            }
        }
        check(LabelKind::Extra, "n no", Some(Input::Answer(LabelAnswer::Extra { valid: false }, note("no"))));
        check(LabelKind::Extra, "p", None);
        check(LabelKind::Extra, "7y", None);
        check(
            LabelKind::Audit,
            "4",
            Some(Input::Answer(LabelAnswer::Audit { classification: Classification::Hallucinated }, None)),
        );
        check(LabelKind::Audit, "y", None);
    }
}
