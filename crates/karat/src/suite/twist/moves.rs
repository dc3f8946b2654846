//! Files under other names, with the imports that name them.

use super::new_names::NameMaker;
use karat_core::path::RepoPath;
use karat_source::language::Language;
use karat_source::rewrite::{imported_files, names_modules, words};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// One code file of one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeFileText<'a> {
    pub(super) path: &'a str,
    pub(super) language: Language,
    pub(super) text: &'a str,
}

/// The new paths of files that can be moved. `outside` is every text that could name a file and is not code.
pub(super) fn plan_moves(
    files: &[CodeFileText<'_>],
    all_paths: &BTreeSet<&str>,
    outside: &str,
    names: &mut NameMaker,
) -> BTreeMap<String, String> {
    let mut by_stem: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in all_paths {
        let (_, stem, _) = parts(path);
        by_stem.entry(stem).or_default().insert(path);
    }
    let mut moves = BTreeMap::new();
    for (stem, paths) in by_stem {
        let languages: Option<BTreeSet<Language>> =
            paths.iter().map(|path| Language::from_path(&RepoPath::new(path)?)).collect();
        let Some(languages) = languages else { continue };
        // A header and the file that belongs to it have the same name.
        let is_pair = languages.iter().all(|language| matches!(language, Language::C | Language::Cpp));
        if (paths.len() > 1 && !is_pair) || outside.contains(stem) || !is_plain(stem) {
            continue;
        }
        let movable = languages.iter().all(|language| match language {
            Language::Go => !is_special_go(stem),
            Language::Python => is_only_imported(files, stem, &paths),
            Language::Rust | Language::Java => false,
            _ => is_named_by_imports_only(files, stem, &paths),
        });
        if !movable {
            continue;
        }
        let Some(new) = names.rename(stem, false) else { continue };
        for path in paths {
            let (folder, _, extension) = parts(path);
            moves.insert(path.to_owned(), format!("{folder}{new}{extension}"));
        }
    }
    if moves.values().any(|new| all_paths.contains(new.as_str())) { BTreeMap::new() } else { moves }
}

/// What has to be replaced in a file because others moved.
pub(super) fn import_splices(file: CodeFileText<'_>, moves: &BTreeMap<String, String>) -> Vec<(Range<usize>, String)> {
    let mut splices = Vec::new();
    for import in imported_files(file.language, file.text) {
        let Some((old, new)) = moves.iter().find(|(old, _)| names_file(file, &import.path, old)) else { continue };
        let (old_stem, new_stem) = (parts(old).1, parts(new).1);
        // The last occurrence is that of the file; folders may have the same name.
        if let Some(at) = import.path.rfind(old_stem) {
            let start = import.range.start + at;
            splices.push((start..start + old_stem.len(), new_stem.to_owned()));
        }
    }
    splices
}

/// The folder with its slash, the name without its ending, and the ending with its dot.
fn parts(path: &str) -> (&str, &str, &str) {
    let start = path.rfind('/').map_or(0, |slash| slash + 1);
    let end = path[start..].find('.').map_or(path.len(), |dot| start + dot);
    (&path[..start], &path[start..end], &path[end..])
}

/// Whether a name has no meaning of its own for a language or a tool.
fn is_plain(stem: &str) -> bool {
    const MEANT: [&str; 12] = [
        "__init__", "__main__", "index", "main", "lib", "mod", "conftest", "setup", "Rakefile", "Gemfile", "package",
        "doc",
    ];
    let lower = stem.to_ascii_lowercase();
    stem.len() > 2
        && !MEANT.contains(&stem)
        && !lower.starts_with("test")
        && !lower.ends_with("test")
        && !lower.ends_with("spec")
        && stem.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Whether the end of a name decides where Go compiles a file.
fn is_special_go(stem: &str) -> bool {
    const SYSTEMS: [&str; 10] =
        ["linux", "windows", "darwin", "freebsd", "unix", "js", "wasm", "amd64", "arm64", "386"];
    stem.rsplit('_').next().is_some_and(|last| SYSTEMS.contains(&last))
}

/// Whether every occurrence of a module's name is the end of an import of this file.
fn is_only_imported(files: &[CodeFileText<'_>], stem: &str, paths: &BTreeSet<&str>) -> bool {
    files.iter().all(|file| {
        let all = words(file.text).filter(|(_, word)| *word == stem).count();
        let imports = imported_files(file.language, file.text);
        let named = imports.iter().filter(|import| paths.iter().any(|path| names_file(*file, &import.path, path)));
        named.count() == all
    })
}

/// Whether code names a file in no other way than by imports.
fn is_named_by_imports_only(files: &[CodeFileText<'_>], stem: &str, paths: &BTreeSet<&str>) -> bool {
    files.iter().all(|file| {
        let in_text: usize =
            ["/", "\"", "'", "`"].iter().map(|before| file.text.matches(&format!("{before}{stem}")).count()).sum();
        let imports = imported_files(file.language, file.text);
        let named = imports.iter().filter(|import| paths.iter().any(|path| names_file(*file, &import.path, path)));
        named.count() == in_text
    })
}

/// Whether what an import names is a file.
fn names_file(importer: CodeFileText<'_>, named: &str, path: &str) -> bool {
    let (folder, stem, _) = parts(path);
    let whole = format!("{folder}{stem}");
    if names_modules(importer.language) {
        let dotted = whole.replace('/', ".");
        let from_root = dotted == named || dotted.ends_with(&format!(".{named}"));
        return path.ends_with(".py") && from_root;
    }
    let (own_folder, _, _) = parts(importer.path);
    // Includes are also looked for in other folders.
    let is_c = matches!(importer.language, Language::C | Language::Cpp);
    if is_c {
        return path == named || path.ends_with(&format!("/{named}"));
    }
    let resolved = resolve(own_folder, named);
    let (named_folder, named_stem, _) = parts(&resolved);
    format!("{named_folder}{named_stem}") == whole
}

/// A relative path from the root of the code.
fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}
