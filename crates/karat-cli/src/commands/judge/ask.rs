//! `karat judge ask`.

use crate::args::QuestionArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::show;
use crate::progress::JudgeProgress;
use crate::terminal::look;
use karat::judge::run::{JudgeEnv, open_judge};
use karat::judge::session::ask_about;
use karat::submissions::load_suite;
use karat::suite::LoadedSuite;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::ToolName;
use karat_core::judgement::{Decision, Judgement};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::scorecard::{PairOrder, PairQuestion};
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::config::ConfigV1;
use karat_format::diagnostic::harmless;
use karat_format::document::suggest::nearest;
use karat_format::snapshot::SnapshotV1;
use karat_llm::ledger::CacheMode;
use karat_report::grid::wrap;
use serde::Serialize;
use std::path::Path;

/// The JSON output.
#[derive(Serialize)]
struct Answer {
    judge: String,
    /// Null without a decision.
    r#match: Option<bool>,
    confidence: Option<f64>,
    partial: Option<bool>,
    explanation: Option<String>,
    /// Why there is no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    unjudged: Option<String>,
    exchange: Option<String>,
    /// The answer of each panel member or person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    voices: Vec<Self>,
}

pub(crate) fn run(args: &QuestionArgs) -> Result<Exit, Failure> {
    let loaded = suite(args)?;
    let ask = args.who.request();
    let judge = open_judge(&loaded, &ask)?;
    let (case, golden) = known(args, &loaded)?;
    let mut trial = Trial::reported(case.id.clone(), ToolName::new("asked"), 1);
    trial.findings.push(reported(args)?);
    let (Some(golden), Some(finding)) = (case.goldens.get(golden), trial.findings.first()) else {
        return Err(Failure::usage("nothing to ask"));
    };
    let question =
        PairQuestion { case: &case, trial: &trial, golden, finding, score: 0.0, order: PairOrder::GoldenFirst };
    let folder = args.who.store.path();
    let mut progress = JudgeProgress::new(true);
    let env = JudgeEnv { request: &ask, store_folder: &folder, store: None, observer: &mut progress };
    let asked =
        env.with(&judge, &loaded, std::slice::from_ref(&trial), |context| ask_about(&judge, &[question], context))?;
    let Some(first) = asked.judgements.first() else {
        return Err(Failure::failed(format!("the judge {} gave no answer", judge.name)));
    };
    let mut answer = Answer::new(first);
    let several = asked.voices.len() > 1 || asked.voices.iter().any(|voice| voice.judge != judge.name);
    answer.voices = asked.voices.iter().filter(|_| several).map(Answer::new).collect();
    let kept = matches!(ask.cache, CacheMode::ReadWrite | CacheMode::Only);
    show(args.json, &answer, |_| describe(&answer, &args.who.store.flag(), kept))?;
    Ok(if answer.r#match.is_some() { Exit::Ok } else { Exit::Failed })
}

impl Answer {
    fn new(judgement: &Judgement) -> Self {
        let plain = Self {
            judge: judgement.judge.to_string(),
            r#match: None,
            confidence: None,
            partial: None,
            explanation: None,
            unjudged: None,
            exchange: judgement.exchange.clone(),
            voices: Vec::new(),
        };
        match &judgement.decision {
            Decision::Pair(pair) => Self {
                r#match: Some(pair.matched),
                confidence: pair.confidence,
                partial: pair.partial,
                explanation: pair.explanation.clone(),
                ..plain
            },
            Decision::Unjudged(pair) => Self { unjudged: Some(pair.why.clone()), ..plain },
            Decision::Audit(_) | Decision::Extra(_) => plain,
        }
    }
}

/// The given suite, else the current folder if it is one, else none: a question needs no suite.
fn suite(args: &QuestionArgs) -> Result<LoadedSuite, Failure> {
    match &args.suite {
        Some(place) => load_suite(place),
        None if args.case.is_some() || Path::new("karat.toml").is_file() => load_suite("."),
        None => {
            let nothing = SnapshotV1 {
                config: ConfigV1::default(),
                name: String::new(),
                digest: String::new(),
                cases: Vec::new(),
            };
            Ok(LoadedSuite::remembered(nothing))
        }
    }
}

/// The case, and the index of the golden that is the known problem.
fn known(args: &QuestionArgs, loaded: &LoadedSuite) -> Result<(Case, usize), Failure> {
    let mut case = match &args.case {
        None => Case::new("asked"),
        Some(name) => find_case(loaded, name)?.clone(),
    };
    if let Some(name) = &args.golden {
        if args.texts.len() > 1 {
            return Err(Failure::usage("--golden is the known problem; give only the report"));
        }
        return match case.goldens.iter().position(|golden| golden.id.as_str() == name) {
            Some(index) => Ok((case, index)),
            None => Err(unknown(name, "golden", case.goldens.iter().map(|golden| golden.id.as_str()))),
        };
    }
    let [text, _] = args.texts.as_slice() else {
        let help = "or select a golden with --case and --golden";
        return Err(Failure::usage(format!("give the known problem and the report, {help}")));
    };
    let (file, lines) = args.golden_at.as_deref().map(place).transpose()?.unzip();
    let golden = Golden {
        description: Some(text.clone()),
        file: file.as_deref().and_then(FilePattern::new),
        lines: lines.flatten(),
        ..Golden::new("asked")
    };
    // In a case of the suite, it is added to the existing goldens.
    case.goldens.push(golden);
    let last = case.goldens.len() - 1;
    Ok((case, last))
}

fn reported(args: &QuestionArgs) -> Result<Finding, Failure> {
    let (file, lines) = args.finding_at.as_deref().map(place).transpose()?.unzip();
    let lines = lines.flatten();
    Ok(Finding {
        message: args.texts.last().cloned(),
        file: file.as_deref().and_then(RepoPath::new),
        line_start: lines.map(|lines| lines.start),
        line_end: lines.map(|lines| lines.end),
        ..Finding::new("asked")
    })
}

fn find_case<'l>(loaded: &'l LoadedSuite, name: &str) -> Result<&'l Case, Failure> {
    let mut cases = loaded.suite.cases.iter();
    cases.find(|case| case.id.as_str() == name).ok_or_else(|| {
        let names = loaded.suite.cases.iter().map(|case| case.id.as_str());
        unknown(name, "case", names)
    })
}

