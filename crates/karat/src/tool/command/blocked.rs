//! What the sandbox kept from a tool. The kernel does not report it, so it is inferred from the errors that the tool printed.

use crate::tool::{Blocked, BlockedKind};
use karat_sandbox::{Access, Isolation, NetworkAccess, is_system_path};
use karat_store::record::TrialRecord;
use regex::Regex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes of each output that are read, from its end.
const MAX_BYTES: usize = 1 << 20;
const MAX_FOUND: usize = 10;
const MAX_LINE: usize = 300;

pub(super) fn find_blocked(isolation: Isolation, access: &Access, record: &TrialRecord) -> Vec<Blocked> {
    let open = access.readable.iter().chain(&access.writable).filter_map(|path| path.canonicalize().ok());
    let sandbox = Sandbox {
        isolation,
        network: access.network,
        open: open.collect(),
        secret: access.secret.iter().filter_map(|path| path.canonicalize().ok()).collect(),
    };
    let mut found: Vec<Blocked> = Vec::new();
    let mut known = HashSet::new();
    for artifact in record.artifacts.iter().filter(|artifact| ["stderr", "stdout"].contains(&artifact.name.as_str())) {
        let start = artifact.bytes.len().saturating_sub(MAX_BYTES);
        for line in String::from_utf8_lossy(&artifact.bytes[start..]).lines() {
            let blocked = sandbox.explain(line.trim()).filter(|one| known.insert((one.kind, one.what.clone())));
            found.extend(blocked);
            if found.len() == MAX_FOUND {
                return found;
            }
        }
    }
    found
}

/// What a tool could and could not access.
struct Sandbox {
    isolation: Isolation,
    network: NetworkAccess,
    open: Vec<PathBuf>,
    secret: Vec<PathBuf>,
}

const NETWORK_ERRORS: &[&str] = &[
    "network is unreachable",
    "enetunreach",
    "name resolution",
    "name or service not known",
    "eai_again",
    "could not resolve",
    "failed to lookup address",
    "dns error",
    "dial tcp",
    "failed to establish a new connection",
];
const REFUSED_ERRORS: &[&str] = &[
    "connection refused",
    "econnrefused",
    "failed to connect",
    "couldn't connect",
    "permission denied",
    "eacces",
    "eperm",
];
const PROXY_ERRORS: &[&str] = &["tunnel failed, response 403", "tunnel connection failed: 403"];
const WRITE_ERRORS: &[&str] = &["read-only file system", "erofs"];
const OPEN_ERRORS: &[&str] =
    &["no such file", "enoent", "not found", "cannot find", "permission denied", "eacces", "cannot open", "can't open"];
const CALL_ERRORS: &[&str] = &["operation not permitted", "eperm", "function not implemented", "enosys"];

impl Sandbox {
    /// What was kept from a tool that printed this line, if the line is an error that the sandbox explains.
    fn explain(&self, line: &str) -> Option<Blocked> {
        let lower = line.to_lowercase();
        let has = |errors: &[&str]| errors.iter().any(|error| lower.contains(error));
        let blocked = |kind, what: String, help: &str| {
            Some(Blocked { kind, what, line: line.chars().take(MAX_LINE).collect(), help: help.to_owned() })
        };
        if self.isolation > Isolation::Process {
            let is_closed = match self.network {
                NetworkAccess::None => true,
                NetworkAccess::External => self.isolation == Isolation::Bubblewrap,
                NetworkAccess::Full => false,
            };
            let is_refused = is_closed && (has(REFUSED_ERRORS) || has(NETWORK_ERRORS) || has(CALL_ERRORS));
            if let Some(address) = local_address(line).filter(|_| is_refused) {
                let help =
                    "`network = true` and `loopback = true` in its manifest give it the services of this machine";
                return blocked(BlockedKind::Port, format!("{address} is unreachable within the sandbox"), help);
            }
            if self.network == NetworkAccess::None && has(NETWORK_ERRORS) {
                let help = "fetch what it needs in `setup`, or set `network = true` in its manifest";
                return blocked(BlockedKind::Network, "it has no network".to_owned(), help);
            }
            if self.network == NetworkAccess::External && has(PROXY_ERRORS) {
                let help = "`loopback = true` in its manifest gives it the services of this machine";
                return blocked(BlockedKind::Network, "services of this machine are closed to it".to_owned(), help);
            }
            let (is_write, is_open) = (has(WRITE_ERRORS), has(OPEN_ERRORS));
            let hidden =
                paths_in(line).into_iter().filter(|_| is_write || is_open).find(|path| self.is_kept(path, is_write));
            if let Some(path) = hidden {
                if self.secret.iter().any(|secret| path.starts_with(secret)) {
                    let what = format!("{} is in the suite or the store", path.display());
                    return blocked(BlockedKind::Read, what, "no tool may read it; keep files of the tool elsewhere");
                }
                if is_write {
                    let help = "let it write below {tmp} or {home}, or name the folder in `writable` of its manifest";
                    return blocked(BlockedKind::Write, format!("{} cannot be written", path.display()), help);
                }
                let help = "name it in `expose` of its manifest, or keep it in the manifest's folder";
                return blocked(BlockedKind::Read, format!("{} exists and is hidden from it", path.display()), help);
            }
        }
        if has(CALL_ERRORS) || (lower.contains("socket") && has(&["permission denied", "eacces"])) {
            let help = "system calls that tools do not need are refused, and so are sockets of daemons; look for an option of the \
                        tool that avoids the call";
            return blocked(
                BlockedKind::SystemCall,
                "its message says that a system call was refused".to_owned(),
                help,
            );
        }
        None
    }

