//! What an annotator is shown: a golden and a finding, an extra, or an audited finding or response; and the key of its labels.

use super::{LabelKind, LabelQuestion};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, GoldenId};
use karat_core::panel::AuditField;
use karat_core::suite::{Case, Verdict};
use karat_core::trial::Trial;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// Characters of a key that are shown and typed.
pub const SHORT: usize = 12;

/// BLAKE3, in hex, of everything a person sees of a subject. It contains neither tool nor trial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LabelKey {
    #[serde(skip)]
    kind: LabelKind,
    hash: String,
}

impl LabelKey {
    /// The key of a pair, from the texts of its golden and its finding.
    pub fn pair(golden: &str, finding: &str) -> Self {
        Self::hashed(LabelKind::Pair, &[golden, finding])
    }

    /// The texts are JSON, so they contain no line break and joining them is unambiguous.
    fn hashed(kind: LabelKind, texts: &[&str]) -> Self {
        Self { kind, hash: blake3::hash(texts.join("\n").as_bytes()).to_hex().to_string() }
    }

    pub(crate) fn parse(kind: LabelKind, text: &str) -> Option<Self> {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 2 * blake3::OUT_LEN && text.bytes().all(hex)).then(|| Self { kind, hash: text.to_owned() })
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.hash
    }

    /// The part of the key that people type.
    pub fn short(&self) -> &str {
        &self.hash[..SHORT]
    }

    /// Serializes the key as the only entry of a map, named like what it is the key of.
    pub(super) fn serialize_named<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match self.kind {
            LabelKind::Pair => "pair",
            LabelKind::Extra => "extra",
            LabelKind::Audit => "finding",
        };
        serializer.collect_map([(name, &self.hash)])
    }
}

impl fmt::Display for LabelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hash)
    }
}

/// What is shown of a golden. Its JSON is part of the key, so new fields must be omitted when empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GoldenText {
    pub case: CaseId,
    pub golden: GoldenId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Words a report is expected to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

/// What is shown of a finding; nothing that reveals the tool. Its JSON is part of the key, like that of [`GoldenText`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct FindingText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Only if the finding has no other text, since rule names often reveal the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl GoldenText {
    /// Builds it from a case and a golden.
    pub fn new(case: &Case, golden: &Golden) -> Self {
        Self {
            case: case.id.clone(),
            golden: golden.id.clone(),
            title: golden.title.clone(),
            description: golden.description.clone(),
            file: golden.file.as_ref().map(ToString::to_string),
            lines: golden.lines.map(|lines| (lines.start, lines.end)),
            severity: golden.severity.map(|severity| severity.to_string()),
            category: golden.category.clone(),
            keywords: golden.keywords.clone(),
        }
    }

    /// The JSON that is hashed and stored.
    pub fn text(&self) -> String {
        to_json(self)
    }
}

impl FindingText {
    /// Builds it from a finding.
    pub fn new(finding: &Finding) -> Self {
        let speechless = finding.title.is_none() && finding.message.is_none();
        Self {
            file: finding.file.as_ref().map(ToString::to_string),
            lines: finding.lines().map(|lines| (lines.start, lines.end)),
            severity: finding.severity.map(|severity| severity.to_string()),
            category: finding.category.clone(),
            title: finding.title.clone(),
            message: finding.message.clone(),
            rule: finding.rule_id.clone().filter(|_| speechless),
        }
    }

    /// The JSON that is hashed and stored.
    pub fn text(&self) -> String {
        to_json(self)
    }
}

/// What is shown of a response as a whole; nothing that reveals the tool. Its JSON is part of the key, like that of [`GoldenText`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ResponseText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// As a decimal number, so that it can be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl ResponseText {
    /// Builds it from a trial.
    pub fn new(trial: &Trial) -> Self {
        Self {
            verdict: trial.verdict,
            confidence: trial.confidence.map(|confidence| confidence.to_string()),
            findings: trial.findings.iter().map(FindingText::new).collect(),
            text: trial.response.clone().filter(|text| !text.trim().is_empty()),
        }
    }
}

fn to_json(shown: &impl Serialize) -> String {
    serde_json::to_string(shown).unwrap_or_default()
}

/// What the annotator is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Subject {
    pub kind: LabelKind,
    pub case: CaseId,
    /// The golden of a pair, or the target of an audit; `None` for an extra and in a safe case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<GoldenText>,
    /// Nothing where it is about a response as a whole.
    #[serde(default, skip_serializing_if = "is_default")]
    pub finding: FindingText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseText>,
    /// The decision of an audit; `None`: the class, and where it is no audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<AuditField>,
}

fn is_default(finding: &FindingText) -> bool {
    *finding == FindingText::default()
}

