//! Removes everything from a value that the schema rejects, so that rules beyond the schema can be checked in the same pass: fixing
//! one fault should not reveal the next one only then.
//!
//! A salvaged value is for finding further faults only; its file is rejected all the same.

use super::schema::{Checker, ValueContext, allowed_of, required_keys, types_of};
use super::{Node, Value};
use serde_json::{Map, Value as Json};

/// The value without its faults, with stand-ins for required keys and list items; `None` if nothing is left.
pub(super) fn salvage(node: &Node, schema: &Json) -> Option<Json> {
    let mut checker = Checker { root: schema, text: "", faults: Vec::new(), steps: 0 };
    checker.salvage_value(node, schema)
}

/// Bounds the work on hostile files.
const MAX_STEPS: usize = 1_000_000;

impl<'s> Checker<'s> {
    fn salvage_value(&mut self, node: &Node, schema: &'s Json) -> Option<Json> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return None;
        }
        let facets = self.facets_for(node, schema, ValueContext::default()).ok()?;
        if facets.iter().any(|facet| self.own(node, facet, ValueContext::default()).is_some()) {
            return None;
        }
        match &node.value {
            Value::Object(_) => Some(Json::Object(self.salvage_object(node, &facets))),
            Value::Array(items) => {
                let schema = facets.iter().find_map(|f| f.get("items"));
                let rest = |this: &mut Self, item: &Node| match schema {
                    Some(schema) => this.salvage_value(item, schema).unwrap_or_else(|| this.stand_in(schema, 0)),
                    None => item.to_json(),
                };
                Some(Json::Array(items.iter().map(|item| rest(self, item)).collect()))
            }
            _ => Some(node.to_json()),
        }
    }

    fn salvage_object(&mut self, node: &Node, facets: &[&'s Json]) -> Map<String, Json> {
        let Value::Object(entries) = &node.value else { return Map::new() };
        let property = |name: &str| facets.iter().find_map(|f| f.get("properties")?.get(name));
        let other = facets.iter().find_map(|f| f.get("additionalProperties"));
        let mut salvaged = Map::new();
        for (key, child) in entries {
            let value = match property(&key.name).or(other) {
                Some(Json::Bool(false)) => None,
                Some(schema) => self.salvage_value(child, schema),
                None => Some(child.to_json()),
            };
            if let Some(value) = value {
                salvaged.entry(key.name.clone()).or_insert(value);
            }
        }
        for name in required_keys(facets) {
            if !salvaged.contains_key(name) {
                let value = property(name).map_or(Json::Null, |schema| self.stand_in(schema, 0));
                salvaged.insert(name.to_owned(), value);
            }
        }
        salvaged
    }

    fn stand_in(&self, schema: &'s Json, depth: usize) -> Json {
        let facets = self.facets(schema);
        if let Some(allowed) = facets.iter().find_map(|f| allowed_of(f)?.first().copied()) {
            return allowed.clone();
        }
        let branches = facets.iter().find_map(|f| f.get("oneOf").or_else(|| f.get("anyOf"))?.as_array());
        if let Some(first) = branches.and_then(|b| b.first()).filter(|_| depth < 16) {
            return self.stand_in(first, depth + 1);
        }
        let name = facets.iter().find_map(|f| types_of(f)?.first().copied()).unwrap_or("null");
        match name {
            "string" => Json::String(String::new()),
            "integer" => Json::from(1),
            "number" => Json::from(0.0),
            "boolean" => Json::Bool(false),
            "array" => Json::Array(Vec::new()),
            "object" if depth < 16 => {
                let value = |name: &str| {
                    let schema = facets.iter().find_map(|f| f.get("properties")?.get(name));
                    schema.map_or(Json::Null, |schema| self.stand_in(schema, depth + 1))
                };
                Json::Object(required_keys(&facets).map(|name| (name.to_owned(), value(name))).collect())
            }
            _ => Json::Null,
        }
    }
}
