//! Joins goldens, candidates and evaluations by their texts.

use super::pull_request_url::{PullRequestUrl, case_ids};
use super::shape::{Candidate, Evaluation, GoldenComment, GoldenPullRequest};
use super::{Collected, Report};
use crate::note_counter::NoteCounter;
use crate::{ImportedData, fields};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::path::RepoPath;
use karat_core::suite::{Case, PullRequest, Verdict};
use karat_core::trial::{Outcome, Trial};
use std::collections::{BTreeMap, BTreeSet};

const NOT_THE_BEST: &str = "matched a golden but was not its best candidate; the source does not say which";
const UNKNOWN_GOLDEN: &str = "matched a golden that is not among the goldens of this case";

pub(super) fn assemble(mut collected: Collected, data: &mut ImportedData) {
    let judge = JudgeName::new(collected.judge());
    let mut counter = std::mem::take(&mut collected.counter);
    let urls = collected.goldens.iter().map(|golden| golden.url.as_str());
    let ids = case_ids(urls.chain(collected.reports.iter().map(|report| report.url.as_str())));
    let id_of = |url: &str| ids.get(url).cloned().unwrap_or_else(|| CaseId::new(url));

    let mut cases: Vec<Case> = Vec::new();
    let mut index: BTreeMap<CaseId, usize> = BTreeMap::new();
    for pull_request in collected.goldens {
        let id = id_of(&pull_request.url);
        if index.contains_key(&id) {
            counter.count_word("pull request skipped: its goldens were already read", &pull_request.url);
            continue;
        }
        index.insert(id.clone(), cases.len());
        cases.push(case(id, pull_request, &mut counter));
    }
    name_origins(&mut cases);
    let known = cases.len();
    let mut seen = BTreeSet::new();
    for report in &collected.reports {
        let Some(evaluation) = &report.evaluation else { continue };
        let id = id_of(&report.url);
        let at = *index.entry(id).or_insert_with_key(|id| {
            cases.push(bare_case(id.clone(), &report.url));
            cases.len() - 1
        });
        if let Some(case) = cases.get_mut(at).filter(|_| at >= known) {
            add_goldens(case, evaluation, &mut seen, &mut counter);
        }
    }
    if cases.len() > known {
        counter.count("goldens taken from the evaluations: no golden_comments file was given");
    }

    let by_text: Vec<GoldensByText> = cases.iter().map(GoldensByText::new).collect();
    let none = GoldensByText::default();
    let mut trials = Vec::with_capacity(collected.reports.len());
    for report in collected.reports {
        let case = id_of(&report.url);
        let goldens = index.get(&case).and_then(|&at| by_text.get(at)).unwrap_or(&none);
        let (trial, decisions) = trial(case, report, goldens, &mut counter);
        data.judgements.extend(decisions.into_iter().map(|pair| Judgement {
            case: trial.case.clone(),
            tool: trial.tool.clone(),
            trial: trial.number,
            judge: judge.clone(),
            exchange: None,
            decision: Decision::Pair(pair),
        }));
        trials.push(trial);
    }
    data.add_tools(trials.iter().map(|trial| trial.tool.clone()));
    data.trials.append(&mut trials);
    data.cases.append(&mut cases);
    data.notes.extend(counter.into_lines());
}

/// If one pull request names the repository that its fork is a copy of, that holds for all of the fork.
fn name_origins(cases: &mut [Case]) {
    let own = |case: &Case| Some(PullRequestUrl::parse(case.meta.get("url")?)?.repository());
    let mut origins: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.meta.contains_key("original_url")) {
        if let (Some(copy), Some(origin)) = (own(case), case.repo.clone()) {
            origins.entry(copy).or_default().insert(origin);
        }
    }
    for case in cases.iter_mut().filter(|case| !case.meta.contains_key("original_url")) {
        let known = own(case).and_then(|copy| origins.get(&copy)).filter(|known| known.len() == 1);
        if let Some(origin) = known.and_then(BTreeSet::first) {
            case.repo = Some(origin.clone());
        }
    }
}

fn bare_case(id: CaseId, url: &str) -> Case {
    let mut case = Case::new(id.as_str());
    case.repo = PullRequestUrl::parse(url).map(|url| url.repository());
    case.meta.insert("url".to_owned(), url.to_owned());
    case
}

