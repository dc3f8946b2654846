//! Enumerations and other small values of a SARIF document.

use crate::json::Lenient;
use serde::de::{IgnoredAny, MapAccess, SeqAccess};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
    None,
}

impl Lenient for Option<Level> {
    fn from_text(text: String) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "error" => Some(Level::Error),
            "warning" => Some(Level::Warning),
            "note" => Some(Level::Note),
            "none" => Some(Level::None),
            _ => None,
        }
    }
}

/// What a result states; `fail` is what other formats call a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fail,
    /// Nothing is wrong, or the rule does not apply.
    Fine,
    /// Informational, open, or for a person to review.
    Remark,
}

impl Lenient for Option<Kind> {
    fn from_text(text: String) -> Self {
        match text.trim() {
            "fail" => Some(Kind::Fail),
            "pass" | "notApplicable" => Some(Kind::Fine),
            "informational" | "review" | "open" => Some(Kind::Remark),
            _ => None,
        }
    }
}

/// The state of a result compared with an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Baseline {
    Absent,
    Present,
}

impl Lenient for Option<Baseline> {
    fn from_text(text: String) -> Self {
        Some(if text.trim() == "absent" { Baseline::Absent } else { Baseline::Present })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Presence(pub(super) bool);

impl Lenient for Presence {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let present = Self(array.next_element::<IgnoredAny>()?.is_some());
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(present)
    }

    fn from_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let present = Self(object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some());
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(present)
    }
}
