//! Rules of the kernel that a process puts on itself and all it starts, before it becomes the tool.

use super::filter;
use super::order::Rules;
use super::system::{SystemPath, left_out, system};
use super::view::{Reach, Sight, within};
use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The newest rules that are used where the kernel has them.
const NEWEST: ABI = ABI::V9;
/// The oldest rules that hold what is promised: before these, any file could be cut to nothing.
const OLDEST: ABI = ABI::V3;
/// The rules from which on the kernel tells one socket with a path from another.
const JUDGES_SOCKETS: ABI = ABI::V9;

/// Devices that hold nothing of anybody's.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Whether the kernel has the rules that are needed, or why not.
pub(super) fn probe() -> Result<(), String> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let made = ruleset.handle_access(AccessFs::from_all(OLDEST)).and_then(|ruleset| ruleset.create());
    made.map_err(|_| {
        "this kernel has no Landlock rules of version 3 or newer; Linux 6.2 or newer with Landlock turned on has them"
            .to_owned()
    })?;
    filter::probe()
}

/// The rules for a job. What is allowed for a folder holds for all below it and cannot be taken back there, so where something
/// below is secret, everything beside the way down to it is allowed one by one.
pub(super) fn rules(sight: &Sight) -> Rules {
    let mut closed = sight.secret.clone();
    closed.extend(left_out().map(Path::to_owned));
    let mut readable = vec![PathBuf::from("/proc")];
    let of_system = system().iter().filter_map(|path| match path {
        SystemPath::Real(path) => Some(path),
        // What it leads to is allowed by its own name.
        SystemPath::Link { .. } => None,
    });
    for path in of_system.chain(&sight.readable) {
        carve(path, &closed, &mut readable);
    }
    let mut writable = vec![sight.root.clone()];
    if let Some(tool) = &sight.tool {
        if tool.writable { &mut writable } else { &mut readable }.push(tool.path.clone());
    }
    for path in &sight.writable {
        carve(path, &sight.secret, &mut writable);
    }
    let words = |paths: Vec<PathBuf>| paths.into_iter().map(OsString::from).collect();
    Rules { readable: words(readable), writable: words(writable), network: sight.reach != Reach::Nothing }
}

/// Puts the rules on this process, for good.
pub(super) fn restrict(rules: &Rules) -> Result<(), String> {
    let abi = restrict_files(rules).map_err(|error| format!("the rules on files were refused: {error}"))?;
    // Sockets with a path are daemons' more often than not. Where the kernel cannot tell them apart, there are none.
    let local: &[u64] = if abi >= JUDGES_SOCKETS { &[filter::AF_UNIX] } else { &[] };
    let network = if rules.network { filter::NETWORK } else { &[] };
    filter::apply(filter::Sockets::Families(&[local, network].concat()))
}

fn restrict_files(rules: &Rules) -> Result<ABI, String> {
    // Nobody makes devices in their own folder to read a disk through them.
    let own = AccessFs::from_all(NEWEST) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST)).map_err(text)?;
    // Sockets without a path belong to daemons too, and to no network.
    ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket).map_err(text)?;
    let made = ruleset.create().map_err(text)?;
    let made = made.add_rules(path_beneath_rules(&rules.readable, AccessFs::from_read(NEWEST))).map_err(text)?;
    let made = made.add_rules(path_beneath_rules(&rules.writable, own)).map_err(text)?;
    let made = made.add_rules(path_beneath_rules(DEVICES, device)).map_err(text)?;
    let status = made.restrict_self().map_err(text)?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if effective_abi >= OLDEST && status.ruleset != RulesetStatus::NotEnforced =>
        {
            Ok(effective_abi)
        }
        _ => Err("the kernel did not enforce them".to_owned()),
    }
}

fn text(error: landlock::RulesetError) -> String {
    error.to_string()
}

/// The largest folders and files below `top` that hold nothing closed.
fn carve(top: &Path, closed: &[PathBuf], into: &mut Vec<PathBuf>) {
    if within(top, closed) {
        return;
    }
    if !closed.iter().any(|path| path.starts_with(top)) {
        into.push(top.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(top) else { return };
    for entry in entries.flatten() {
        // A link would allow what it leads to, which may be closed. Where it is open, it is so by its own name.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            carve(&entry.path(), closed, into);
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
        carve(&top, &closed, &mut found);
        let mut found: Vec<String> =
            found.iter().map(|path| path.strip_prefix(&top).unwrap().display().to_string()).collect();
        found.sort();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn everything_beside_the_way_down_is_open() {
        check(&["a/b/c"], "a/d e f");
        check(&["a"], "e f");
        check(&["a/b", "f"], "a/d e");
        check(&["nowhere"], "a e f");
        check(&[], "");
        check(&[""], "");
    }
}
