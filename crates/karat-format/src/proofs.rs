//! `proofs.json`: what running the proofs of a suite has shown, and for which code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of this version of the format.
pub const SCHEMA: &str = "karat.proofs/1";

/// What `karat suite prove` keeps in a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "proofs")]
pub struct ProofsV1 {
    /// Always `karat.proofs/1`.
    pub schema: String,
    /// In the order of cases and goldens.
    pub proofs: Vec<KeptProofV1>,
}

impl Default for ProofsV1 {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), proofs: Vec::new() }
    }
}

/// What running one proof has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptProofV1 {
    /// The case.
    pub case: String,
    /// The golden.
    pub golden: String,
    /// What was seen.
    pub verdict: ProofVerdictV1,
    /// The toolchain that was used, as it names itself; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolchain: Option<String>,
    /// What was run.
    pub subject: ProofSubjectV1,
}

/// Everything that the result of a proof depends on, apart from the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofSubjectV1 {
    /// The command.
    pub run: Vec<String>,
    /// The language of the case, which decides what a proof finds of this machine; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// BLAKE3 of the case's code.
    pub code: String,
    /// BLAKE3 of the proof's files.
    pub files: String,
    /// BLAKE3 of the patch that repairs the golden.
    pub patch: String,
}

impl ProofSubjectV1 {
    /// Whether what was kept is about the same as `now`. Where no language was kept, any is the same.
    pub fn is_about(&self, now: &Self) -> bool {
        let language = self.language.as_ref().and(now.language.clone());
        *self == Self { language, ..now.clone() }
    }
}

/// What running a proof on the change and on its fix has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdictV1 {
    /// It fails on the change and passes on the fix.
    Proven,
    /// It passes on both: what the golden says could not be reproduced.
    PassesOnBoth,
    /// It fails on both: the fix does not help, or the proof shows something else.
    FailsOnBoth,
    /// It does not always end the same way on the same code.
    Flaky,
    /// The programs that it needs are not on this machine.
    NoToolchain,
    /// It could not be run to an end: the patch does not apply, something does not compile, or it takes too long.
    Broken,
}

impl ProofVerdictV1 {
    /// Every verdict, the wanted one first.
    pub const ALL: [Self; 6] =
        [Self::Proven, Self::PassesOnBoth, Self::FailsOnBoth, Self::Flaky, Self::NoToolchain, Self::Broken];

    /// The verdict in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::PassesOnBoth => "passes on both",
            Self::FailsOnBoth => "fails on both",
            Self::Flaky => "flaky",
            Self::NoToolchain => "no toolchain",
            Self::Broken => "broken",
        }
    }

    /// Whether it is about the proof alone. The others may be due to the machine, and are worth another try there.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Proven | Self::PassesOnBoth | Self::FailsOnBoth)
    }
}
