//! Explains one case: each golden, its best candidates with the parts of their scores, and who decided.

mod trial_choice;

pub use trial_choice::{TrialChoice, choose_trial};

use super::build::{split_in_words, votes_in_words, why_in_words};
use super::number::{at_most, three};
use super::reason::{Names, extra_in_words, miss_in_words};
use super::refused::{odds, refused, sides};
use super::screen::{Depth, Entry, Section, fit};
use super::terminal::{BAD, BOLD, DIM, GOOD, TerminalStyle, WARNING, paint};
use super::{build, grid};
use anstyle::Style;
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::identity::key;
use karat_core::judgement::{AuditDecision, Decision, Judgement, PairDecision};
use karat_core::lines::Lines;
use karat_core::matching::outcome::{Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, Parts};
use karat_core::profile::{Method, Profile, Unstated};
use karat_core::scorecard::{AuditSummary, CaseScore, TrialScore};
use karat_core::suite::{Case, Verdict};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{CandidateV1, RefusedV1};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Display;
use unicode_width::UnicodeWidthStr;

/// What an explanation is rendered from.
#[expect(missing_docs, reason = "field names say it")]
pub struct CaseExplanation<'a> {
    pub case: &'a Case,
    pub score: &'a CaseScore,
    pub trial: &'a TrialScore,
    /// Why this trial is the one that is explained.
    pub choice: TrialChoice,
    /// `None` if the trial never ran.
    pub reported: Option<&'a Trial>,
    /// Matches refer to them by index.
    pub judgements: &'a [Judgement],
    /// The candidates of each golden, best first.
    pub candidates: &'a [Vec<Candidate>],
    pub profile: &'a Profile,
}

/// Renders the explanation, what counts first: as much as a screen holds, or all of it with `--verbose`.
pub fn draw(input: &CaseExplanation<'_>, tool: &str, terminal: &TerminalStyle) -> String {
    let findings = input.reported.map_or(&[][..], |trial| &trial.findings);
    let untouched = BTreeSet::from_iter(input.trial.untouched_extras(input.profile));
    let mut writer = TextWriter { out: String::new(), terminal, input, findings, untouched };
    writer.head(tool);
    let head = std::mem::take(&mut writer.out);
    head.clone() + &fit(&writer.sections(), head.lines().count(), terminal)
}

const MOST_LINES: usize = 4;

const SHORT_KEY: usize = 12;

const MOST_NAME: usize = 30;

struct TextWriter<'a> {
    out: String,
    terminal: &'a TerminalStyle,
    input: &'a CaseExplanation<'a>,
    findings: &'a [Finding],
    /// Extras that are not counted because the change did not touch their lines.
    untouched: BTreeSet<usize>,
}

const OUTSIDE_CHANGE: &str = "on lines the change did not touch";

impl<'a> TextWriter<'a> {
    fn paint(&self, text: &str, style: Style) -> String {
        paint(text, style, self.terminal)
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn painted_line(&mut self, indent: usize, text: &str, style: Style) {
        let painted = self.paint(text, style);
        self.line(indent, &painted);
    }

    /// Untrusted text on one line, cut to the width.
    fn quote(&mut self, indent: usize, text: &str, style: Style) {
        let first = text.trim().lines().next().unwrap_or_default();
        let fitted = grid::fit(&harmless(first), self.terminal.width.saturating_sub(indent));
        self.painted_line(indent, &fitted, style);
    }

    /// Untrusted text, wrapped to a few lines.
    fn quote_whole(&mut self, indent: usize, text: &str, style: Style) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let width = self.terminal.width.saturating_sub(indent);
        for (number, line) in grid::wrap(&harmless(&text), width).into_iter().enumerate() {
            if number == MOST_LINES {
                return self.line(indent, "…");
            }
            self.painted_line(indent, &line, style);
        }
    }

