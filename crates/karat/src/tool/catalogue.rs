//! Ready manifests of well-known tools, shipped in the binary as TOML with comments, to be used or copied.

use karat_format::diagnostic::Faults;
use karat_format::document::{Syntax, decode, schema_of};
use karat_format::tool::ToolManifestV1;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A shipped manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// What the tool is called.
    pub name: &'static str,
    /// Its table `[tools.NAME]`, with comments, as it goes into `karat.toml`.
    pub toml: &'static str,
}

macro_rules! shipped {
    ($name:literal) => {
        Shipped { name: $name, toml: include_str!(concat!("../../catalogue/", $name, ".toml")) }
    };
}

/// All shipped manifests, in the order in which they are listed: the baseline, scanners, reviewers, and a template.
pub static CATALOGUE: &[Shipped] = &[
    shipped!("patterns"),
    shipped!("bandit"),
    shipped!("ruff"),
    shipped!("semgrep"),
    shipped!("eslint"),
    shipped!("solhint"),
    shipped!("slither"),
    shipped!("clippy"),
    shipped!("gosec"),
    shipped!("golangci-lint"),
    shipped!("codeql"),
    shipped!("pr-agent"),
    shipped!("shippie"),
    shipped!("claude-code"),
    shipped!("codex"),
    shipped!("sarif"),
];

/// The shipped manifest of that name.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    CATALOGUE.iter().find(|shipped| shipped.name == name)
}

/// A manifest as the table that goes into `karat.toml`.
pub fn to_toml(name: &str, manifest: &ToolManifestV1) -> String {
    toml::to_string(&BTreeMap::from([("tools", BTreeMap::from([(name, manifest)]))])).unwrap_or_default()
}

impl Shipped {
    /// The manifest, read.
    pub fn manifest(&self) -> Result<ToolManifestV1, Faults> {
        let file = format!("{}.toml", self.name);
        let (table, document) =
            decode::<TableV1>(&file, self.toml, Syntax::Toml, &schema_of::<TableV1>()).into_result()?;
        let absent = || Faults(vec![document.at(&[], "no-such-tool", format!("there is no [tools.{}]", self.name))]);
        table.tools.into_iter().find(|(name, _)| name == self.name).map(|(_, manifest)| manifest).ok_or_else(absent)
    }
}

/// The part of `karat.toml` that a shipped file is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableV1 {
    pub(crate) tools: BTreeMap<String, ToolManifestV1>,
}

#[cfg(test)]
mod tests {
    use super::super::manifest::{Context, Manifest};
    use super::super::output;
    use super::*;
    use karat_core::ids::{CaseId, ToolName};
    use karat_core::trial::Trial;
    use karat_format::tool::ToolKindV1;
    use std::path::Path;

    #[test]
    fn every_shipped_manifest_resolves_and_says_how_to_get_it() {
        for one in CATALOGUE {
            let raw = one.manifest().unwrap_or_else(|faults| panic!("{}: {faults:#?}", one.name));
            let context = Context { model: Some("model"), home: Some(Path::new("/home/me")), files_anywhere: false };
            let faults = Manifest::resolve(one.name, &raw, &context).err();
            assert_eq!(faults, None, "{}", one.name);
            assert_eq!(shipped(one.name), Some(one));
            assert!(raw.description.is_some(), "{} has no description", one.name);
            assert!(one.toml.starts_with("# ") && one.toml.ends_with('\n'), "{} has no comment", one.name);
            if raw.kind != ToolKindV1::Command {
                continue;
            }
            assert!(raw.homepage.is_some() && raw.install.is_some(), "{} does not say where to get it", one.name);
            assert!(raw.timeout.is_some(), "{} has no time limit of its own", one.name);
            // What needs a key talks to somebody, and uses a model.
            let keys = raw.pass_env.iter().any(|name| name.ends_with("KEY"));
            assert_eq!(keys, raw.network, "{}", one.name);
            assert_eq!(keys, raw.model.is_some(), "{}", one.name);
            // How often is the suite's to say: who calls a tool deterministic has to show it.
            assert_eq!(raw.trials, None, "{}", one.name);
            // A shell brings no installation into the sandbox; the programs that it starts must be named.
            let by_shell = raw.command.first().is_some_and(|word| word == "sh");
            assert!(!by_shell || !raw.needs.is_empty(), "{} does not name what its shell starts", one.name);
        }
        let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue")).unwrap();
        assert_eq!(files.count(), CATALOGUE.len(), "a file of the catalogue is not listed");
    }

    #[test]
    fn agents_are_asked_the_same() {
        let prompt = |name: &str| {
            let raw = shipped(name).unwrap().manifest().unwrap();
            raw.command.into_iter().find(|word| word.contains("Review the change")).unwrap()
        };
        assert_eq!(prompt("claude-code"), prompt("codex"));
        // The form that is asked for is the form that is read.
        let filled = prompt("codex").replace("{{", "{").replace("}}", "}");
        let form = filled.lines().find(|line| line.starts_with("{\"findings\"")).unwrap();
        let read = output::read(&output::Output {
            trial: &Trial::reported(CaseId::new("c"), ToolName::new("t"), 1),
            format: "karat",
            bytes: Some(form.as_bytes()),
            caps: Default::default(),
            roots: &[],
            rules: None,
            sources: &|_| None,
        });
        assert_eq!((read.problem, read.trial.findings.len()), (None, 1));
    }

    #[test]
    fn mistyped_names_are_seen() {
        let hint = |name: &str| crate::suggestion(name, CATALOGUE.iter().map(|shipped| shipped.name), ".");
        assert_eq!(hint("bandti"), ", did you mean `bandit`?");
        assert_eq!(hint("golangcilint"), ", did you mean `golangci-lint`?");
        assert!(shipped("nothing").is_none() && hint("nothing") == ".");
    }
}
