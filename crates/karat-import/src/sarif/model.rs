//! The fields of a SARIF document that are used; all others are skipped while reading.

use super::region::LineTable;
use crate::cwe::{FieldCwes, TagCwes};
use crate::json::{Lenient, Loose, records};
use karat_core::golden::Severity;
use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use std::collections::BTreeMap;

records! {
    pub(super) struct SarifResult {
        pub(super) rule_id: Option<String> = "ruleId",
        pub(super) rule_index: Option<u32> = "ruleIndex",
        pub(super) rule: Option<Box<Reference>> = "rule",
        pub(super) message: Message = "message",
        pub(super) level: Option<Severity> = "level",
        pub(super) kind: Option<Kind> = "kind",
        pub(super) locations: FirstLocation = "locations",
        pub(super) related: FirstLocation = "relatedLocations",
        pub(super) flows: First<CodeFlow> = "codeFlows",
        pub(super) target: Option<Box<ArtifactLocation>> = "analysisTarget",
        pub(super) taxa: Vec<Reference> = "taxa",
        pub(super) properties: Properties = "properties",
        pub(super) partial_fingerprints: BTreeMap<String, Option<String>> = "partialFingerprints",
        pub(super) fingerprints: BTreeMap<String, Option<String>> = "fingerprints",
        pub(super) suppressions: Suppressions = "suppressions",
        pub(super) baseline: Option<String> = "baselineState",
    }

    pub(super) struct Reference {
        pub(super) id: Option<String> = "id",
        pub(super) index: Option<u32> = "index",
        pub(super) guid: Option<String> = "guid",
        pub(super) component: Option<Box<ComponentReference>> = "toolComponent",
    }

    pub(super) struct ComponentReference {
        pub(super) name: Option<String> = "name",
        pub(super) index: Option<u32> = "index",
        pub(super) guid: Option<String> = "guid",
    }

    /// A message, as text or as a reference to a rule's message string.
    pub(super) struct Message {
        pub(super) text: Option<String> = "text",
        pub(super) markdown: Option<String> = "markdown",
        pub(super) id: Option<String> = "id",
        pub(super) arguments: Vec<Option<String>> = "arguments",
    }

    pub(super) struct Location {
        pub(super) physical: Option<Box<PhysicalLocation>> = "physicalLocation",
        pub(super) logical: Vec<LogicalLocation> = "logicalLocations",
    }

    pub(super) struct PhysicalLocation {
        pub(super) artifact: ArtifactLocation = "artifactLocation",
        pub(super) region: Region = "region",
    }

    pub(super) struct ArtifactLocation {
        pub(super) uri: Option<String> = "uri",
        pub(super) base: Option<String> = "uriBaseId",
        pub(super) index: Option<u32> = "index",
    }

    pub(super) struct Region {
        pub(super) start_line: Option<u32> = "startLine",
        pub(super) end_line: Option<u32> = "endLine",
        pub(super) char_offset: Option<u32> = "charOffset",
        pub(super) char_length: Option<u32> = "charLength",
        pub(super) byte_offset: Option<u32> = "byteOffset",
        pub(super) byte_length: Option<u32> = "byteLength",
    }

    pub(super) struct LogicalLocation {
        pub(super) name: Option<String> = "name",
        pub(super) qualified: Option<String> = "fullyQualifiedName",
        pub(super) kind: Option<String> = "kind",
        pub(super) index: Option<u32> = "index",
    }

    pub(super) struct Properties {
        pub(super) security_severity: Option<f64> = "security-severity",
        pub(super) category: Option<String> = "category",
        pub(super) tags: TagCwes = "tags",
        pub(super) cwe: FieldCwes = "cwe",
        pub(super) confidence: Option<f64> = "confidence",
    }

    pub(super) struct Tool {
        pub(super) driver: Component = "driver",
        pub(super) extensions: Vec<Component> = "extensions",
    }

    pub(super) struct Component {
        pub(super) name: Option<String> = "name",
        pub(super) guid: Option<String> = "guid",
        pub(super) rules: Vec<Rule> = "rules",
        pub(super) taxa: Vec<Taxon> = "taxa",
        pub(super) messages: BTreeMap<String, Message> = "globalMessageStrings",
    }

    pub(super) struct Rule {
        pub(super) id: Option<String> = "id",
        pub(super) name: Option<String> = "name",
        pub(super) guid: Option<String> = "guid",
        pub(super) short: Message = "shortDescription",
        pub(super) messages: BTreeMap<String, Message> = "messageStrings",
        pub(super) configuration: Configuration = "defaultConfiguration",
        pub(super) properties: Properties = "properties",
        pub(super) relationships: Vec<Relationship> = "relationships",
    }

    pub(super) struct Configuration {
        pub(super) level: Option<Severity> = "level",
    }

    pub(super) struct Relationship {
        pub(super) target: Reference = "target",
    }

    pub(super) struct Taxon {
        pub(super) id: Option<String> = "id",
        pub(super) guid: Option<String> = "guid",
    }

    pub(super) struct Artifact {
        pub(super) location: ArtifactLocation = "location",
        pub(super) parent: Option<u32> = "parentIndex",
        pub(super) contents: Contents = "contents",
        pub(super) encoding: Option<String> = "encoding",
    }

    /// The text of a file, of which only the line table is kept.
    pub(super) struct Contents {
        pub(super) lines: Option<LineTable> = "text",
    }

    pub(super) struct Invocation {
        pub(super) successful: Option<bool> = "executionSuccessful",
        pub(super) exit_code: Option<f64> = "exitCode",
        pub(super) exit_description: Option<String> = "exitCodeDescription",
        pub(super) exit_signal: Option<String> = "exitSignalName",
        pub(super) start_failure: Option<String> = "processStartFailureMessage",
        pub(super) execution: Notices = "toolExecutionNotifications",
        pub(super) configuration: Notices = "toolConfigurationNotifications",
    }

    pub(super) struct Notice {
        pub(super) message: Message = "message",
        pub(super) exception: Exception = "exception",
        pub(super) level: Option<Severity> = "level",
        pub(super) locations: FirstLocation = "locations",
    }

    pub(super) struct Exception {
        pub(super) kind: Option<String> = "kind",
        pub(super) message: Option<String> = "message",
    }
}

