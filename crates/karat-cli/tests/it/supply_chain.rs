//! The SBOM and the embedded model's hashes match the binary.

use crate::project::report_skipped;
use serde_json::Value;
use sha2::{Digest, Sha256};
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
    let tree = ["tree", "-p", "karat-cli", "-e", "normal,build", "--prefix", "none", "--locked"];
    let (Some(text), Some(tree)) = (run_program("scripts/sbom", &[]), run_program(&cargo(), &tree)) else {
        return report_skipped("python3 or a crate is missing (offline)");
    };
    assert_eq!(run_program("scripts/sbom", &[]).as_ref(), Some(&text), "the SBOM differs the second time");
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

/// The files of the embedded model and their hashes, from SECURITY.md.
fn documented_hashes() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let is_hash = |hash: &&str| hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit());
        Some((cells.get(1)?.to_string(), cells.get(2).filter(|hash| is_hash(hash))?.to_string()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn embedded_model_has_the_documented_hashes() {
    // Only packages of this platform, which are present because the binary was built from them.
    let host = run_program("rustc", &["-vV"])
        .and_then(|output| output.lines().find_map(|line| Some(line.strip_prefix("host: ")?.to_owned())));
    let metadata = |host: &str| {
        run_program(&cargo(), &["metadata", "--locked", "--format-version", "1", "--filter-platform", host])
    };
    let Some(metadata) = host.as_deref().and_then(metadata) else {
        return report_skipped("cargo metadata failed");
    };
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let encoder = packages.iter().find(|package| package["name"] == "pocket-encoder").unwrap();
    let assets = Path::new(encoder["manifest_path"].as_str().unwrap()).parent().unwrap().join("assets");
    let documented = documented_hashes();
    assert_eq!(
        documented.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(),
        ["model.safetensors", "tokenizer.json"]
    );
    let binary = std::fs::read(env!("CARGO_BIN_EXE_karat")).unwrap();
    for (file, hash) in &documented {
        let bytes = std::fs::read(assets.join(file)).unwrap();
        let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, *hash, "{file}");
        // The middle of the file is a unique search pattern.
        let at = bytes.len() / 2;
        let part: String = bytes[at..at + 64].iter().map(|byte| format!("\\x{byte:02x}")).collect();
        let part = regex::bytes::Regex::new(&format!("(?s-u){part}")).unwrap();
        let inside = part.find_iter(&binary).any(|found| {
            let start = found.start().checked_sub(at);
            start.is_some_and(|start| binary.get(start..start + bytes.len()) == Some(&bytes[..]))
        });
        assert!(inside, "{file} is not in the binary");
    }
    let bom = std::fs::read_to_string(root().join("scripts/sbom")).unwrap();
    assert!(bom.contains(&documented[0].1), "scripts/sbom has another model hash");
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
