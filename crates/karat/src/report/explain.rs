//! One case as a story: each golden, its best candidates with the parts of their scores, who decided and why.

use super::Look;
use super::number::count;
use super::reason::{Names, extra_in_words, miss_in_words};
use super::{build, grid};
use crate::diagnostic::harmless;
use crate::format::report::CandidateV1;
use anstyle::{AnsiColor, Style};
use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::identity::key;
use karat_core::judgement::{AuditDecision, Decision, Judgement};
use karat_core::matching::outcome::{Candidate, DecidedBy, Duplicate, Extra, ExtraReason, Flag, Match, Miss, Parts};
use karat_core::profile::{Method, Profile, Unstated};
use karat_core::scorecard::{Audited, CaseScore, TrialScore};
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use unicode_width::UnicodeWidthStr;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const CAREFUL: Style = AnsiColor::Yellow.on_default();

/// What one story is told from.
pub struct Telling<'a> {
    /// The case.
    pub case: &'a Case,
    /// The tool on it.
    pub score: &'a CaseScore,
    /// The trial to tell in full.
    pub trial: &'a TrialScore,
    /// What that trial reported; `None` where it never ran.
    pub reported: Option<&'a Trial>,
    /// The judgements that were heard, by the index matches name.
    pub judgements: &'a [Judgement],
    /// The best candidates of each golden, best first.
    pub candidates: &'a [Vec<Candidate>],
    /// The rules.
    pub profile: &'a Profile,
}

/// The story in words.
pub fn draw(telling: &Telling<'_>, tool: &str, look: &Look) -> String {
    let mut page = Page { out: String::new(), look };
    head(&mut page, telling, tool);
    let findings = telling.reported.map_or(&[][..], |trial| &trial.findings);
    let result = &telling.trial.result;
    let mut states: Vec<GoldenState<'_>> = vec![GoldenState::default(); telling.case.goldens.len()];
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
    for ((index, golden), state) in telling.case.goldens.iter().enumerate().zip(states) {
        tell_golden(&mut page, telling, findings, index, golden, state);
    }
    if !result.duplicates.is_empty() {
        page.title("Repeats", &count(result.duplicates.len(), "finding"));
        for duplicate in &result.duplicates {
            tell_duplicate(&mut page, telling, findings, duplicate);
        }
    }
    let extras: Vec<&Extra> = result.extras.iter().filter(|e| !e.flags.contains(&Flag::Trap)).collect();
    if !extras.is_empty() {
        page.title("Matched nothing", &count(extras.len(), "finding"));
        for extra in extras {
            tell_extra(&mut page, telling, findings, extra);
        }
    }
    others(&mut page, telling);
    page.out
}

/// So many lines of a judge's words are shown.
const MOST_LINES: usize = 4;

/// So much of an exchange's key is enough to find it by.
const SHORT_KEY: usize = 12;

struct Page<'a> {
    out: String,
    look: &'a Look,
}

impl Page<'_> {
    fn paint(&self, text: &str, style: Style) -> String {
        if self.look.colour { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Text that somebody else wrote: one line, cut to the width.
    fn quote(&mut self, indent: usize, text: &str, style: Style) {
        let first = text.trim().lines().next().unwrap_or_default();
        let fitted = grid::fit(&harmless(first), self.look.width.saturating_sub(indent));
        let painted = self.paint(&fitted, style);
        self.line(indent, &painted);
    }

    /// What somebody else had to say, in a few lines.
    fn quote_whole(&mut self, indent: usize, text: &str, style: Style) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let width = self.look.width.saturating_sub(indent);
        for (number, line) in grid::wrap(&harmless(&text), width).into_iter().enumerate() {
            if number == MOST_LINES {
                return self.line(indent, "…");
            }
            let painted = self.paint(&line, style);
            self.line(indent, &painted);
        }
    }

    /// Two things on one line, or the second below the first where both do not fit.
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
        } else if width <= self.look.width {
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

fn head(page: &mut Page<'_>, telling: &Telling<'_>, tool: &str) {
    let trial = telling.trial;
    let reported = telling.reported.map_or(0, |t| t.findings.len());
    let what =
        if trial.outcome == Outcome::Reported { count(reported, "finding") } else { trial.outcome.ended().to_owned() };
    let title = format!("{} · {} · trial {}", harmless(telling.case.id.as_str()), harmless(tool), trial.number);
    let counts = trial.counts;
    let some = |n: usize, style: Style| if n > 0 { style } else { DIM };
    let facts = [
        (&*format!("{what}: "), DIM),
        (&*format!("{} found", counts.tp), some(counts.tp, GOOD)),
        (", ", DIM),
        (&*format!("{} missed", counts.fn_), some(counts.fn_, BAD)),
        (", ", DIM),
        (&*format!("{} false", counts.fp), some(counts.fp, CAREFUL)),
    ];
    page.beside(0, &[(&title, BOLD)], &facts);
    if let Some(name) = &telling.case.name {
        page.quote(0, name, DIM);
    }
    if let Some(audited) = &trial.audited {
        tell_audit(page, telling, audited);
    }
}

/// What an audit makes of the whole response.
fn tell_audit(page: &mut Page<'_>, telling: &Telling<'_>, audited: &Audited) {
    let heard = audited.judgement.and_then(|index| telling.judgements.get(index));
    let mut facts =
        vec![if audited.target_found { "the target was found" } else { "the target was not found" }.to_owned()];
    facts.extend(audited.type_match.map(|fit| format!("type {}", fit.as_str().replace('_', " "))));
    let scores = [("root cause", audited.rcir), ("attack vector", audited.ava), ("fix", audited.fsv)];
    facts.extend(scores.iter().filter_map(|(name, score)| Some(format!("{name} {:.2}", (*score)?))));
    let who = heard.map_or_else(String::new, |heard| format!(" by {}", harmless(heard.judge.as_str())));
    let style = if audited.target_found { GOOD } else { BAD };
    page.out.push('\n');
    for line in grid::wrap(&format!("Audit{who}: {}", facts.join(" · ")), page.look.width) {
        let painted = page.paint(&line, style);
        page.line(0, &painted);
    }
    if let Some(Decision::Audit(AuditDecision { explanation: Some(words), .. })) = heard.map(|heard| &heard.decision) {
        page.quote_whole(2, words, DIM);
    }
}

/// What became of a golden.
#[derive(Clone, Copy, Default)]
struct GoldenState<'a> {
    found: Option<&'a Match>,
    trap: Option<&'a Extra>,
    miss: Option<&'a Miss>,
}

