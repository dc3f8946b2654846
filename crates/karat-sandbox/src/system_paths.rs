//! System paths that every tool may read: programs, libraries, and settings that hold nothing private.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The user and group that own nothing, by convention `nobody` and `nogroup`.
pub(super) const NOBODY: u32 = 65_534;

/// Devices that hold no data and that every program expects.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders of programs and libraries. Some are links, such as `/bin` to `usr/bin`.
const FOLDERS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
];

/// Parts of those folders that hold source checkouts instead of programs.
const EXCLUDED: &[&str] = &["/usr/src", "/usr/local/src"];

/// Files and folders below `/etc` that programs read and that hold nothing private.
const SETTINGS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "dotnet",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld-musl-aarch64.path",
    "ld-musl-x86_64.path",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "mime.types",
    "mono/2.0",
    "mono/4.0",
    "mono/4.5",
    "mono/config",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust/extracted",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

/// Prefixes of folders below `/etc` with settings of interpreters, whose names end in versions.
const INTERPRETERS: &[&str] = &["java", "perl", "python"];

/// Read by programs to count the processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SystemPath {
    Real(PathBuf),
    Link { at: PathBuf, target: PathBuf },
}

/// All system paths that exist on this machine, determined once.
pub(super) fn system_paths() -> &'static [SystemPath] {
    static FOUND: OnceLock<Vec<SystemPath>> = OnceLock::new();
    FOUND.get_or_init(find_system_paths)
}

/// The folders above the system paths, from the topmost on.
pub(super) fn folders_above_system_paths() -> BTreeSet<&'static Path> {
    let place = |path: &'static SystemPath| match path {
        SystemPath::Real(at) | SystemPath::Link { at, .. } => at.ancestors().skip(1),
    };
    system_paths().iter().flat_map(place).filter(|folder| folder.parent().is_some()).collect()
}

/// Whether every tool may read a path, with links resolved.
pub fn is_system_path(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| is_resolved_system_path(&path))
}

/// Whether every tool may read a path whose links are already resolved.
pub(super) fn is_resolved_system_path(path: &Path) -> bool {
    let real = |own: &SystemPath| matches!(own, SystemPath::Real(own) if path.starts_with(own));
    system_paths().iter().any(real) && !excluded_system_folders().any(|out| path.starts_with(out))
}

/// Existing subfolders of the system folders that no tool may read.
pub(super) fn excluded_system_folders() -> impl Iterator<Item = &'static Path> {
    EXCLUDED.iter().map(Path::new).filter(|path| path.is_dir())
}

fn find_system_paths() -> Vec<SystemPath> {
    let settings = SETTINGS.iter().map(|name| Path::new("/etc").join(name));
    let is_interpreters = |name: &OsStr| INTERPRETERS.iter().any(|start| name.to_string_lossy().starts_with(start));
    let named = std::fs::read_dir("/etc").into_iter().flatten().flatten();
    let named = named.filter(|entry| is_interpreters(&entry.file_name())).map(|entry| entry.path());
    let folders = FOLDERS.iter().map(PathBuf::from);
    let mut all: Vec<PathBuf> = folders.chain(settings).chain(named).chain([PROCESSORS.into()]).collect();
    all.sort();
    all.into_iter().filter_map(classify).collect()
}

/// Keeps links such as `/bin` as links; a setting that is a link, such as `localtime`, counts as its target.
fn classify(path: PathBuf) -> Option<SystemPath> {
    match std::fs::read_link(&path) {
        Ok(target) if !path.starts_with("/etc") => Some(SystemPath::Link { at: path, target }),
        Ok(_) | Err(_) => path.exists().then_some(SystemPath::Real(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_visible_and_private_paths_are_not() {
        for there in ["/usr/bin/env", "/etc/passwd", "/usr/lib"] {
            assert!(is_resolved_system_path(Path::new(there)), "{there}");
        }
        let private = [
            "/",
            "/etc",
            "/etc/shadow",
            "/etc/ssl/private",
            "/etc/ssh",
            "/home",
            "/root",
            "/home/a/.ssh",
            "/opt",
            "/srv",
            "/var",
            "/tmp",
            "/run",
            "/proc",
            "/sys/kernel",
            "/usr/src/secret",
            "/usrlocal",
        ];
        for absent in private {
            assert!(!is_resolved_system_path(Path::new(absent)), "{absent}");
        }
    }
}
