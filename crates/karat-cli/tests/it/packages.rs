//! What others install: the packages of the crates, the wheel, the source distribution and the archive of `scripts/package`.

use crate::project::{CommandOutput, Project, report_skipped, root};
use assert_cmd::Command;
use karat_format::document::{Node, Segment, Value as Scalar, toml};
use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Largest package that crates.io accepts.
const MAX_PACKAGE_BYTES: u64 = 10 << 20;

fn cargo(arguments: &[&str]) -> CommandOutput {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    CommandOutput::start(cargo.args(arguments).current_dir(root()).env("CARGO_NET_OFFLINE", "true"))
}

/// The crates of the workspace, as Cargo describes them.
fn crates() -> Vec<Value> {
    let told = cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]).expect(0).out;
    let mut told: Value = serde_json::from_str(&told).unwrap();
    let Value::Array(crates) = told["packages"].take() else { panic!("cargo metadata lists no packages") };
    assert!(crates.len() > 10, "too few crates: {}", crates.len());
    crates
}

fn program() -> Value {
    crates().into_iter().find(|package| package["name"] == "karat-cli").unwrap()
}

#[test]
fn every_crate_has_complete_metadata() {
    let crates = crates();
    let version = &crates[0]["version"];
    let names: BTreeSet<&str> = crates.iter().map(|package| package["name"].as_str().unwrap()).collect();
    for package in &crates {
        let name = package["name"].as_str().unwrap();
        assert_eq!(&package["version"], version, "{name}");
        assert_eq!(package["license"], "MIT OR Apache-2.0", "{name}");
        for key in ["description", "readme", "rust_version"] {
            assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let count = package[key].as_array().unwrap().len();
            assert!((1..=most).contains(&count), "{name} has {count} {key}");
        }
        // Nobody owns an address yet, so none may be given.
        for key in ["repository", "homepage", "documentation"] {
            assert_eq!(package[key], Value::Null, "{name} has a {key}");
        }
        let local =
            package["dependencies"].as_array().unwrap().iter().filter(|d| names.contains(d["name"].as_str().unwrap()));
        for dependency in local {
            let exact = format!("^{}", version.as_str().unwrap());
            let unstated = dependency["kind"] == "dev" && dependency["req"] == "*";
            assert!(unstated || dependency["req"] == exact.as_str(), "{name}: {dependency}");
        }
    }
}

/// A packaged crate has no folder above it: whatever its code includes is in the package.
#[test]
fn packages_of_crates_contain_what_they_include() {
    let included = Regex::new(r#"include_(?:str|bytes)!\(\s*"([^"]+)""#).unwrap();
    let mut seen = 0;
    for package in crates() {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let listed = cargo(&["package", "--list", "--allow-dirty", "--locked", "-p", name]).expect(0);
        let files: BTreeSet<&str> = listed.out.lines().collect();
        for file in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            assert!(files.contains(file), "{name}: {file} is not in the package");
        }
        let of_tests = ["fixtures/", "snapshots/"];
        let stray: Vec<_> = files.iter().filter(|file| of_tests.iter().any(|part| file.contains(part))).collect();
        assert!(stray.is_empty(), "{name}: files of tests are in the package: {stray:?}");
        let size: u64 = files.iter().filter_map(|file| folder.join(file).metadata().ok()).map(|file| file.len()).sum();
        assert!(size < MAX_PACKAGE_BYTES, "{name}: {size} bytes");

        for source in
            files.iter().filter(|file| file.starts_with("src/") && file.ends_with(".rs") && !is_of_tests(file))
        {
            let text = std::fs::read_to_string(folder.join(source)).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for found in included.captures_iter(code) {
                let path = normalise(Path::new(source).parent().unwrap().join(&found[1]).to_str().unwrap());
                assert!(files.contains(path.as_str()), "{name}: {source} includes {path}, which is not in the package");
                seen += 1;
            }
        }
        if name == "karat-format" {
            for suite in karat_format::shipped_suites::names() {
                let config = format!("suites/{suite}/karat.toml");
                assert!(files.contains(config.as_str()), "{config} is not in the package");
            }
        }
    }
    assert!(seen > 30, "only {seen} included files were found");
}

#[test]
fn packages_of_crates_are_made_without_warnings() {
    if !has_all_crates() {
        return;
    }
    let project = Project::new();
    let target = project.path("target");
    let line = ["package", "--workspace", "--no-verify", "--allow-dirty", "--locked", "--target-dir"];
    let told = cargo(&[&line[..], &[target.to_str().unwrap()]].concat()).expect(0).err;
    // Nobody owns an address yet.
    let allowed = "warning: manifest has no documentation, homepage or repository";
    let warnings: Vec<&str> = told.lines().filter(|line| line.starts_with("warning") && *line != allowed).collect();
    assert!(warnings.is_empty(), "{told}");
    assert_eq!(told.matches("Packaged ").count(), crates().len(), "{told}");
}

