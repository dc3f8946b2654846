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
        Some(match extension.to_ascii_lowercase().as_str() {
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "py" | "pyi" | "pyw" => Self::Python,
            "java" => Self::Java,
            "go" => Self::Go,
            "rs" => Self::Rust,
            "c" | "h" => Self::C,
            "cpp" | "cc" | "cxx" | "c++" | "hpp" | "hh" | "hxx" | "h++" => Self::Cpp,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "sol" => Self::Solidity,
            _ => return None,
        })
    }

    /// The name used in cases.
    pub fn name(self) -> &'static str {
        match self {
            Self::TypeScript | Self::Tsx => "typescript",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Java => "java",
            Self::Go => "go",
            Self::Rust => "rust",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Ruby => "ruby",
            Self::Solidity => "solidity",
        }
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Solidity => tree_sitter_solidity::LANGUAGE.into(),
        }
    }
}

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
