//! Finds the rule and the taxonomy entries that a result refers to.

use super::model::{Component, ComponentReference, Reference, Rule, SarifResult, Tool};
use crate::cwe;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The driver first, then the extensions.
    components: Vec<Component>,
    taxonomies: Vec<Component>,
    /// Component and index of a rule, by component and id; the first rule with an id counts.
    by_id: HashMap<(usize, String), usize>,
    /// The same by id alone, for results that name no component.
    anywhere: HashMap<String, (usize, usize)>,
    by_guid: HashMap<String, (usize, usize)>,
}

impl Rules {
    pub(super) fn new(tool: Tool, taxonomies: Vec<Component>) -> Self {
        let components: Vec<Component> = std::iter::once(tool.driver).chain(tool.extensions).collect();
        let mut rules = Self { components, taxonomies, ..Self::default() };
        for (component, part) in rules.components.iter().enumerate() {
            for (index, rule) in part.rules.iter().enumerate() {
                if let Some(id) = &rule.id {
                    rules.by_id.entry((component, id.clone())).or_insert(index);
                    rules.anywhere.entry(id.clone()).or_insert((component, index));
                }
                if let Some(guid) = &rule.guid {
                    rules.by_guid.entry(guid.to_ascii_lowercase()).or_insert((component, index));
                }
            }
        }
        rules
    }

    pub(super) fn tool(&self) -> Option<&str> {
        self.components.first()?.name.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    pub(super) fn find(&self, item: &SarifResult) -> Option<(&Component, &Rule)> {
        let reference = item.rule.as_deref();
        let id = item.rule_id.as_deref().or_else(|| reference?.id.as_deref()).map(str::trim);
        let component = reference.and_then(|reference| self.component(reference.component.as_deref()?));
        let index = reference.and_then(|reference| reference.index).or(item.rule_index);
        let at = |(component, index): (usize, usize)| {
            let component = self.components.get(component)?;
            Some((component, component.rules.get(index)?))
        };
        let indexed = index.and_then(|index| at((component.unwrap_or(0), index as usize)));
        // If index and name contradict each other, the name is usually right.
        let fits = |rule: &Rule| match (id, rule.id.as_deref()) {
            (Some(id), Some(own)) => id == own || id.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')),
            _ => true,
        };
        if let Some(found) = indexed.filter(|(_, rule)| fits(rule)) {
            return Some(found);
        }
        let guid = reference.and_then(|reference| reference.guid.as_deref());
        let by_guid = guid.and_then(|guid| self.by_guid.get(&guid.to_ascii_lowercase()));
        by_guid.copied().or_else(|| self.by_name(component, id?)).and_then(at).or(indexed)
    }

    /// Looks for `CA1000/1/2`, then `CA1000/1`, then `CA1000`.
    fn by_name(&self, component: Option<usize>, id: &str) -> Option<(usize, usize)> {
        let mut id = id;
        // Real names have a part or two; the search is bounded for hostile ones.
        for _ in 0..16 {
            let own = component
                .and_then(|component| self.by_id.get(&(component, id.to_owned())).map(|&index| (component, index)));
            if let Some(found) = own.or_else(|| self.anywhere.get(id).copied()) {
                return Some(found);
            }
            id = &id[..id.rfind('/')?];
        }
        None
    }

    /// An index counts the extensions, so it is never the driver's.
    fn component(&self, reference: &ComponentReference) -> Option<usize> {
        let by_index = reference.index.map(|index| index as usize + 1).filter(|&index| index < self.components.len());
        by_index.or_else(|| self.components.iter().position(|component| matches_reference(component, reference)))
    }

    /// The CWE numbers that a reference to a taxonomy stands for.
    pub(super) fn weaknesses(&self, reference: &Reference) -> Vec<u32> {
        let component = reference.component.as_deref();
        let taxonomy = component.and_then(|component| {
            let by_index = component.index.and_then(|index| self.taxonomies.get(index as usize));
            by_index.or_else(|| self.taxonomies.iter().find(|taxonomy| matches_reference(taxonomy, component)))
        });
        let name = taxonomy.and_then(|taxonomy| taxonomy.name.as_deref());
        let name = name.or_else(|| component?.name.as_deref()).unwrap_or_default();
        let about_weaknesses = name.to_ascii_lowercase().contains("cwe");
        let looked_up = || {
            let taxa = &taxonomy?.taxa;
            let by_index = reference.index.and_then(|index| taxa.get(index as usize));
            let guid = reference.guid.as_ref();
            by_index.or_else(|| taxa.iter().find(|taxon| guid.is_some() && taxon.guid.as_ref() == guid))?.id.as_deref()
        };
        match reference.id.as_deref().or_else(looked_up) {
            Some(id) if about_weaknesses => cwe::parse_cwes(id),
            Some(id) => crate::fields::cwe_numbers(id).collect(),
            None => Vec::new(),
        }
    }
}

fn matches_reference(component: &Component, reference: &ComponentReference) -> bool {
    let same = |own: &Option<String>, other: &Option<String>| own.is_some() && own == other;
    same(&component.guid, &reference.guid) || same(&component.name, &reference.name)
}
