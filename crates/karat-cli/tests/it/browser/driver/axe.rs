//! Accessibility checks by axe-core, which `scripts/test-tools` fetches.

use super::Tab;
use serde_json::Value;
use std::path::PathBuf;

pub(crate) fn axe_core() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    Some(root.join("target/test-tools/axe-core/axe.min.js")).filter(|path| path.is_file())
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// `minor`, `moderate`, `serious` or `critical`.
    pub(crate) impact: String,
    pub(crate) rule: String,
    /// The elements, and what is wrong with them.
    pub(crate) places: Vec<String>,
}

impl Violation {
    /// Whether it prevents somebody from using the page.
    pub(crate) fn is_serious(&self) -> bool {
        matches!(self.impact.as_str(), "serious" | "critical")
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.impact, self.rule)?;
        self.places.iter().take(5).try_for_each(|place| write!(f, "\n  {place}"))
    }
}

impl Tab {
    /// Runs axe-core, which must have been fetched, on the current page.
    #[track_caller]
    pub(crate) fn axe(&self) -> Vec<Violation> {
        let path = axe_core().unwrap_or_else(|| panic!("axe-core is missing: run scripts/test-tools"));
        if self.eval("typeof axe") == "undefined" {
            let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            self.eval(&format!("{source}\n;0"));
        }
        let found = self.eval(
            "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => [
               v.impact, v.id + ': ' + v.help,
               v.nodes.map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 120) + ' ' + (n.failureSummary ?? '')),
             ]))",
        );
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let violations = found.as_array().into_iter().flatten();
        let places = |value: &Value| value.as_array().into_iter().flatten().map(text).collect();
        violations.map(|v| Violation { impact: text(&v[0]), rule: text(&v[1]), places: places(&v[2]) }).collect()
    }

    /// Asserts that no violation is serious.
    #[track_caller]
    pub(crate) fn assert_accessible(&self) {
        let serious: Vec<String> = self.axe().iter().filter(|v| v.is_serious()).map(Violation::to_string).collect();
        let screen = self.screen.get();
        assert!(
            serious.is_empty(),
            "{} on {screen} has serious accessibility violations:\n{}",
            self.url(),
            serious.join("\n")
        );
    }
}
