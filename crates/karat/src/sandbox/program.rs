//! Where programs lie, and what of a masked folder they need to run.

use super::view::{masked as all_masked, within};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How many programs may stand behind one another before it is taken for a circle.
const DEEPEST: usize = 16;

/// The program that a name means: as it stands where it holds a slash, else the first on `path`, a value as of `PATH`. Links in
/// the way to its folder are followed, so that it is found in a view where the links are masked; the program itself may be a
/// link, for some programs act by the name they are called by.
pub fn locate_program(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let settle = |found: PathBuf| Some(found.parent()?.canonicalize().ok()?.join(found.file_name()?));
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|found| is_program(found)).and_then(settle);
    }
    // An empty entry stands for the folder one happens to be in, where anything may lie.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|found| is_program(found)).and_then(settle)
}

/// What must be readable for a program to run where `masked` and the places that are always masked cannot be read: itself,
/// the programs that run it, and what is installed with them. Never a masked folder as a whole.
pub fn exposures(program: &Path, masked: &[PathBuf]) -> Vec<PathBuf> {
    let whole = masked.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut needed = Needed { masked: all_masked(masked), whole, found: BTreeSet::new() };
    needed.program(program, DEEPEST);
    needed.found.into_iter().collect()
}

struct Needed {
    masked: Vec<PathBuf>,
    /// Folders that were asked to be masked, also those within others.
    whole: Vec<PathBuf>,
    found: BTreeSet<PathBuf>,
}

impl Needed {
    /// Adds what one program needs, and what the programs behind it need.
    fn program(&mut self, program: &Path, deepest: usize) {
        let Some(deepest) = deepest.checked_sub(1) else { return };
        let Some(folder) = program.parent().and_then(|folder| folder.canonicalize().ok()) else { return };
        let Some(name) = program.file_name() else { return };
        let settled = folder.join(name);
        self.installation(&settled);
        if let Ok(target) = std::fs::read_link(&settled) {
            self.program(&folder.join(target), deepest);
            return;
        }
        for interpreter in interpreters(&settled) {
            self.program(&interpreter, deepest);
        }
    }

    /// Adds a program with what is installed beside it.
    fn installation(&mut self, program: &Path) {
        if !within(program, &self.masked) {
            return;
        }
        self.found.insert(program.to_owned());
        // Packages of Node find one another by the folder they share.
        if let Some(shared) =
            program.ancestors().filter(|part| part.file_name() == Some(OsStr::new("node_modules"))).last()
        {
            self.add(shared);
        }
        let Some(folder) = program.parent() else { return };
        let Some(prefix) = folder.parent() else { return };
        match folder.file_name().and_then(OsStr::to_str) {
            Some("bin") => self.prefix(prefix),
            // A version manager's stand-ins, which look for the program among all it has installed.
            Some("shims") => self.add(prefix),
            _ => {}
        }
    }

    fn prefix(&mut self, prefix: &Path) {
        for part in ["bin", "lib", "lib64", "libexec"] {
            self.add(&prefix.join(part));
        }
        let about = prefix.join("pyvenv.cfg");
        let Ok(text) = std::fs::read_to_string(&about) else { return };
        self.add(&about);
        // A virtual environment has its modules, and its interpreter's own modules lie with the interpreter.
        let home = text.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "home");
        if let Some(base) =
            home.and_then(|(_, value)| Path::new(value.trim()).parent()).filter(|base| base.is_absolute())
            && within(base, &self.masked)
        {
            for part in ["bin", "lib", "lib64", "libexec"] {
                self.add(&base.join(part));
            }
        }
    }

    /// Adds a file or folder, unless that would show a masked folder as a whole.
    fn add(&mut self, path: &Path) {
        let Ok(path) = path.canonicalize() else { return };
        let whole = self.masked.iter().chain(&self.whole).any(|masked| masked.starts_with(&path));
        if within(&path, &self.masked) && !whole && !is_home(&path) {
            self.found.insert(path);
        }
    }
}

