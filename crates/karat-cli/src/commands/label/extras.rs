//! `karat label extras`: one finding that reports no golden after the other, and nothing about who reported it.

use super::add::own;
use super::annotator;
use super::next::Said;
use super::seen::{ScoredTrials, Seen};
use crate::args::LabelExtrasArgs;
use crate::exit::{Exit, Failure};
use crate::hints::word;
use crate::store_place;
use crate::terminal::{look, print, print_json, tell};
use karat::diagnostic::harmless;
use karat::judge::labels::page::{draw_extra, extra_excerpts};
use karat::judge::labels::{Annotator, ExtraKey, NewExtraLabel, OpenExtra, ShownExtra, Source};
use karat::report::number::count;
use karat::store::{Again, Store};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

const QUESTION: &str = "Is it a real problem? y(es) n(o) s(kip) q(uit) > ";

pub(super) fn run(args: &LabelExtrasArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let (seen, profile) = Seen::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated)?;
    let scored = seen.scored(profile, &args.rules, &args.ask, stated)?;
    let mut queue = scored.queue();
    queue.retain(|open| open.pool.tools().len() >= args.min_tools);
    let folder = store_place::folder(stated);
    let done = if Store::is_at(&folder) { own(&mut Store::open(&folder)?, &annotator)? } else { BTreeSet::new() };
    let all = queue.len();
    queue.retain(|open| open.texts.iter().any(|(key, _)| !done.contains(key)));
    let mut desk = Desk { scored: &scored, annotator, folder: &folder, own: &done, done: all - queue.len(), all };
    if args.json {
        return desk.as_json(queue.get(args.skip)).map(|()| Exit::Ok);
    }
    let mut open = queue.iter().skip(args.skip);
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return desk.ask(open, &mut std::io::stdin().lock()).map(|()| Exit::Ok);
    }
    match open.next().and_then(OpenExtra::shown) {
        None if args.skip > 0 => desk.tell_progress("nothing is left beyond those passed over"),
        None => desk.tell_progress("nothing is left"),
        Some((key, shown)) => {
            print(&desk.drawn(key, shown))?;
            desk.tell_progress("");
            tell(&format!("Is it a real problem? Say yes or no:\n  {}", desk.command(key)));
        }
    }
    Ok(Exit::Ok)
}

/// Where one person labels.
struct Desk<'a> {
    scored: &'a ScoredTrials,
    annotator: Annotator,
    folder: &'a Path,
    /// Texts that they have labelled.
    own: &'a BTreeSet<ExtraKey>,
    /// Extras of which nothing is left for them.
    done: usize,
    /// Extras that there are, those that report the same counted once.
    all: usize,
}

impl Desk<'_> {
    fn drawn(&self, key: &ExtraKey, shown: &ShownExtra) -> String {
        let code = extra_excerpts(shown, &|case, path| self.scored.loaded.source(case, path));
        draw_extra(key, shown, &code, &look())
    }

    fn tell_progress(&self, more: &str) {
        let progress = format!("{} of {} extras labelled by {}", self.done, self.all, self.annotator);
        tell(&harmless(&if more.is_empty() { progress } else { format!("{progress}; {more}") }));
    }

    /// The command that answers.
    fn command(&self, key: &ExtraKey) -> String {
        let (id, name) = (key.short(), word(self.annotator.as_str()));
        harmless(&format!("karat label add {id} yes --as {name}{}", self.scored.flags)).into_owned()
    }

    fn as_json(&self, open: Option<&OpenExtra<'_>>) -> Result<(), Failure> {
        let shown = open.and_then(OpenExtra::shown).map(|(key, shown)| {
            let code = extra_excerpts(shown, &|case, path| self.scored.loaded.source(case, path));
            json!({
                "id": key.short(), "key": key, "case": shown.case, "finding": shown.reported, "code": code,
                "command": self.command(key),
            })
        });
        print_json(&json!({ "annotator": self.annotator, "labelled": self.done, "extras": self.all, "next": shown }))
    }

    /// Shows one extra after the other and keeps each answer at once.
    fn ask<'o>(
        &mut self,
        queue: impl Iterator<Item = &'o OpenExtra<'o>>,
        input: &mut dyn BufRead,
    ) -> Result<(), Failure> {
        for open in queue {
            let Some((key, shown)) = open.shown() else { continue };
            print(&format!("\n{}\n", self.drawn(key, shown)))?;
            self.tell_progress("");
            match Said::read(input, QUESTION, understood)? {
                Said::Quit => return Ok(()),
                Said::Skip => {}
                Said::Answer(answer, note) => {
                    self.keep(open, answer.matched, note)?;
                    self.done += 1;
                    // The answer is given, so the number cannot sway it any more.
                    let (tools, trials) = (open.pool.tools().len(), open.pool.trials());
                    tell(&format!("reported by {} in {}", count(tools, "tool"), count(trials, "trial")));
                }
            }
        }
        self.tell_progress("there is no further extra");
        Ok(())
    }

    /// Keeps an answer for every text that reports the same and that they have not labelled yet.
    fn keep(&self, open: &OpenExtra<'_>, valid: bool, note: Option<String>) -> Result<(), Failure> {
        let unsaid = open.texts.iter().filter(|(key, _)| !self.own.contains(key));
        let label = |(_, shown): &(ExtraKey, ShownExtra)| NewExtraLabel {
            shown: shown.clone(),
            annotator: self.annotator.clone(),
            valid,
            note: note.clone(),
            picked_with_probability: None,
            source: Source::Asked,
        };
        let labels: Vec<NewExtraLabel> = unsaid.map(label).collect();
        // Opened anew for each answer: a person takes their time, and others may want the store meanwhile.
        Store::create(self.folder)?.take_extra_labels(&labels, Again::Refuse)?;
        Ok(())
    }
}

/// What was typed; nothing can be a real problem in part.
fn understood(line: &str) -> Option<Said> {
    Said::parse(line).filter(|said| !matches!(said, Said::Answer(answer, _) if answer.partial.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat::judge::labels::Answer;

    #[test]
    fn a_problem_is_real_or_not() {
        assert_eq!(understood("y sure\n"), Some(Said::Answer(Answer::YES, Some("sure".to_owned()))));
        assert_eq!(understood("n"), Some(Said::Answer(Answer::NO, None)));
        assert_eq!(understood("s"), Some(Said::Skip));
        assert_eq!(understood("p"), None);
        assert_eq!(understood(""), None);
    }
}
