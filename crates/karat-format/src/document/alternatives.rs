//! Chooses which of several alternative schemas a value is meant to follow, so that only the faults of that one are reported.

use super::schema::{Checker, ValueContext, allowed_of, is_of_type, span, types_of, unknown_key};
use super::{Node, Value};
use crate::diagnostic::Fault;
use serde_json::Value as Json;

impl<'s> Checker<'s> {
    /// The branch of `anyOf` or `oneOf` that the node is meant to follow, or a fault if there is none.
    pub(super) fn choose(
        &mut self,
        node: &Node,
        branches: &'s [Json],
        context: ValueContext<'_>,
    ) -> Result<&'s Json, Fault> {
        let fitting: Vec<&'s Json> = branches.iter().filter(|branch| self.fits_type(node, branch)).collect();
        let fitting = match &node.value {
            Value::String(_) => self.by_value(node, fitting, context)?,
            Value::Object(_) if fitting.len() > 1 => self.by_tag(node, fitting, context)?,
            _ => fitting,
        };
        match fitting.as_slice() {
            [] => {
                let mut types = Vec::new();
                branches.iter().for_each(|branch| self.types(branch, 0, &mut types));
                Err(self.wrong_type(node, &types, context))
            }
            [only] => Ok(only),
            several => Ok(self.best(node, several, context)),
        }
    }

    /// Among branches with fixed texts, the one with this text; else those that accept any text.
    fn by_value(
        &self,
        node: &Node,
        branches: Vec<&'s Json>,
        context: ValueContext<'_>,
    ) -> Result<Vec<&'s Json>, Fault> {
        let value = node.to_json();
        let mut named = Vec::new();
        let mut open = Vec::new();
        for branch in &branches {
            match self.facets(branch).into_iter().find_map(allowed_of) {
                Some(allowed) if allowed.contains(&&value) => return Ok(vec![branch]),
                Some(allowed) => named.extend(allowed),
                None => open.push(*branch),
            }
        }
        if open.is_empty() && !named.is_empty() {
            return Err(self.wrong_value(node, &named, context));
        }
        Ok(open)
    }

    /// Among mappings that are distinguished by a key with a fixed value, or by their keys, the one that the node selects.
    fn by_tag(&self, node: &Node, branches: Vec<&'s Json>, context: ValueContext<'_>) -> Result<Vec<&'s Json>, Fault> {
        if let Some((tag, values)) = self.tag(&branches) {
            let Some(value) = node.get(&[tag.into()]) else {
                let listed: Vec<String> =
                    values.iter().map(|value| format!("`{}`", value.as_str().unwrap_or("?"))).collect();
                let message = format!("the key `{tag}` is missing{}", context.in_phrase());
                return Err(Fault::new("missing-key", span(node, context), message)
                    .with_label(format!("`{tag}` is required here"))
                    .with_help(format!("`{tag}` is one of {}", listed.join(", "))));
            };
            let json = value.to_json();
            let named = values.iter().position(|allowed| **allowed == json).and_then(|index| branches.get(index));
            let key = super::Key { name: tag.to_owned(), span: node.span.clone() };
            let context = ValueContext { key: Some(&key), item: false };
            return named.map(|branch| vec![*branch]).ok_or_else(|| self.wrong_value(value, &values, context));
        }
        // Variants written as `{ name: … }` have one required key each.
        let names: Vec<Option<&'s str>> = branches.iter().map(|branch| self.only_required(branch)).collect();
        let there = |name: &Option<&str>| name.is_some_and(|name| node.get(&[name.into()]).is_some());
        if let Some(branch) = names.iter().position(there).and_then(|index| branches.get(index)) {
            return Ok(vec![branch]);
        }
        match (&node.value, names.into_iter().collect::<Option<Vec<_>>>()) {
            (Value::Object(entries), Some(names)) if !entries.is_empty() => {
                let known: Vec<(&str, &Json)> = names.iter().map(|name| (*name, &Json::Null)).collect();
                Err(unknown_key(&entries[0].0, &names, &known, &mut Vec::new()))
            }
            _ => Ok(branches),
        }
    }

    fn only_required(&self, branch: &'s Json) -> Option<&'s str> {
        let required = self.facets(branch).into_iter().find_map(|f| f.get("required")?.as_array())?;
        match required.as_slice() {
            [Json::String(only)] => Some(only),
            _ => None,
        }
    }

    /// The key that has a fixed value in each branch, and those values.
    fn tag(&self, branches: &[&'s Json]) -> Option<(&'s str, Vec<&'s Json>)> {
        let fixed = |branch: &'s Json| -> Vec<(&'s str, &'s Json)> {
            let facets = self.facets(branch);
            let properties = facets.into_iter().filter_map(|f| f.get("properties")?.as_object()).flatten();
            properties.filter_map(|(name, schema)| Some((name.as_str(), schema.get("const")?))).collect()
        };
        let all: Vec<_> = branches.iter().map(|branch| fixed(branch)).collect();
        let candidates = all.first()?;
        candidates.iter().find_map(|(name, _)| {
            let values = all.iter().map(|f| f.iter().find(|(other, _)| other == name).map(|(_, value)| *value));
            Some((*name, values.collect::<Option<Vec<_>>>()?))
        })
    }

    fn best(&mut self, node: &Node, branches: &[&'s Json], context: ValueContext<'_>) -> &'s Json {
        let mut best = (usize::MAX, branches[0]);
        for branch in branches {
            let mut trial = Checker { root: self.root, text: self.text, faults: Vec::new(), steps: self.steps };
            trial.node(node, branch, context);
            self.steps = trial.steps;
            if trial.faults.len() < best.0 {
                best = (trial.faults.len(), branch);
            }
            if trial.faults.is_empty() {
                break;
            }
        }
        best.1
    }

    fn fits_type(&self, node: &Node, branch: &'s Json) -> bool {
        let mut types = Vec::new();
        self.types(branch, 0, &mut types);
        types.is_empty() || types.iter().any(|name| is_of_type(node, name))
    }

    /// The types that the branch accepts; empty where it does not say.
    fn types(&self, branch: &'s Json, depth: usize, types: &mut Vec<&'s str>) {
        if depth > 8 {
            return;
        }
        for facet in self.facets(branch) {
            let named = match (types_of(facet), allowed_of(facet)) {
                (Some(named), _) => named,
                (None, Some(allowed)) => allowed.into_iter().map(json_type).collect(),
                (None, None) => Vec::new(),
            };
            for name in named {
                if !types.contains(&name) {
                    types.push(name);
                }
            }
            for inner in ["oneOf", "anyOf"].iter().filter_map(|word| facet.get(word)?.as_array()).flatten() {
                self.types(inner, depth + 1, types);
            }
        }
    }
}

fn json_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}
