//! A golden and a finding as a person sees them, and the key that a label of them hangs on.

use super::key::Key;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, GoldenId};
use karat_core::suite::Case;
use serde::{Deserialize, Serialize};

/// The key of a golden and a finding.
pub type PairKey = Key<'p'>;

impl PairKey {
    /// The key of what is shown, as [`Known::text`] and [`Reported::text`] write it.
    pub fn of(known: &str, reported: &str) -> Self {
        Self::hashed(&[known, reported])
    }
}

/// What is shown of a golden. Its JSON is part of the key, so a field that is new must be left out where it is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The case.
    pub case: CaseId,
    /// The golden.
    pub golden: GoldenId,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is wrong and why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it lies; perhaps a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first and the last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// How bad it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// What kind of issue it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Words a report of it is expected to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

/// What is shown of a finding: nothing that tells who wrote it. Its JSON is part of the key, as that of [`Known`] is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reported {
    /// Where it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first and the last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// How bad the tool finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// What kind of issue it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The rule, where the finding says nothing else; a rule's name often tells the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Known {
    /// What is shown of a case's golden.
    pub fn of(case: &Case, golden: &Golden) -> Self {
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

    /// The text that is hashed and stored.
    pub fn text(&self) -> String {
        written(self)
    }
}

impl Reported {
    /// What is shown of a finding.
    pub fn of(finding: &Finding) -> Self {
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

    /// The text that is hashed and stored.
    pub fn text(&self) -> String {
        written(self)
    }
}

/// Plain structs of texts and numbers, which always can be written.
pub(super) fn written(shown: &impl Serialize) -> String {
    serde_json::to_string(shown).unwrap_or_default()
}

/// A golden and a finding as a person sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The golden.
    pub known: Known,
    /// The finding.
    pub reported: Reported,
}

impl Pair {
    /// What is shown of these two.
    pub fn of(case: &Case, golden: &Golden, finding: &Finding) -> Self {
        Self { known: Known::of(case, golden), reported: Reported::of(finding) }
    }

    /// What a label of it hangs on.
    pub fn key(&self) -> PairKey {
        PairKey::of(&self.known.text(), &self.reported.text())
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
            ..Golden::named("g1")
        }
    }

    fn finding() -> Finding {
        let file = RepoPath::new("a.py");
        Finding { title: Some("query".to_owned()), file, line_start: Some(3), ..Finding::named("f1") }
    }

    #[test]
    fn a_key_stays_what_it_is() {
        let pair = Pair::of(&Case::named("c"), &golden(), &finding());
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
        let case = Case::named("c");
        let of = |golden: &Golden, finding: &Finding| Pair::of(&case, golden, finding).key();
        let plain = of(&golden(), &finding());
        let unseen = Finding {
            id: "f9".into(),
            rule_id: Some("B608".to_owned()),
            confidence: Some(0.5),
            function: Some("q".to_owned()),
            line_end: Some(3),
            ..finding()
        };
        assert_eq!(of(&golden(), &unseen), plain);
        assert_eq!(of(&Golden { root_cause: Some("r".to_owned()), ..golden() }, &finding()), plain);

        let mut keys = BTreeSet::from([plain]);
        let mut differs = |key: PairKey| assert!(keys.insert(key));
        differs(Pair::of(&Case::named("d"), &golden(), &finding()).key());
        differs(of(&Golden { id: "g2".into(), ..golden() }, &finding()));
        differs(of(&Golden { description: Some("d".to_owned()), ..golden() }, &finding()));
        differs(of(&Golden { severity: Some(Severity::High), ..golden() }, &finding()));
        differs(of(&Golden { keywords: vec![], ..golden() }, &finding()));
        differs(of(&Golden { lines: None, ..golden() }, &finding()));
        differs(of(&golden(), &Finding { title: Some("queries".to_owned()), ..finding() }));
        differs(of(&golden(), &Finding { message: Some("m".to_owned()), ..finding() }));
        differs(of(&golden(), &Finding { line_end: Some(4), ..finding() }));
        differs(of(&golden(), &Finding { file: None, ..finding() }));
        differs(of(&golden(), &Finding { severity: Some(Severity::High), ..finding() }));
        differs(of(&golden(), &Finding { category: Some("sqli".to_owned()), ..finding() }));
    }

    #[test]
    fn a_rule_is_shown_where_there_is_nothing_else() {
        let check = |finding: Finding, expect: Option<&str>| assert_eq!(Reported::of(&finding).rule.as_deref(), expect);
        let ruled = |finding: Finding| Finding { rule_id: Some("B608".to_owned()), ..finding };
        check(ruled(Finding::named("f")), Some("B608"));
        check(ruled(finding()), None);
        check(ruled(Finding { message: Some("m".to_owned()), ..Finding::named("f") }), None);
    }
}