    /// Two texts on one line, or below each other if they do not fit.
    fn beside(&mut self, indent: usize, left: &[(&str, Style)], right: &[(&str, Style)]) {
        let plain = |parts: &[(&str, Style)], glue| parts.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(glue);
        let painted = |parts: &[(&str, Style)], glue| {
            let parts = parts.iter().filter(|(text, _)| !text.is_empty());
            parts.map(|(text, style)| self.paint(text, *style)).collect::<Vec<_>>().join(glue)
        };
        let (first, second) = (painted(left, " "), painted(right, ""));
        let width = indent + plain(left, " ").width() + 2 + plain(right, "").width();
        if second.is_empty() {
            self.line(indent, &first);
        } else if width <= self.terminal.width {
            self.line(indent, &format!("{first}  {second}"));
        } else {
            self.line(indent, &first);
            self.line(indent + 2, &second);
        }
    }

    fn title(&mut self, title: &str, note: &str) {
        let text = format!("{} {}", self.paint(title, BOLD), self.paint(&format!("({note})"), DIM));
        self.out.push('\n');
        self.line(0, &text);
    }

    fn head(&mut self, tool: &str) {
        let trial = self.input.trial;
        let what = match trial.outcome {
            Outcome::Reported => count(self.findings.len(), "finding"),
            outcome => outcome.ended().to_owned(),
        };
        let title = format!("{} · {} · trial {}", harmless(self.input.case.id.as_str()), harmless(tool), trial.number);
        let counts = trial.counts;
        let some = |n: usize, style: Style| if n > 0 { style } else { DIM };
        let not_counted = match self.untouched.len() {
            0 => String::new(),
            n => format!(", {n} not counted"),
        };
        let facts = [
            (&*format!("{what}: "), DIM),
            (&*format!("{} found", counts.tp), some(counts.tp, GOOD)),
            (", ", DIM),
            (&*format!("{} missed", counts.fn_), some(counts.fn_, BAD)),
            (", ", DIM),
            (&*self.extras_in_words(counts.fp), some(self.alarms(counts.fp), WARNING)),
            (&*not_counted, DIM),
        ];
        self.beside(0, &[(&title, BOLD)], &facts);
        if let Some(name) = &self.input.case.name {
            self.quote(0, name, DIM);
        }
        self.choice();
        if matches!(self.input.profile.method, Method::Verdict | Method::Audit) {
            self.verdict();
        }
        if let Some(audited) = &trial.audited {
            self.audit(audited);
        }
    }

    fn choice(&mut self) {
        let Some(why) = self.input.choice.words(&self.input.score.trials) else { return };
        let trials = count(self.input.score.trials.len(), "trial");
        for line in grid::wrap(&format!("Chosen of {trials}: {why}"), self.terminal.width) {
            self.painted_line(0, &line, DIM);
        }
    }

    fn verdict(&mut self) {
        let trial = self.input.trial;
        let Some(correct) = trial.verdict_correct else { return };
        let (style, word) = if correct { (GOOD, "right") } else { (BAD, "wrong") };
        let said = match trial.verdict {
            Some(Verdict::Vulnerable) => "vulnerable",
            Some(Verdict::Safe) => "safe",
            None => "none",
        };
        self.painted_line(0, &format!("Verdict: {said}, which is {word}"), style);
    }

