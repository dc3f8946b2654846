//! Asks a judge one question: does a report describe a known problem?

use super::run::{JudgeEnv, JudgeObserver, JudgeRequest, open_judge};
use crate::failure::{Failure, Result};
use crate::suite::{LoadedSuite, load_suite};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::ToolName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::scorecard::{PairOrder, PairQuestion};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::document::suggest::nearest;
use karat_format::snapshot::SnapshotV1;
use karat_store::StoreLocation;
use serde::Serialize;
use std::path::Path;

/// The question, and who is asked.
#[expect(missing_docs, reason = "field names say it")]
pub struct QuestionRequest {
    /// The known problem and the report; with a golden, only the report.
    pub texts: Vec<String>,
    /// Default: the current folder, if it is a suite.
    pub suite: Option<String>,
    pub case: Option<String>,
    /// A golden of the case, instead of a known problem as text.
    pub golden: Option<String>,
    /// FILE, FILE:LINE or FILE:FIRST-LAST.
    pub golden_at: Option<String>,
    pub finding_at: Option<String>,
    pub judge: JudgeRequest,
    pub store: StoreLocation,
}

/// What a judge answered.
#[derive(Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct JudgeAnswer {
    pub judge: String,
    /// Null without a decision.
    pub r#match: Option<bool>,
    pub confidence: Option<f64>,
    pub partial: Option<bool>,
    pub explanation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    pub exchange: Option<String>,
    /// The answer of each panel member or person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub voices: Vec<Self>,
}

impl JudgeAnswer {
    fn new(judgement: &Judgement) -> Self {
        let (pair, unjudged) = match &judgement.decision {
            Decision::Pair(pair) => (Some(pair), None),
            Decision::Unjudged(pair) => (None, Some(pair.why.clone())),
            Decision::Audit(_) | Decision::Extra(_) => (None, None),
        };
        Self {
            judge: judgement.judge.to_string(),
            r#match: pair.map(|pair| pair.matched),
            confidence: pair.and_then(|pair| pair.confidence),
            partial: pair.and_then(|pair| pair.partial),
            explanation: pair.and_then(|pair| pair.explanation.clone()),
            unjudged,
            exchange: judgement.exchange.clone(),
            voices: Vec::new(),
        }
    }
}

/// Asks a judge one question.
pub fn ask_question(request: &QuestionRequest, observer: &mut dyn JudgeObserver) -> Result<JudgeAnswer> {
    let loaded = suite(request)?;
    let judge = open_judge(&loaded, &request.judge)?;
    let (case, golden) = known_problem(request, &loaded)?;
    let mut trial = Trial::reported(case.id.clone(), ToolName::new("asked"), 1);
    trial.findings.push(report(request)?);
    let (golden, finding) = (&case.goldens[golden], &trial.findings[0]);
    let question =
        PairQuestion { case: &case, trial: &trial, golden, finding, score: 0.0, order: PairOrder::GoldenFirst };
    let env = JudgeEnv { request: &request.judge, location: &request.store, store: None, observer };
    let trials = std::slice::from_ref(&trial);
    let asked = env.with(&judge, &loaded, trials, |context| context.ask_about(&judge, &[question]))?;
    let Some(first) = asked.judgements.first() else {
        return Err(Failure::failed(format!("the judge {} gave no answer", judge.name)));
    };
    let several = asked.voices.len() > 1 || asked.voices.iter().any(|voice| voice.judge != judge.name);
    let voices = asked.voices.iter().filter(|_| several).map(JudgeAnswer::new).collect();
    Ok(JudgeAnswer { voices, ..JudgeAnswer::new(first) })
}

/// The given suite, else the current folder if it is one, else none: a question needs no suite.
fn suite(request: &QuestionRequest) -> Result<LoadedSuite> {
    match &request.suite {
        Some(place) => load_suite(place),
        None if request.case.is_some() || Path::new("karat.toml").is_file() => load_suite("."),
        None => Ok(LoadedSuite::remembered(SnapshotV1::default())),
    }
}

/// The case, and the index of the golden that is the known problem.
fn known_problem(request: &QuestionRequest, loaded: &LoadedSuite) -> Result<(Case, usize)> {
    let mut case = match &request.case {
        None => Case::new("asked"),
        Some(name) => {
            let cases = &loaded.suite.cases;
            let case = cases.iter().find(|case| case.id.as_str() == name).cloned();
            case.ok_or_else(|| unknown(name, "case", cases.iter().map(|case| case.id.as_str())))?
        }
    };
    if let Some(name) = &request.golden {
        if request.texts.len() > 1 {
            return Err(Failure::usage("--golden is the known problem; give only the report"));
        }
        return match case.goldens.iter().position(|golden| golden.id.as_str() == name) {
            Some(index) => Ok((case, index)),
            None => Err(unknown(name, "golden", case.goldens.iter().map(|golden| golden.id.as_str()))),
        };
    }
    let [text, _] = request.texts.as_slice() else {
        let help = "or select a golden with --case and --golden";
        return Err(Failure::usage(format!("give the known problem and the report, {help}")));
    };
    let (file, lines) = location(request.golden_at.as_deref())?;
    let file = file.as_deref().and_then(FilePattern::new);
    // In a case of the suite, it is added to the existing goldens.
    case.goldens.push(Golden { description: Some(text.clone()), file, lines, ..Golden::new("asked") });
    let last = case.goldens.len() - 1;
    Ok((case, last))
}

fn report(request: &QuestionRequest) -> Result<Finding> {
    let (file, lines) = location(request.finding_at.as_deref())?;
    Ok(Finding {
        message: request.texts.last().cloned(),
        file: file.as_deref().and_then(RepoPath::new),
        line_start: lines.map(|lines| lines.start),
        line_end: lines.map(|lines| lines.end),
        ..Finding::new("asked")
    })
}

fn unknown<'n>(name: &str, what: &str, known: impl Iterator<Item = &'n str>) -> Failure {
    let known: Vec<&str> = known.collect();
    let hint = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| format!("; available: {}", known.join(", ")));
    Failure::usage(format!("unknown {what} `{name}`{hint}"))
}

/// Parses a file with optional lines.
fn location(text: Option<&str>) -> Result<(Option<String>, Option<Lines>)> {
    let Some(text) = text else { return Ok((None, None)) };
    let wrong = || Failure::usage(format!("invalid location `{text}`: expected FILE, FILE:LINE or FILE:FIRST-LAST"));
    // The part after the last colon is lines if it looks like them; a name may contain colons too.
    let is_lines = |lines: &str| lines.starts_with(|c: char| c.is_ascii_digit());
    let (file, lines) = match text.rsplit_once(':').filter(|(_, lines)| is_lines(lines)) {
        Some((file, lines)) => {
            let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
            let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
            let (start, end) = number(first).zip(number(last)).ok_or_else(wrong)?;
            (file, Some(Lines { start, end }).filter(|_| start <= end).ok_or_else(wrong).map(Some)?)
        }
        None => (text, None),
    };
    RepoPath::new(file).filter(|path| !path.escapes()).ok_or_else(wrong)?;
    Ok((Some(file.to_owned()), lines))
}
