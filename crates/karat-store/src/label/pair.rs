//! A golden and a finding as the annotator sees them, and their key.

use super::key::Key;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, GoldenId};
use karat_core::suite::Case;
use serde::{Deserialize, Serialize};

/// The key of a golden and a finding.
pub type PairKey = Key<'p'>;

impl PairKey {
    /// The key of the texts written by [`GoldenText::text`] and [`FindingText::text`].
    pub fn from_texts(known: &str, reported: &str) -> Self {
        Self::hashed(&[known, reported])
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

pub(super) fn to_json(shown: &impl Serialize) -> String {
    serde_json::to_string(shown).unwrap_or_default()
}

/// A golden and a finding, as shown to the annotator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairSubject {
    pub known: GoldenText,
    pub reported: FindingText,
}

impl PairSubject {
    /// Builds it from a case, a golden and a finding.
    pub fn new(case: &Case, golden: &Golden, finding: &Finding) -> Self {
        Self { known: GoldenText::new(case, golden), reported: FindingText::new(finding) }
    }

    /// The key of its labels.
    pub fn key(&self) -> PairKey {
        PairKey::from_texts(&self.known.text(), &self.reported.text())
    }
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
    fn a_key_stays_what_it_is() {
        let pair = PairSubject::new(&Case::new("c"), &golden(), &finding());
        let known =
            r#"{"case":"c","golden":"g1","title":"SQL injection","file":"a.py","lines":[3,4],"keywords":["sql"]}"#;
        assert_eq!(pair.known.text(), known);
        assert_eq!(pair.reported.text(), r#"{"file":"a.py","lines":[3,3],"title":"query"}"#);
        // Labels of last year hang on it.
        assert_eq!(pair.key().short(), "4b4a1fab8cdb");
        assert_eq!(PairKey::parse(pair.key().as_str()), Some(pair.key()));
        assert_eq!(PairKey::parse("0"), None);
    }

    #[test]
    fn a_key_depends_on_what_is_shown_and_on_nothing_else() {
        let case = Case::new("c");
        let pair = |golden: &Golden, finding: &Finding| PairSubject::new(&case, golden, finding).key();
        let plain = pair(&golden(), &finding());
        let unseen = Finding {
            id: "f9".into(),
            rule_id: Some("B608".to_owned()),
            confidence: Some(0.5),
            function: Some("q".to_owned()),
            line_end: Some(3),
            ..finding()
        };
        assert_eq!(pair(&golden(), &unseen), plain);
        assert_eq!(pair(&Golden { root_cause: Some("r".to_owned()), ..golden() }, &finding()), plain);

        let mut keys = BTreeSet::from([plain]);
        let mut differs = |key: PairKey| assert!(keys.insert(key));
        differs(PairSubject::new(&Case::new("d"), &golden(), &finding()).key());
        differs(pair(&Golden { id: "g2".into(), ..golden() }, &finding()));
        differs(pair(&Golden { description: Some("d".to_owned()), ..golden() }, &finding()));
        differs(pair(&Golden { severity: Some(Severity::High), ..golden() }, &finding()));
        differs(pair(&Golden { keywords: vec![], ..golden() }, &finding()));
        differs(pair(&Golden { lines: None, ..golden() }, &finding()));
        differs(pair(&golden(), &Finding { title: Some("queries".to_owned()), ..finding() }));
        differs(pair(&golden(), &Finding { message: Some("m".to_owned()), ..finding() }));
        differs(pair(&golden(), &Finding { line_end: Some(4), ..finding() }));
        differs(pair(&golden(), &Finding { file: None, ..finding() }));
        differs(pair(&golden(), &Finding { severity: Some(Severity::High), ..finding() }));
        differs(pair(&golden(), &Finding { category: Some("sqli".to_owned()), ..finding() }));
    }

    #[test]
    fn a_rule_is_shown_where_there_is_nothing_else() {
        let check =
            |finding: Finding, expect: Option<&str>| assert_eq!(FindingText::new(&finding).rule.as_deref(), expect);
        let ruled = |finding: Finding| Finding { rule_id: Some("B608".to_owned()), ..finding };
        check(ruled(Finding::new("f")), Some("B608"));
        check(ruled(finding()), None);
        check(ruled(Finding { message: Some("m".to_owned()), ..Finding::new("f") }), None);
    }
}
