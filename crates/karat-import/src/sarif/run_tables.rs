//! What all results of a run share, and the conversion of a result into a finding.

use super::document::Run;
use super::message;
use super::model::{Artifact, Component, Kind, Location, LogicalLocation, Region, Rule, SarifResult};
use super::region::{LineTable, Unit};
use super::rules::Rules;
use super::uris::UriResolver;
use crate::{Sources, fields};
use karat_core::finding::Finding;
use karat_core::golden::Severity;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use std::collections::HashMap;

/// The name under which a result carries its identity key.
pub(super) const KEY: &str = "karatIdentity/v2";

#[derive(Debug, Default)]
pub(super) struct RunTables {
    pub(super) rules: Rules,
    uris: UriResolver,
    artifacts: Vec<Artifact>,
    /// Line tables of embedded files, by path.
    embedded: HashMap<String, usize>,
    logical: Vec<LogicalLocation>,
    unit: Unit,
}

pub(super) struct ResolvedFinding {
    pub(super) finding: Finding,
    /// Whether it has offsets into an unknown text.
    pub(super) has_unknown_lines: bool,
    /// Bytes copied from the tables, which the size of the file does not bound.
    pub(super) copied: u64,
}

impl RunTables {
    pub(super) fn new(run: Run) -> Self {
        let uris = UriResolver::new(&run.bases);
        let artifacts = run.artifacts.0;
        let mut embedded = HashMap::new();
        for (index, artifact) in artifacts.iter().enumerate().filter(|(_, a)| a.contents.lines.is_some()) {
            embedded.extend(uris.path(&artifact.location, &artifacts).map(|path| (path, index)));
        }
        let unit = match run.column_kind.as_deref() {
            Some("unicodeCodePoints") => Unit::Point,
            _ => Unit::Utf16,
        };
        let rules = Rules::new(run.tool, run.taxonomies);
        Self { rules, uris, artifacts, embedded, logical: run.logical, unit }
    }

    /// Converts a result into a finding; `None` when it is empty.
    pub(super) fn finding(&self, mut item: SarifResult, sources: Sources<'_>) -> Option<ResolvedFinding> {
        let rule = self.rules.find(&item);
        // Without locations of its own, a result lies at its first related location or the first step of its code flow.
        let own = item.locations.0.take();
        let location = own.or_else(|| item.related.0.take()).or_else(|| item.flows.0.threads.0.steps.0.location.take());
        let mut finding = Finding::new("");
        finding.severity = Some(severity(&item, rule));
        finding.cwe = self.cwe(&item, rule);
        finding.confidence = fields::confidence(item.properties.confidence);
        let own_category = item.properties.category.take();
        finding.category = own_category.or_else(|| rule?.1.properties.category.clone()).filter(|text| !blank(text));
        finding.rule_id = rule_id(&mut item, rule);
        let texts = |(name, text): (String, Option<String>)| Some((name, text?));
        finding.fingerprints = std::mem::take(&mut item.partial_fingerprints).into_iter().filter_map(texts).collect();
        // The key is written among the partial fingerprints, so those win.
        let written = finding.fingerprints.remove(KEY);
        finding.fingerprints.extend(std::mem::take(&mut item.fingerprints).into_iter().filter_map(texts));
        let other = finding.fingerprints.remove(KEY);
        finding.identity_key = [written, other].into_iter().flatten().find(|key| !blank(key));
        let (has_unknown_lines, path) = self.locate(&mut finding, location.as_deref(), &item, sources);
        let templated = item.message.id.is_some();
        finding.message = message::render(item.message, rule);
        // A rule's text is the same for all its results, so it only stands in for a message.
        if finding.message.is_none() {
            finding.title = rule.and_then(|(_, rule)| title(rule));
        }
        if [&finding.title, &finding.message, &finding.rule_id].into_iter().all(Option::is_none) {
            return None;
        }
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let message = if templated { length(&finding.message) } else { 0 };
        let texts = [&finding.title, &finding.category, &finding.function, &finding.rule_id].map(length);
        let copied = texts.iter().sum::<usize>() + 4 * finding.cwe.len() + message + path;
        Some(ResolvedFinding { finding, has_unknown_lines, copied: copied as u64 })
    }

    pub(super) fn path(&self, location: &Location) -> Option<String> {
        self.uris.path(&location.physical.as_ref()?.artifact, &self.artifacts)
    }

