//! The variables a tool sees: a short list, the same for every tool, and what its manifest asks for.

use super::run_context::RunContext;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// What is handed over from the user's environment to every tool.
const ALLOWED: &[&str] = &["PATH"];

/// What is handed over to tools that may use the network, which they cannot do without.
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

/// Time zone, language, looks and seeds are the same wherever a run takes place; what [`manifest::FROZEN`] does not name, a
/// manifest may set otherwise.
///
/// [`manifest::FROZEN`]: crate::tool::manifest::FROZEN
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

/// The variables of one execution. `home` and `tmp` are as the tool sees them.
pub(super) fn environment(
    site: &RunContext<'_>,
    network: bool,
    passed: &[String],
    home: &Path,
    tmp: &Path,
) -> BTreeMap<String, OsString> {
    let mut variables: BTreeMap<String, OsString> = BTreeMap::new();
    variables.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    let with_network = ALLOWED_WITH_NETWORK.iter().filter(|_| network);
    let names = ALLOWED.iter().chain(with_network).copied().chain(passed.iter().map(String::as_str));
    variables.extend(names.filter_map(|name| Some((name.to_owned(), site.variable(name)?.clone()))));
    // An entry that is no full path stands for the folder one happens to be in, which is the case under review.
    if let Some(path) = variables.get_mut("PATH") {
        let full = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>();
        *path = std::env::join_paths(full).unwrap_or_default();
    }
    let mut folder = |name: &str, path: &Path| variables.insert(name.to_owned(), path.into());
    folder("HOME", home);
    folder("XDG_CONFIG_HOME", &home.join(".config"));
    folder("XDG_CACHE_HOME", &home.join(".cache"));
    folder("XDG_DATA_HOME", &home.join(".local/share"));
    for name in ["TMPDIR", "TMP", "TEMP"] {
        folder(name, tmp);
    }
    variables
}