fn case(id: CaseId, pull_request: GoldenPullRequest, counter: &mut NoteCounter) -> Case {
    let mut case = bare_case(id, &pull_request.url);
    case.pr = pull_request.pr_title.clone().map(|title| PullRequest { title, description: String::new() });
    case.name = pull_request.pr_title;
    // Some pull requests were opened again in a fork; the original names the source of the code.
    if let Some(original) = pull_request.original_url.0 {
        case.repo = PullRequestUrl::parse(&original).map(|url| url.repository()).or(case.repo);
        case.meta.insert("original_url".to_owned(), original);
    }
    if let Some(remark) = pull_request.az_comment.0 {
        case.meta.insert("remark".to_owned(), remark);
    }
    for GoldenComment { comment, severity } in pull_request.comments {
        add_golden(&mut case, comment, severity.0.as_deref(), counter);
    }
    case
}

fn add_golden(case: &mut Case, text: String, severity: Option<&str>, counter: &mut NoteCounter) {
    let mut golden = Golden::new(format!("g{}", case.goldens.len() + 1));
    golden.severity = fields::severity(severity, counter);
    golden.description = Some(text);
    case.goldens.push(golden);
    case.verdict = Verdict::Vulnerable;
}

fn add_goldens(
    case: &mut Case,
    evaluation: &Evaluation,
    seen: &mut BTreeSet<(CaseId, String)>,
    counter: &mut NoteCounter,
) {
    let found = evaluation.true_positives.iter().map(|hit| (&hit.golden_comment, &hit.severity));
    let missed = evaluation.false_negatives.iter().map(|miss| (&miss.golden_comment, &miss.severity));
    for (text, severity) in found.chain(missed) {
        if seen.insert((case.id.clone(), text.clone())) {
            add_golden(case, text.clone(), severity.0.as_deref(), counter);
        }
    }
}

fn trial(
    case: CaseId,
    report: Report,
    goldens: &GoldensByText,
    counter: &mut NoteCounter,
) -> (Trial, Vec<PairDecision>) {
    let mut trial = Trial::reported(case, ToolName::new(report.tool), 1);
    if report.evaluation.as_ref().is_some_and(|evaluation| evaluation.skipped.0 == Some(true)) {
        trial.outcome = Outcome::Skipped;
        if report.candidates.is_some_and(|candidates| !candidates.is_empty()) {
            counter.count("candidates of a skipped trial ignored");
        }
        return (trial, Vec::new());
    }
    let mut texts = Texts::default();
    for candidate in report.candidates.unwrap_or_default() {
        texts.add_candidate(candidate, counter);
    }
    let mut decisions = Vec::new();
    if let Some(evaluation) = report.evaluation {
        count_faults(&evaluation, goldens, counter);
        decide(evaluation, goldens, &mut texts, &mut decisions, counter);
    }
    trial.findings = texts.findings;
    (trial, decisions)
}

#[derive(Default)]
struct Texts {
    findings: Vec<Finding>,
    by_text: BTreeMap<String, usize>,
}

impl Texts {
    fn push(&mut self, text: &str) -> usize {
        let mut finding = Finding::new(format!("f{}", self.findings.len() + 1));
        finding.message = Some(if text.trim().is_empty() { "(no text)".to_owned() } else { text.to_owned() });
        self.findings.push(finding);
        self.findings.len() - 1
    }

    /// The finding with this text, created if there is none.
    fn at(&mut self, text: &str) -> usize {
        if let Some(&at) = self.by_text.get(text) {
            return at;
        }
        let at = self.push(text);
        self.by_text.insert(text.to_owned(), at);
        at
    }

    fn add_candidate(&mut self, candidate: Candidate, counter: &mut NoteCounter) {
        if self.by_text.contains_key(&candidate.text) {
            counter.count("candidate skipped: its tool reported the same text before");
            return;
        }
        let at = self.at(&candidate.text);
        if let Some(finding) = self.findings.get_mut(at) {
            finding.file = candidate.path.0.as_deref().and_then(RepoPath::new);
            finding.line_start = candidate.line.number(counter);
            finding.source = candidate.source.0;
        }
    }