    /// Whether the sandbox keeps a path that exists from the tool.
    fn is_kept(&self, path: &Path, is_write: bool) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        if self.secret.iter().any(|secret| real.starts_with(secret)) {
            return true;
        }
        let is_special = ["/proc", "/dev", "/sys"].iter().any(|folder| real.starts_with(folder));
        // Folders above what is open exist for the tool too.
        let is_open = self.open.iter().any(|open| real.starts_with(open) || open.starts_with(&real));
        !is_special && (is_write || !(is_open || is_system_path(&real)))
    }
}

/// An address of this machine with its port, as error messages name it.
fn local_address(line: &str) -> Option<String> {
    static ADDRESS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r"(?i)(127(?:\.\d{1,3}){3}|localhost|\[::1\]|::1)[^\d\s:]{0,3}(?::|,| port[ =:]+| )\s*(\d{2,5})\b";
    let found = ADDRESS.get_or_init(|| Regex::new(pattern).ok()).as_ref()?.captures(line)?;
    Some(format!("{}:{}", &found[1], &found[2]))
}

/// The absolute paths in a line that exist on this machine.
fn paths_in(line: &str) -> Vec<PathBuf> {
    static PATHS: OnceLock<Option<Regex>> = OnceLock::new();
    let Some(paths) = PATHS.get_or_init(|| Regex::new(r"(?:^|[\s'\x22`(=:\[])(/[\w.@+~/-]+)").ok()) else {
        return Vec::new();
    };
    let found =
        paths.captures_iter(line).filter_map(|found| Some(found.get(1)?.as_str().trim_end_matches(['.', '/', ':'])));
    found.map(PathBuf::from).filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_sandbox::Isolation;

    #[test]
    fn errors_are_explained_by_what_the_sandbox_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for file in ["secret/golden", "tool/main", ".config/t.toml"] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "").unwrap();
        }
        let sandbox = |isolation, network| Sandbox {
            isolation,
            network,
            open: vec![home.join("tool")],
            secret: vec![home.join("secret")],
        };
        let closed = sandbox(Isolation::Landlock, NetworkAccess::None);
        let check = |sandbox: &Sandbox, line: &str, expect: &str| {
            let line = line.replace('~', home.to_str().unwrap());
            let found = sandbox.explain(&line).map(|found| format!("{:?}: {}", found.kind, found.what));
            let found = found.unwrap_or_default().replace(home.to_str().unwrap(), "~");
            assert_eq!(found, expect, "{line}");
        };
        check(
            &closed,
            "FileNotFoundError: [Errno 2] No such file or directory: '~/.config/t.toml'",
            "Read: ~/.config/t.toml exists and is hidden from it",
        );
        check(
            &closed,
            "cannot open ~/secret/golden: Permission denied",
            "Read: ~/secret/golden is in the suite or the store",
        );
        check(&closed, "error: ~/.config: Read-only file system", "Write: ~/.config cannot be written");
        check(&closed, "urllib3: Temporary failure in name resolution", "Network: it has no network");
        for line in [
            "connect ECONNREFUSED 127.0.0.1:8080",
            "dial tcp 127.0.0.1:8080: connect: connection refused",
            "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server",
            "HTTPConnectionPool(host='127.0.0.1', port=8080): [Errno 111] Connection refused",
        ] {
            check(&closed, line, "Port: 127.0.0.1:8080 is unreachable within the sandbox");
        }
        check(&closed, "connect ECONNREFUSED 192.0.2.1:8080", "");
        check(
            &closed,
            "io_uring_queue_init: Operation not permitted",
            "SystemCall: its message says that a system call was refused",
        );
        // What the tool can read, what is nowhere, and lines that are no errors are not the sandbox's doing.
        check(&closed, "~/tool/main: No such file or directory", "");
        check(&closed, "/usr/bin/env: No such file or directory", "");
        check(&closed, "~/gone: No such file or directory", "");
        check(&closed, "reading ~/.config/t.toml", "");
        let external = sandbox(Isolation::Bubblewrap, NetworkAccess::External);
        check(
            &external,
            "curl: CONNECT tunnel failed, response 403",
            "Network: services of this machine are closed to it",
        );
        check(&external, "Temporary failure in name resolution", "");
        check(&external, "connect ECONNREFUSED ::1:8080", "Port: ::1:8080 is unreachable within the sandbox");
        let none = sandbox(Isolation::Process, NetworkAccess::None);
        check(&none, "cannot open ~/secret/golden: Permission denied", "");
    }
}
