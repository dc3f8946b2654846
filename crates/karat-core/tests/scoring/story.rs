//! Cases and trials written in short lines, and results read back the same way.

use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden, Severity};
use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, ExtraDecision, Judgement, PairDecision};
use karat_core::lines::Lines;
use karat_core::matching::outcome::{ExtraReason, MissReason, TrialResult};
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::Profile;
use karat_core::scorecard::{Scorecard, score};
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::Trial;

/// A shipped profile, with TOML lines that replace single values.
pub(crate) fn profile(name: &str, changes: &str) -> Profile {
    let text = match name {
        "karat" => include_str!("../../../karat/profiles/karat.toml"),
        "crb" => include_str!("../../../karat/profiles/crb.toml"),
        "identity" => include_str!("../../../karat/profiles/identity.toml"),
        "owasp" => include_str!("../../../karat/profiles/owasp.toml"),
        "recorded" => include_str!("../../../karat/profiles/recorded.toml"),
        "audit-strict" => include_str!("../../../karat/profiles/audit-strict.toml"),
        "audit" => include_str!("../../../karat/profiles/audit.toml"),
        other => panic!("no profile {other}"),
    };
    let mut table: toml::Table = text.parse().unwrap();
    // Where no test says otherwise, nobody is asked, and pairs count by their score.
    table.insert("judge".to_owned(), "none".into());
    let changes: toml::Table = changes.parse().unwrap();
    table.extend(changes);
    table.try_into().unwrap()
}

/// `g1 src/a.py:3-5 kw=sql,inject cat=x cwe=89 sev=high rule=r acceptable|trap|target | prose`; `-` for no place.
pub(crate) fn golden(line: &str) -> Golden {
    let (fields, prose) = line.split_once('|').unwrap_or((line, ""));
    let mut words = fields.split_whitespace();
    let mut golden = Golden::new(words.next().unwrap());
    golden.title = Some(prose.trim().to_owned()).filter(|p| !p.is_empty());
    let (file, lines) = place(words.next().unwrap_or("-"));
    golden.file = file.as_deref().and_then(FilePattern::new);
    golden.lines = lines;
    for word in words {
        match word.split_once('=') {
            Some(("kw", list)) => golden.keywords = list.split(',').map(|k| k.replace('_', " ")).collect(),
            Some(("cat", name)) => golden.category = Some(name.to_owned()),
            Some(("rule", name)) => golden.rule_id = Some(name.to_owned()),
            Some(("cwe", n)) => golden.cwe = vec![n.parse().unwrap()],
            Some(("sev", word)) => golden.severity = Some(severity(word)),
            None if word == "acceptable" => golden.acceptance = Acceptance::Acceptable,
            None if word == "trap" => golden.acceptance = Acceptance::Trap,
            None if word == "target" => golden.target = true,
            _ => panic!("{word}"),
        }
    }
    golden
}

/// `f1 src/a.py:4 cat=x cwe=89 sev=high rule=r | what it says`.
pub(crate) fn finding(line: &str) -> Finding {
    let (fields, said) = line.split_once('|').unwrap_or((line, ""));
    let mut words = fields.split_whitespace();
    let mut finding = Finding::new(words.next().unwrap());
    finding.message = Some(said.trim().to_owned());
    let (file, lines) = place(words.next().unwrap_or("-"));
    finding.file = file.as_deref().and_then(RepoPath::new);
    finding.line_start = lines.map(|l| l.start);
    finding.line_end = lines.map(|l| l.end);
    for word in words {
        match word.split_once('=') {
            Some(("cat", name)) => finding.category = Some(name.to_owned()),
            Some(("rule", name)) => finding.rule_id = Some(name.to_owned()),
            Some(("cwe", n)) => finding.cwe = vec![n.parse().unwrap()],
            Some(("sev", word)) => finding.severity = Some(severity(word)),
            _ => panic!("{word}"),
        }
    }
    finding
}

fn severity(word: &str) -> Severity {
    match word {
        "critical" => Severity::Critical,
        "high" => Severity::High,
        "low" => Severity::Low,
        _ => panic!("{word}"),
    }
}

fn place(text: &str) -> (Option<String>, Option<Lines>) {
    if text == "-" {
        return (None, None);
    }
    let Some((file, lines)) = text.rsplit_once(':') else { return (Some(text.to_owned()), None) };
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    (Some(file.to_owned()), Some(Lines { start: start.parse().unwrap(), end: end.parse().unwrap() }))
}

/// The non-blank lines of a text.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// A case of that name with the goldens of a text.
pub(crate) fn case(id: &str, goldens: &str) -> Case {
    let goldens: Vec<Golden> = lines(goldens).map(golden).collect();
    let required = goldens.iter().any(Golden::is_required);
    Case { goldens, verdict: if required { Verdict::Vulnerable } else { Verdict::Safe }, ..Case::new(id) }
}

/// A trial of the tool `t` with the findings of a text.
pub(crate) fn trial(case: &str, number: u32, findings: &str) -> Trial {
    Trial {
        findings: lines(findings).map(finding).collect(),
        ..Trial::reported(CaseId::new(case), ToolName::new("t"), number)
    }
}

/// A suite of cases.
pub(crate) fn suite(cases: Vec<Case>) -> Suite {
    Suite { name: "s".to_owned(), digest: String::new(), cases }
}

