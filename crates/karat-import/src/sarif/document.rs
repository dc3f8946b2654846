//! Streams a SARIF document run by run and result by result.

use super::model::{ArtifactLocation, Artifacts, Component, Invocation, LogicalLocation, Presence, SarifResult, Tool};
use crate::json::{By, Object, records};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Receives the parts of a document while it is read; an `Err` is a fault of the file.
pub(super) trait Reader {
    fn result(&mut self, _: SarifResult) -> Result<(), String> {
        Ok(())
    }

    /// Handles a run after its results. `scanned` says whether there is an array of results, even an empty one; without it nothing
    /// was scanned.
    fn run(&mut self, run: Run, scanned: bool) -> Result<(), String>;
}

records! {
    pub(super) struct DocumentHead {
        pub(super) version: Option<String> = "version",
        pub(super) external: Presence = "inlineExternalProperties",
    }

    /// A run without its results.
    pub(super) struct Run {
        pub(super) tool: Tool = "tool",
        pub(super) taxonomies: Vec<Component> = "taxonomies",
        pub(super) artifacts: Artifacts = "artifacts",
        pub(super) bases: BTreeMap<String, ArtifactLocation> = "originalUriBaseIds",
        pub(super) logical: Vec<LogicalLocation> = "logicalLocations",
        pub(super) column_kind: Option<String> = "columnKind",
        pub(super) invocations: Vec<Invocation> = "invocations",
        pub(super) external: Presence = "externalPropertyFileReferences",
    }
}

pub(super) struct Document<'a>(pub(super) &'a mut dyn Reader);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = DocumentHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SARIF document, which is an object with `runs`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DocumentHead, A::Error> {
        let mut head = DocumentHead::default();
        let mut has_runs = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "runs" {
                map.next_value_seed(By::Seq(Runs(&mut *self.0)))?;
                has_runs = true;
            } else {
                head.read_field(&key, &mut map)?;
            }
        }
        if has_runs {
            Ok(head)
        } else {
            Err(A::Error::custom("there is no array `runs`, so this is not a SARIF document"))
        }
    }
}

struct Runs<'a>(&'a mut dyn Reader);

impl<'de> Visitor<'de> for Runs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of runs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(By::Map(RunVisitor(&mut *self.0)))?.is_some() {}
        Ok(())
    }
}

struct RunVisitor<'a>(&'a mut dyn Reader);

impl<'de> Visitor<'de> for RunVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run, which is an object with `tool` and `results`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut run = Run::default();
        let mut scanned = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "results" {
                scanned |= map.next_value_seed(By::Any(Results(&mut *self.0)))?;
            } else {
                run.read_field(&key, &mut map)?;
            }
        }
        self.0.run(run, scanned).map_err(A::Error::custom)
    }
}

struct Results<'a>(&'a mut dyn Reader);

impl<'de> Visitor<'de> for Results<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of results")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        while let Some(Object(item)) = seq.next_element()? {
            self.0.result(item).map_err(A::Error::custom)?;
        }
        Ok(true)
    }
}