impl Subject {
    /// A golden and a finding.
    pub fn pair(case: &Case, golden: &Golden, finding: &Finding) -> Self {
        let golden = Some(GoldenText::new(case, golden));
        Self { golden, ..Self::of_finding(LabelKind::Pair, &case.id, finding) }
    }

    fn of_finding(kind: LabelKind, case: &CaseId, finding: &Finding) -> Self {
        let finding = FindingText::new(finding);
        Self { kind, case: case.clone(), golden: None, finding, response: None, field: None }
    }

    /// A finding that matches no golden.
    pub fn extra(case: &CaseId, finding: &Finding) -> Self {
        Self::of_finding(LabelKind::Extra, case, finding)
    }

    /// The class of a finding of an audited case.
    pub fn audit(case: &Case, finding: &Finding) -> Self {
        let golden = audit_target(case).map(|golden| GoldenText::new(case, golden));
        Self { golden, ..Self::of_finding(LabelKind::Audit, &case.id, finding) }
    }

    /// An audited response as a whole, asked for its verdict.
    pub fn audit_response(case: &Case, trial: &Trial) -> Self {
        Self {
            kind: LabelKind::Audit,
            case: case.id.clone(),
            golden: audit_target(case).map(|golden| GoldenText::new(case, golden)),
            finding: FindingText::default(),
            response: Some(ResponseText::new(trial)),
            field: Some(AuditField::SaidVulnerable),
        }
    }

    /// The same, asked for another decision.
    pub fn asking(&self, field: AuditField) -> Self {
        Self { field: (field != AuditField::Classification).then_some(field), ..self.clone() }
    }

    /// What is asked about it.
    pub fn question(&self) -> LabelQuestion {
        match self.kind {
            LabelKind::Pair => LabelQuestion::Pair,
            LabelKind::Extra => LabelQuestion::Extra,
            LabelKind::Audit => LabelQuestion::Audit(self.field.unwrap_or(AuditField::Classification)),
        }
    }

    /// The key of its labels.
    pub fn key(&self) -> LabelKey {
        #[derive(Serialize)]
        struct HashedText<'s> {
            case: &'s CaseId,
            #[serde(skip_serializing_if = "Option::is_none")]
            target: &'s Option<GoldenText>,
            reported: &'s FindingText,
            #[serde(skip_serializing_if = "Option::is_none")]
            response: &'s Option<ResponseText>,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<AuditField>,
        }
        let Self { case, golden: target, finding: reported, response, field, .. } = self;
        let text = || to_json(&HashedText { case, target, reported, response, field: *field });
        match self.kind {
            LabelKind::Pair => {
                let golden = self.golden.as_ref().map(GoldenText::text).unwrap_or_default();
                LabelKey::pair(&golden, &self.finding.text())
            }
            LabelKind::Extra => LabelKey::hashed(self.kind, &["extra", &text()]),
            LabelKind::Audit => LabelKey::hashed(self.kind, &["audit", &text()]),
        }
    }

    /// The golden that a label of it names: that of a pair.
    pub(crate) fn labelled_golden(&self) -> Option<&GoldenId> {
        self.golden.as_ref().filter(|_| self.kind == LabelKind::Pair).map(|golden| &golden.golden)
    }
}

