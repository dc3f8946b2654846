//! Rules that the repository checks on itself.

use crate::project::root;
use karat_format::document::{Value, toml};
use std::path::{Path, PathBuf};

/// Every Rust file in a folder of the repository, with its text.
pub(crate) fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let (mut open, mut found) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder} has no Rust files; was it moved?");
    found
}

/// Code without comments and without the tests at its end.
fn code(text: &str) -> String {
    let own = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    own.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn assert_absent(folder: &str, words: &[&str], why: &str) {
    let mut found = Vec::new();
    for (path, text) in sources(folder) {
        for word in words.iter().filter(|word| code(&text).contains(**word)) {
            found.push(format!("{}: {word}", path.display()));
        }
    }
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

fn dependencies(manifest: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(manifest)).unwrap();
    let node = toml::parse(&text).unwrap_or_else(|faults| panic!("{manifest}: {faults:?}"));
    let Some(Value::Object(entries)) = node.get(&["dependencies".into()]).map(|node| &node.value) else {
        panic!("{manifest} has no dependencies");
    };
    entries.iter().map(|(key, _)| key.name.clone()).collect()
}

#[test]
fn core_is_pure() {
    let effects = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::time",
        "std::io",
        "Instant",
        "SystemTime",
        "println!",
    ];
    assert_absent("crates/karat-core/src", &effects, "the core reads no file, clock, environment or network");
    let own = dependencies("crates/karat-core/Cargo.toml");
    let foreign = ["reqwest", "tokio", "toml", "serde_json", "rand", "chrono", "karat", "tempfile", "regex"];
    let found: Vec<&&str> = foreign.iter().filter(|name| own.iter().any(|d| d == **name)).collect();
    assert!(found.is_empty(), "karat-core depends on {found:?}");
    assert!(own.iter().any(|d| d == "serde"), "the manifest was not parsed");
}

