//! Explains one case: each golden, its best candidates with the parts of their scores, and who decided.

use super::reason::{Names, extra_in_words, miss_in_words};
use super::terminal::{BAD, BOLD, DIM, GOOD, TerminalStyle, WARNING, paint};
use super::{build, grid};
use anstyle::Style;
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::identity::key;
use karat_core::judgement::{AuditDecision, Decision, Judgement};
use karat_core::matching::outcome::{Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, Parts};
use karat_core::profile::{Method, Profile, Unstated};
use karat_core::scorecard::{AuditSummary, CaseScore, TrialScore};
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::CandidateV1;
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
    let mut writer = TextWriter { out: String::new(), terminal };
    head(&mut writer, input, tool);
    let findings = input.reported.map_or(&[][..], |trial| &trial.findings);
    let result = &input.trial.result;
    let mut states: Vec<GoldenState<'_>> = vec![GoldenState::default(); input.case.goldens.len()];
    for found in result.matches.iter().chain(&result.acceptable).rev() {
        states[found.golden].found = Some(found);
    }
    for extra in result.extras.iter().rev() {
        if let ExtraReason::Trap { golden } = extra.why {
            states[golden].trap = Some(extra);
        }
    }
    for miss in result.misses.iter().rev() {
        states[miss.golden].miss = Some(miss);
    }
    for ((index, golden), state) in input.case.goldens.iter().enumerate().zip(states) {
        write_golden(&mut writer, input, findings, index, golden, state);
    }
    if !result.duplicates.is_empty() {
        writer.title("Repeats", &count(result.duplicates.len(), "finding"));
        for duplicate in &result.duplicates {
            write_duplicate(&mut writer, input, findings, duplicate);
        }
    }
    let extras: Vec<&Extra> = result.extras.iter().filter(|e| !e.flags.contains(&Flag::Trap)).collect();
    if !extras.is_empty() {
        writer.title("Extras", &count(extras.len(), "finding"));
        for extra in extras {
            write_extra(&mut writer, input, findings, extra);
        }
    }
    others(&mut writer, input);
    writer.out
}

const MOST_LINES: usize = 4;

/// Enough of an exchange's key to find it by.
const SHORT_KEY: usize = 12;

struct TextWriter<'a> {
    out: String,
    terminal: &'a TerminalStyle,
}

