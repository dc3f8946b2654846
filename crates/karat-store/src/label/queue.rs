//! What is worth a label, in the order in which people are asked; and reproducible random samples of pairs.

use super::subject::{FindingText, GoldenText, LabelKey, Subject, audit_target};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::ToolName;
use karat_core::judgement::Judgement;
use karat_core::local_judge::LocalJudge;
use karat_core::matching::assign::quantum;
use karat_core::matching::decisions::Decisions;
use karat_core::matching::pair::{PreparedCase, prose};
use karat_core::matching::text::Vocabulary;
use karat_core::matching::trial::best_candidates;
use karat_core::panel::AuditField;
use karat_core::pooling::{Pool, pool_extras};
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::label_priority::{
    PairInstance, PriorityInput, Uncertainty, extra_bound_widths, uncertainties,
};
use karat_core::scorecard::{PairSelection, Scorecard, SelectedPair, select_pairs};
use karat_core::suite::{Case, Suite};
use karat_core::trial::{Outcome, Trial};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A pair that a person may be asked to label.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenPair<'a> {
    pub key: LabelKey,
    pub case: &'a Case,
    pub golden: &'a Golden,
    /// As reported by the first trial that has it.
    pub finding: &'a Finding,
    pub tools: usize,
    pub trials: usize,
    /// The uncertainty it adds while unlabelled.
    pub doubt: Uncertainty,
}

/// The distinct pairs that a judge would be asked about, or the selected ones; those that would narrow the figure's interval most
/// first.
pub fn pair_queue<'a>(
    suite: &'a Suite,
    trials: &'a [Trial],
    judgements: &[Judgement],
    profile: &Profile,
    judge: &LocalJudge,
    only: Option<PairSelection>,
) -> Vec<OpenPair<'a>> {
    let selected = only.map(|selection| {
        let mut by_trial: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        for SelectedPair { trial, golden, finding, .. } in select_pairs(suite, trials, judgements, profile, selection) {
            by_trial.entry(trial).or_default().push((golden, finding));
        }
        by_trial
    });
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let goldens: Vec<&Golden> = suite.cases.iter().flat_map(|case| &case.goldens).collect();
    let vocabulary = Vocabulary::learn(&goldens, |golden| prose(golden));
    let of_trial = |(at, trial): (usize, &'a Trial)| -> Vec<(LabelKey, PairInstance)> {
        let Some(&case) = cases.get(trial.case.as_str()) else { return Vec::new() };
        let candidates = match &selected {
            Some(selected) => selected.get(&at).cloned().unwrap_or_default(),
            None => candidates(case, trial, &vocabulary, profile),
        };
        if candidates.is_empty() {
            return Vec::new();
        }
        let known: Vec<String> = case.goldens.iter().map(|golden| GoldenText::new(case, golden).text()).collect();
        let reported: Vec<String> = trial.findings.iter().map(|finding| FindingText::new(finding).text()).collect();
        let likely = judge.probabilities(&case.goldens, &trial.findings);
        let instance = |(golden, finding): (usize, usize)| {
            let probability = likely[golden * trial.findings.len() + finding];
            let instance = PairInstance { item: 0, trial: at, golden, finding, probability };
            (LabelKey::pair(&known[golden], &reported[finding]), instance)
        };
        candidates.into_iter().map(instance).collect()
    };
    let all: Vec<Vec<(LabelKey, PairInstance)>> = trials.par_iter().enumerate().map(of_trial).collect();
    let mut once: BTreeMap<LabelKey, Vec<PairInstance>> = BTreeMap::new();
    for (key, instance) in all.into_iter().flatten() {
        once.entry(key).or_default().push(instance);
    }
    for (item, instances) in once.values_mut().enumerate() {
        instances.iter_mut().for_each(|instance| instance.item = item);
    }
    let instances: Vec<PairInstance> = once.values().flatten().copied().collect();
    let scene = PriorityInput { suite, trials, judgements, profile, threshold: judge.params().threshold };
    let doubts = uncertainties(scene, &instances, once.len());
    let open = |((key, instances), doubt): ((LabelKey, Vec<PairInstance>), Uncertainty)| {
        let PairInstance { trial, golden, finding, .. } = instances[0];
        let case = cases[trials[trial].case.as_str()];
        let (golden, finding) = (&case.goldens[golden], &trials[trial].findings[finding]);
        let reported_in: BTreeSet<usize> = instances.iter().map(|instance| instance.trial).collect();
        let tools: BTreeSet<&str> = reported_in.iter().map(|at| trials[*at].tool.as_str()).collect();
        OpenPair { key, case, golden, finding, tools: tools.len(), trials: reported_in.len(), doubt }
    };
    let mut pairs: Vec<OpenPair<'a>> = once.into_iter().zip(doubts).map(open).collect();
    // Ties keep the order of keys, which is arbitrary but stable.
    pairs.sort_by(|a, b| b.doubt.variance().total_cmp(&a.doubt.variance()));
    pairs
}