/// Whether the crates of every system are here: Cargo looks at them when it packages, and a build fetches those of one system.
fn has_all_crates() -> bool {
    let all = cargo(&["metadata", "--format-version", "1", "--locked"]).code == Some(0);
    if !all {
        report_skipped("crates of other systems are not here; scripts/test-tools fetches them");
    }
    all
}

fn is_of_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("/testing.rs")
}

/// A path without `..`, as far as it stays inside.
fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn paths_are_normalised() {
    for (path, expected) in [
        ("src/tool/../../catalogue/a.toml", "catalogue/a.toml"),
        ("src/a.css", "src/a.css"),
        ("src/../../suites", "../suites"),
        ("src/../../../suites", "../../suites"),
    ] {
        assert_eq!(normalise(path), expected);
    }
}

fn texts(node: &Node, path: &[&str]) -> Vec<String> {
    let path: Vec<Segment<'_>> = path.iter().map(|part| (*part).into()).collect();
    let node = node.get(&path).unwrap_or_else(|| panic!("pyproject.toml lacks {path:?}"));
    let text = |node: &Node| match &node.value {
        Scalar::String(text) => text.clone(),
        other => panic!("not a string: {other:?}"),
    };
    match &node.value {
        Scalar::Array(items) => items.iter().map(text).collect(),
        _ => vec![text(node)],
    }
}

