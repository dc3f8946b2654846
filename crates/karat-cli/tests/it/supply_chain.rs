//! The bill of materials and the list of duplicate crates match the binary.

use crate::project::report_skipped;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Standard output of a program; `None` if it is missing or fails.
fn run_program(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(root()).env("CARGO_NET_OFFLINE", "true").output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn sbom_lists_exactly_the_crates_of_the_binary() {
    check_sbom("");
}

#[test]
fn sbom_of_packages_lists_the_crates_of_their_features() {
    check_sbom("models");
}

fn check_sbom(features: &str) {
    let tree =
        ["tree", "-p", "karat-cli", "--features", features, "-e", "normal,build", "--prefix", "none", "--locked"];
    let sbom = || run_program("scripts/sbom", &["--features", features]);
    let (Some(text), Some(tree)) = (sbom(), run_program(&cargo(), &tree)) else {
        return report_skipped("python3 or a crate is missing (offline)");
    };
    assert_eq!(sbom().as_ref(), Some(&text), "the SBOM differs the second time");
    let bom: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&bom["bomFormat"], &bom["specVersion"], &bom["version"]),
        (&"CycloneDX".into(), &"1.5".into(), &1.into())
    );
    let serial = bom["serialNumber"].as_str().unwrap();
    assert!(serial.starts_with("urn:uuid:") && serial.len() == 45, "{serial}");
    assert_eq!(bom.pointer("/metadata/component/name"), Some(&"karat".into()));

    let parts = bom["components"].as_array().unwrap();
    let libraries: Vec<&Value> = parts.iter().filter(|part| part["type"] == "library").collect();
    let named: BTreeSet<String> = libraries
        .iter()
        .map(|part| format!("{} v{}", part["name"].as_str().unwrap(), part["version"].as_str().unwrap()))
        .collect();
    assert_eq!(named.len(), libraries.len(), "a crate is listed twice");
    let expected: BTreeSet<String> = tree
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("karat-cli "))
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(named, expected);

    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for part in libraries {
        let name = part["name"].as_str().unwrap();
        assert_eq!(part["purl"], format!("pkg:cargo/{name}@{}", part["version"].as_str().unwrap()));
        assert_eq!(part["bom-ref"], part["purl"]);
        let licence = part.pointer("/licenses/0/expression").and_then(Value::as_str);
        assert!(licence.is_some_and(|licence| !licence.contains('/')), "{part}");
        let hash = part.pointer("/hashes/0/content").and_then(Value::as_str);
        assert!(
            name == "karat"
                || name.starts_with("karat-")
                || hash.is_some_and(|hash| lock.contains(&format!("checksum = \"{hash}\""))),
            "{part}"
        );
    }
    let references: BTreeSet<Option<&str>> =
        parts.iter().chain(bom.pointer("/metadata/component")).map(|part| part["bom-ref"].as_str()).collect();
    for link in bom["dependencies"].as_array().unwrap() {
        let all = link["dependsOn"].as_array().unwrap().iter().chain([&link["ref"]]);
        all.for_each(|reference| assert!(references.contains(&reference.as_str()), "{reference} is not a component"));
    }
}

/// `deny.toml` gives a reason for every crate that the release build has in two versions, and for no other.
#[test]
fn duplicate_crates_have_a_reason() {
    let tree = ["tree", "-p", "karat-cli", "-e", "normal,build", "--prefix", "none", "--locked", "--no-dedupe"];
    let Some(tree) = run_program(&cargo(), &tree) else {
        return report_skipped("a crate is not here, and nothing is fetched");
    };
    let versions: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?))
        })
        .collect();
    let mut names: Vec<&str> = versions.iter().map(|(name, _)| *name).collect();
    let mut twice: BTreeSet<&str> = BTreeSet::new();
    names.sort_unstable();
    twice.extend(names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    let config = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let explained: BTreeSet<&str> =
        config.lines().filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split('"').next()).collect();
    assert_eq!(twice, explained);
}
