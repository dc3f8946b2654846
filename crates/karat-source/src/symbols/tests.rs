use super::*;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A line that ends in `~ name#1` states its expected symbol; `~ ?` accepts any.
fn check(fixture: &str, prefix: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/source");
    let source = prefix.to_owned() + &fs::read_to_string(folder.join(fixture)).expect("a fixture");
    let language = Language::from_path(&RepoPath::new(fixture).expect("a path")).expect("a language");
    let symbols = Symbols::parse(language, &source).expect("symbols");
    let (mut found, mut expect) = (String::new(), String::new());
    for (row, text) in source.lines().enumerate() {
        let Some((_, mark)) = text.rsplit_once("~ ").filter(|(_, mark)| *mark != "?") else { continue };
        let _ = writeln!(found, "{}: {}", row + 1, symbols.at(line(row)));
        let _ = writeln!(expect, "{}: {mark}", row + 1);
    }
    assert!(!expect.is_empty(), "{fixture} has no expectations");
    assert_eq!(found, expect, "{fixture}");
}

const FIXTURES: &[&str] = &[
    "sample.ts",
    "sample.tsx",
    "sample.js",
    "sample.py",
    "Sample.java",
    "sample.go",
    "sample.rs",
    "sample.c",
    "sample.cpp",
    "sample.rb",
    "sample.sol",
    "legacy.sol",
    "broken.py",
];

#[test]
fn lines_are_in_their_symbols() {
    FIXTURES.iter().for_each(|fixture| check(fixture, ""));
}

#[test]
fn symbols_survive_moved_lines() {
    FIXTURES.iter().for_each(|fixture| check(fixture, "\n\n\n"));
}

#[test]
fn line_ends_do_not_matter() {
    let source = "class A:\r\n    def m(self):\r\n        return 1\r\n\r\nx = 1\r\n";
    let symbols = Symbols::parse(Language::Python, source).expect("symbols");
    let found: Vec<String> = (1..=5).map(|line| symbols.at(line)).collect();
    assert_eq!(found, ["A#1", "A.m#1", "A.m#1", "(file)#1", "(file)#1"]);
}

#[test]
fn range_is_in_the_symbol_that_contains_all_of_it() {
    let source = "class A {\n  m() {\n    go();\n  }\n  n() {\n    go();\n  }\n}\n";
    let symbols = Symbols::parse(Language::JavaScript, source).expect("symbols");
    let around = |start, end| symbols.around(Lines { start, end });
    assert_eq!(around(2, 4), "A.m#1");
    assert_eq!(around(3, 6), "A#1");
    assert_eq!(around(6, 9), "(file)#1");
}

#[test]
fn lines_outside_the_file_have_no_symbol() {
    let symbols = Symbols::parse(Language::JavaScript, "function f() {}\n").expect("symbols");
    assert_eq!(symbols.at(0), "(file)#1");
    assert_eq!(symbols.at(1), "f#1");
    assert_eq!(symbols.at(2), "(file)#1");
    assert_eq!(symbols.at(u32::MAX), "(file)#1");
}

#[test]
fn deep_source_does_not_overflow() {
    let parens = format!("function f() {{\n return {}1{};\n}}\n", "(".repeat(100_000), ")".repeat(100_000));
    let symbols = Symbols::parse(Language::JavaScript, &parens);
    assert_eq!(symbols.map(|symbols| symbols.at(2)).as_deref(), Some("f#1"));

    let nested = format!("{}go();\n{}", "function f() {\n".repeat(10_000), "}\n".repeat(10_000));
    let symbols = Symbols::parse(Language::JavaScript, &nested).expect("symbols");
    assert_eq!(symbols.at(3), "f.f.f#1");
    assert_eq!(symbols.at(10_001).split('.').count(), MAX_DEPTH);

    for (language, opening) in [
        (Language::Python, "(["),
        (Language::Rust, "mod m { "),
        (Language::Cpp, "namespace n { template<"),
        (Language::C, "int *("),
        (Language::Ruby, "class A; def m; ["),
        (Language::Solidity, "contract C { function f() { "),
        (Language::TypeScript, "namespace N { <a>("),
        (Language::Tsx, "<a b={"),
        (Language::Go, "func f() { func() { "),
        (Language::Java, "class A { void m() { "),
    ] {
        if let Some(symbols) = Symbols::parse(language, &opening.repeat(20_000)) {
            assert!(symbols.at(1).len() < 20_000, "{language:?}");
        }
    }
}