    fn audit(&mut self, audited: &AuditSummary) {
        let judgement = audited.judgement.and_then(|index| self.input.judgements.get(index));
        let found = match audited.target_found {
            Some(true) => "the target was found",
            Some(false) => "the target was not found",
            None => "nobody was asked about the target",
        };
        let mut facts = vec![found.to_owned()];
        if let Some(target) = &audited.target {
            facts.extend(target.type_match.map(|fit| format!("type {}", fit.as_str().replace('_', " "))));
            let scores = [("root cause", target.rcir), ("attack vector", target.ava), ("fix", target.fsv)];
            facts.extend(scores.iter().filter_map(|(name, score)| Some(format!("{name} {:.2}", (*score)?))));
        }
        let judges: Vec<String> = audited.judges.iter().map(|judge| harmless(judge.as_str()).into_owned()).collect();
        let who = format!(" by {}", judges.join(", "));
        let style = if audited.target.is_some() { GOOD } else { BAD };
        self.out.push('\n');
        for line in grid::wrap(&format!("Audit{who}: {}", facts.join(" · ")), self.terminal.width) {
            self.painted_line(0, &line, style);
        }
        if !audited.ties.is_empty() {
            let ties: Vec<String> = audited.ties.iter().map(|tie| harmless(&tie.to_string()).into_owned()).collect();
            let words =
                format!("The judges are evenly split on {}; what credits the tool least was used.", ties.join(", "));
            for line in grid::wrap(&words, self.terminal.width.saturating_sub(2)) {
                self.painted_line(2, &line, WARNING);
            }
        }
        if let Some(Decision::Audit(AuditDecision { explanation: Some(words), .. })) =
            judgement.map(|own| &own.decision)
        {
            self.quote_whole(2, words, DIM);
        }
    }

    /// Everything below the head, what counts first.
    fn sections(&mut self) -> Vec<Section> {
        let input = self.input;
        let result = &input.trial.result;
        let (mut missed, mut traps, mut found, mut rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for index in 0..input.case.goldens.len() {
            let reports = self.trap_reports(index);
            if !reports.is_empty() {
                traps.push((index, reports));
                continue;
            }
            let state = self.state(index);
            match state {
                GoldenState::Missed(_) => missed.push((index, state)),
                GoldenState::Found(_) => found.push((index, state)),
                GoldenState::Other => rest.push((index, state)),
            }
        }
        missed.sort_by(|a, b| self.more_telling(a, b));
        let untrapped = result.extras.iter().filter(|extra| !matches!(extra.why, ExtraReason::Trap { .. }));
        let (mut valid, mut uncounted, mut alarms) = (Vec::new(), Vec::new(), Vec::new());
        for extra in untrapped {
            let is_left_out = extra.why.is_unaudited() || self.untouched.contains(&extra.finding);
            match (extra.why.is_valid(), is_left_out) {
                (true, _) => valid.push(extra),
                (false, true) => uncounted.push(extra),
                (false, false) => alarms.push(extra),
            }
        }
        alarms.sort_by(|a, b| nearness(b.best.as_ref()).total_cmp(&nearness(a.best.as_ref())));

        let required = count(input.case.required().count(), "required golden");
        let goldens = |n: usize| count(n, "golden");
        let findings = |n: usize| count(n, "finding");
        let is_required = |index: usize| input.case.goldens[index].is_required();
        let not_required = match input.trial.outcome {
            Outcome::Reported if rest.iter().any(|(index, _)| is_required(*index)) => "Not compared",
            Outcome::Reported => "Not required",
            _ => "Not tried",
        };
        let mut alarm_entries = self.trap_entries(&traps);
        alarm_entries.extend(self.extra_entries(&alarms));
        let allowed_entries = if input.case.allow_unexpected { std::mem::take(&mut alarm_entries) } else { Vec::new() };
        vec![
            self.section("Missed", format!("{} of {required}", missed.len()), true, "missed golden", |writer| {
                writer.golden_entries(&missed)
            }),
            self.section("False alarms", findings(alarm_entries.len()), true, "false alarm", |_| alarm_entries),
            self.section(
                "Repeats",
                findings(result.duplicates.len()),
                input.profile.duplicates_are_false,
                "repeat",
                |writer| result.duplicates.iter().map(|duplicate| writer.duplicate(duplicate)).collect(),
            ),
            self.section("Other trials", "--trial N shows one".to_owned(), false, "trial", Self::other_trials),
            self.section("Found", goldens(found.len()), false, "found golden", |writer| writer.golden_entries(&found)),
            self.section("Valid extras", findings(valid.len()), false, "valid extra", |writer| {
                writer.extra_entries(&valid)
            }),
            self.section("Allowed extras", findings(allowed_entries.len()), false, "extra", |_| allowed_entries),
            self.section("Not counted", findings(uncounted.len()), false, "extra", |writer| {
                writer.extra_entries(&uncounted)
            }),
            self.section(not_required, goldens(rest.len()), false, "golden", |writer| writer.golden_entries(&rest)),
        ]
    }

    fn section(
        &mut self,
        title: &str,
        note: String,
        counts: bool,
        noun: &'static str,
        entries: impl FnOnce(&mut Self) -> Vec<Entry>,
    ) -> Section {
        let entries = entries(self);
        self.title(title, &note);
        Section { title: std::mem::take(&mut self.out), entries, noun, counts }
    }

    fn state(&self, index: usize) -> GoldenState<'a> {
        let result = &self.input.trial.result;
        let matches = result.matches.iter().chain(&result.acceptable);
        let found: Vec<&Match> = matches.filter(|found| found.golden == index).collect();
        if !found.is_empty() {
            return GoldenState::Found(found);
        }
        result.misses.iter().find(|miss| miss.golden == index).map_or(GoldenState::Other, GoldenState::Missed)
    }

