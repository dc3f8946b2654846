//! Files under other names, with the imports that name them.

use super::new_names::NameMaker;
use karat_core::path::RepoPath;
use karat_source::language::Language;
use karat_source::rewrite::{ImportedFile, imported_files, names_modules, words};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// One code file of one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeFileText<'a> {
    pub(super) path: &'a str,
    pub(super) language: Language,
    pub(super) text: &'a str,
}

/// The new paths of files that can be moved, in a program that computes no imports. `outside` is every text that could name a file and is not code.
pub(super) fn plan_moves(
    files: &[CodeFileText<'_>],
    all_paths: &BTreeSet<&str>,
    outside: &str,
    names: &mut NameMaker,
) -> BTreeMap<String, String> {
    let files: Vec<FileImports<'_>> = files.iter().map(|file| FileImports::new(*file)).collect();
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
            Language::Rust | Language::Java => false,
            // Nothing loads one of their sources while it runs, so it need not be named at all.
            Language::C | Language::Cpp => count_imports(&files, stem, &paths).is_some(),
            _ => count_imports(&files, stem, &paths).is_some_and(|imports| imports > 0),
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

/// What a file names.
struct FileImports<'a> {
    file: CodeFileText<'a>,
    imports: Vec<ImportedFile>,
    /// The words by which it could name another, sorted: all words in Python, and else those behind a slash or a quote.
    words: Vec<&'a str>,
}

impl<'a> FileImports<'a> {
    fn new(file: CodeFileText<'a>) -> Self {
        let is_named =
            |start: usize| names_modules(file.language) || file.text[..start].ends_with(['/', '"', '\'', '`']);
        let mut words: Vec<&str> =
            words(file.text).filter(|(start, _)| is_named(*start)).map(|(_, word)| word).collect();
        words.sort_unstable();
        Self { file, imports: imported_files(file.language, file.text), words }
    }

    /// How many words could name a file of this name.
    fn count_words(&self, stem: &str) -> usize {
        let start = self.words.partition_point(|word| *word < stem);
        let is_meant =
            |word: &&&str| if names_modules(self.file.language) { **word == stem } else { word.starts_with(stem) };
        self.words[start..].iter().take_while(is_meant).count()
    }
}

/// How many imports name a file, if code names it in no other way.
fn count_imports(files: &[FileImports<'_>], stem: &str, paths: &BTreeSet<&str>) -> Option<usize> {
    let mut imports = 0;
    for own in files {
        let is_named = |import: &&ImportedFile| {
            import.path.contains(stem) && paths.iter().any(|path| names_file(own.file, &import.path, path))
        };
        let named = own.imports.iter().filter(is_named).count();
        if named != own.count_words(stem) {
            return None;
        }
        imports += named;
    }
    Some(imports)
}

/// Whether what an import names is a file.
fn names_file(importer: CodeFileText<'_>, named: &str, path: &str) -> bool {
    let (folder, stem, _) = parts(path);
    let whole = format!("{folder}{stem}");
    let (own_folder, _, _) = parts(importer.path);
    if names_modules(importer.language) {
        return path.ends_with(".py") && names_module(own_folder, named, &whole);
    }
    // Includes are also looked for in other folders.
    let is_c = matches!(importer.language, Language::C | Language::Cpp);
    if is_c {
        return path == named || path.ends_with(&format!("/{named}"));
    }
    // Anything else is a package.
    if !named.starts_with('.') && importer.language != Language::Ruby {
        return false;
    }
    let resolved = resolve(own_folder, named);
    let (named_folder, named_stem, _) = parts(&resolved);
    format!("{named_folder}{named_stem}") == whole
}

/// Whether what Python imports in a file of this folder is a module of the code.
fn names_module(own_folder: &str, named: &str, whole: &str) -> bool {
    let path = named.trim_start_matches('.').replace('.', "/");
    let dots = named.len() - named.trim_start_matches('.').len();
    if dots > 0 {
        let above = "../".repeat(dots - 1);
        return resolve(own_folder, &format!("{above}{path}")) == whole;
    }
    // A module in any other folder may be one of the standard library, or of a package.
    let is_in_package = path.contains('/');
    ["", "src/"].iter().any(|root| format!("{root}{path}") == whole && (is_in_package || own_folder == *root))
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
