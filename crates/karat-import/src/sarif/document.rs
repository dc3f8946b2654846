//! Streams a SARIF document run by run and result by result.

use super::enums::Presence;
use super::model::{Invocation, SarifResult};
use super::run_tables::RunParts;
use crate::json::{By, Lenient, Loose, Object};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Receives the parts of a document while it is read.
pub(super) trait Reader {
    /// What is collected of a run until it ends.
    type Run: Default;

    /// Handles one result; an `Err` is a fault of the file.
    fn result(&mut self, run: &mut Self::Run, item: SarifResult) -> Result<(), String>;

    /// Handles a run that was read to its end.
    fn run(&mut self, run: Self::Run, rest: RunRest) -> Result<(), String>;
}

/// The fields of a run besides its results.
#[derive(Debug, Default)]
pub(super) struct RunRest {
    pub(super) parts: RunParts,
    pub(super) invocations: Vec<Invocation>,
    pub(super) external: Presence,
    /// Whether there is an array of results, even an empty one; without it nothing was scanned.
    pub(super) scanned: bool,
}

/// The fields of a document besides its runs.
#[derive(Debug, Default)]
pub(super) struct DocumentHead {
    pub(super) version: Option<String>,
    pub(super) external: Presence,
}

pub(super) struct Document<'a, R>(pub(super) &'a mut R);

impl<'de, R: Reader> Visitor<'de> for Document<'_, R> {
    type Value = DocumentHead;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SARIF document, which is an object with `runs`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DocumentHead, A::Error> {
        let mut head = DocumentHead::default();
        let mut seen = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "runs" => {
                    map.next_value_seed(By::Seq(Runs(&mut *self.0)))?;
                    seen = true;
                }
                "version" => head.version = loose(&mut map)?,
                "inlineExternalProperties" => head.external = loose(&mut map)?,
                _ => skip(&mut map)?,
            }
        }
        if seen { Ok(head) } else { Err(A::Error::custom("there is no array `runs`, so this is not a SARIF document")) }
    }
}

struct Runs<'a, R>(&'a mut R);

impl<'de, R: Reader> Visitor<'de> for Runs<'_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of runs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(By::Map(Run(&mut *self.0)))?.is_some() {}
        Ok(())
    }
}

struct Run<'a, R>(&'a mut R);

impl<'de, R: Reader> Visitor<'de> for Run<'_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run, which is an object with `tool` and `results`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut run = R::Run::default();
        let mut rest = RunRest::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "results" => {
                    rest.scanned |= map.next_value_seed(By::Any(Results { reader: &mut *self.0, run: &mut run }))?;
                }
                "tool" => rest.parts.tool = loose(&mut map)?,
                "taxonomies" => rest.parts.taxonomies = loose(&mut map)?,
                "artifacts" => rest.parts.artifacts = loose(&mut map)?,
                "originalUriBaseIds" => rest.parts.bases = loose(&mut map)?,
                "logicalLocations" => rest.parts.logical = loose(&mut map)?,
                "columnKind" => rest.parts.column_kind = loose(&mut map)?,
                "invocations" => rest.invocations = loose(&mut map)?,
                "externalPropertyFileReferences" => rest.external = loose(&mut map)?,
                _ => skip(&mut map)?,
            }
        }
        self.0.run(run, rest).map_err(A::Error::custom)
    }
}

struct Results<'a, R: Reader> {
    reader: &'a mut R,
    run: &'a mut R::Run,
}

impl<'de, R: Reader> Visitor<'de> for Results<'_, R> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of results")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        while let Some(Object(item)) = seq.next_element()? {
            self.reader.result(self.run, item).map_err(A::Error::custom)?;
        }
        Ok(true)
    }
}

fn loose<'de, A: MapAccess<'de>, T: Lenient>(map: &mut A) -> Result<T, A::Error> {
    map.next_value::<Loose<T>>().map(|value| value.0)
}

fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}