impl TextWriter<'_> {
    fn paint(&self, text: &str, style: Style) -> String {
        paint(text, style, self.terminal)
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Untrusted text on one line, cut to the width.
    fn quote(&mut self, indent: usize, text: &str, style: Style) {
        let first = text.trim().lines().next().unwrap_or_default();
        let fitted = grid::fit(&harmless(first), self.terminal.width.saturating_sub(indent));
        let painted = self.paint(&fitted, style);
        self.line(indent, &painted);
    }

    /// Untrusted text, wrapped to a few lines.
    fn quote_whole(&mut self, indent: usize, text: &str, style: Style) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let width = self.terminal.width.saturating_sub(indent);
        for (number, line) in grid::wrap(&harmless(&text), width).into_iter().enumerate() {
            if number == MOST_LINES {
                return self.line(indent, "…");
            }
            let painted = self.paint(&line, style);
            self.line(indent, &painted);
        }
    }

    /// Two texts on one line, or below each other if they do not fit.
    fn beside(&mut self, indent: usize, left: &[(&str, Style)], right: &[(&str, Style)]) {
        let plain = |parts: &[(&str, Style)], glue| parts.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(glue);
        let painted = |parts: &[(&str, Style)], glue| {
            let said = parts.iter().filter(|(text, _)| !text.is_empty());
            let parts = said.map(|(text, style)| self.paint(text, *style));
            parts.collect::<Vec<_>>().join(glue)
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
}

fn head(writer: &mut TextWriter<'_>, input: &CaseExplanation<'_>, tool: &str) {
    let trial = input.trial;
    let reported = input.reported.map_or(0, |t| t.findings.len());
    let what =
        if trial.outcome == Outcome::Reported { count(reported, "finding") } else { trial.outcome.ended().to_owned() };
    let title = format!("{} · {} · trial {}", harmless(input.case.id.as_str()), harmless(tool), trial.number);
    let counts = trial.counts;
    let some = |n: usize, style: Style| if n > 0 { style } else { DIM };
    let facts = [
        (&*format!("{what}: "), DIM),
        (&*format!("{} found", counts.tp), some(counts.tp, GOOD)),
        (", ", DIM),
        (&*format!("{} missed", counts.fn_), some(counts.fn_, BAD)),
        (", ", DIM),
        (&*format!("{} false", counts.fp), some(counts.fp, WARNING)),
    ];
    writer.beside(0, &[(&title, BOLD)], &facts);
    if let Some(name) = &input.case.name {
        writer.quote(0, name, DIM);
    }
    if let Some(audited) = &trial.audited {
        write_audit(writer, input, audited);
    }
}

fn write_audit(writer: &mut TextWriter<'_>, input: &CaseExplanation<'_>, audited: &AuditSummary) {
    let heard = audited.judgement.and_then(|index| input.judgements.get(index));
    let mut facts =
        vec![if audited.target_found { "the target was found" } else { "the target was not found" }.to_owned()];
    facts.extend(audited.type_match.map(|fit| format!("type {}", fit.as_str().replace('_', " "))));
    let scores = [("root cause", audited.rcir), ("attack vector", audited.ava), ("fix", audited.fsv)];
    facts.extend(scores.iter().filter_map(|(name, score)| Some(format!("{name} {:.2}", (*score)?))));
    let who = heard.map_or_else(String::new, |heard| format!(" by {}", harmless(heard.judge.as_str())));
    let style = if audited.target_found { GOOD } else { BAD };
    writer.out.push('\n');
    for line in grid::wrap(&format!("Audit{who}: {}", facts.join(" · ")), writer.terminal.width) {
        let painted = writer.paint(&line, style);
        writer.line(0, &painted);
    }
    if let Some(Decision::Audit(AuditDecision { explanation: Some(words), .. })) = heard.map(|heard| &heard.decision) {
        writer.quote_whole(2, words, DIM);
    }
}

#[derive(Clone, Copy, Default)]
struct GoldenState<'a> {
    found: Option<&'a Match>,
    trap: Option<&'a Extra>,
    miss: Option<&'a Miss>,
}

fn write_golden(
    writer: &mut TextWriter<'_>,
    input: &CaseExplanation<'_>,
    findings: &[Finding],
    index: usize,
    golden: &Golden,
    state: GoldenState<'_>,
) {
    let GoldenState { found, trap, miss } = state;
    let (mark, style, state) = match (found, trap, miss, golden.acceptance) {
        (Some(_), _, _, Acceptance::Acceptable) => ("✓", GOOD, "acceptable, reported"),
        (Some(_), ..) => ("✓", GOOD, "found"),
        (None, Some(_), ..) => ("✗", BAD, "a trap, reported"),
        (None, None, Some(_), _) => ("✗", BAD, "missed"),
        _ if input.trial.outcome != Outcome::Reported => ("·", DIM, "not tried"),
        (None, None, None, Acceptance::Acceptable) => ("·", DIM, "acceptable, not reported"),
        (None, None, None, _) => ("·", DIM, "a trap, not reported"),
    };
    writer.out.push('\n');
    let place = place(golden.file.as_ref().map(ToString::to_string), golden.lines.map(|l| (l.start, l.end)));
    let severity = golden.severity.map_or("", |s| s.as_str());
    let facts: String =
        [severity, &place].iter().filter(|s| !s.is_empty()).map(|s| format!(" · {}", harmless(s))).collect();
    writer.beside(0, &[(mark, style), (&harmless(golden.id.as_str()), BOLD)], &[(state, style), (&facts, DIM)]);
    writer.quote(2, golden.headline(), Style::new());
    match (found, trap, miss) {
        (Some(found), ..) => write_match(writer, input, findings, golden, found),
        (None, Some(extra), _) => {
            let score = extra.best.as_ref().map(|b| (b.score, b.parts));
            write_finding(writer, findings, extra.finding, "reported by", input.profile, score);
        }
        (None, None, Some(miss)) => write_miss(writer, input, findings, golden, miss),
        _ => {}
    }
    let shown =
        found.map(|m| m.finding).or(trap.map(|t| t.finding)).or(miss.and_then(|m| m.best.as_ref()).map(|b| b.index));
    for candidate in input.candidates.get(index).into_iter().flatten().filter(|c| Some(c.index) != shown).take(2) {
        write_finding(
            writer,
            findings,
            candidate.index,
            "also near",
            input.profile,
            Some((candidate.score, candidate.parts)),
        );
    }
}