#[test]
fn wheel_and_crate_say_the_same() {
    let text = std::fs::read_to_string(root().join("pyproject.toml")).unwrap();
    let project = toml::parse(&text).unwrap();
    let package = program();
    let of_crate = |key: &str| -> Vec<String> {
        let values = package[key].as_array().map_or_else(|| vec![package[key].clone()], Clone::clone);
        values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    for key in ["description", "license", "keywords"] {
        assert_eq!(texts(&project, &["project", key]), of_crate(key), "{key}");
    }
    assert_eq!(texts(&project, &["project", "name"]), ["karat"]);
    assert_eq!(texts(&project, &["project", "dynamic"]), ["version"]);
    assert_eq!(texts(&project, &["tool", "maturin", "bindings"]), ["bin"]);
    let manifest = root().join(texts(&project, &["tool", "maturin", "manifest-path"]).concat());
    assert_eq!(manifest.canonicalize().unwrap().to_str(), package["manifest_path"].as_str());
    let binaries = package["targets"].as_array().unwrap().iter().filter(|target| target["kind"][0] == "bin");
    assert_eq!(binaries.map(|target| target["name"].as_str().unwrap()).collect::<Vec<_>>(), ["karat"]);
    // The bill of materials is made for the features of the wheel.
    let features = texts(&project, &["tool", "maturin", "features"]).join(",");
    assert!(package["features"].get(&features).is_some(), "karat-cli has no feature {features}");
    let script = std::fs::read_to_string(root().join("scripts/package")).unwrap();
    assert!(script.contains(&format!(r#""--features", "{features}""#)), "scripts/package has other features");
    for classifier in texts(&project, &["project", "classifiers"]) {
        // A licence expression replaces these, and an index refuses both together.
        assert!(!classifier.starts_with("License ::"), "{classifier}");
    }
}

/// Packages the program of these tests, so that nothing is built.
fn package(tools: &str, project: &Project, folder: &str) -> CommandOutput {
    let mut script = Command::new(root().join("scripts/package"));
    let path = std::env::var("PATH").unwrap_or_default();
    script.arg(project.path(folder)).current_dir(project.path("")).env("PATH", format!("{tools}:{path}"));
    script.env("KARAT_BINARY", project.command().get_program()).env("CARGO_TARGET_DIR", project.path("target"));
    script.env("SOURCE_DATE_EPOCH", "1700000000").env("CARGO_NET_OFFLINE", "true");
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        script.env_remove(name);
    }
    CommandOutput::start(&mut script).expect(0)
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A program in an empty environment: nothing but itself on the path, and an empty home.
fn run_installed(project: &Project, program: &str, line: &str) -> CommandOutput {
    std::fs::create_dir_all(project.path("empty")).unwrap();
    let mut command = Command::new(project.path(program));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", project.path("home")).env("COLUMNS", "80");
    CommandOutput::start(command.current_dir(project.path("empty")).args(line.split_whitespace()))
}

#[test]
fn packages_are_the_same_twice_and_can_be_installed() {
    let tools = std::env::var("KARAT_TEST_TOOLS").ok().filter(|tools| Path::new(tools).join("maturin").exists());
    let Some(tools) = tools else {
        return report_skipped("maturin is not installed; scripts/test-tools installs it");
    };
    if !has_all_crates() {
        return;
    }
    let project = Project::new();
    package(&tools, &project, "one");
    package(&tools, &project, "two");
    let names = file_names(&project.path("one"));
    assert_eq!(names, file_names(&project.path("two")));
    let mut sums = String::new();
    for name in &names {
        let bytes = std::fs::read(project.path("one").join(name)).unwrap();
        assert!(bytes == std::fs::read(project.path("two").join(name)).unwrap(), "{name} differs the second time");
        if name != "SHA256SUMS" {
            writeln!(sums, "{:x}  {name}", Sha256::digest(&bytes)).unwrap();
        }
    }
    assert_eq!(project.read("one/SHA256SUMS"), sums);

    // The names that `cargo binstall` asks for, and what is in them.
    let crate_ = program();
    let version = crate_["version"].as_str().unwrap();
    let binstall = &crate_["metadata"]["binstall"];
    let bill = names.iter().find_map(|name| name.strip_suffix(".cdx.json")).unwrap();
    let target = bill.strip_prefix(&format!("karat-{version}-")).unwrap();
    let fill = |key: &str| {
        let filled = binstall[key].as_str().unwrap().replace("{ version }", version).replace("{ target }", target);
        filled.replace("{ bin }", "karat").replace("{ binary-ext }", "")
    };
    let archive = fill("pkg-url").rsplit('/').next().unwrap().to_owned();
    assert!(names.contains(&archive), "{archive} is not among {names:?}");
    unpack(&project, &format!("one/{archive}"));
    assert_eq!(run_installed(&project, &fill("bin-dir"), "--version").expect(0).out, format!("karat {version}\n"));

    // The sources are complete: Cargo finds every crate of the lock file.
    unpack(&project, &format!("one/karat-{version}.tar.gz"));
    let manifest = project.path(&format!("karat-{version}/Cargo.toml"));
    cargo(&["tree", "--locked", "-p", "karat-cli", "--manifest-path", manifest.to_str().unwrap()]).expect(0);
    for suite in karat_format::shipped_suites::names() {
        let config = format!("karat-{version}/crates/karat-format/suites/{suite}/karat.toml");
        assert!(project.path(&config).is_file(), "{config} is not among the sources");
    }

    let wheel = names.iter().find(|name| name.ends_with(".whl")).unwrap();
    // Only the version of the C library and the processor may differ from what is documented.
    let general = |name: &str| Regex::new(r"_\d+_\d+_\w+\.whl$").unwrap().replace(name, "").into_owned();
    assert_eq!(
        general(wheel),
        general(&documented_wheel().replace("{version}", version)),
        "docs/ci.md names another wheel"
    );
    let venv = Command::new("python3").args(["-m", "venv"]).arg(project.path("venv")).output();
    if !venv.is_ok_and(|made| made.status.success()) {
        return report_skipped("python3 cannot make virtual environments, so the wheel was not installed");
    }
    let mut pip = Command::new(project.path("venv/bin/python3"));
    pip.args(["-m", "pip", "install", "--no-index", "--disable-pip-version-check"])
        .arg(project.path("one").join(wheel));
    CommandOutput::start(&mut pip).expect(0);
    let installed = |line| run_installed(&project, "venv/bin/karat", line).expect(0).out;
    assert_eq!(installed("--version"), format!("karat {version}\n"));
    let board = installed("run starter");
    assert!(board.contains("careful-reviewer") && board.contains("noisy-scanner"), "{board}");
    let assessment = installed("assess agreements");
    assert!(assessment.contains("compliance"), "{assessment}");
    let information = "karat-VERSION.dist-info/METADATA".replace("VERSION", version);
    let site = Command::new(project.path("venv/bin/python3"))
        .args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
        .output()
        .unwrap();
    let metadata = Path::new(String::from_utf8(site.stdout).unwrap().trim()).join(information);
    let metadata = std::fs::read_to_string(metadata).unwrap();
    for line in ["Name: karat", "License-Expression: MIT OR Apache-2.0", "License-File: LICENSE-MIT"] {
        assert!(metadata.lines().any(|found| found == line), "{line} is not in METADATA:\n{metadata}");
    }
    assert!(!metadata.contains("Project-URL:"), "an address that nobody owns:\n{metadata}");
}

/// The wheel in the example of docs/ci.md.
fn documented_wheel() -> String {
    let text = std::fs::read_to_string(root().join("docs/ci.md")).unwrap();
    Regex::new(r"karat-\{version\}-\S+\.whl").unwrap().find(&text).unwrap().as_str().to_owned()
}

#[test]
fn documentation_names_one_wheel() {
    let wheel = documented_wheel();
    let platform = wheel.strip_prefix("karat-{version}-py3-none-").and_then(|rest| rest.strip_suffix(".whl")).unwrap();
    let install = std::fs::read_to_string(root().join("docs/install.md")).unwrap();
    assert!(install.contains(&format!("`{platform}`")), "docs/install.md does not explain {platform}");
}

#[track_caller]
fn unpack(project: &Project, archive: &str) {
    let mut tar = Command::new("tar");
    CommandOutput::start(tar.args(["-xzf", archive]).current_dir(project.path(""))).expect(0);
}
