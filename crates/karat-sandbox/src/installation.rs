//! Locates programs and the files installed with them.

use super::resolved_access::outermost;
use super::system_paths::is_resolved_system_path;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How many links and interpreters are followed before a cycle is assumed.
const MAX_DEPTH: usize = 16;

/// The program of a name: the path itself if it contains a slash, else the first match on `path`, a value like that of `PATH`.
/// Links in its folder's path are resolved, so that it is found where these links are hidden. The program itself may be a link,
/// since some programs act by the name they are called by.
pub fn locate_program(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let resolve_folder = |found: PathBuf| Some(found.parent()?.canonicalize().ok()?.join(found.file_name()?));
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|found| is_program(found)).and_then(resolve_folder);
    }
    // An empty entry means the working folder, where anything may lie.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|found| is_program(found)).and_then(resolve_folder)
}

/// What must be readable, besides system paths, for a program to run: itself, its interpreters, and what is installed with them.
/// A link counts only if it leads to another part of the same installation; a home folder is never included as a whole.
pub fn find_installation(program: &Path) -> Vec<PathBuf> {
    let mut installation = Installation::default();
    installation.add_program(program, MAX_DEPTH);
    outermost(installation.0.into_iter())
}

/// What must be readable for a program that is kept in a folder with its other files: the folder, unless it holds a home or is
/// everybody's, and, since links in it may lead out of it, the interpreters of its virtual environments and its Node packages.
pub fn find_folder_installation(folder: &Path) -> Vec<PathBuf> {
    let mut installation = Installation::default();
    if !SHARED_FOLDERS.iter().any(|shared| Path::new(shared).starts_with(folder)) {
        installation.add(folder, folder);
    }
    let inside = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for part in inside.chain([folder.to_owned()]) {
        if part.join("pyvenv.cfg").is_file() {
            installation.add_program(&part.join("bin/python"), MAX_DEPTH);
        }
        let is_packages = |path: &Path| path.file_name() == Some(OsStr::new("node_modules"));
        if is_packages(&part)
            && let Ok(real) = part.canonicalize()
            && is_packages(&real)
        {
            installation.add(&real, &real);
        }
    }
    outermost(installation.0.into_iter())
}

/// Folders in which everybody keeps files, and which are empty in a sandbox.
const SHARED_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

#[derive(Default)]
struct Installation(BTreeSet<PathBuf>);

/// Variables by which Python finds packages among the installed paths that it would not look for: those of the user, below a home
/// that is empty in a sandbox, and those that `pip install --target` put beside `bin`.
pub fn python_variables(installed: &[PathBuf], home: Option<&Path>) -> Vec<(String, PathBuf)> {
    let user_base = home.and_then(|home| home.join(".local").canonicalize().ok());
    let user_base = user_base.filter(|base| installed.contains(&base.join("lib")));
    let target = installed.iter().find(|path| is_pip_target(path)).cloned();
    let variables = [("PYTHONUSERBASE", user_base), ("PYTHONPATH", target)];
    variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Whether `pip install --target` made a folder: it has packages and programs side by side.
fn is_pip_target(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_about = |name: &OsStr| name.as_bytes().ends_with(b".dist-info");
    folder.join("bin").is_dir() && entries.map(|entry| entry.file_name()).any(|name| is_about(&name))
}

/// Folders of an installation that programs in its `bin` use.
const PARTS: [&str; 4] = ["bin", "lib", "lib64", "libexec"];
/// What Go needs besides: its tools, and the library it compiles from source.
const GO_PARTS: [&str; 4] = ["VERSION", "go.env", "pkg", "src"];

impl Installation {
    fn add_program(&mut self, program: &Path, depth_left: usize) {
        let Some(depth_left) = depth_left.checked_sub(1) else { return };
        let Some(folder) = program.parent().and_then(|folder| folder.canonicalize().ok()) else { return };
        let Some(name) = program.file_name() else { return };
        let resolved = folder.join(name);
        if !is_program(&resolved) {
            return;
        }
        if !is_resolved_system_path(&resolved) {
            self.add_with_neighbours(&resolved);
        }
        if let Ok(target) = std::fs::read_link(&resolved) {
            self.add_program(&folder.join(target), depth_left);
            return;
        }
        for interpreter in interpreters(&resolved) {
            self.add_program(&interpreter, depth_left);
        }
    }

    fn add_with_neighbours(&mut self, program: &Path) {
        self.0.insert(program.to_owned());
        // Node packages find one another by the folder they share.
        let modules = |part: &&Path| part.file_name() == Some(OsStr::new("node_modules"));
        if let Some(shared) = program.ancestors().filter(modules).last() {
            self.add(shared, shared);
        }
        // Below `/opt`, each installation has a folder of its own.
        let own = program.strip_prefix("/opt").ok().and_then(|rest| rest.components().next());
        if let Some(own) = own.map(|own| Path::new("/opt").join(own)).filter(|own| own.is_dir()) {
            return self.add(&own, &own);
        }
        let Some(folder) = program.parent() else { return };
        let Some(prefix) = folder.parent() else { return };
        match folder.file_name().and_then(OsStr::to_str) {
            Some("bin") => self.add_prefix(prefix),
            // A version manager's shims look for the program among all it has installed.
            Some("shims") => self.add(prefix, prefix),
            _ => {}
        }
    }

    fn add_prefix(&mut self, prefix: &Path) {
        if is_pip_target(prefix) {
            self.add(prefix, prefix);
        }
        for part in PARTS {
            self.add(&prefix.join(part), prefix);
        }
        if prefix.join("bin/go").is_file() && prefix.join("pkg/tool").is_dir() && !holds_home(prefix) {
            for part in GO_PARTS {
                self.add(&prefix.join(part), prefix);
            }
        }
        let about = prefix.join("pyvenv.cfg");
        let Ok(text) = std::fs::read_to_string(&about) else { return };
        self.add(&about, prefix);
        // The interpreter of a virtual environment has its own modules in its own installation.
        let home = text.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "home");
        let base = home.and_then(|(_, value)| Path::new(value.trim()).parent()?.canonicalize().ok());
        let Some(base) = base.filter(|base| !is_resolved_system_path(base)) else { return };
        let python = ["bin/python", "bin/python3"].iter().find_map(|name| prefix.join(name).canonicalize().ok());
        if python.is_some_and(|python| python.starts_with(base.join("bin"))) {
            for part in PARTS {
                self.add(&base.join(part), &base);
            }
        }
    }

    /// Adds a path if it resolves to something inside `within`, unless it is or contains a home folder.
    fn add(&mut self, path: &Path, within: &Path) {
        let (Ok(path), Ok(within)) = (path.canonicalize(), within.canonicalize()) else { return };
        if path.starts_with(&within) && !is_resolved_system_path(&path) && !holds_home(&path) {
            self.0.insert(path);
        }
    }
}

