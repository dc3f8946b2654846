//! `karat label next`: one pair after the other, and nothing about who reported it.

use super::seen::Seen;
use super::{annotator, sample};
use crate::args::LabelNextArgs;
use crate::exit::{Exit, Failure};
use crate::hints::word;
use crate::store_place;
use crate::terminal::{look, print, print_json, tell};
use karat::diagnostic::harmless;
use karat::judge::labels::page::{draw, excerpts};
use karat::judge::labels::{Annotator, Answer, NewLabel, Open, Pair, PairKey, Sample, Source, worklist};
use karat::judge::local;
use karat::store::{Again, Store};
use serde_json::json;
use std::collections::HashSet;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

const QUESTION: &str = "Does the report describe the known problem? y(es) n(o) p(artial) s(kip) q(uit) > ";

pub(super) fn run(args: &LabelNextArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let (seen, profile) = Seen::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let judge = local::shipped().map_err(|error| Failure::bad_input(error.to_string()))?;
    let sample = sample(&args.sample)?;
    let mut pairs = worklist(&seen.loaded.suite, &seen.trials, &profile, &judge);
    if let Some(sample) = sample {
        // In the order of chance, so that the first of them are a sample too, should nobody come to the last.
        let mut drawn: Vec<(f64, Open<'_>)> =
            pairs.into_iter().filter_map(|open| Some((sample.place(&open.key)?, open))).collect();
        drawn.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        pairs = drawn.into_iter().map(|(_, open)| open).collect();
    }
    let folder = store_place::folder(stated);
    let done = if Store::is_at(&folder) { own(&mut Store::open(&folder)?, &annotator)? } else { HashSet::new() };
    let all = pairs.len();
    let open: Vec<Open<'_>> = pairs.into_iter().filter(|open| !done.contains(&open.key)).collect();
    let flags =
        args.sample.probability.map(|probability| format!(" --sample {probability} --seed {}", args.sample.seed));
    let flags = format!("{}{}", seen.flags, flags.unwrap_or_default());
    let mut desk = Desk { seen: &seen, flags, sample, annotator, folder: &folder, done: all - open.len(), all };
    if args.json {
        return desk.as_json(open.get(args.skip)).map(|()| Exit::Ok);
    }
    let mut open = open.iter().skip(args.skip);
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return desk.ask(open, &mut std::io::stdin().lock()).map(|()| Exit::Ok);
    }
    match open.next() {
        None if args.skip > 0 => desk.tell_progress("nothing is left beyond those passed over"),
        None => desk.tell_progress("nothing is left"),
        Some(next) => {
            print(&desk.drawn(next))?;
            desk.tell_progress("");
            tell(&format!(
                "Does the report describe the known problem? Say yes, no or partial:\n  {}",
                desk.command(next)
            ));
        }
    }
    Ok(Exit::Ok)
}

/// What somebody has labelled.
fn own(store: &mut Store, annotator: &Annotator) -> Result<HashSet<PairKey>, Failure> {
    let labels = store.labels()?.into_iter();
    Ok(labels.filter(|label| label.annotator == *annotator).map(|label| label.pair).collect())
}

/// Where one person labels.
struct Desk<'a> {
    seen: &'a Seen,
    /// The flags by which `karat label add` sees the same.
    flags: String,
    sample: Option<Sample>,
    annotator: Annotator,
    folder: &'a Path,
    /// Pairs that they have labelled.
    done: usize,
    /// Pairs that there are.
    all: usize,
}

impl Desk<'_> {
    fn drawn(&self, open: &Open<'_>) -> String {
        let pair = pair(open);
        let code = excerpts(&pair, &|case, path| self.seen.loaded.source(case, path));
        draw(&open.key, &pair, &code, &look())
    }

    fn tell_progress(&self, more: &str) {
        let progress = format!("{} of {} pairs labelled by {}", self.done, self.all, self.annotator);
        tell(&harmless(&if more.is_empty() { progress } else { format!("{progress}; {more}") }));
    }

    /// The command that answers.
    fn command(&self, open: &Open<'_>) -> String {
        let (id, name) = (open.key.short(), word(self.annotator.as_str()));
        harmless(&format!("karat label add {id} yes --as {name}{}", self.flags)).into_owned()
    }

    fn as_json(&self, open: Option<&Open<'_>>) -> Result<(), Failure> {
        let shown = open.map(|open| {
            let pair = pair(open);
            let code = excerpts(&pair, &|case, path| self.seen.loaded.source(case, path));
            json!({
                "id": open.key.short(), "key": open.key, "golden": pair.known, "finding": pair.reported, "code": code,
                "command": self.command(open),
            })
        });
        print_json(&json!({ "annotator": self.annotator, "labelled": self.done, "pairs": self.all, "next": shown }))
    }

    /// Shows one pair after the other and keeps each answer at once.
    fn ask<'o>(&mut self, open: impl Iterator<Item = &'o Open<'o>>, input: &mut dyn BufRead) -> Result<(), Failure> {
        for open in open {
            print(&format!("\n{}\n", self.drawn(open)))?;
            self.tell_progress("");
            match Said::read(input, QUESTION, Said::parse)? {
                Said::Quit => return Ok(()),
                Said::Skip => {}
                Said::Answer(answer, note) => {
                    self.keep(open, answer, note)?;
                    self.done += 1;
                }
            }
        }
        self.tell_progress("there is no further pair");
        Ok(())
    }

    fn keep(&self, open: &Open<'_>, answer: Answer, note: Option<String>) -> Result<(), Failure> {
        let label = NewLabel {
            pair: pair(open),
            annotator: self.annotator.clone(),
            answer,
            confidence: None,
            note,
            picked_with_probability: self.sample.map(Sample::probability),
            source: Source::Asked,
        };
        // Opened anew for each answer: a person takes their time, and others may want the store meanwhile.
        Ok(Store::create(self.folder)?.add_label(&label, Again::Refuse)?)
    }
}

fn pair(open: &Open<'_>) -> Pair {
    Pair::of(open.case, open.golden, open.finding)
}

/// What was typed.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    Answer(Answer, Option<String>),
    Skip,
    Quit,
}

impl Said {
    /// Asks until something is typed that is understood.
    pub(super) fn read(
        input: &mut dyn BufRead,
        question: &str,
        understand: impl Fn(&str) -> Option<Self>,
    ) -> Result<Self, Failure> {
        loop {
            print(question)?;
            let mut line = String::new();
            let read = input.read_line(&mut line).map_err(|error| Failure::io("standard input", error))?;
            if read == 0 {
                print("\n")?;
                return Ok(Self::Quit);
            }
            match understand(&line) {
                Some(said) => return Ok(said),
                None => tell("a letter, and after it a note if you like: `n another query`"),
            }
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match first.to_lowercase().as_str() {
            "s" | "skip" => Some(Self::Skip),
            "q" | "quit" => Some(Self::Quit),
            word => {
                let note = rest.trim();
                Some(Self::Answer(Answer::parse(word)?, (!note.is_empty()).then(|| note.to_owned())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood() {
        let check = |line: &str, expect: Option<Said>| assert_eq!(Said::parse(line), expect, "{line:?}");
        check("y\n", Some(Said::Answer(Answer::YES, None)));
        check(" N  another query \r\n", Some(Said::Answer(Answer::NO, Some("another query".to_owned()))));
        check("partial", Some(Said::Answer(Answer::PARTIAL, None)));
        check("s", Some(Said::Skip));
        check("quit", Some(Said::Quit));
        check("", None);
        check("ye", None);
        check("yn", None);
    }
}
