//! What of the system every tool may read: programs, libraries, and settings that hold nothing private. Everything else is absent
//! unless the tool's own installation or its manifest brings it in.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Folders of programs and libraries. Some are links, as `/bin` to `usr/bin`.
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

/// Parts of those folders that hold no program: source checkouts.
const LEFT_OUT: &[&str] = &["/usr/src", "/usr/local/src"];

/// Files and folders below `/etc` that programs read: how libraries are found, names of users and services, time zone, languages,
/// certificates of authorities, fonts.
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

/// Settings of interpreters below `/etc`, whose names end in versions.
const INTERPRETERS: &[&str] = &["java", "perl", "python"];

/// Read by programs that ask how many processors there are.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// One thing that is there for every tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SystemPath {
    /// A file or folder, as it lies on the machine.
    Real(PathBuf),
    /// A link with what it says.
    Link { at: PathBuf, target: PathBuf },
}

/// All that is there of the system, found once.
pub(super) fn system() -> &'static [SystemPath] {
    static FOUND: OnceLock<Vec<SystemPath>> = OnceLock::new();
    FOUND.get_or_init(find)
}

/// Whether every tool may read a path, wherever it leads.
pub fn is_of_system(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| is_system(&path))
}

/// Whether every tool may read a path. It is compared as it stands: links are the caller's to resolve.
pub(super) fn is_system(path: &Path) -> bool {
    let real = |own: &SystemPath| matches!(own, SystemPath::Real(own) if path.starts_with(own));
    system().iter().any(real) && !left_out().any(|out| path.starts_with(out))
}

/// Folders within the system's that no tool sees.
pub(super) fn left_out() -> impl Iterator<Item = &'static Path> {
    LEFT_OUT.iter().map(Path::new).filter(|path| path.is_dir())
}

fn find() -> Vec<SystemPath> {
    let settings = SETTINGS.iter().map(|name| Path::new("/etc").join(name));
    let named = std::fs::read_dir("/etc").into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        INTERPRETERS.iter().any(|start| name.to_string_lossy().starts_with(start))
    });
    let named = named.map(|entry| entry.path());
    let folders = FOLDERS.iter().map(PathBuf::from);
    let mut all: Vec<PathBuf> = folders.chain(settings).chain(named).chain([PROCESSORS.into()]).collect();
    all.sort();
    all.into_iter().filter_map(look).collect()
}

/// A folder of the system that is a link stays one; a setting that is a link, as `localtime`, is taken for what it leads to.
fn look(path: PathBuf) -> Option<SystemPath> {
    match std::fs::read_link(&path) {
        Ok(target) if !path.starts_with("/etc") => Some(SystemPath::Link { at: path, target }),
        Ok(_) | Err(_) => path.exists().then_some(SystemPath::Real(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_there_and_private_places_are_not() {
        for there in ["/usr/bin/env", "/etc/passwd", "/usr/lib"] {
            assert!(is_system(Path::new(there)), "{there}");
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
            assert!(!is_system(Path::new(absent)), "{absent}");
        }
    }
}