fn holds_home(path: &Path) -> bool {
    let own = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    path.parent() == Some(Path::new("/home"))
        || ["/home", "/root"].iter().any(|home| Path::new(home).starts_with(path))
        || own.is_some_and(|own| own.starts_with(path))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Whether the kernel could run a file as an interpreter: an ELF file or a script, but not some private text.
fn is_executable_format(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
    read.is_ok_and(|length| start[..length].starts_with(b"\x7fELF") || start[..length].starts_with(b"#!"))
}

/// The programs named in a script's first line: the interpreter and, if that is `env`, its argument.
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
    [interpreter].into_iter().chain(named).filter(|program| is_executable_format(program)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a home of files and links (`name -> target`), all executable, and compares what a program in it needs, relative
    /// to the home. `~` in a file's content stands for the home.
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
        let found = find_installation(&program);
        let found: Vec<_> =
            found.iter().map(|path| path.strip_prefix(&home).unwrap_or(path).display().to_string()).collect();
        assert_eq!(found.join(" "), expect);
    }

    #[test]
    fn program_needs_itself_and_its_installation() {
        check(&[("x/tool", "")], "x/tool", "x/tool");
        check(&[(".cargo/bin/tool", ""), (".cargo/credentials", "")], ".cargo/bin/tool", ".cargo/bin");
        check(
            &[(".local/bin/t", "#!/bin/sh\n"), (".local/lib/m", ""), (".local/share/s", "")],
            ".local/bin/t",
            ".local/bin .local/lib",
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
            ("py/3/bin/python3", "#!/bin/sh\n"),
            ("py/3/lib/m", ""),
        ];
        let expect = "bin py/3/bin py/3/lib venvs/t/bin venvs/t/lib venvs/t/pyvenv.cfg";
        check(&venv, "bin/t", expect);
        check(&[("a/t", "#!/usr/bin/env -S X=1 ~/b/run -v\n"), ("b/run", "#!/bin/sh\n")], "a/t", "a/t b/run");
        check(&[("a/t -> u", ""), ("a/u", "#!~/a/t")], "a/t", "a/t a/u");
    }

    #[test]
    fn version_managers_and_node_packages_are_included_as_a_whole() {
        check(&[(".pyenv/shims/p", "#!/bin/sh\n"), (".pyenv/versions/v", "")], ".pyenv/shims/p", ".pyenv");
        let node =
            [("p/node_modules/.bin/t -> ../t/b.js", ""), ("p/node_modules/t/b.js", "#!/bin/sh\n"), ("p/secret", "")];
        check(&node, "p/node_modules/.bin/t", "p/node_modules");
    }

    #[test]
    fn folders_of_tools_are_included_with_what_their_links_need() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for (path, content) in [
            ("tool/main.py", ""),
            ("tool/.venv/pyvenv.cfg", "home = ~/py/bin\n"),
            ("tool/.venv/lib/m", ""),
            ("py/bin/python3", "#!/bin/sh\n"),
            ("py/lib/m", ""),
            ("shared/node_modules/m/index.js", ""),
            (".ssh/id", ""),
        ] {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content.replace('~', top.to_str().unwrap())).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::create_dir(top.join("tool/.venv/bin")).unwrap();
        symlink(top.join("py/bin/python3"), top.join("tool/.venv/bin/python")).unwrap();
        symlink(top.join("shared/node_modules"), top.join("tool/node_modules")).unwrap();
        symlink(top.join(".ssh"), top.join("tool/keys")).unwrap();
        let found = find_folder_installation(&top.join("tool"));
        let expect = ["py/bin", "py/lib", "shared/node_modules", "tool"].map(|path| top.join(path));
        assert_eq!(found, expect);
        for shared in ["/", "/tmp", "/var", "/home", "/root", "/usr/lib"] {
            let found = find_folder_installation(Path::new(shared));
            assert!(!found.contains(&PathBuf::from(shared)), "{shared}");
        }
    }

    #[test]
    fn go_needs_its_tools_and_library() {
        let go = [("sdk/go/bin/go", ""), ("sdk/go/pkg/tool/compile", ""), ("sdk/go/src/fmt/print.go", "")];
        let go = go.into_iter().chain([("sdk/go/VERSION", ""), ("sdk/go/api/go1.txt", "")]).collect::<Vec<_>>();
        check(&go, "sdk/go/bin/go", "sdk/go/VERSION sdk/go/bin sdk/go/pkg sdk/go/src");
        // A Go workspace has a folder of that name too.
        let own = [("go/bin/gosec", ""), ("go/pkg/mod/m", ""), ("go/src/mine/a.go", "")];
        check(&own, "go/bin/gosec", "go/bin");
    }

    #[test]
    fn python_packages_outside_its_folders_are_found() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let lib = home.join(".local/lib");
        std::fs::create_dir_all(&lib).unwrap();
        let variable = |name: &str, value: PathBuf| vec![(name.to_owned(), value)];
        let user_base = variable("PYTHONUSERBASE", home.join(".local"));
        assert_eq!(python_variables(std::slice::from_ref(&lib), Some(&home)), user_base);
        assert_eq!(python_variables(&[home.join(".local/bin")], Some(&home)), []);
        assert_eq!(python_variables(&[lib], None), []);
        let target = home.join("packages");
        std::fs::create_dir_all(target.join("bin")).unwrap();
        assert_eq!(python_variables(std::slice::from_ref(&target), None), []);
        std::fs::create_dir(target.join("scan-1.0.dist-info")).unwrap();
        assert_eq!(python_variables(std::slice::from_ref(&target), None), variable("PYTHONPATH", target));
        let files = [("p/bin/scan", "#!/bin/sh\n"), ("p/scan.py", ""), ("p/scan-1.dist-info/RECORD", "")];
        check(&files, "p/bin/scan", "p");
    }

    #[test]
    fn links_and_settings_outside_the_installation_expose_nothing() {
        let tool = ("x/bin/p", "#!/bin/sh\n");
        check(&[("x/lib -> ../.ssh", ""), tool, (".ssh/id", "")], "x/bin/p", "x/bin");
        check(&[("x/lib -> ..", ""), tool, ("secret", "")], "x/bin/p", "x/bin");
        check(&[("x/lib64 -> lib", ""), ("x/lib/m", ""), tool], "x/bin/p", "x/bin x/lib");
        // A shebang that names a private file, and a virtual environment that names a folder without its interpreter.
        check(&[("x/t", "#!~/.ssh/id\n"), (".ssh/id", "-----BEGIN")], "x/t", "x/t");
        let misleading = [
            ("v/bin/t", "#!~/v/bin/python\n"),
            ("v/bin/python", "#!/bin/sh\n"),
            ("v/pyvenv.cfg", "home = ~/private/bin\n"),
            ("private/lib/key", ""),
            ("private/bin/python", ""),
        ];
        check(&misleading, "v/bin/t", "v/bin v/pyvenv.cfg");
    }

    #[test]
    fn home_is_never_included_as_a_whole() {
        for path in ["/", "/home", "/home/somebody", "/root"] {
            assert!(holds_home(Path::new(path)), "{path}");
        }
        assert!(!holds_home(Path::new("/home/somebody/tool")) && !holds_home(Path::new("/opt/tool")));
    }

    #[test]
    fn system_programs_need_nothing() {
        let shell = locate_program(OsStr::new("sh"), OsStr::new("/nowhere:/usr/bin:/bin")).unwrap();
        assert_eq!(find_installation(&shell), Vec::<PathBuf>::new());
        assert_eq!(locate_program(OsStr::new("no-such-program"), OsStr::new("/usr/bin")), None);
        assert_eq!(locate_program(OsStr::new("/etc/passwd"), OsStr::new("/usr/bin")), None);
    }
}