    /// The findings that report a trap, the nearest first.
    fn trap_reports(&self, index: usize) -> Vec<&'a Extra> {
        let is_of_trap = |extra: &&Extra| matches!(extra.why, ExtraReason::Trap { golden } if golden == index);
        let mut reports: Vec<&Extra> = self.input.trial.result.extras.iter().filter(is_of_trap).collect();
        let score = |extra: &Extra| extra.best.as_ref().map_or(0.0, |best| best.score);
        reports.sort_by(|a, b| score(b).total_cmp(&score(a)));
        reports
    }

    /// Targets first, then by severity, then those that something came near to.
    fn more_telling(&self, a: &(usize, GoldenState<'_>), b: &(usize, GoldenState<'_>)) -> Ordering {
        let golden = |index: usize| &self.input.case.goldens[index];
        let weight = |index: usize| (!golden(index).target, golden(index).severity.is_none(), golden(index).severity);
        let near = |state: &GoldenState<'_>| match state {
            GoldenState::Missed(miss) => nearness(miss.best.as_ref()),
            _ => 0.0,
        };
        weight(a.0).cmp(&weight(b.0)).then_with(|| near(&b.1).total_cmp(&near(&a.1)))
    }

    /// What `write` writes in few lines, and in full. In full, a blank line separates it from what is before it.
    fn entry(&mut self, is_first: bool, mut write: impl FnMut(&mut Self, Depth)) -> Entry {
        write(self, Depth::Brief);
        let brief = std::mem::take(&mut self.out);
        if !is_first {
            self.out.push('\n');
        }
        write(self, Depth::Full);
        Entry { brief, full: std::mem::take(&mut self.out) }
    }

    fn golden_entries(&mut self, goldens: &[(usize, GoldenState<'_>)]) -> Vec<Entry> {
        let entry = |(at, (index, state)): (usize, &(usize, GoldenState<'_>))| {
            self.entry(at == 0, |writer, depth| writer.golden(*index, state, depth))
        };
        goldens.iter().enumerate().map(entry).collect()
    }

    /// One entry for each finding that reports a trap, so that entries count findings. The first of a trap names it.
    fn trap_entries(&mut self, traps: &[(usize, Vec<&Extra>)]) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (index, reports) in traps {
            let reported: Vec<usize> = reports.iter().map(|extra| extra.finding).collect();
            for (at, extra) in reports.iter().enumerate() {
                // A blank line separates traps, not the findings of one.
                let has_no_blank = entries.is_empty() || at > 0;
                let entry = self.entry(has_no_blank, |writer, depth| {
                    if at == 0 {
                        writer.golden_line(*index, "✗", BAD, "a trap, reported");
                        writer.quote(2, writer.input.case.goldens[*index].headline(), Style::new());
                    }
                    writer.finding("reported by", extra.finding, score(extra.best.as_ref()), depth);
                    if at + 1 == reports.len() && depth == Depth::Full {
                        writer.also_near(*index, &reported);
                    }
                });
                entries.push(entry);
            }
        }
        entries
    }

    fn extra_entries(&mut self, extras: &[&Extra]) -> Vec<Entry> {
        extras.iter().map(|extra| self.entry(true, |writer, depth| writer.extra(extra, depth))).collect()
    }

    fn golden(&mut self, index: usize, state: &GoldenState<'_>, depth: Depth) {
        let golden = &self.input.case.goldens[index];
        let is_acceptable = golden.acceptance == Acceptance::Acceptable;
        let (mark, style, word) = match state {
            GoldenState::Found(_) if is_acceptable => ("✓", GOOD, "acceptable, reported"),
            GoldenState::Found(_) => ("✓", GOOD, "found"),
            GoldenState::Missed(_) => ("✗", BAD, "missed"),
            GoldenState::Other if self.input.trial.outcome != Outcome::Reported => ("·", DIM, "not tried"),
            GoldenState::Other => match golden.acceptance {
                Acceptance::Required => ("·", DIM, "not compared by this profile"),
                Acceptance::Acceptable => ("·", DIM, "acceptable, not reported"),
                Acceptance::Trap => ("·", DIM, "a trap, not reported"),
            },
        };
        let brief_match = match (state, depth) {
            (GoldenState::Found(found), Depth::Brief) => self.brief_match(found),
            _ => String::new(),
        };
        self.golden_line(index, mark, style, &format!("{word}{brief_match}"));
        if depth == Depth::Brief && matches!(state, GoldenState::Found(_) | GoldenState::Other) {
            return;
        }
        self.quote(2, golden.headline(), Style::new());
        let mut shown = Vec::new();
        match state {
            GoldenState::Found(all) => {
                for found in all {
                    shown.push(found.finding);
                    self.matched(golden, found);
                }
            }
            GoldenState::Missed(miss) => {
                shown.extend(miss.best.as_ref().map(|best| best.index));
                self.missed(golden, miss, depth);
            }
            GoldenState::Other => {}
        }
        if depth == Depth::Brief {
            return;
        }
        self.also_near(index, &shown);
        if let GoldenState::Missed(_) = state {
            let refused = refused_findings(self.input, index);
            self.refused(4, &refused);
        }
    }

    fn golden_line(&mut self, index: usize, mark: &str, style: Style, word: &str) {
        let golden = &self.input.case.goldens[index];
        let place = place(golden.file.as_ref(), golden.lines);
        let severity = golden.severity.map_or("", |s| s.as_str());
        let facts: String =
            [severity, &place].iter().filter(|s| !s.is_empty()).map(|s| format!(" · {}", harmless(s))).collect();
        self.beside(0, &[(mark, style), (&harmless(golden.id.as_str()), BOLD)], &[(word, style), (&facts, DIM)]);
    }

    /// With `--verbose`, the other candidates of a golden.
    fn also_near(&mut self, index: usize, shown: &[usize]) {
        if !self.terminal.verbosity.verbose {
            return;
        }
        let candidates = self.input.candidates.get(index).into_iter().flatten();
        for candidate in candidates.filter(|candidate| !shown.contains(&candidate.index)) {
            self.finding("also near", candidate.index, score(Some(candidate)), Depth::Full);
        }
    }

    /// Such as ` by f2, 0.960`. Recorded matches may hold a golden more than once.
    fn brief_match(&self, all: &[&Match]) -> String {
        let [found, others @ ..] = all else { return String::new() };
        let Some(finding) = self.findings.get(found.finding) else { return String::new() };
        let score = found.score.map(|score| format!(", {}", three(Some(score)))).unwrap_or_default();
        let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
        format!(" by {}{score}{more}", harmless(finding.id.as_str()))
    }

    /// Who refused which candidate, with the strongest reasons for and against a match.
    fn refused(&mut self, indent: usize, list: &[RefusedV1]) {
        if list.is_empty() {
            return;
        }
        self.painted_line(indent, "refused candidates: probability of a match, and reasons in log-odds", DIM);
        let name = |refused: &RefusedV1| {
            let id = refused.finding.as_deref().or(refused.golden.as_deref()).unwrap_or_default();
            grid::shorten(&harmless(id), MOST_NAME)
        };
        let judge = |refused: &RefusedV1| grid::shorten(&harmless(&refused.judge), MOST_NAME);
        let widest =
            |texts: &dyn Fn(&RefusedV1) -> String| list.iter().map(|one| texts(one).width()).max().unwrap_or(0);
        let (names, judges) = (widest(&name), widest(&judge));
        let pad = |text: String, width: usize| {
            let blanks = width - text.width();
            text + &" ".repeat(blanks)
        };
        for one in list {
            let line = format!("{}  {}  {}", pad(name(one), names), pad(judge(one), judges), odds(one));
            self.quote(indent + 2, &line, Style::new());
            for (word, side) in ["for    ", "against"].iter().zip(sides(one)).filter(|(_, side)| !side.is_empty()) {
                self.quote(indent + 4, &format!("{word}  {side}"), DIM);
            }
            if let Some(words) = &one.explanation {
                self.quote(indent + 4, &format!("says     {words}"), DIM);
            }
        }
    }

    fn matched(&mut self, golden: &Golden, found: &Match) {
        self.finding("matched by", found.finding, found.score.map(|score| (score, found.parts)), Depth::Full);
        let reason = match &found.decided_by {
            DecidedBy::Score => format!("decided by the score, at least {:.2}", self.input.profile.threshold),
            DecidedBy::Judge(judge) => format!("decided by the judge {}", harmless(judge.as_str())),
            DecidedBy::Identity(_) => {
                let keys = key::golden_keys(golden);
                let key = keys.first().map_or("the same file and rule".to_owned(), |k| harmless(k).into_owned());
                format!("decided by {key}")
            }
        };
        self.painted_line(6, &reason, DIM);
        let votes = votes_in_words(&found.votes, self.input.judgements);
        if !votes.is_empty() {
            self.quote_whole(6, &votes, DIM);
        } else if let Some(judgement) = found.judgement.and_then(|index| self.input.judgements.get(index)) {
            if let Decision::Pair(PairDecision { explanation: Some(words), .. }) = &judgement.decision {
                self.quote_whole(6, &format!("“{words}”"), DIM);
            }
            if let Some(key) = &judgement.exchange {
                let short: String = key.chars().take(SHORT_KEY).collect();
                self.quote(6, &format!("exchange {short}: karat judge show {short}"), DIM);
            }
        }
        self.flags(&found.flags);
    }

    fn missed(&mut self, golden: &Golden, miss: &Miss, depth: Depth) {
        let reason = self.names().miss(miss.golden, miss.why);
        let why = why_in_words(miss_in_words(&reason), &miss.flags, &miss.votes, self.input.judgements);
        self.quote_whole(4, &why, WARNING);
        if let Some(best) = &miss.best {
            self.finding("nearest", best.index, score(Some(best)), depth);
        }
        if self.input.profile.method == Method::Identity {
            let keys = key::golden_keys(golden);
            let most = if depth == Depth::Brief { 1 } else { keys.len() };
            for key in keys.iter().take(most) {
                self.quote(6, &format!("looked for {key}"), DIM);
            }
        }
    }

    fn names(&self) -> Names<'_> {
        let CaseExplanation { case, judgements, profile, .. } = self.input;
        Names { case, findings: self.findings, judgements, rules: &profile.identity }
    }

    fn duplicate(&mut self, duplicate: &Duplicate) -> Entry {
        self.entry(true, |writer, depth| {
            writer.finding("again", duplicate.finding, None, depth);
            let goldens = &writer.input.case.goldens;
            let golden =
                duplicate.golden.map_or("a golden that the record does not contain", |g| goldens[g].id.as_str());
            let is_false = writer.input.profile.duplicates_are_false;
            let counts = if is_false { "a false positive in this profile" } else { "not a false positive" };
            writer.quote(6, &format!("reports {golden}, which is already matched: {counts}"), DIM);
            if depth == Depth::Full {
                if let Some(split) = split_in_words(&duplicate.votes, writer.input.judgements) {
                    writer.quote_whole(6, &split, WARNING);
                }
                writer.flags(&duplicate.flags);
            }
        })
    }

    fn extra(&mut self, extra: &Extra, depth: Depth) {
        self.finding("extra", extra.finding, score(extra.best.as_ref()), depth);
        let reason = self.names().extra(extra.finding, extra.why);
        self.quote_whole(6, &extra_in_words(&reason), DIM);
        if depth == Depth::Brief {
            return;
        }
        if let Some(split) = split_in_words(&extra.votes, self.input.judgements) {
            self.quote_whole(6, &split, WARNING);
        }
        for flag in &extra.flags {
            match flag {
                Flag::OutsideChange if self.untouched.contains(&extra.finding) => {
                    self.painted_line(6, &format!("{OUTSIDE_CHANGE}; not counted"), WARNING);
                }
                flag => self.flags(&[*flag]),
            }
        }
        let refused = refused_goldens(self.input, extra);
        self.refused(6, &refused);
    }

    fn finding(&mut self, role: &str, index: usize, score: Option<(f64, Parts)>, depth: Depth) {
        let Some(finding) = self.findings.get(index) else { return };
        let place = place(finding.file.as_ref(), finding.lines());
        let (sum, judged) = match (score, depth) {
            (None, _) => Default::default(),
            (Some((score, _)), Depth::Brief) => (three(Some(score)), String::new()),
            (Some((score, parts)), Depth::Full) => sums(score, &parts, self.input.profile),
        };
        let left = [(role, DIM), (&*harmless(finding.id.as_str()), Style::new()), (&*harmless(&place), DIM)];
        self.beside(4, &left, &[(&sum, Style::new())]);
        if !judged.is_empty() {
            self.line(6, &judged);
        }
        self.quote(6, finding.headline(), Style::new());
    }

    fn flags(&mut self, flags: &[Flag]) {
        for flag in flags {
            let words = match flag {
                Flag::Ambiguous => "ambiguous: another assignment has the same score",
                Flag::OutsideChange => OUTSIDE_CHANGE,
                Flag::Unjudged => "unjudged: no judge decided about this pair",
                Flag::Tied => "tied: as many judges say yes as no",
                Flag::Trap => "a known false alarm",
            };
            self.painted_line(6, words, WARNING);
        }
    }

    /// Extras that the case allows are no false alarms.
    fn alarms(&self, extras: usize) -> usize {
        if self.input.case.allow_unexpected { 0 } else { extras }
    }

    fn extras_in_words(&self, extras: usize) -> String {
        match self.input.case.allow_unexpected {
            true => format!("{} allowed", count(extras, "extra")),
            false => format!("{extras} false"),
        }
    }

    fn other_trials(&mut self) -> Vec<Entry> {
        let input = self.input;
        let mut entries = Vec::new();
        for trial in input.score.trials.iter().filter(|t| t.number != input.trial.number) {
            let counts = trial.counts;
            let (text, style) = match trial.outcome {
                Outcome::Reported => {
                    let all = counts.fn_ == 0 && self.alarms(counts.fp) == 0;
                    let (found, extras) = (counts.tp, self.extras_in_words(counts.fp));
                    let text = format!("{found} of {} found, {extras}", found + counts.fn_);
                    (text, if all { GOOD } else { Style::new() })
                }
                outcome => (outcome.ended().to_owned(), WARNING),
            };
            let text = self.paint(&text, style);
            self.line(2, &format!("trial {}: {text}", trial.number));
            entries.push(Entry::short(std::mem::take(&mut self.out)));
        }
        entries
    }
}