fn unknown<'n>(name: &str, what: &str, known: impl Iterator<Item = &'n str>) -> Failure {
    let known: Vec<&str> = known.collect();
    let hint = nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| format!("; available: {}", known.join(", ")));
    Failure::usage(format!("unknown {what} `{name}`{hint}"))
}

/// Parses a file with optional lines.
fn place(text: &str) -> Result<(String, Option<Lines>), Failure> {
    let wrong = || Failure::usage(format!("invalid location `{text}`: expected FILE, FILE:LINE or FILE:FIRST-LAST"));
    // The part after the last colon is lines if it looks like them; a name may contain colons too.
    let (file, lines) = match text.rsplit_once(':') {
        Some((file, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (file, Some(lines)),
        _ => (text, None),
    };
    let lines = match lines.map(|lines| lines.split_once('-').unwrap_or((lines, lines))) {
        None => None,
        Some((first, last)) => {
            let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
            let (start, end) = number(first).zip(number(last)).ok_or_else(wrong)?;
            Some(Lines { start, end }).filter(|_| start <= end).ok_or_else(wrong).map(Some)?
        }
    };
    RepoPath::new(file).filter(|path| !path.escapes()).ok_or_else(wrong)?;
    Ok((file.to_owned(), lines))
}

fn describe(answer: &Answer, flag: &str, kept: bool) -> String {
    let mut text = answer_text(answer);
    for words in answer.explanation.iter().chain(&answer.unjudged) {
        for line in wrap(&harmless(words), look().width.saturating_sub(2)) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let own = answer.exchange.iter();
    for key in own.chain(answer.voices.iter().filter_map(|voice| voice.exchange.as_ref())) {
        let short: String = key.chars().take(super::SHORT_KEY).collect();
        let hint = if kept { format!(": karat judge show {short}{flag}") } else { String::new() };
        text.push_str(&format!("  exchange {short}{hint}\n"));
    }
    text
}

fn answer_text(answer: &Answer) -> String {
    let partial = if answer.partial == Some(true) { ", in part" } else { "" };
    let sure = answer.confidence.map(|sure| format!(", confidence {sure:.2}")).unwrap_or_default();
    let word = match answer.r#match {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unjudged",
    };
    format!("{word}{partial}{sure}  ({})\n", harmless(&answer.judge))
}