fn candidates(case: &Case, trial: &Trial, vocabulary: &Vocabulary, profile: &Profile) -> Vec<(usize, usize)> {
    if profile.method != Method::Score {
        let findings = trial.findings.len();
        return (0..case.goldens.len()).flat_map(|g| (0..findings).map(move |f| (g, f))).collect();
    }
    let (prepared, nothing) = (PreparedCase::new(case, vocabulary, profile), Decisions::default());
    let candidates = best_candidates(&prepared, trial, &nothing, usize::MAX);
    let worth = quantum(profile.judge_threshold);
    let mut pairs = Vec::new();
    for (golden, candidates) in candidates.iter().enumerate() {
        let near = candidates.iter().filter(|candidate| quantum(candidate.score) >= worth);
        pairs.extend(near.map(|candidate| (golden, candidate.index)));
    }
    pairs
}

/// Extras that report the same problem and are labelled together.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenExtra<'a> {
    pub pool: Pool<'a>,
    /// The width it adds to the bounds of mean precision while unlabelled.
    pub width: f64,
    pub shown: Subject,
    /// The other distinct texts, in key order.
    pub others: Vec<Subject>,
}

/// All extras of these trials, labelled or not, widest first; ties go to what most tools report.
pub fn extra_queue<'a>(
    suite: &Suite,
    trials: &'a [Trial],
    scorecard: &Scorecard,
    profile: &Profile,
) -> Vec<OpenExtra<'a>> {
    let pools = pool_extras(suite, trials, scorecard, profile.line.reach, |score| score.extras_to_label(profile));
    let widths = extra_bound_widths(scorecard, suite, trials.len());
    let place = |trial: &'a Trial| (trial.case.as_str(), trial.tool.as_str(), trial.number);
    let widths: HashMap<(&str, &str, u32), f64> = trials.iter().map(place).zip(widths).collect();
    let open = |pool: Pool<'a>| {
        let mut parts: Vec<f64> = pool.members.iter().filter_map(|m| widths.get(&place(m.trial)).copied()).collect();
        // Sorted, so that the sum does not depend on the order of trials.
        parts.sort_by(f64::total_cmp);
        let width = parts.iter().sum();
        let case = &suite.cases[pool.case].id;
        let shown = Subject::extra(case, pool.lead);
        let texts = pool.members.iter().map(|member| Subject::extra(case, member.finding));
        let mut others: BTreeMap<LabelKey, Subject> = texts.map(|text| (text.key(), text)).collect();
        others.remove(&shown.key());
        OpenExtra { pool, width, shown, others: others.into_values().collect() }
    };
    let mut queue: Vec<OpenExtra<'a>> = pools.into_iter().map(open).collect();
    queue.sort_by(|a, b| b.width.total_cmp(&a.width));
    queue
}

/// A decision about a distinct finding or response that a person may be asked for.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OpenAudit {
    pub shown: Subject,
    pub tools: usize,
    pub trials: usize,
    /// For what rates a found target: the question whether it was found.
    pub found: Option<LabelKey>,
}

/// These decisions about all distinct responses and findings of these trials: responses first, and of each kind those that most
/// tools report, then most trials. The decisions about one come one after another, in the order of the fields.
pub fn audit_queue(suite: &Suite, trials: &[Trial], fields: &BTreeSet<AuditField>) -> Vec<OpenAudit> {
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let (of_findings, of_responses): (Vec<AuditField>, Vec<AuditField>) =
        fields.iter().partition(|field| field.is_of_finding());
    type Reported<'a> = (&'a Case, Subject, BTreeSet<(&'a ToolName, u32)>);
    let mut once: BTreeMap<(bool, LabelKey), Reported<'_>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.outcome == Outcome::Reported) {
        let Some(&case) = cases.get(trial.case.as_str()) else { continue };
        let findings = trial.findings.iter().filter(|_| !of_findings.is_empty());
        // What says nothing is audited by rule.
        let response = (!of_responses.is_empty() && !trial.is_silent()).then(|| Subject::audit_response(case, trial));
        for subject in response.into_iter().chain(findings.map(|finding| Subject::audit(case, finding))) {
            let key = (subject.response.is_none(), subject.key());
            let (.., reports) = once.entry(key).or_insert_with(|| (case, subject, BTreeSet::new()));
            reports.insert((&trial.tool, trial.number));
        }
    }
    let mut queue: Vec<((bool, LabelKey), Reported<'_>)> = once.into_iter().collect();
    let tools =
        |reports: &BTreeSet<(&ToolName, u32)>| reports.iter().map(|(tool, _)| *tool).collect::<BTreeSet<_>>().len();
    queue
        .sort_by_key(|((of_finding, _), (.., reports))| (*of_finding, Reverse(tools(reports)), Reverse(reports.len())));
    let mut open = Vec::new();
    for ((of_finding, _), (case, subject, reports)) in queue {
        let has_target = audit_target(case).is_some();
        let fields = if of_finding { &of_findings } else { &of_responses };
        for field in fields.iter().filter(|field| has_target || !field.needs_target()) {
            let rates = !of_finding && field.needs_target() && *field != AuditField::TargetFound;
            let found = rates.then(|| subject.asking(AuditField::TargetFound).key());
            open.push(OpenAudit {
                shown: subject.asking(*field),
                tools: tools(&reports),
                trials: reports.len(),
                found,
            });
        }
    }
    open
}

/// A sample that includes each pair independently with the same probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    probability: f64,
    seed: u64,
}