fn write_match(
    writer: &mut TextWriter<'_>,
    input: &CaseExplanation<'_>,
    findings: &[Finding],
    golden: &Golden,
    found: &Match,
) {
    let score = found.score.map(|score| (score, found.parts));
    write_finding(writer, findings, found.finding, "matched by", input.profile, score);
    let reason = match &found.decided_by {
        DecidedBy::Score => format!("decided by the score, at least {:.2}", input.profile.threshold),
        DecidedBy::Judge(judge) => format!("decided by the judge {}", harmless(judge.as_str())),
        DecidedBy::Identity(_) => {
            let keys = key::golden_keys(golden);
            let key = keys.first().map_or("the same file and rule".to_owned(), |k| harmless(k).into_owned());
            format!("decided by {key}")
        }
    };
    let reason = writer.paint(&reason, DIM);
    writer.line(6, &reason);
    if let Some(Decision::Pair(pair)) = found.judgement.and_then(|i| input.judgements.get(i)).map(|j| &j.decision)
        && let Some(words) = &pair.explanation
    {
        writer.quote_whole(6, &format!("“{words}”"), DIM);
    }
    if let Some(key) = found.judgement.and_then(|i| input.judgements.get(i)).and_then(|j| j.exchange.as_deref()) {
        let short: String = key.chars().take(SHORT_KEY).collect();
        writer.quote(6, &format!("exchange {short}: karat judge show {short}"), DIM);
    }
    flags(writer, &found.flags);
}

fn write_miss(
    writer: &mut TextWriter<'_>,
    input: &CaseExplanation<'_>,
    findings: &[Finding],
    golden: &Golden,
    miss: &Miss,
) {
    let reason = names(input, findings).miss(miss.golden, miss.why);
    writer.quote_whole(4, &miss_in_words(&reason), WARNING);
    if let Some(best) = &miss.best {
        write_finding(writer, findings, best.index, "nearest", input.profile, Some((best.score, best.parts)));
    }
    if input.profile.method == Method::Identity {
        for key in key::golden_keys(golden) {
            writer.quote(6, &format!("looked for {key}"), DIM);
        }
    }
}

fn names<'a>(input: &CaseExplanation<'a>, findings: &'a [Finding]) -> Names<'a> {
    let rules = &input.profile.identity;
    Names { case: input.case, findings, judgements: input.judgements, rules }
}

fn write_duplicate(
    writer: &mut TextWriter<'_>,
    input: &CaseExplanation<'_>,
    findings: &[Finding],
    duplicate: &Duplicate,
) {
    write_finding(writer, findings, duplicate.finding, "again", input.profile, None);
    let golden =
        duplicate.golden.map_or("a golden that the record does not contain", |g| input.case.goldens[g].id.as_str());
    let counts =
        if input.profile.duplicates_are_false { "a false positive in this profile" } else { "not a false positive" };
    writer.quote(6, &format!("reports {golden}, which is already matched: {counts}"), DIM);
    flags(writer, &duplicate.flags);
}