/// Whether a result is suppressed, with no suppression rejected or under review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Suppressions {
    pub(super) in_force: bool,
}

records! {
    struct Suppression {
        status: Option<String> = "status",
    }
}

impl Lenient for Suppressions {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let (mut any, mut doubtful) = (false, false);
        while let Some(Loose(suppression)) = array.next_element::<Loose<Option<Box<Suppression>>>>()? {
            let Some(suppression) = suppression else { continue };
            any = true;
            doubtful |= suppression.status.is_some_and(|status| status.trim() != "accepted");
        }
        Ok(Self { in_force: any && !doubtful })
    }
}

/// The first location that names a file, else the first of all; the others are dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FirstLocation(pub(super) Option<Box<Location>>);

impl Lenient for FirstLocation {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut first: Option<Box<Location>> = None;
        while first.as_ref().is_none_or(|location| location.physical.is_none()) {
            let Some(Loose(next)) = array.next_element::<Loose<Option<Box<Location>>>>()? else { break };
            match (&mut first, next) {
                (Some(first), Some(next)) => first.physical = next.physical,
                (None, next) => first = next,
                (Some(_), None) => (),
            }
        }
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(first))
    }
}

records! {
    pub(super) struct CodeFlow {
        pub(super) threads: First<ThreadFlow> = "threadFlows",
    }

    pub(super) struct ThreadFlow {
        pub(super) steps: First<Step> = "locations",
    }

    pub(super) struct Step {
        pub(super) location: Option<Box<Location>> = "location",
    }
}

/// The first element; the others are dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct First<T>(pub(super) T);

impl<T: Lenient> Lenient for First<T> {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let first = array.next_element::<Loose<T>>()?.unwrap_or_default().0;
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(first))
    }
}

/// The files of a run. Their indices matter, so none is left out, but line tables are, once there are too many lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Artifacts(pub(super) Vec<Artifact>);

/// A line table takes 4 to 12 bytes a line.
const MAX_LINES: usize = 10_000_000;

impl Lenient for Artifacts {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut artifacts = Vec::new();
        let mut lines = 0;
        while let Some(Loose(mut artifact)) = array.next_element::<Loose<Artifact>>()? {
            lines += artifact.contents.lines.as_ref().map_or(0, LineTable::len);
            if lines > MAX_LINES {
                artifact.contents.lines = None;
            }
            artifacts.push(artifact);
        }
        Ok(Self(artifacts))
    }
}

/// Notifications: errors are kept, the others counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notices {
    pub(super) errors: Vec<Notice>,
    pub(super) warnings: usize,
}

impl Lenient for Notices {
    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut notices = Self::default();
        while let Some(Loose(notice)) = array.next_element::<Loose<Notice>>()? {
            if notice.level == Some(Severity::High) {
                notices.errors.push(notice);
            } else {
                notices.warnings += 1;
            }
        }
        Ok(notices)
    }
}

/// What a level of SARIF stands for.
impl Lenient for Option<Severity> {
    fn from_text(text: String) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "error" => Some(Severity::High),
            "warning" => Some(Severity::Medium),
            "note" => Some(Severity::Low),
            "none" => Some(Severity::Info),
            _ => None,
        }
    }
}

/// What a result states, where that is not `fail`, which is what other formats call a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is wrong, or the rule does not apply.
    Fine,
    /// Informational, open, or for a person to review.
    Remark,
}

impl Lenient for Option<Kind> {
    fn from_text(text: String) -> Self {
        match text.trim() {
            "pass" | "notApplicable" => Some(Kind::Fine),
            "informational" | "review" | "open" => Some(Kind::Remark),
            _ => None,
        }
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