/// What became of a golden.
enum GoldenState<'a> {
    Found(Vec<&'a Match>),
    Missed(&'a Miss),
    /// It need not be reported, is not compared, or nothing was tried.
    Other,
}

fn nearness(candidate: Option<&Candidate>) -> f64 {
    candidate.map_or(0.0, |candidate| candidate.heuristic)
}

fn score(candidate: Option<&Candidate>) -> Option<(f64, Parts)> {
    candidate.map(|candidate| (candidate.score, candidate.parts))
}

/// The score written out as a sum, so that a reader can verify it; if a judge decided, also the sum with the judge's part.
fn sums(score: f64, parts: &Parts, profile: &Profile) -> (String, String) {
    let weights = &profile.weights;
    let stated = [
        ("file", parts.file, weights.file),
        ("line", parts.line, weights.line),
        ("keyword", parts.keyword, weights.keyword),
        ("text", parts.text, weights.text),
    ];
    let total: f64 = stated.iter().filter(|(_, part, _)| part.is_some()).map(|(_, _, w)| w).sum();
    let scale = if profile.unstated == Unstated::LeaveOut && total > 0.0 { 1.0 / total } else { 1.0 };
    let terms = stated.iter().filter_map(|(name, part, weight)| {
        let weight = weight * scale;
        part.filter(|_| weight > 0.0).map(|part| (weight * part, format!("{}·{name} {part:.2}", at_most(weight, 3))))
    });
    let (values, words): (Vec<f64>, Vec<String>) = terms.unzip();
    let alone: f64 = values.iter().sum();
    let share = profile.heuristic_share;
    match parts.judge {
        _ if words.is_empty() => (format!("{score:.3}"), String::new()),
        None => (format!("{score:.3} = {}", words.join(" + ")), String::new()),
        Some(judge) => (
            format!("{alone:.3} = {}", words.join(" + ")),
            format!("{score:.3} = {}·{alone:.3} + {}·judge {judge:.2}", at_most(share, 3), at_most(1.0 - share, 3)),
        ),
    }
}

fn place(file: Option<&impl Display>, lines: Option<Lines>) -> String {
    match (file, lines) {
        (Some(file), Some(Lines { start, end })) if start == end => format!("{file}:{start}"),
        (Some(file), Some(Lines { start, end })) => format!("{file}:{start}-{end}"),
        (Some(file), None) => file.to_string(),
        (None, Some(Lines { start, end })) => format!("lines {start}-{end}"),
        (None, None) => String::new(),
    }
}

/// The refused candidates of a golden, those first that its miss names.
pub fn refused_findings(input: &CaseExplanation<'_>, golden: usize) -> Vec<RefusedV1> {
    let findings = input.reported.map_or(&[][..], |trial| &trial.findings);
    let miss = input.trial.result.misses.iter().find(|miss| miss.golden == golden);
    let named = miss.map_or(&[][..], |miss| &miss.refused);
    let near = input.candidates.get(golden).into_iter().flatten();
    let others = near.filter(|near| named.iter().all(|named| named.index != near.index));
    let refused = |candidate: &Candidate| {
        let finding = findings.get(candidate.index).map(|finding| finding.id.to_string());
        Some(RefusedV1 { finding, ..refused(candidate, input.judgements, input.profile)? })
    };
    named.iter().chain(others).filter_map(refused).collect()
}

/// The goldens that an extra was refused for.
fn refused_goldens(input: &CaseExplanation<'_>, extra: &Extra) -> Vec<RefusedV1> {
    let refused = |candidate: &Candidate| {
        let golden = input.case.goldens.get(candidate.index).map(|golden| golden.id.to_string());
        Some(RefusedV1 { golden, ..refused(candidate, input.judgements, input.profile)? })
    };
    extra.refused.iter().filter_map(refused).collect()
}

/// A candidate as in reports, for JSON output.
pub fn candidate_json(candidate: &Candidate, findings: &[Finding]) -> CandidateV1 {
    let finding = findings.get(candidate.index).map(|f| f.id.to_string());
    CandidateV1 { finding, ..build::candidate(candidate) }
}
