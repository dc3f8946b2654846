//! The variables that a tool sees: a short list, the same for every tool, and what its manifest asks for.

use super::trial_folder::{HOME, TMP};
use crate::tool::run_context::RunContext;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// What tools that may use the network need from the user's environment.
const ALLOWED_WITH_NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
];

/// Time zone, language, looks and seeds are the same on every machine. A manifest may change what
/// [`FROZEN`](crate::tool::manifest::FROZEN) does not list.
const FIXED: &[(&str, &str)] = &[
    ("TZ", "UTC"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("USER", "karat"),
    ("LOGNAME", "karat"),
    ("SHELL", "/bin/sh"),
    ("PAGER", "cat"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("SOURCE_DATE_EPOCH", "1704070800"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The variables of one execution whose folder the tool sees as `seen`.
pub(super) fn environment(
    context: &RunContext<'_>,
    network: bool,
    passed: &[String],
    seen: &Path,
) -> BTreeMap<String, OsString> {
    let mut variables: BTreeMap<String, OsString> = BTreeMap::new();
    variables.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    let with_network = if network { ALLOWED_WITH_NETWORK } else { &[] };
    let names = ["PATH"].into_iter().chain(with_network.iter().copied()).chain(passed.iter().map(String::as_str));
    variables.extend(names.filter_map(|name| Some((name.to_owned(), context.variable(name)?.clone()))));
    // A relative entry would be a folder of the case under review.
    if let Some(path) = variables.get_mut("PATH") {
        let full = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>();
        *path = std::env::join_paths(full).unwrap_or_default();
    }
    for (name, below) in [
        ("HOME", HOME),
        ("XDG_CONFIG_HOME", "home/.config"),
        ("XDG_CACHE_HOME", "home/.cache"),
        ("XDG_DATA_HOME", "home/.local/share"),
        ("TMPDIR", TMP),
        ("TMP", TMP),
        ("TEMP", TMP),
    ] {
        variables.insert(name.to_owned(), seen.join(below).into());
    }
    variables
}