fn tell_golden(
    page: &mut Page<'_>,
    telling: &Telling<'_>,
    findings: &[Finding],
    index: usize,
    golden: &Golden,
    state: GoldenState<'_>,
) {
    let GoldenState { found, trap, miss } = state;
    let (mark, style, state) = match (found, trap, miss, golden.acceptance) {
        (Some(_), _, _, Acceptance::Acceptable) => ("✓", GOOD, "acceptable, reported"),
        (Some(_), ..) => ("✓", GOOD, "found"),
        (None, Some(_), ..) => ("✗", BAD, "a trap, and the tool fell into it"),
        (None, None, Some(_), _) => ("✗", BAD, "missed"),
        _ if telling.trial.outcome != Outcome::Reported => ("·", DIM, "not tried"),
        (None, None, None, Acceptance::Acceptable) => ("·", DIM, "acceptable, not reported"),
        (None, None, None, _) => ("·", DIM, "a trap, avoided"),
    };
    page.out.push('\n');
    let place = place(golden.file.as_ref().map(ToString::to_string), golden.lines.map(|l| (l.start, l.end)));
    let severity = golden.severity.map_or("", |s| s.as_str());
    let facts: String =
        [severity, &place].iter().filter(|s| !s.is_empty()).map(|s| format!(" · {}", harmless(s))).collect();
    page.beside(0, &[(mark, style), (&harmless(golden.id.as_str()), BOLD)], &[(state, style), (&facts, DIM)]);
    page.quote(2, golden.headline(), Style::new());
    match (found, trap, miss) {
        (Some(found), ..) => tell_match(page, telling, findings, golden, found),
        (None, Some(extra), _) => {
            let score = extra.best.as_ref().map(|b| (b.score, b.parts));
            tell_finding(page, findings, extra.finding, "reported by", telling.profile, score);
        }
        (None, None, Some(miss)) => tell_miss(page, telling, findings, golden, miss),
        _ => {}
    }
    let shown =
        found.map(|m| m.finding).or(trap.map(|t| t.finding)).or(miss.and_then(|m| m.best.as_ref()).map(|b| b.index));
    for candidate in telling.candidates.get(index).into_iter().flatten().filter(|c| Some(c.index) != shown).take(2) {
        tell_finding(
            page,
            findings,
            candidate.index,
            "also near",
            telling.profile,
            Some((candidate.score, candidate.parts)),
        );
    }
}