fn write_extra(writer: &mut TextWriter<'_>, input: &CaseExplanation<'_>, findings: &[Finding], extra: &Extra) {
    write_finding(
        writer,
        findings,
        extra.finding,
        "extra",
        input.profile,
        extra.best.as_ref().map(|b| (b.score, b.parts)),
    );
    let reason = names(input, findings).extra(extra.finding, extra.why);
    writer.quote_whole(6, &extra_in_words(&reason), DIM);
    flags(writer, &extra.flags);
}

fn write_finding(
    writer: &mut TextWriter<'_>,
    findings: &[Finding],
    index: usize,
    role: &str,
    profile: &Profile,
    score: Option<(f64, Parts)>,
) {
    let Some(finding) = findings.get(index) else { return };
    let place = place(finding.file.as_ref().map(ToString::to_string), finding.lines().map(|l| (l.start, l.end)));
    let (sum, judged) = score.map_or_else(Default::default, |(score, parts)| sums(score, &parts, profile));
    let left = [(role, DIM), (&*harmless(finding.id.as_str()), Style::new()), (&*harmless(&place), DIM)];
    writer.beside(4, &left, &[(&sum, Style::new())]);
    if !judged.is_empty() {
        writer.line(6, &judged);
    }
    writer.quote(6, finding.headline(), Style::new());
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
        part.filter(|_| weight > 0.0).map(|part| (weight * part, format!("{}·{name} {part:.2}", trimmed(weight))))
    });
    let (values, words): (Vec<f64>, Vec<String>) = terms.unzip();
    let alone: f64 = values.iter().sum();
    let share = profile.heuristic_share;
    match parts.judge {
        _ if words.is_empty() => (format!("{score:.3}"), String::new()),
        None => (format!("{score:.3} = {}", words.join(" + ")), String::new()),
        Some(judge) => (
            format!("{alone:.3} = {}", words.join(" + ")),
            format!("{score:.3} = {}·{alone:.3} + {}·judge {judge:.2}", trimmed(share), trimmed(1.0 - share)),
        ),
    }
}

fn trimmed(weight: f64) -> String {
    let text = format!("{weight:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn flags(writer: &mut TextWriter<'_>, flags: &[Flag]) {
    for flag in flags {
        let words = match flag {
            Flag::Ambiguous => "ambiguous: another assignment has the same score",
            Flag::OutsideChange => "outside the changed lines",
            Flag::Unjudged => "unjudged: no judge answered about this pair",
            Flag::Trap => "a known false alarm",
        };
        let text = writer.paint(words, WARNING);
        writer.line(6, &text);
    }
}

fn place(file: Option<String>, lines: Option<(u32, u32)>) -> String {
    match (file, lines) {
        (Some(file), Some((start, end))) if start == end => format!("{file}:{start}"),
        (Some(file), Some((start, end))) => format!("{file}:{start}-{end}"),
        (Some(file), None) => file,
        (None, Some((start, end))) => format!("lines {start}-{end}"),
        (None, None) => String::new(),
    }
}

fn others(writer: &mut TextWriter<'_>, input: &CaseExplanation<'_>) {
    let rest: Vec<&TrialScore> = input.score.trials.iter().filter(|t| t.number != input.trial.number).collect();
    if rest.is_empty() {
        return;
    }
    writer.title("Other trials", "--trial N shows one in full");
    for trial in rest {
        let required = trial.counts.tp + trial.counts.fn_;
        let (text, style) = match trial.outcome {
            Outcome::Reported => {
                let all = trial.counts.fn_ == 0 && trial.counts.fp == 0;
                let text = format!("{} of {required} found, {} false", trial.counts.tp, trial.counts.fp);
                (text, if all { GOOD } else { Style::new() })
            }
            outcome => (outcome.ended().to_owned(), WARNING),
        };
        let text = writer.paint(&text, style);
        writer.line(2, &format!("trial {}: {text}", trial.number));
    }
}

/// A candidate as in reports, for JSON output.
pub fn candidate_json(candidate: &Candidate, findings: &[Finding]) -> CandidateV1 {
    let finding = findings.get(candidate.index).map(|f| f.id.to_string());
    CandidateV1 { finding, ..build::candidate(candidate) }
}
