use std::collections::HashMap;

use crate::Scope;

/// Why a table cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// The line does not have the form `METHOD ROUTE SCOPE,SCOPE` or `METHOD ROUTE -`.
    Malformed { line: usize },
    /// The route has a line already.
    Repeated { line: usize },
}

/// The scopes that each route needs.
#[derive(Debug, Default)]
pub struct Policy {
    rules: HashMap<(String, String), Vec<Scope>>,
}

impl Policy {
    /// Reads a table. Empty lines and those that begin with `#` are ignored.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut rules = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let malformed = || PolicyError::Malformed { line: line_number };
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [method, route, needed] = fields[..] else {
                return Err(malformed());
            };
            let scopes = match needed {
                "-" => Vec::new(),
                list => list.split(',').map(Scope::parse).collect::<Option<_>>().ok_or_else(malformed)?,
            };
            if rules.insert((method.to_owned(), route.to_owned()), scopes).is_some() {
                return Err(PolicyError::Repeated { line: line_number });
            }
        }
        Ok(Self { rules })
    }

    /// The scopes that a caller needs for a route.
    pub fn required(&self, method: &str, route: &str) -> Option<&[Scope]> {
        let key = (method.to_owned(), route.to_owned());
        self.rules.get(&key).map(Vec::as_slice)
    }
}
