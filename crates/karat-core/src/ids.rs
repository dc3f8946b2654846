//! Identifiers, each with its own type.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text unchanged.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

ids! {
    /// A case of a suite.
    CaseId,
    /// A golden of a case.
    GoldenId,
    /// A finding of a trial.
    FindingId,
    /// A system under test.
    ToolName,
    /// What decides a pair or audits a response; a person is `human:<name>`.
    JudgeName,
    /// A requirement of a golden record.
    RequirementId,
    /// A golden part of a requirement's evidence.
    PartId,
}

impl JudgeName {
    /// A label made by a person.
    pub fn is_human(&self) -> bool {
        self.as_str().starts_with("human:")
    }
}

impl FindingId {
    /// The id of a claim in free text, numbered from 1 by the judge.
    pub fn claim(number: usize) -> Self {
        Self(format!("{CLAIM}{number}"))
    }

    /// Whether it names a claim in free text rather than a finding that a tool listed.
    pub fn is_claim(&self) -> bool {
        let number = self.0.strip_prefix(CLAIM);
        number.is_some_and(|n| !n.starts_with('0') && !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

const CLAIM: &str = "response:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_counted_from_one() {
        assert_eq!(FindingId::claim(12).as_str(), "response:12");
        let actual = |id: &str| FindingId::new(id).is_claim();
        assert!(actual("response:1") && actual("response:12"));
        for id in [
            "",
            "f1",
            "response",
            "response:",
            "response:0",
            "response:01",
            "response:x",
            "response:-1",
            "a response:1",
        ] {
            assert!(!actual(id), "{id}");
        }
    }
}