#[test]
fn oversized_source_has_no_symbols() {
    assert!(Symbols::parse(Language::Python, &"x = 1\n".repeat(MAX_SOURCE / 6 + 1)).is_none());
    assert!(Symbols::parse(Language::Python, "").is_some());
    assert!(Symbols::parse(Language::C, "\0\u{feff}\u{202e}").is_some());
}

#[test]
fn names_are_short_and_printable() {
    let source = format!("class A {{\n 'a\u{1b}[31m\u{7}b'() {{}}\n {}() {{}}\n}}", "x".repeat(9_000));
    let symbols = Symbols::parse(Language::JavaScript, &source).expect("symbols");
    assert_eq!(symbols.at(2), "A.a [31m b#1");
    assert!(symbols.at(3).len() < 300);
}

#[test]
fn files_are_read_once() {
    let mut reads = Vec::new();
    let mut cache = SymbolCache::default();
    let mut files = |path: &RepoPath| {
        reads.push(path.to_string());
        (path.as_str() != "gone.py").then(|| "def f():\n    return 1\n".to_owned())
    };
    let mut symbol_of = |path: &str, start, end| {
        cache.symbol_of(&mut files, &RepoPath::new(path).expect("a path"), Lines { start, end })
    };
    assert_eq!(symbol_of("a.py", 2, 2).as_deref(), Some("f#1"));
    assert_eq!(symbol_of("a.py", 1, 2).as_deref(), Some("f#1"));
    assert_eq!(symbol_of("a.py", 2, 3), None);
    assert_eq!(symbol_of("gone.py", 1, 1), None);
    assert_eq!(symbol_of("gone.py", 1, 1), None);
    assert_eq!(symbol_of("a.txt", 1, 1), None);
    assert_eq!(reads, ["a.py", "gone.py"]);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
fn real_files_are_read() {
    let shared = std::env::var_os("KARAT_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), std::path::PathBuf::from);
    if !shared.is_dir() {
        eprintln!("skipped: {} is absent", shared.display());
        return;
    }
    let mut folders = vec![shared.join("smartbugs-curated"), shared.join("crb-challenges")];
    let (mut files, mut functions, mut placed) = (0, 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = RepoPath::new(&entry.file_name().to_string_lossy());
            let Some(language) = name.as_ref().and_then(Language::from_path) else {
                folders.extend(entry.path().is_dir().then(|| entry.path()));
                continue;
            };
            let source = fs::read(entry.path()).expect("a file");
            let source = String::from_utf8_lossy(&source);
            let symbols = Symbols::parse(language, &source).unwrap_or_else(|| panic!("{}", entry.path().display()));
            files += 1;
            for (row, text) in source.lines().enumerate() {
                let mut words = text.split_whitespace();
                if language == Language::Solidity && words.next() == Some("function") {
                    let name = words.next().and_then(|word| word.split('(').next()).filter(|name| !name.is_empty());
                    let symbol = symbols.at(line(row));
                    functions += 1;
                    placed += usize::from(symbol.contains(&format!(".{}#", name.unwrap_or("fallback"))));
                }
            }
        }
    }
    assert!(files > 150, "{files} files");
    assert!(placed * 100 >= functions * 97, "{placed} of {functions} functions lie in a symbol of their name");
}

impl Symbols {
    fn at(&self, line: u32) -> String {
        self.around(Lines { start: line, end: line })
    }
}