impl Sample {
    /// The sample of a seed; an error for a probability outside (0, 1].
    pub fn new(probability: f64, seed: u64) -> Result<Self, String> {
        if probability > 0.0 && probability <= 1.0 {
            return Ok(Self { probability, seed });
        }
        let expected = "a sample is drawn with a probability above 0 and up to 1, such as 0.2";
        Err(format!("{expected}, and not with {probability}"))
    }

    /// The inclusion probability.
    pub fn probability(self) -> f64 {
        self.probability
    }

    /// A pair's position in the sample, from 0 to 1, the same in a larger sample of the seed; `None` if not included.
    pub fn place(self, key: &LabelKey) -> Option<f64> {
        let hash = blake3::hash(format!("{}\n{key}", self.seed).as_bytes());
        let drawn = hash.as_bytes().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        // 53 bits fit a double exactly.
        let place = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
        (place < self.probability).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<LabelKey> {
        (0..4000).map(|n| LabelKey::pair("known", &n.to_string())).collect()
    }

    #[test]
    fn sample_size_follows_the_probability() {
        for (probability, seed) in [(0.1, 0), (0.1, 7), (0.5, 0), (0.9, 3)] {
            let sample = Sample::new(probability, seed).unwrap();
            let sampled = keys().iter().filter(|key| sample.place(key).is_some()).count() as f64;
            // Four standard deviations of a binomial count.
            let (mean, spread) = (4000.0 * probability, (4000.0 * probability * (1.0 - probability)).sqrt());
            assert!((sampled - mean).abs() < 4.0 * spread, "{sampled} of {mean}");
        }
        let all = Sample::new(1.0, 5).unwrap();
        assert!(keys().iter().all(|key| all.place(key).is_some()));
    }

    #[test]
    fn seeds_are_independent_and_larger_samples_contain_smaller_ones() {
        let sampled = |probability: f64, seed: u64| -> Vec<LabelKey> {
            let sample = Sample::new(probability, seed).unwrap();
            keys().into_iter().filter(|key| sample.place(key).is_some()).collect()
        };
        assert_eq!(sampled(0.2, 1), sampled(0.2, 1));
        assert_ne!(sampled(0.2, 1), sampled(0.2, 2));
        let larger = sampled(0.4, 1);
        assert!(sampled(0.2, 1).iter().all(|key| larger.contains(key)));
        // Samples of two seeds overlap as by chance.
        let (one, two) = (sampled(0.5, 1), sampled(0.5, 2));
        let both = one.iter().filter(|key| two.contains(key)).count() as f64;
        assert!((both - 1000.0).abs() < 4.0 * (4000.0_f64 * 0.25 * 0.75).sqrt(), "{both}");
    }

    #[test]
    fn invalid_probabilities_are_refused() {
        for wrong in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Sample::new(wrong, 0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn findings_are_asked_once_most_frequent_first() {
        let finding = |id: &str, title: &str| Finding { title: Some(title.to_owned()), ..Finding::new(id) };
        let trial = |tool: &str, number: u32, findings: &[Finding]| Trial {
            findings: findings.to_vec(),
            ..Trial::reported("c".into(), ToolName::new(tool), number)
        };
        let suite = Suite { name: "s".to_owned(), digest: String::new(), cases: vec![Case::new("c")] };
        let trials = [
            trial("one", 1, &[finding("f1", "rare"), finding("f2", "often")]),
            trial("two", 1, &[finding("x", "often")]),
            trial("two", 2, &[finding("y", "often"), finding("z", "often")]),
            Trial { outcome: Outcome::Crashed, ..trial("two", 3, &[finding("w", "lost")]) },
        ];
        let lines = |fields: &[AuditField]| -> Vec<String> {
            let queue = audit_queue(&suite, &trials, &fields.iter().copied().collect());
            let title = |open: &OpenAudit| open.shown.finding.title.clone().unwrap_or("response".to_owned());
            queue.iter().map(|open| format!("{} {} {:?}", title(open), open.trials, open.shown.question())).collect()
        };
        let class = |title: &str| format!("{title} Audit(Classification)");
        assert_eq!(lines(&[AuditField::Classification]), [class("often 3"), class("rare 1")]);
        // The case has no target to be asked about, and each response is another one.
        let all = lines(&AuditField::ALL);
        assert_eq!(all[..2], ["response 1 Audit(SaidVulnerable)", "response 1 Audit(ConfidenceExpressed)"]);
        assert_eq!(
            all[6..],
            [
                class("often 3"),
                "often 3 Audit(IsValidConcern)".to_owned(),
                class("rare 1"),
                "rare 1 Audit(IsValidConcern)".to_owned()
            ]
        );
    }
}