    fn locate(
        &self,
        finding: &mut Finding,
        location: Option<&Location>,
        item: &SarifResult,
        sources: Sources<'_>,
    ) -> (bool, usize) {
        finding.function = location.and_then(|location| self.function(location));
        let physical = location.and_then(|location| location.physical.as_deref());
        let artifact = physical.map(|physical| &physical.artifact).or(item.target.as_deref());
        let path = artifact.and_then(|artifact| self.uris.path(artifact, &self.artifacts));
        finding.file = path.as_deref().and_then(RepoPath::new);
        let mut has_unknown_lines = false;
        if let Some(region) = physical.map(|physical| &physical.region) {
            let mut lines = Lines::from_start(region.start_line.filter(|&line| line > 0), region.end_line);
            if lines.is_none() && (region.char_offset.is_some() || region.byte_offset.is_some()) {
                let index = artifact.and_then(|artifact| artifact.index).map(|index| index as usize);
                lines = self.lines_from_offsets(region, index, path.as_deref(), finding.file.as_ref(), sources);
                has_unknown_lines = lines.is_none();
            }
            finding.line_start = lines.map(|lines| lines.start);
            finding.line_end = lines.map(|lines| lines.end);
        }
        (has_unknown_lines, path.map_or(0, |path| path.len()))
    }

    fn lines_from_offsets(
        &self,
        region: &Region,
        index: Option<usize>,
        path: Option<&str>,
        file: Option<&RepoPath>,
        sources: Sources<'_>,
    ) -> Option<Lines> {
        let by_index = index.filter(|&index| self.artifacts.get(index).is_some_and(|a| a.contents.lines.is_some()));
        let artifact =
            by_index.or_else(|| self.embedded.get(path?).copied()).and_then(|index| self.artifacts.get(index));
        let utf8 =
            |artifact: &Artifact| artifact.encoding.as_ref().is_none_or(|name| name.eq_ignore_ascii_case("utf-8"));
        let count = |table: &LineTable, bytes_known: bool| match (region.char_offset, region.byte_offset) {
            (Some(offset), _) => Some(table.lines(self.unit, offset, region.char_length)),
            (None, Some(offset)) if bytes_known => Some(table.lines(Unit::Byte, offset, region.byte_length)),
            _ => None,
        };
        if let Some((artifact, table)) =
            artifact.and_then(|artifact| Some((artifact, artifact.contents.lines.as_ref()?)))
        {
            return count(table, utf8(artifact));
        }
        count(&LineTable::new(&sources(file?)?)?, true)
    }

    fn function(&self, location: &Location) -> Option<String> {
        let callable = |logical: &&LogicalLocation| {
            logical.kind.as_deref().is_none_or(|kind| matches!(kind, "function" | "member"))
        };
        let full = |logical: &'_ LogicalLocation| {
            let shared = logical.index.and_then(|index| self.logical.get(index as usize));
            let own = (logical.name.is_some() || logical.qualified.is_some()).then(|| logical.clone());
            own.or_else(|| shared.cloned())
        };
        let found = location.logical.iter().filter_map(full).find(|logical| callable(&logical))?;
        found.qualified.or(found.name).filter(|name| !blank(name))
    }

    fn cwe(&self, item: &SarifResult, rule: Option<(&Component, &Rule)>) -> Vec<u32> {
        let rule = rule.map(|(_, rule)| rule);
        let related = rule.into_iter().flat_map(|rule| &rule.relationships).map(|relationship| &relationship.target);
        let references = item.taxa.iter().chain(related);
        let mut numbers: Vec<u32> = references.flat_map(|reference| self.rules.weaknesses(reference)).collect();
        for properties in [Some(&item.properties), rule.map(|rule| &rule.properties)].into_iter().flatten() {
            numbers.extend(properties.tags.0.iter().chain(&properties.cwe.0));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

fn rule_id(item: &mut SarifResult, rule: Option<(&Component, &Rule)>) -> Option<String> {
    let own = item.rule_id.take().filter(|id| !blank(id));
    let referred = own.or_else(|| item.rule.take()?.id).filter(|id| !blank(id));
    referred.or_else(|| rule?.1.id.clone())
}

fn title(rule: &Rule) -> Option<String> {
    let short = rule.short.text.as_ref().or(rule.short.markdown.as_ref());
    short.filter(|text| !blank(text)).or(rule.name.as_ref()).filter(|text| !blank(text)).cloned()
}

/// A security score is more precise than the level, which says how loudly to report.
fn severity(item: &SarifResult, rule: Option<(&Component, &Rule)>) -> Severity {
    let score = item.properties.security_severity.or_else(|| rule?.1.properties.security_severity);
    match score {
        Some(score) if score >= 9.0 => return Severity::Critical,
        Some(score) if score >= 7.0 => return Severity::High,
        Some(score) if score >= 4.0 => return Severity::Medium,
        Some(score) if score > 0.0 => return Severity::Low,
        _ => (),
    }
    let remark = (item.kind == Some(Kind::Remark)).then_some(Severity::Info);
    let default = || rule.and_then(|(_, rule)| rule.configuration.level);
    item.level.or(remark).or_else(default).unwrap_or(Severity::Medium)
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}
