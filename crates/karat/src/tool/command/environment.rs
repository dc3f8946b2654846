//! What a tool finds when it starts: the folders of its trial, and a short list of variables.

use crate::tool::run_context::RunContext;
use karat_sandbox::NetworkAccess;
use rustix::fs::{Mode, OFlags, openat};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

pub(crate) const CHECKOUT: &str = "checkout";
pub(super) const HOME: &str = "home";
pub(super) const TMP: &str = "tmp";
pub(in crate::tool) const RESULTS: &str = "results";
pub(in crate::tool) const RESULT: &str = "result";
const REQUEST: &str = "request";
pub(super) const TITLE: &str = "request/title.txt";
pub(super) const DESCRIPTION: &str = "request/description.md";
pub(super) const DIFF: &str = "request/change.diff";
pub(in crate::tool) const FINDING: &str = "request/finding.json";

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

/// The variables of one execution whose folder the tool sees as `root`.
pub(crate) fn environment(
    context: &RunContext<'_>,
    network: NetworkAccess,
    passed: &[String],
    root: &Path,
) -> BTreeMap<String, OsString> {
    let mut variables: BTreeMap<String, OsString> = BTreeMap::new();
    variables.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    let with_network = if network == NetworkAccess::None { &[] } else { ALLOWED_WITH_NETWORK };
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
        variables.insert(name.to_owned(), root.join(below).into());
    }
    variables
}

/// Makes the folders of a trial, and opens the one for the result.
pub(crate) fn make_folders(root: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(root)?;
    for folder in [HOME, TMP, RESULTS, REQUEST] {
        fs::create_dir(root.join(folder))?;
    }
    fs::File::open(root.join(RESULTS))
}

/// The result in a folder that was open before the tool ran, since a tool may put a link in its place; `None` if there is none.
/// Anything but a regular file of at most this size is an error.
pub(in crate::tool) fn read_result(folder: &fs::File, most: usize) -> Result<Option<Vec<u8>>, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder, RESULT, flags, Mode::empty()) {
        Ok(file) => fs::File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err("its result is a link, which is not followed".to_owned()),
        Err(error) => return Err(format!("its result could not be read: {error}")),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err("its result is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("its result could not be read: {error}"))?;
    if bytes.len() > most {
        return Err(format!("its result is larger than {most} bytes (limits.output)"));
    }
    Ok(Some(bytes))
}