fn tell_match(page: &mut Page<'_>, telling: &Telling<'_>, findings: &[Finding], golden: &Golden, found: &Match) {
    let score = found.score.map(|score| (score, found.parts));
    tell_finding(page, findings, found.finding, "matched by", telling.profile, score);
    let reason = match &found.decided_by {
        DecidedBy::Score => format!("decided by the score, which reaches {:.2}", telling.profile.threshold),
        DecidedBy::Judge(judge) => format!("decided by the judge {}", harmless(judge.as_str())),
        DecidedBy::Identity(_) => {
            let keys = key::of_golden(golden);
            let key = keys.first().map_or("the same file and rule".to_owned(), |k| harmless(k).into_owned());
            format!("decided by {key}")
        }
    };
    let reason = page.paint(&reason, DIM);
    page.line(6, &reason);
    if let Some(Decision::Pair(pair)) = found.judgement.and_then(|i| telling.judgements.get(i)).map(|j| &j.decision)
        && let Some(words) = &pair.explanation
    {
        page.quote_whole(6, &format!("“{words}”"), DIM);
    }
    if let Some(key) = found.judgement.and_then(|i| telling.judgements.get(i)).and_then(|j| j.exchange.as_deref()) {
        let short: String = key.chars().take(SHORT_KEY).collect();
        page.quote(6, &format!("exchange {short}: karat judge show {short}"), DIM);
    }
    flags(page, &found.flags);
}

fn tell_miss(page: &mut Page<'_>, telling: &Telling<'_>, findings: &[Finding], golden: &Golden, miss: &Miss) {
    let reason = names(telling, findings).miss(miss.golden, miss.why);
    page.quote_whole(4, &miss_in_words(&reason), CAREFUL);
    if let Some(best) = &miss.best {
        tell_finding(page, findings, best.index, "nearest", telling.profile, Some((best.score, best.parts)));
    }
    if telling.profile.method == Method::Identity {
        for key in key::of_golden(golden) {
            page.quote(6, &format!("looked for {key}"), DIM);
        }
    }
}

fn names<'a>(telling: &Telling<'a>, findings: &'a [Finding]) -> Names<'a> {
    let rules = &telling.profile.identity;
    Names { case: telling.case, findings, judgements: telling.judgements, rules }
}

fn tell_duplicate(page: &mut Page<'_>, telling: &Telling<'_>, findings: &[Finding], duplicate: &Duplicate) {
    tell_finding(page, findings, duplicate.finding, "again", telling.profile, None);
    let golden = duplicate.golden.map_or("a golden the record does not name", |g| telling.case.goldens[g].id.as_str());
    let counts =
        if telling.profile.duplicates_are_false { "a false positive in this profile" } else { "no false positive" };
    page.quote(6, &format!("reports {golden}, which was found already: {counts}"), DIM);
    flags(page, &duplicate.flags);
}

fn tell_extra(page: &mut Page<'_>, telling: &Telling<'_>, findings: &[Finding], extra: &Extra) {
    tell_finding(
        page,
        findings,
        extra.finding,
        "extra",
        telling.profile,
        extra.best.as_ref().map(|b| (b.score, b.parts)),
    );
    let reason = names(telling, findings).extra(extra.finding, extra.why);
    page.quote_whole(6, &extra_in_words(&reason), DIM);
    flags(page, &extra.flags);
}

fn tell_finding(
    page: &mut Page<'_>,
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
    page.beside(4, &left, &[(&sum, Style::new())]);
    if !judged.is_empty() {
        page.line(6, &judged);
    }
    page.quote(6, finding.headline(), Style::new());
}

/// The score as the sum it is, so that a reader can redo it; where a judge spoke, a second sum says what that made of it.
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

fn flags(page: &mut Page<'_>, flags: &[Flag]) {
    for flag in flags {
        let words = match flag {
            Flag::Ambiguous => "ambiguous: another assignment is worth just as much",
            Flag::OutsideChange => "lies on lines the change did not touch",
            Flag::Unjudged => "unjudged: no judge answered about this pair",
            Flag::Trap => "a known false alarm",
        };
        let text = page.paint(words, CAREFUL);
        page.line(6, &text);
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

fn others(page: &mut Page<'_>, telling: &Telling<'_>) {
    let rest: Vec<&TrialScore> = telling.score.trials.iter().filter(|t| t.number != telling.trial.number).collect();
    if rest.is_empty() {
        return;
    }
    page.title("Other trials", "--trial N tells one in full");
    for trial in rest {
        let required = trial.counts.tp + trial.counts.fn_;
        let (text, style) = match trial.outcome {
            Outcome::Reported => {
                let all = trial.counts.fn_ == 0 && trial.counts.fp == 0;
                let text = format!("{} of {required} found, {} false", trial.counts.tp, trial.counts.fp);
                (text, if all { GOOD } else { Style::new() })
            }
            outcome => (outcome.ended().to_owned(), CAREFUL),
        };
        let text = page.paint(&text, style);
        page.line(2, &format!("trial {}: {text}", trial.number));
    }
}

/// A candidate as the report writes it, for the JSON form of a story.
pub fn candidate_json(candidate: &Candidate, findings: &[Finding]) -> CandidateV1 {
    let finding = findings.get(candidate.index).map(|f| f.id.to_string());
    CandidateV1 { finding, ..build::candidate(candidate) }
}
