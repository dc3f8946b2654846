//! The programs that proofs in a language use, which a sandbox has to show.

use karat_sandbox::{find_installation, locate_program};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The toolchain of a language.
struct Toolchain {
    languages: &'static [&'static str],
    programs: &'static [&'static str],
    /// A command whose first line of output names the version.
    version: &'static [&'static str],
}

const TOOLCHAINS: &[Toolchain] = &[
    Toolchain { languages: &["c"], programs: &["cc"], version: &["cc", "--version"] },
    Toolchain { languages: &["cpp", "c++"], programs: &["c++"], version: &["c++", "--version"] },
    Toolchain { languages: &["csharp", "c#"], programs: &["mcs", "mono", "dotnet"], version: &["mcs", "--version"] },
    Toolchain { languages: &["go"], programs: &["go"], version: &["go", "version"] },
    Toolchain { languages: &["java"], programs: &["javac", "java"], version: &["javac", "-version"] },
    Toolchain { languages: &["javascript", "js"], programs: &["node"], version: &["node", "--version"] },
    Toolchain { languages: &["python"], programs: &["python3"], version: &["python3", "--version"] },
    Toolchain { languages: &["ruby"], programs: &["ruby"], version: &["ruby", "--version"] },
    Toolchain { languages: &["rust"], programs: &["rustc", "cargo"], version: &["rustc", "--version"] },
    Toolchain { languages: &["shell", "bash"], programs: &["bash"], version: &["bash", "--version"] },
    Toolchain { languages: &["solidity"], programs: &["solcjs", "node"], version: &["solcjs", "--version"] },
    Toolchain { languages: &["sql"], programs: &["sqlite3"], version: &["sqlite3", "--version"] },
    Toolchain { languages: &["typescript", "ts"], programs: &["tsc", "node"], version: &["tsc", "--version"] },
];

fn find(language: Option<&str>) -> Option<&'static Toolchain> {
    let language = language?.to_lowercase();
    TOOLCHAINS.iter().find(|toolchain| toolchain.languages.contains(&language.as_str()))
}

/// The command that prints the version of a language's toolchain, if it is known.
pub(super) fn version_command(language: Option<&str>) -> Option<&'static [&'static str]> {
    find(language).map(|toolchain| toolchain.version)
}

/// What a proof may read beside the system's programs, and the variables by which programs find it.
#[derive(Clone, Debug, Default)]
pub(super) struct Installed {
    pub(super) readable: Vec<PathBuf>,
    pub(super) variables: BTreeMap<String, OsString>,
}

/// What is installed for a language, and with a program that is named.
pub(super) fn find_installed(
    program: &str,
    language: Option<&str>,
    path: &OsStr,
    home: Option<&Path>,
    rustup_home: Option<&OsString>,
) -> Installed {
    let of_language = find(language).map_or(&[][..], |toolchain| toolchain.programs);
    // A path is a file of the proof. A suite cannot choose what else is shown.
    let named = (!program.contains('/')).then_some(program);
    let mut installed = Installed::default();
    for program in named.into_iter().chain(of_language.iter().copied()) {
        let Some(found) = locate_program(OsStr::new(program), path) else { continue };
        installed.readable.extend(find_installation(&found));
        // The programs of rustup start those of a toolchain, which they look for in the home.
        let is_of_rustup = found.with_file_name("rustup").is_file();
        let toolchains = rustup_home.map(PathBuf::from).or_else(|| home.map(|home| home.join(".rustup")));
        if let Some(toolchains) = toolchains.filter(|folder| is_of_rustup && folder.is_dir()) {
            installed.variables.insert("RUSTUP_HOME".to_owned(), toolchains.clone().into());
            installed.readable.push(toolchains);
        }
    }
    installed.readable.sort();
    installed.readable.dedup();
    installed
}