/// `{n} findings` prints `1 findings` for one. Counts in sentences are written by `karat_core::wording`.
#[test]
fn counts_are_written_by_wording_functions() {
    let nouns = "findings|cases|goldens|trials|tools|pairs|judges|questions|labels|extras|matches|requirements|files|rows|lines|\
                 runs|results|rules|keys|sections|faults";
    let by_hand = regex::Regex::new(&format!(r#"\{{[a-z_.()*:]*\}} (?:more )?(?:{nouns})\b"#)).unwrap();
    // `3 of 8 cases` is correct for any numbers, as is a progress bar.
    let fine = regex::Regex::new(&format!(r#"(?: of (?:the suite's )?|/)\{{[a-z_.()*:]*\}} (?:{nouns})\b"#)).unwrap();
    let mut found = Vec::new();
    for name in crates() {
        for (path, text) in sources(&format!("crates/{name}/src")) {
            if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs") {
                continue;
            }
            for line in code(&text).lines().filter(|line| by_hand.is_match(&fine.replace_all(line, ""))) {
                found.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "use karat_core::wording::count or plural:\n{}", found.join("\n"));
}

/// All crates, with the crates each may use. A line names only crates above it, so imports run one way.
const CRATES: &[(&str, &[&str])] = &[
    ("karat-core", &[]),
    ("karat-io", &[]),
    ("karat-test-servers", &[]),
    ("karat-sandbox", &["karat-io"]),
    ("karat-format", &["karat-core", "karat-io"]),
    ("karat-source", &["karat-core"]),
    ("karat-import", &["karat-core", "karat-format"]),
    ("karat-llm", &["karat-format", "karat-io"]),
    ("karat-report", &["karat-core", "karat-format", "karat-source"]),
    ("karat-tables", &["karat-core", "karat-format"]),
    ("karat-test-servers", &[]),
    ("karat-store", &["karat-core", "karat-format", "karat-io", "karat-llm"]),
    ("karat-documents", &["karat-core", "karat-format", "karat-io", "karat-llm"]),
    (
        "karat",
        &[
            "karat-core",
            "karat-documents",
            "karat-format",
            "karat-import",
            "karat-io",
            "karat-llm",
            "karat-report",
            "karat-sandbox",
            "karat-source",
            "karat-store",
            "karat-tables",
        ],
    ),
    ("karat-web", &["karat", "karat-core", "karat-format", "karat-io", "karat-llm", "karat-report", "karat-store"]),
];

#[test]
fn crate_dependencies_run_one_way() {
    for (at, (name, allowed)) in CRATES.iter().enumerate() {
        let own = dependencies(&format!("crates/{name}/Cargo.toml"));
        let used: Vec<&String> = own.iter().filter(|name| name.starts_with("karat")).collect();
        let others: Vec<&&String> = used.iter().filter(|used| !allowed.contains(&used.as_str())).collect();
        assert!(others.is_empty(), "{name} must not use {others:?}");
        let lower = |name: &&str| CRATES[..at].iter().any(|(lower, _)| lower == name);
        assert!(allowed.iter().all(lower), "{name} lists a crate that is not above it in the table");
        assert!(!own.iter().any(|name| name.starts_with("clap")), "{name} is a library and must not use clap");
        assert_absent(&format!("crates/{name}/src"), &["std::process::exit"], "a library ends no process");
    }
    let named: Vec<&str> = CRATES.iter().map(|(name, _)| *name).chain(["karat-cli"]).collect();
    for name in crates() {
        assert!(named.contains(&name.as_str()), "the crate {name} is missing from the table");
    }
    for (path, text) in sources("crates/karat-core/src/stats") {
        let text = code(&text).replace("crate::stats", "");
        let outside = text.contains("crate::") || text.contains("super::super");
        assert!(!outside, "statistics must not import from other modules: {}", path.display());
    }
}

fn crates() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_module_has_a_catch_all_name() {
    let catch_alls = ["utils", "util", "common", "helpers", "helper", "misc"];
    for name in crates() {
        for (path, text) in sources(&format!("crates/{name}")) {
            for name in path.strip_prefix(root()).unwrap().components() {
                let name = Path::new(name.as_os_str()).file_stem().unwrap().to_string_lossy().into_owned();
                assert!(!catch_alls.contains(&name.as_str()), "{} is called {name}", path.display());
            }
            for name in catch_alls {
                assert!(!text.contains(&format!("mod {name} {{")), "{} has a module {name}", path.display());
            }
        }
    }
}

/// What is allowed to a tool is kept in the user's settings, and tests must not write there.
#[test]
fn tests_start_karat_with_settings_of_their_own() {
    let program = ["env!(\"CARGO_BIN_EXE_", "karat\")"].concat();
    for (path, text) in sources("crates/karat-cli/tests/it") {
        // The sandbox's tests start its supervisor, which has no settings, or have a home of their own.
        let starts = text.contains(&program) && !path.components().any(|part| part.as_os_str() == "sandbox");
        let has_own = text.contains("\"XDG_CONFIG_HOME\"") || text.contains(".env_clear()");
        assert!(!starts || has_own, "{} starts Karat with the settings of whoever runs the tests", path.display());
    }
}

/// `maud` escapes by construction; only `crates/karat-report/src/page.rs` may emit raw markup.
#[test]
fn pages_use_maud_for_markup() {
    let why = "markup comes from maud, and only karat-report's page.rs wraps what is not escaped";
    assert_absent("crates/karat-web/src", &["PreEscaped", "format!(\"<", "push_str(\"<"], why);
    assert_absent("crates/karat-report/src/html", &["PreEscaped", "push_str(\"<"], why);
    assert_absent("crates/karat-report/src/assessment", &["PreEscaped", "push_str(\"<"], why);
}

/// Only asking a model and object storage need the network, and two crates connect to servers. The core cannot reach it. The
/// page server only accepts connections. The sandbox proxy
/// connects where a tool with network access sends it. The servers of tests are on loopback, and no program contains them.
#[test]
fn only_listed_crates_reach_the_network() {
    assert_only_in(
        &["TcpStream::connect", "TcpSocket", "UnixStream", "UdpSocket", "UnixListener"],
        &["karat-sandbox", "karat-test-servers"],
    );
    assert_only_in(&["tokio::net", "TcpListener", "TcpStream"], &["karat-sandbox", "karat-test-servers", "karat-web"]);
    assert_only_in(&["std::net"], &["karat-llm", "karat-sandbox", "karat-test-servers", "karat-web"]);
    assert_only_in(&["rustix::net"], &["karat-sandbox"]);
    assert_only_in(&["reqwest::"], &["karat-llm", "karat-store"]);
    assert_only_in(&["object_store::"], &["karat-store"]);
    assert_only_in(&["rustls::"], &["karat-llm", "karat-web"]);
    assert_only_in(&["sqlx::"], &["karat-store"]);
    assert_only_in(&["tokio::"], &["karat-documents", "karat-llm", "karat-store", "karat-web"]);
    assert_absent(
        "crates/karat-web/src",
        &["ClientConfig", "TlsConnector"],
        "the page server must not open connections",
    );
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect();
    assert!(names.contains(&"serde"), "the lock file was not parsed");
    // The dependencies of reqwest are known; anything else would be a second way out.
    let networked = [
        "ureq",
        "async-std",
        "smol",
        "curl",
        "attohttpc",
        "isahc",
        "surf",
        "native-tls",
        "aws-lc-rs",
        "openssl",
        "h2",
        "quinn",
        "tungstenite",
        "git2",
        "gix",
    ];
    let found: Vec<&&str> = networked.iter().filter(|name| names.contains(name)).collect();
    assert!(found.is_empty(), "Cargo.lock holds crates that reach the network: {found:?}");
}

/// Asserts that these words occur in the code of exactly these crates.
#[track_caller]
fn assert_only_in(words: &[&str], expect: &[&str]) {
    let uses = |name: &String| {
        let sources = sources(&format!("crates/{name}/src"));
        sources.iter().any(|(_, text)| words.iter().any(|word| code(text).contains(word)))
    };
    let used: Vec<String> = crates().into_iter().filter(uses).collect();
    assert_eq!(used, expect, "{words:?}");
}

/// Whether a licence expression can be satisfied with the allowed licences: each part joined by AND needs an allowed
/// choice.
fn is_permissive(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    let choices = |part: &str| part.split(" OR ").any(|choice| allowed.iter().any(|a| a == choice.trim()));
    expression.split(" AND ").all(choices)
}

#[test]
fn dependencies_have_permissive_licences() {
    let rules = toml::parse(&std::fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap();
    let Some(Value::Array(items)) = rules.get(&["licenses".into(), "allow".into()]).map(|node| &node.value) else {
        panic!("deny.toml allows no licence");
    };
    let allowed: Vec<String> = items.iter().filter_map(|i| i.to_json().as_str().map(str::to_owned)).collect();
    let check =
        |expression: &str, expect: bool| assert_eq!(is_permissive(expression, &allowed), expect, "{expression}");
    check("MIT OR GPL-3.0-only", true);
    check("(Apache-2.0 OR MIT) AND BSD-3-Clause", true);
    check("MIT AND GPL-3.0-only", false);
    check("AGPL-3.0-only", false);

    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Crates of other platforms were never fetched, and are not needed here.
    let version = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let output = std::process::Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages were listed", packages.len());
    let licence = |package: &serde_json::Value| package["license"].as_str().unwrap_or("none stated").to_owned();
    let refused = packages.iter().filter(|package| !is_permissive(&licence(package), &allowed));
    let refused: Vec<String> = refused.map(|package| format!("{}: {}", package["name"], licence(package))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