    fn id(&self, at: usize) -> FindingId {
        FindingId::new(format!("f{}", at + 1))
    }
}

fn decide(
    evaluation: Evaluation,
    goldens: &GoldensByText,
    texts: &mut Texts,
    decisions: &mut Vec<PairDecision>,
    counter: &mut NoteCounter,
) {
    let mut judged = BTreeSet::new();
    let mut taken = BTreeMap::new();
    for hit in evaluation.true_positives {
        let at = texts.at(&hit.matched_candidate);
        judged.insert(at);
        let golden = goldens.next(&hit.golden_comment, &mut taken);
        if golden.is_none() {
            counter.count(UNKNOWN_GOLDEN);
        }
        let confidence = fields::confidence(hit.confidence.0);
        let explanation = hit.reasoning.0.or_else(|| golden.is_none().then(|| UNKNOWN_GOLDEN.to_owned()));
        decisions.push(PairDecision { golden, confidence, ..decision(texts.id(at), true, explanation) });
    }
    for miss in evaluation.false_positives {
        // Each entry counts in the benchmark, so each is a finding, even if its text was already decided about.
        let at = match texts.by_text.get(&miss.candidate) {
            Some(at) if judged.contains(at) => texts.push(&miss.candidate),
            _ => texts.at(&miss.candidate),
        };
        judged.insert(at);
        decisions.push(decision(texts.id(at), false, None));
    }
    let errors = evaluation.errors.unwrap_or_default();
    let failed: BTreeSet<&str> = errors.iter().filter_map(|error| error.get("candidate")?.as_str()).collect();
    let mut left: Vec<(usize, &String)> =
        texts.by_text.iter().map(|(text, &at)| (at, text)).filter(|(at, _)| !judged.contains(at)).collect();
    left.sort_unstable();
    for (at, text) in left {
        if failed.contains(text.as_str()) {
            counter.count("finding left unjudged: its judge failed");
        } else {
            decisions.push(decision(texts.id(at), true, Some(NOT_THE_BEST.to_owned())));
        }
    }
}

fn decision(finding: FindingId, matched: bool, explanation: Option<String>) -> PairDecision {
    PairDecision {
        golden: None,
        finding,
        matched,
        partial: None,
        confidence: None,
        explanation,
        probability: None,
        grounds: None,
    }
}

#[derive(Default)]
struct GoldensByText {
    ids: BTreeMap<String, Vec<GoldenId>>,
    count: usize,
}

impl GoldensByText {
    fn new(case: &Case) -> Self {
        let mut ids: BTreeMap<String, Vec<GoldenId>> = BTreeMap::new();
        for golden in &case.goldens {
            let text = golden.description.as_deref().unwrap_or_default().trim();
            ids.entry(text.to_owned()).or_default().push(golden.id.clone());
        }
        Self { ids, count: case.goldens.len() }
    }

    /// The golden with this text. If several goldens share a text, each decision of a trial takes the next of them.
    fn next<'a>(&'a self, text: &str, taken: &mut BTreeMap<&'a str, usize>) -> Option<GoldenId> {
        let (text, ids) = self.ids.get_key_value(text.trim())?;
        let turn = taken.entry(text.as_str()).or_default();
        let id = ids.get(*turn).or(ids.last());
        *turn += 1;
        id.cloned()
    }
}

fn count_faults(evaluation: &Evaluation, goldens: &GoldensByText, counter: &mut NoteCounter) {
    let (hits, misses) = (evaluation.true_positives.len(), evaluation.false_negatives.len());
    let differs =
        |stated: Option<u32>, listed: usize| stated.is_some_and(|stated| usize::try_from(stated) != Ok(listed));
    if differs(evaluation.tp.0, hits)
        || differs(evaluation.fp.0, evaluation.false_positives.len())
        || differs(evaluation.missed.0, misses)
    {
        counter.count("trial whose tp, fp and fn differ from the lengths of its lists; the lists are used");
    }
    if hits + misses != goldens.count {
        counter.count("trial whose true positives and false negatives are not all goldens of its case");
    }
    for _ in evaluation.errors.iter().flatten() {
        counter.count("error of the judge");
    }
}