/// `judge g1 f1 yes 0.9`, `judge g1 f1 no`, `judge - f1 yes`; of an extra `judge extra f1 yes`.
pub(crate) fn judgement(line: &str) -> Judgement {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [judge, golden, finding, verdict, rest @ ..] = words.as_slice() else { panic!("{line}") };
    let (finding, yes) = (FindingId::new(*finding), *verdict == "yes");
    let decision = match *golden {
        "extra" => Decision::Extra(ExtraDecision { finding, valid: yes, explanation: None, probability: None }),
        golden => Decision::Pair(PairDecision {
            probability: None,
            golden: (golden != "-").then(|| GoldenId::new(golden)),
            finding,
            matched: yes,
            partial: None,
            confidence: rest.first().map(|c| c.parse().unwrap()),
            explanation: None,
            grounds: None,
        }),
    };
    Judgement {
        case: CaseId::new("c"),
        tool: ToolName::new("t"),
        trial: 1,
        judge: JudgeName::new(*judge),
        exchange: None,
        decision,
    }
}

/// Scores one case `c` with one trial.
pub(crate) fn score_one(
    profile: &Profile,
    goldens: &str,
    findings: &str,
    judgements: &str,
) -> (Scorecard, Suite, Trial) {
    let suite = suite(vec![case("c", goldens)]);
    let trial = trial("c", 1, findings);
    let judgements: Vec<Judgement> = lines(judgements).map(judgement).collect();
    (score(&suite, std::slice::from_ref(&trial), &judgements, profile), suite, trial)
}

/// The outcome in lines: `g1=f1 0.71`, `miss g2`, `extra f2`, `again f3=g1`, `fine g3=f4`, with flags in brackets.
pub(crate) fn describe(result: &TrialResult, case: &Case, trial: &Trial) -> String {
    let g = |i: usize| case.goldens[i].id.as_str();
    let f = |i: usize| trial.findings[i].id.as_str();
    let mut out: Vec<String> = Vec::new();
    let flags = |flags: &[karat_core::matching::outcome::Flag]| {
        flags.iter().map(|flag| format!(" [{}]", flag.as_str())).collect::<String>()
    };
    let score = |s: Option<f64>| s.map_or(String::new(), |s| format!(" {s:.3}"));
    for m in &result.matches {
        out.push(format!("{}={}{}{}", g(m.golden), f(m.finding), score(m.score), flags(&m.flags)));
    }
    for m in &result.acceptable {
        out.push(format!("fine {}={}{}{}", g(m.golden), f(m.finding), score(m.score), flags(&m.flags)));
    }
    for m in &result.misses {
        out.push(format!("miss {}: {}", g(m.golden), miss(m.why)));
    }
    for d in &result.duplicates {
        out.push(format!("again {}={}{}", f(d.finding), d.golden.map_or("?", g), flags(&d.flags)));
    }
    for e in &result.extras {
        out.push(format!("extra {}: {}{}", f(e.finding), extra(e.why), flags(&e.flags)));
    }
    out.join("\n")
}

/// The reason in a few words, without the candidate it names.
fn miss(why: MissReason) -> String {
    match why {
        MissReason::TrialFailed(outcome) => return format!("the trial {}", outcome.ended()),
        MissReason::NothingReported => "the tool reported nothing",
        MissReason::NoCandidate => "no finding is similar to it",
        MissReason::NoneAllowed => "no finding that may be paired with it is similar to it",
        MissReason::BelowThreshold { .. } => "the best candidate scores too low",
        MissReason::PathAlone { .. } => "the best candidate shares its path and nothing else",
        MissReason::NotWorthAsking { .. } => "the best candidate scores too low to ask",
        MissReason::Taken { .. } => "the best candidate is taken",
        MissReason::Refused { .. } => "a judge refused the best candidate",
        MissReason::Unjudged { .. } => "no judge answered",
        MissReason::NotAsked { matched_to: Some(_), .. } => "the best candidate is taken, and was not asked about",
        MissReason::NotAsked { matched_to: None, .. } => "the best candidate was not asked about",
        MissReason::KeyAbsent(_) => "no finding has its key",
        MissReason::KeyUsed { .. } => "its key is used",
        MissReason::KeyRefused(_) => "its key is refused",
        MissReason::NoKey(_) => "no key can be built for it",
        MissReason::AuditedMissing => "the audit reports it as not found",
        MissReason::AuditedUnnamed => "the audit reports it as found, and in no finding",
        MissReason::NotRecorded => "no recorded judgement matches it",
    }
    .to_owned()
}

fn extra(why: ExtraReason) -> &'static str {
    match why {
        ExtraReason::CleanCase => "the case has no goldens",
        ExtraReason::NothingNear => "no golden is similar to it",
        ExtraReason::NoneAllowed => "no golden that it may be paired with is similar to it",
        ExtraReason::BelowThreshold { .. } => "its best golden scores too low",
        ExtraReason::PathAlone { .. } => "it shares the path of its best golden and nothing else",
        ExtraReason::NotWorthAsking { .. } => "its best golden scores too low to ask",
        ExtraReason::Refused { .. } => "a judge refused its best golden",
        ExtraReason::Unjudged { .. } => "no judge answered",
        ExtraReason::NotAsked { .. } => "no judge was asked about its best golden",
        ExtraReason::Trap { .. } => "it reports a known false alarm",
        ExtraReason::UnexpectedKey => "its key is not one of the expected keys",
        ExtraReason::KeyRefused(_) => "its key is refused",
        ExtraReason::NoKey(_) => "it has no key",
        ExtraReason::Audited(class) => class.meaning(),
        ExtraReason::NotRecorded => "no recorded judgement matches it",
        ExtraReason::NotCompared => "the profile does not compare it",
        ExtraReason::Confirmed => "a real problem that no golden describes",
        ExtraReason::Refuted => "reviewed: not a problem",
    }
}