/// The target of an audit.
pub(super) fn audit_target(case: &Case) -> Option<&Golden> {
    case.goldens.get(case.audited_target()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::golden::Severity;
    use karat_core::lines::Lines;
    use karat_core::path::{FilePattern, RepoPath};
    use std::collections::BTreeSet;

    fn golden() -> Golden {
        Golden {
            title: Some("SQL injection".to_owned()),
            file: FilePattern::new("a.py"),
            lines: Some(Lines { start: 3, end: 4 }),
            keywords: vec!["sql".to_owned()],
            ..Golden::new("g1")
        }
    }

    fn finding() -> Finding {
        let file = RepoPath::new("a.py");
        Finding { title: Some("query".to_owned()), file, line_start: Some(3), ..Finding::new("f1") }
    }

    #[test]
    fn pair_key_is_stable() {
        let pair = Subject::pair(&Case::new("c"), &golden(), &finding());
        let known =
            r#"{"case":"c","golden":"g1","title":"SQL injection","file":"a.py","lines":[3,4],"keywords":["sql"]}"#;
        assert_eq!(pair.golden.as_ref().unwrap().text(), known);
        assert_eq!(pair.finding.text(), r#"{"file":"a.py","lines":[3,3],"title":"query"}"#);
        // Stored labels depend on it.
        assert_eq!(pair.key().short(), "4b4a1fab8cdb");
        assert_eq!(LabelKey::parse(LabelKind::Pair, pair.key().as_str()), Some(pair.key()));
        assert_eq!(LabelKey::parse(LabelKind::Pair, "0"), None);
    }

    #[test]
    fn pair_key_depends_on_the_shown_fields_only() {
        let case = Case::new("c");
        let pair = |golden: &Golden, finding: &Finding| Subject::pair(&case, golden, finding).key();
        let plain = pair(&golden(), &finding());
        let hidden_fields = Finding {
            id: "f9".into(),
            rule_id: Some("B608".to_owned()),
            confidence: Some(0.5),
            function: Some("q".to_owned()),
            line_end: Some(3),
            ..finding()
        };
        assert_eq!(pair(&golden(), &hidden_fields), plain);
        assert_eq!(pair(&Golden { root_cause: Some("r".to_owned()), ..golden() }, &finding()), plain);

        let mut keys = BTreeSet::from([plain]);
        let mut assert_new = |key: LabelKey| assert!(keys.insert(key));
        assert_new(Subject::pair(&Case::new("d"), &golden(), &finding()).key());
        assert_new(pair(&Golden { id: "g2".into(), ..golden() }, &finding()));
        assert_new(pair(&Golden { description: Some("d".to_owned()), ..golden() }, &finding()));
        assert_new(pair(&Golden { severity: Some(Severity::High), ..golden() }, &finding()));
        assert_new(pair(&Golden { keywords: vec![], ..golden() }, &finding()));
        assert_new(pair(&Golden { lines: None, ..golden() }, &finding()));
        assert_new(pair(&golden(), &Finding { title: Some("queries".to_owned()), ..finding() }));
        assert_new(pair(&golden(), &Finding { message: Some("m".to_owned()), ..finding() }));
        assert_new(pair(&golden(), &Finding { line_end: Some(4), ..finding() }));
        assert_new(pair(&golden(), &Finding { file: None, ..finding() }));
        assert_new(pair(&golden(), &Finding { severity: Some(Severity::High), ..finding() }));
        assert_new(pair(&golden(), &Finding { category: Some("sqli".to_owned()), ..finding() }));
    }

    #[test]
    fn rule_is_shown_only_without_other_text() {
        let check =
            |finding: Finding, expect: Option<&str>| assert_eq!(FindingText::new(&finding).rule.as_deref(), expect);
        let ruled = |finding: Finding| Finding { rule_id: Some("B608".to_owned()), ..finding };
        check(ruled(Finding::new("f")), Some("B608"));
        check(ruled(finding()), None);
        check(ruled(Finding { message: Some("m".to_owned()), ..Finding::new("f") }), None);
    }

    fn titled(id: &str, title: &str) -> Finding {
        Finding { title: Some(title.to_owned()), line_start: Some(3), ..Finding::new(id) }
    }

    #[test]
    fn extra_key_is_stable_and_independent_of_the_tool() {
        let key = |case: &str, finding: &Finding| Subject::extra(&CaseId::new(case), finding).key();
        let shown = key("c", &titled("f1", "query"));
        // Stored labels depend on it.
        assert_eq!(shown.short(), "216f3905f247");
        let hidden_fields = Finding { rule_id: Some("B1".to_owned()), confidence: Some(0.5), ..titled("f9", "query") };
        assert_eq!(key("c", &hidden_fields), shown);
        assert_ne!(key("d", &titled("f1", "query")), shown);
        assert_ne!(key("c", &titled("f1", "queries")), shown);
    }

    #[test]
    fn audit_key_depends_on_case_target_and_finding() {
        let marked = Golden { target: true, title: Some("reentrancy".to_owned()), ..Golden::new("g2") };
        let case = Case { goldens: vec![Golden::new("g1"), marked], ..Case::new("c") };
        let key = |case: &Case, id: &str| Subject::audit(case, &titled(id, "drain")).key();
        let shown = key(&case, "f1");
        // Stored labels depend on it.
        assert_eq!(shown.short(), "02c0ef2cd1aa");
        assert_eq!(key(&case, "other"), shown);
        assert_ne!(key(&Case::new("safe"), "f1"), shown);
        // Each decision about it has its own key, and so has each about a response.
        let trial = |title: &str| Trial { findings: vec![titled("f", title)], ..Trial::default() };
        let mut keys = BTreeSet::new();
        for field in AuditField::ALL {
            let subject = match field.is_of_finding() {
                true => Subject::audit(&case, &titled("f1", "drain")),
                false => Subject::audit_response(&case, &trial("drain")),
            };
            assert!(keys.insert(subject.asking(field).key()));
            let stored = to_json(&subject.asking(field));
            assert_eq!(serde_json::from_str::<Subject>(&stored).unwrap(), subject.asking(field));
        }
        assert!(keys.contains(&shown));
        let verdict = |title: &str| Subject::audit_response(&case, &trial(title)).key();
        assert_ne!(verdict("drain"), verdict("other"));
        let mut moved = case.clone();
        moved.goldens[1].target = false;
        assert_ne!(key(&moved, "f1"), shown);
    }
}
