use std::collections::HashSet;

use crate::{Policy, Scope};

/// The one who calls; without a token there are no scopes.
#[derive(Default)]
pub struct Caller {
    pub scopes: HashSet<Scope>,
}

/// Decides about requests. The router asks it before each handler.
pub struct Guard {
    policy: Policy,
}

impl Guard {
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }

    /// Whether the caller may use the route: all scopes of its line are needed.
    pub fn allows(&self, caller: &Caller, method: &str, route: &str) -> bool {
        match self.policy.required(method, route) {
            Some(scopes) => scopes.iter().all(|scope| caller.scopes.contains(scope)),
            None => false,
        }
    }
}
