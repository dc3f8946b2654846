//! One question after the other at a terminal, each answer kept at once.

use crate::exit::Failure;
use crate::hints::word;
use crate::terminal::{look, print, print_json, tell};
use karat::label::page::{draw, draw_audit, draw_extra};
use karat::label::session::{Desk, Item, Queue, Reply, Shown};
use karat::suite::LoadedSuite;
use karat_core::judgement::Classification;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_store::label::{Annotator, LabelKind, Labels, Source};
use karat_store::{OnExisting, Store};
use serde_json::json;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// A desk at a terminal.
pub(super) struct Table<'a> {
    pub(super) queue: &'a Queue,
    pub(super) loaded: &'a LoadedSuite,
    pub(super) folder: &'a Path,
    /// The flags by which `karat label add` sees the same.
    pub(super) flags: String,
    /// What all of it is called in JSON and in words: `pairs`.
    pub(super) noun: &'static str,
    /// Pass over so many.
    pub(super) skip: usize,
    pub(super) json: bool,
}

impl Table<'_> {
    /// Asks at a terminal; elsewhere shows one item, and the command that answers.
    pub(super) fn serve(&self, annotator: Annotator) -> Result<(), Failure> {
        let labels =
            if Store::is_at(self.folder) { Store::open(self.folder)?.all_labels()? } else { Labels::default() };
        let mut desk = Desk::new(self.queue, &labels, annotator);
        let open = desk.open();
        if self.json {
            return self.as_json(&desk, open.get(self.skip).copied());
        }
        if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            let passed: Vec<String> = open.iter().take(self.skip).map(|item| item.key.clone()).collect();
            passed.iter().for_each(|key| desk.skip(key));
            return self.ask(&mut desk, &mut std::io::stdin().lock());
        }
        match open.get(self.skip) {
            None if self.skip > 0 => self.tell_progress(&desk, "nothing is left beyond those passed over"),
            None => self.tell_progress(&desk, "nothing is left"),
            Some(item) => {
                print(&self.drawn(item))?;
                self.tell_progress(&desk, "");
                tell(&format!("{}\n  {}", self.instruction(), self.command(&desk, item)));
            }
        }
        Ok(())
    }

    fn as_json(&self, desk: &Desk<'_>, open: Option<&Item>) -> Result<(), Failure> {
        let shown = open.map(|item| {
            let mut shown = item.as_json(&|case, path| self.loaded.source(case, path));
            shown["command"] = json!(self.command(desk, item));
            shown
        });
        let progress = desk.progress();
        print_json(&json!({
            "annotator": desk.annotator(), "labelled": progress.done, self.noun: self.queue.items().len(),
            "progress": progress, "next": shown,
        }))
    }

    fn ask(&self, desk: &mut Desk<'_>, input: &mut dyn BufRead) -> Result<(), Failure> {
        while let Some(item) = desk.next() {
            print(&format!("\n{}\n", self.drawn(item)))?;
            self.tell_progress(desk, "");
            match Said::read(input, &self.question(), self.queue.kind())? {
                Said::Quit => return Ok(()),
                Said::Skip => desk.skip(&item.key),
                Said::Undo => self.undo(desk)?,
                Said::Answer(reply, note) => {
                    let Some(labels) = desk.labels(item, reply, note, Source::Asked) else { continue };
                    // Opened anew for each answer: a person takes their time, and others may want the store meanwhile.
                    Store::create(self.folder)?.add_all_labels(&labels, OnExisting::Refuse)?;
                    desk.kept(&labels);
                    // The answer is given, so the number cannot sway it any more.
                    tell(&format!("reported by {} in {}", count(item.tools, "tool"), count(item.trials, "trial")));
                }
            }
        }
        self.tell_progress(desk, &format!("there is no further {}", self.queue.kind().noun()));
        Ok(())
    }

    fn undo(&self, desk: &mut Desk<'_>) -> Result<(), Failure> {
        let mut store = Store::create(self.folder)?;
        match store.undo_label(desk.annotator(), Some(self.queue.kind()), &|key| self.queue.holds(key).is_some())? {
            None => tell("there is nothing to take back"),
            Some(undone) => {
                desk.undone(&undone.keys);
                tell(&format!("{} was taken back", undone.said));
            }
        }
        Ok(())
    }

    fn drawn(&self, item: &Item) -> String {
        let code = item.code(&|case, path| self.loaded.source(case, path));
        match &item.shown {
            Shown::Pair(pair) => draw(&pair.key(), pair, &code, &look()),
            Shown::Extra(texts) => {
                texts.first().map(|shown| draw_extra(&shown.key(), shown, &code, &look())).unwrap_or_default()
            }
            Shown::Audit(shown) => draw_audit(&shown.key(), shown, &code, &look()),
        }
    }

    fn tell_progress(&self, desk: &Desk<'_>, more: &str) {
        let (progress, all) = (desk.progress(), self.queue.items().len());
        let told = format!("{} of {all} {} labelled by {}", progress.done, self.noun, desk.annotator());
        tell(&harmless(&if more.is_empty() { told } else { format!("{told}; {more}") }));
        if progress.labels > 0 && progress.bounds.is_some() {
            let remarks: String = progress.remarks().iter().map(|remark| format!("; {remark}")).collect();
            tell(&harmless(&format!("{}{remarks}", progress.headline())));
        }
    }

    fn command(&self, desk: &Desk<'_>, item: &Item) -> String {
        let answer = if self.queue.kind() == LabelKind::Audit { "TARGET_MATCH" } else { "yes" };
        let (id, name) = (item.id(), word(desk.annotator().as_str()));
        harmless(&format!("karat label add {id} {answer} --as {name}{}", self.flags)).into_owned()
    }

    fn instruction(&self) -> String {
        match self.queue.kind() {
            LabelKind::Pair => "Does the report describe the known problem? Say yes, no or partial:".to_owned(),
            LabelKind::Extra => "Is it a real problem? Say yes or no:".to_owned(),
            LabelKind::Audit => {
                let classes: Vec<&str> = Classification::ALL.iter().map(|class| class.as_str()).collect();
                format!("What is it? Say one of {}:", classes.join(", "))
            }
        }
    }

    fn question(&self) -> String {
        match self.queue.kind() {
            LabelKind::Pair => {
                "Does the report describe the known problem? y(es) n(o) p(artial) s(kip) u(ndo) q(uit) > ".to_owned()
            }
            LabelKind::Extra => "Is it a real problem? y(es) n(o) s(kip) u(ndo) q(uit) > ".to_owned(),
            LabelKind::Audit => {
                let classes =
                    Classification::ALL.iter().enumerate().map(|(at, c)| format!("{} {}", at + 1, c.as_str()));
                format!("What is it? {}, s(kip) u(ndo) q(uit) > ", classes.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// What was typed.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    Answer(Reply, Option<String>),
    Skip,
    Undo,
    Quit,
}

impl Said {
    /// Asks until something is typed that is understood.
    fn read(input: &mut dyn BufRead, question: &str, kind: LabelKind) -> Result<Self, Failure> {
        loop {
            print(question)?;
            let mut line = String::new();
            let read = input.read_line(&mut line).map_err(|error| Failure::io("standard input", error))?;
            if read == 0 {
                print("\n")?;
                return Ok(Self::Quit);
            }
            match Self::parse(kind, &line) {
                Some(said) => return Ok(said),
                None if kind == LabelKind::Audit => tell("a number from 1 to 9, and after it a note if you like"),
                None => tell("a letter, and after it a note if you like: `n another query`"),
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
            word => Some(Self::Answer(sure(kind, word).or_else(|| Reply::parse(kind, word))?, note)),
        }
    }
}

/// An answer with how sure somebody is before it, in tenths: `7y`.
fn sure(kind: LabelKind, word: &str) -> Option<Reply> {
    let tenths = word.chars().next()?.to_digit(10).filter(|tenths| *tenths > 0)?;
    match Reply::parse(kind, word.get(1..)?)? {
        Reply::Pair(answer, _) => Some(Reply::Pair(answer, Some(f64::from(tenths) / 10.0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_store::label::Answer;

    #[test]
    fn what_is_typed_is_understood() {
        let check = |kind, line: &str, expect: Option<Said>| assert_eq!(Said::parse(kind, line), expect, "{line:?}");
        let pair = |answer| Reply::Pair(answer, None);
        let note = |text: &str| Some(text.to_owned());
        check(LabelKind::Pair, "y\n", Some(Said::Answer(pair(Answer::YES), None)));
        check(LabelKind::Pair, " N  another query \r\n", Some(Said::Answer(pair(Answer::NO), note("another query"))));
        check(LabelKind::Pair, "partial", Some(Said::Answer(pair(Answer::PARTIAL), None)));
        check(LabelKind::Pair, "7y sure", Some(Said::Answer(Reply::Pair(Answer::YES, Some(0.7)), note("sure"))));
        for kind in LabelKind::ALL {
            check(kind, "s", Some(Said::Skip));
            check(kind, "u", Some(Said::Undo));
            check(kind, "quit", Some(Said::Quit));
            for nothing in ["", "ye", "yn", "0y", "é"] {
                check(kind, nothing, None);
            }
        }
        check(LabelKind::Extra, "n no", Some(Said::Answer(Reply::Extra(false), note("no"))));
        check(LabelKind::Extra, "p", None);
        check(LabelKind::Extra, "7y", None);
        check(LabelKind::Audit, "4", Some(Said::Answer(Reply::Audit(Classification::Hallucinated), None)));
        check(LabelKind::Audit, "y", None);
    }
}
