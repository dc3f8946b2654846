use std::collections::HashSet;

use crate::Scope;

/// The one who calls; without a token there are no scopes.
#[derive(Default)]
pub struct Caller {
    pub scopes: HashSet<Scope>,
}

/// Decides about requests.
#[derive(Default)]
pub struct Guard;

impl Guard {
    /// Whether the caller may use the route.
    pub fn allows(&self, caller: &Caller, method: &str, route: &str) -> bool {
        let needed: &[&str] = match (method, route) {
            ("GET", "/health") => &[],
            ("GET", "/orders") => &["orders:read"],
            ("POST", "/orders") => &["orders:write"],
            ("GET", "/customers") => &["customers:read"],
            ("POST", "/exports") => &["orders:read", "customers:read"],
            _ => return false,
        };
        needed.iter().all(|name| Scope::parse(name).is_some_and(|scope| caller.scopes.contains(&scope)))
    }
}
