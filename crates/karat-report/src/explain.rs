//! Explains one case: each golden, its best candidates with the parts of their scores, and who decided.

use super::number::at_most;
use super::reason::{Names, extra_in_words, miss_in_words};
use super::refused::{odds, refused, sides};
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
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{CandidateV1, RefusedV1};
use std::collections::BTreeSet;
use std::fmt::Display;
use unicode_width::UnicodeWidthStr;

/// What an explanation is rendered from.
#[expect(missing_docs, reason = "field names say it")]
pub struct CaseExplanation<'a> {
    pub case: &'a Case,
    pub score: &'a CaseScore,
    pub trial: &'a TrialScore,
    /// `None` if the trial never ran.
    pub reported: Option<&'a Trial>,
    /// Matches refer to them by index.
    pub judgements: &'a [Judgement],
    /// The candidates of each golden, best first.
    pub candidates: &'a [Vec<Candidate>],
    pub profile: &'a Profile,
}

/// Renders the explanation.
pub fn draw(input: &CaseExplanation<'_>, tool: &str, terminal: &TerminalStyle) -> String {
    let findings = input.reported.map_or(&[][..], |trial| &trial.findings);
    let untouched = BTreeSet::from_iter(input.trial.untouched_extras(input.profile));
    let mut writer = TextWriter { out: String::new(), terminal, input, findings, untouched };
    writer.head(tool);
    let result = &input.trial.result;
    (0..input.case.goldens.len()).for_each(|index| writer.golden(index));
    if !result.duplicates.is_empty() {
        writer.title("Repeats", &count(result.duplicates.len(), "finding"));
        result.duplicates.iter().for_each(|duplicate| writer.duplicate(duplicate));
    }
    let extras: Vec<&Extra> = result.extras.iter().filter(|e| !e.flags.contains(&Flag::Trap)).collect();
    if !extras.is_empty() {
        writer.title("Extras", &count(extras.len(), "finding"));
        extras.into_iter().for_each(|extra| writer.extra(extra));
    }
    writer.other_trials();
    writer.out
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

impl TextWriter<'_> {
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
            (&*format!("{} false", counts.fp), some(counts.fp, WARNING)),
            (&*not_counted, DIM),
        ];
        self.beside(0, &[(&title, BOLD)], &facts);
        if let Some(name) = &self.input.case.name {
            self.quote(0, name, DIM);
        }
        if let Some(audited) = &trial.audited {
            self.audit(audited);
        }
    }

    fn audit(&mut self, audited: &AuditSummary) {
        let judgement = audited.judgement.and_then(|index| self.input.judgements.get(index));
        let mut facts = vec!["the target was not found".to_owned()];
        if let Some(target) = &audited.target {
            facts = vec!["the target was found".to_owned()];
            facts.extend(target.type_match.map(|fit| format!("type {}", fit.as_str().replace('_', " "))));
            let scores = [("root cause", target.rcir), ("attack vector", target.ava), ("fix", target.fsv)];
            facts.extend(scores.iter().filter_map(|(name, score)| Some(format!("{name} {:.2}", (*score)?))));
        }
        let who = judgement.map_or_else(String::new, |own| format!(" by {}", harmless(own.judge.as_str())));
        let style = if audited.target.is_some() { GOOD } else { BAD };
        self.out.push('\n');
        for line in grid::wrap(&format!("Audit{who}: {}", facts.join(" · ")), self.terminal.width) {
            self.painted_line(0, &line, style);
        }
        if let Some(Decision::Audit(AuditDecision { explanation: Some(words), .. })) =
            judgement.map(|own| &own.decision)
        {
            self.quote_whole(2, words, DIM);
        }
    }

    fn golden(&mut self, index: usize) {
        let golden = &self.input.case.goldens[index];
        let result = &self.input.trial.result;
        let found = result.matches.iter().chain(&result.acceptable).find(|found| found.golden == index);
        let is_trap = |extra: &&Extra| matches!(extra.why, ExtraReason::Trap { golden } if golden == index);
        let trap = result.extras.iter().find(is_trap);
        let miss = result.misses.iter().find(|miss| miss.golden == index);
        let (mark, style, state) = match (found, trap, miss, golden.acceptance) {
            (Some(_), _, _, Acceptance::Acceptable) => ("✓", GOOD, "acceptable, reported"),
            (Some(_), ..) => ("✓", GOOD, "found"),
            (None, Some(_), ..) => ("✗", BAD, "a trap, reported"),
            (None, None, Some(_), _) => ("✗", BAD, "missed"),
            _ if self.input.trial.outcome != Outcome::Reported => ("·", DIM, "not tried"),
            (None, None, None, Acceptance::Acceptable) => ("·", DIM, "acceptable, not reported"),
            (None, None, None, _) => ("·", DIM, "a trap, not reported"),
        };
        self.out.push('\n');
        let place = place(golden.file.as_ref(), golden.lines);
        let severity = golden.severity.map_or("", |s| s.as_str());
        let facts: String =
            [severity, &place].iter().filter(|s| !s.is_empty()).map(|s| format!(" · {}", harmless(s))).collect();
        self.beside(0, &[(mark, style), (&harmless(golden.id.as_str()), BOLD)], &[(state, style), (&facts, DIM)]);
        self.quote(2, golden.headline(), Style::new());
        match (found, trap, miss) {
            (Some(found), ..) => self.matched(golden, found),
            (None, Some(extra), _) => self.finding("reported by", extra.finding, score(extra.best.as_ref())),
            (None, None, Some(miss)) => self.missed(golden, miss),
            _ => {}
        }
        let nearest = miss.and_then(|m| m.best.as_ref()).map(|b| b.index);
        let shown = found.map(|m| m.finding).or(trap.map(|t| t.finding)).or(nearest);
        let candidates = self.input.candidates.get(index).into_iter().flatten();
        let most = if self.terminal.verbosity.verbose { usize::MAX } else { 2 };
        for candidate in candidates.filter(|c| Some(c.index) != shown).take(most) {
            self.finding("also near", candidate.index, score(Some(candidate)));
        }
        if miss.is_some() {
            let refused = refused_findings(self.input, index);
            self.refused(4, &refused);
        }
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
        self.finding("matched by", found.finding, found.score.map(|score| (score, found.parts)));
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
        if let Some(judgement) = found.judgement.and_then(|index| self.input.judgements.get(index)) {
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

    fn missed(&mut self, golden: &Golden, miss: &Miss) {
        let reason = self.names().miss(miss.golden, miss.why);
        self.quote_whole(4, &miss_in_words(&reason), WARNING);
        if let Some(best) = &miss.best {
            self.finding("nearest", best.index, score(Some(best)));
        }
        if self.input.profile.method == Method::Identity {
            for key in key::golden_keys(golden) {
                self.quote(6, &format!("looked for {key}"), DIM);
            }
        }
    }

    fn names(&self) -> Names<'_> {
        let CaseExplanation { case, judgements, profile, .. } = self.input;
        Names { case, findings: self.findings, judgements, rules: &profile.identity }
    }

    fn duplicate(&mut self, duplicate: &Duplicate) {
        self.finding("again", duplicate.finding, None);
        let goldens = &self.input.case.goldens;
        let golden = duplicate.golden.map_or("a golden that the record does not contain", |g| goldens[g].id.as_str());
        let is_false = self.input.profile.duplicates_are_false;
        let counts = if is_false { "a false positive in this profile" } else { "not a false positive" };
        self.quote(6, &format!("reports {golden}, which is already matched: {counts}"), DIM);
        self.flags(&duplicate.flags);
    }

    fn extra(&mut self, extra: &Extra) {
        self.finding("extra", extra.finding, score(extra.best.as_ref()));
        let reason = self.names().extra(extra.finding, extra.why);
        self.quote_whole(6, &extra_in_words(&reason), DIM);
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

    fn finding(&mut self, role: &str, index: usize, score: Option<(f64, Parts)>) {
        let Some(finding) = self.findings.get(index) else { return };
        let place = place(finding.file.as_ref(), finding.lines());
        let (sum, judged) =
            score.map_or_else(Default::default, |(score, parts)| sums(score, &parts, self.input.profile));
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
                Flag::Unjudged => "unjudged: no judge answered about this pair",
                Flag::Trap => "a known false alarm",
            };
            self.painted_line(6, words, WARNING);
        }
    }

    fn other_trials(&mut self) {
        let input = self.input;
        for (at, trial) in input.score.trials.iter().filter(|t| t.number != input.trial.number).enumerate() {
            if at == 0 {
                self.title("Other trials", "--trial N shows one in full");
            }
            let counts = trial.counts;
            let (text, style) = match trial.outcome {
                Outcome::Reported => {
                    let all = counts.fn_ == 0 && counts.fp == 0;
                    let text = format!("{} of {} found, {} false", counts.tp, counts.tp + counts.fn_, counts.fp);
                    (text, if all { GOOD } else { Style::new() })
                }
                outcome => (outcome.ended().to_owned(), WARNING),
            };
            let text = self.paint(&text, style);
            self.line(2, &format!("trial {}: {text}", trial.number));
        }
    }
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
