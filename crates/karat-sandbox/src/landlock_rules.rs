//! Landlock rules that the launcher applies to itself before it becomes the tool.

use super::job::NetworkAccess;
use super::protocol::LandlockRules;
use super::resolved_access::{ResolvedAccess, within};
use super::seccomp;
use super::system_paths::{DEVICES, SystemPath, excluded_system_folders, system_paths};
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The newest version that is used where the kernel has it.
const NEWEST: ABI = ABI::V9;
/// The oldest version that is good enough: before it, any file could be truncated.
const OLDEST: ABI = ABI::V3;
/// The version from which on rules apply to sockets in the file system.
const RESTRICTS_UNIX_SOCKETS: ABI = ABI::V9;

pub(super) fn probe() -> Result<(), String> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let made = ruleset.handle_access(AccessFs::from_all(OLDEST)).and_then(|ruleset| ruleset.create());
    made.map_err(|_| {
        "this kernel has no Landlock rules of version 3 or newer; Linux 6.2 or newer with Landlock turned on has them"
            .to_owned()
    })?;
    seccomp::probe()
}

/// The rules for a job. A rule on a folder covers everything below it and cannot be revoked there, so for a folder with a secret
/// in it every sibling on the path down to the secret gets its own rule.
pub(super) fn rules(access: &ResolvedAccess) -> LandlockRules {
    let mut closed = access.secret.clone();
    closed.extend(excluded_system_folders().map(Path::to_owned));
    let mut readable = vec![PathBuf::from("/proc")];
    let of_system = system_paths().iter().filter_map(|path| match path {
        SystemPath::Real(path) => Some(path),
        // Its target is listed itself.
        SystemPath::Link { .. } => None,
    });
    for path in of_system.chain(&access.readable) {
        collect_open(path, &closed, &mut readable);
    }
    let mut writable = vec![access.root.clone()];
    if let Some(tool) = &access.tool {
        if tool.writable { &mut writable } else { &mut readable }.push(tool.path.clone());
    }
    for path in &access.writable {
        collect_open(path, &access.secret, &mut writable);
    }
    LandlockRules {
        readable: readable.into_iter().map(OsString::from).collect(),
        writable: writable.into_iter().map(OsString::from).collect(),
        network: access.network != NetworkAccess::None,
    }
}

/// Applies the rules to this process, irrevocably.
pub(super) fn restrict(rules: &LandlockRules) -> Result<(), String> {
    let abi = restrict_files(rules).map_err(|error| format!("the rules on files were refused: {error}"))?;
    // Sockets in the file system mostly belong to daemons. Where Landlock does not cover them, Unix sockets are forbidden.
    let local: &[u64] = if abi >= RESTRICTS_UNIX_SOCKETS { &[seccomp::AF_UNIX] } else { &[] };
    let network = if rules.network { seccomp::NETWORK_FAMILIES } else { &[] };
    seccomp::apply(Some(&[local, network].concat()))
}

fn restrict_files(rules: &LandlockRules) -> Result<ABI, Box<dyn std::error::Error>> {
    // Creating devices is denied, since a disk could be read through one.
    let own = AccessFs::from_all(NEWEST) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        // Abstract sockets belong to daemons too.
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?
        .create()?
        .add_rules(path_beneath_rules(&rules.readable, AccessFs::from_read(NEWEST)))?
        .add_rules(path_beneath_rules(&rules.writable, own))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .restrict_self()?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if effective_abi >= OLDEST && status.ruleset != RulesetStatus::NotEnforced =>
        {
            Ok(effective_abi)
        }
        _ => Err("the kernel did not enforce them".into()),
    }
}

/// Collects the largest folders and files below `top` that contain nothing of `closed`.
fn collect_open(top: &Path, closed: &[PathBuf], into: &mut Vec<PathBuf>) {
    if within(top, closed) {
        return;
    }
    if !closed.iter().any(|path| path.starts_with(top)) {
        into.push(top.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(top) else { return };
    for entry in entries.flatten() {
        // A rule on a link would allow its target, which may be closed.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            collect_open(&entry.path(), closed, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(closed: &[&str], expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for dir in ["a/b/c", "a/d", "e"] {
            std::fs::create_dir_all(top.join(dir)).unwrap();
        }
        std::fs::write(top.join("f"), "").unwrap();
        std::os::unix::fs::symlink("a/b", top.join("link")).unwrap();
        let closed: Vec<PathBuf> = closed.iter().map(|path| top.join(path)).collect();
        let mut found = Vec::new();
        collect_open(&top, &closed, &mut found);
        let mut found: Vec<String> =
            found.iter().map(|path| path.strip_prefix(&top).unwrap().display().to_string()).collect();
        found.sort();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn siblings_of_closed_paths_are_open() {
        check(&["a/b/c"], "a/d e f");
        check(&["a"], "e f");
        check(&["a/b", "f"], "a/d e");
        check(&["nowhere"], "a e f");
        check(&[], "");
        check(&[""], "");
    }
}