/// Whether a folder is somebody's home: one of those below `/home`, or the user's own.
fn is_home(path: &Path) -> bool {
    let own = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    path.parent() == Some(Path::new("/home")) || own.is_some_and(|own| own == path)
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// The programs that a script names in its first line: the interpreter and, where that is `env`, the one it looks for.
fn interpreters(script: &Path) -> Vec<PathBuf> {
    let mut start = Vec::new();
    if std::fs::File::open(script).and_then(|file| file.take(512).read_to_end(&mut start)).is_err() {
        return Vec::new();
    }
    let Some(rest) = start.strip_prefix(b"#!") else { return Vec::new() };
    let line = String::from_utf8_lossy(rest.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace();
    let Some(interpreter) = words.next().map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return Vec::new();
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let by_env = interpreter.file_name() == Some(OsStr::new("env"));
    let named = words.find(|word| by_env && !word.starts_with('-') && !word.contains('='));
    let named = named.and_then(|name| locate_program(OsStr::new(name), &path));
    [interpreter].into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Makes a home of files and links (`name -> target`), all executable, and compares what a program in it needs, from the
    /// home on. `~` in a file's content stands for the home.
    #[track_caller]
    fn check(files: &[(&str, &str)], program: &str, expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("u");
        for (name, content) in files {
            let (name, target) = name.split_once(" -> ").map_or((*name, None), |(name, target)| (name, Some(target)));
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match target {
                Some(target) => symlink(target.replace('~', home.to_str().unwrap()), &path).unwrap(),
                None => {
                    std::fs::write(&path, content.replace('~', home.to_str().unwrap())).unwrap();
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
        }
        let program = locate_program(home.join(program).as_os_str(), OsStr::new("")).unwrap();
        let found = exposures(&program, std::slice::from_ref(&home));
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(&home).unwrap().display().to_string()).collect();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn a_program_needs_itself_and_what_is_installed_with_it() {
        check(&[("x/tool", "")], "x/tool", "x/tool");
        check(&[(".cargo/bin/tool", ""), (".cargo/credentials", "")], ".cargo/bin/tool", ".cargo/bin .cargo/bin/tool");
        check(
            &[(".local/bin/t", "#!/bin/sh\n"), (".local/lib/m", ""), (".local/share/s", "")],
            ".local/bin/t",
            ".local/bin .local/bin/t .local/lib",
        );
    }

    #[test]
    fn links_and_interpreters_are_followed() {
        let venv = [
            ("bin/t -> ../venvs/t/bin/t", ""),
            ("venvs/t/bin/t", "#!~/venvs/t/bin/python\n"),
            ("venvs/t/bin/python -> ~/py/3/bin/python3", ""),
            ("venvs/t/lib/m", ""),
            ("venvs/t/pyvenv.cfg", "home = ~/py/3/bin\nversion = 3\n"),
            ("py/3/bin/python3", ""),
            ("py/3/lib/m", ""),
        ];
        let expect = "bin bin/t py/3/bin py/3/bin/python3 py/3/lib venvs/t/bin venvs/t/bin/python venvs/t/bin/t venvs/t/lib venvs/t/pyvenv.cfg";
        check(&venv, "bin/t", expect);
        check(&[("a/t", "#!/usr/bin/env -S X=1 ~/b/run -v\n"), ("b/run", "")], "a/t", "a/t b/run");
        check(&[("a/t -> u", ""), ("a/u", "#!~/a/t")], "a/t", "a/t a/u");
    }

    #[test]
    fn version_managers_and_packages_of_node_are_whole() {
        check(
            &[(".pyenv/shims/p", "#!/bin/sh\n"), (".pyenv/versions/v", "")],
            ".pyenv/shims/p",
            ".pyenv .pyenv/shims/p",
        );
        let node =
            [("p/node_modules/.bin/t -> ../t/b.js", ""), ("p/node_modules/t/b.js", "#!/bin/sh\n"), ("p/secret", "")];
        check(&node, "p/node_modules/.bin/t", "p/node_modules p/node_modules/.bin/t p/node_modules/t/b.js");
    }

    #[test]
    fn no_home_is_shown_as_a_whole() {
        check(&[("shims/p", ""), ("secret", "")], "shims/p", "shims/p");
        check(&[("lib -> .", ""), ("bin/p", ""), ("secret", "")], "bin/p", "bin bin/p");
        check(&[("x/lib -> ..", ""), ("x/bin/p", ""), ("secret", "")], "x/bin/p", "x/bin x/bin/p");
    }

    #[test]
    fn programs_elsewhere_need_nothing() {
        let shell = locate_program(OsStr::new("sh"), OsStr::new("/nowhere:/usr/bin:/bin")).unwrap();
        assert_eq!(exposures(&shell, &[PathBuf::from("/root")]), Vec::<PathBuf>::new());
        assert_eq!(locate_program(OsStr::new("no-such-program"), OsStr::new("/usr/bin")), None);
        assert_eq!(locate_program(OsStr::new("/etc/passwd"), OsStr::new("/usr/bin")), None);
    }
}
