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
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|found| is_program(found)).and_then(settle)
}

/// What must be readable for a program to run where `masked` and the places that are always masked cannot be read: itself,
/// the programs that run it, and what is installed with them. Never a masked folder as a whole.
pub fn exposures(program: &Path, masked: &[PathBuf]) -> Vec<PathBuf> {
    let masked = all_masked(masked);
    let mut needed = Needed { masked, found: BTreeSet::new() };
    needed.program(program, DEEPEST);
    needed.found.into_iter().collect()
}

struct Needed {
    masked: Vec<PathBuf>,
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
        if within(&path, &self.masked) && !self.masked.contains(&path) && !is_home(&path) {
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
