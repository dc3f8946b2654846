//! The supported programming languages.

use karat_core::path::RepoPath;

/// A language with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Language {
    /// TypeScript without JSX, which would take casts in angle brackets for tags.
    TypeScript,
    Tsx,
    /// JavaScript, with or without JSX.
    JavaScript,
    Python,
    Java,
    Go,
    Rust,
    /// C, and headers named `.h`.
    C,
    Cpp,
    Ruby,
    Solidity,
}

impl Language {
    /// The language of a file, by its name.
    pub fn from_path(path: &RepoPath) -> Option<Self> {
        let name = path.file_name();
        if matches!(name, "Rakefile" | "Gemfile") {
            return Some(Self::Ruby);
        }
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        if matches!(extension, "C" | "H") {
            return Some(Self::Cpp);
        }
        let extension = extension.to_ascii_lowercase();
        LANGUAGES.iter().find(|row| row.2.contains(&extension.as_str())).map(|row| row.0)
    }

    /// The name used in cases.
    pub fn name(self) -> &'static str {
        LANGUAGES[self as usize].1
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        LANGUAGES[self as usize].3()
    }
}

/// The name of a language in cases, the extensions of its files, and its grammar.
type Row = (Language, &'static str, &'static [&'static str], fn() -> tree_sitter::Language);

/// In the order of the variants.
static LANGUAGES: [Row; 11] = [
    (Language::TypeScript, "typescript", &["ts", "mts", "cts"], || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    (Language::Tsx, "typescript", &["tsx"], || tree_sitter_typescript::LANGUAGE_TSX.into()),
    (Language::JavaScript, "javascript", &["js", "jsx", "mjs", "cjs"], || tree_sitter_javascript::LANGUAGE.into()),
    (Language::Python, "python", &["py", "pyi", "pyw"], || tree_sitter_python::LANGUAGE.into()),
    (Language::Java, "java", &["java"], || tree_sitter_java::LANGUAGE.into()),
    (Language::Go, "go", &["go"], || tree_sitter_go::LANGUAGE.into()),
    (Language::Rust, "rust", &["rs"], || tree_sitter_rust::LANGUAGE.into()),
    (Language::C, "c", &["c", "h"], || tree_sitter_c::LANGUAGE.into()),
    (Language::Cpp, "cpp", &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++"], || {
        tree_sitter_cpp::LANGUAGE.into()
    }),
    (Language::Ruby, "ruby", &["rb", "rake", "gemspec"], || tree_sitter_ruby::LANGUAGE.into()),
    (Language::Solidity, "solidity", &["sol"], || tree_sitter_solidity::LANGUAGE.into()),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_determine_the_language() {
        let check = |path: &str, expect: Option<&str>| {
            let path = RepoPath::new(path).expect("a path");
            assert_eq!(Language::from_path(&path).map(Language::name), expect, "{path}");
        };
        check("src/a.ts", Some("typescript"));
        check("src/a.d.mts", Some("typescript"));
        check("src/App.TSX", Some("typescript"));
        check("a.jsx", Some("javascript"));
        check("a.cjs", Some("javascript"));
        check("x/y.py", Some("python"));
        check("A.java", Some("java"));
        check("a.go", Some("go"));
        check("a.rs", Some("rust"));
        check("a.h", Some("c"));
        check("a.H", Some("cpp"));
        check("a.hh", Some("cpp"));
        check("a.cxx", Some("cpp"));
        check("lib/a.rb", Some("ruby"));
        check("Rakefile", Some("ruby"));
        check("a.sol", Some("solidity"));
        check("a.md", None);
        check("py", None);
        check(".py", None);
        check("dir.py/readme", None);
    }
}
