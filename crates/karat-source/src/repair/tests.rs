use super::*;

/// The repaired lines, then those around other additions.
#[track_caller]
fn check(file: &str, before: &str, after: &str, lines: &[u32], around: &[u32]) -> Repair {
    let path = RepoPath::new(file).expect("a path");
    let found = repair(Language::from_path(&path), before, after);
    let [own, near] = [&found.lines, &found.around].map(|lines| lines.keys().copied().collect::<Vec<_>>());
    assert_eq!((own.as_slice(), near.as_slice()), (lines, around), "{file}:\n{before}\n→\n{after}");
    found
}

/// For each language: a version, layout that changes nothing, and two functions that are repaired.
const LANGUAGES: [(&str, &str, &str, &[u32]); 10] = [
    (
        "a.py",
        "__version__ = \"0.05\"\n\n\ndef first(a, b):\n    # old\n    return a / b\n\n\ndef second(rows):\n    return rows[0]\n",
        "__version__ = '0.06'\n\n\ndef first(\n    a,\n    b,\n):\n    # new words\n    return a / max(1, b)\n\n\ndef second(rows):\n    return rows[0] if rows else None\n",
        &[6, 10],
    ),
    (
        "a.js",
        "const VERSION = \"1.2.3\";\nfunction first(a, b) { return a / b }\nfunction second(rows) {\n  return rows[0];\n}\n",
        "const VERSION = '1.2.4'\nfunction first(a, b) {\n  return a / Math.max(1, b);\n}\nfunction second(rows) {\n  return rows.length ? rows[0] : null;\n}\n",
        &[2, 4],
    ),
    (
        "a.ts",
        "export const version: string = '1.2.3';\nexport function first(a: number, b: number) { return a / b; }\nexport function second(rows: string[]) {\n  return rows[0];\n}\n",
        "export const version: string = \"1.3.0\";\nexport function first(\n  a: number,\n  b: number,\n) {\n  return a / Math.max(1, b);\n}\nexport function second(rows: string[]) {\n  return rows.at(0);\n}\n",
        &[2, 4],
    ),
    (
        "A.java",
        "class A {\n  static final String VERSION = \"1.2\";\n  int first(int a, int b) {\n    return a / b;\n  }\n  int second(int[] rows) {\n    return rows[0];\n  }\n}\n",
        "class A {\n  static final String VERSION = \"1.3\";\n\n  int first(\n      int a, int b) {\n    return a / Math.max(1, b);\n  }\n\n  int second(int[] rows) {\n    return rows.length > 0 ? rows[0] : 0;\n  }\n}\n",
        &[4, 7],
    ),
    (
        "a.go",
        "package a\n\nconst Version = \"v0.1.0\"\n\nfunc first(a, b int) int {\n\treturn a / b\n}\n\nfunc second(rows []int) int {\n\treturn rows[0]\n}\n",
        "package a\n\nconst Version = \"v0.2.0\"\n\nfunc first(\n\ta, b int,\n) int {\n\treturn a / atLeastOne(b)\n}\n\nfunc second(rows []int) int {\n\treturn head(rows)\n}\n",
        &[6, 10],
    ),
    (
        "a.rs",
        "pub const VERSION: &str = \"0.1.0\";\n\nfn first(a: u32, b: u32) -> u32 { a / b }\n\nfn second(rows: &[u32]) -> u32 {\n    rows[0]\n}\n",
        "pub const VERSION: &str = \"0.1.1\";\n\nfn first(a: u32, b: u32) -> u32 {\n    a / b.max(1)\n}\n\nfn second(rows: &[u32]) -> u32 {\n    rows.first().copied().unwrap_or_default()\n}\n",
        &[3, 6],
    ),
    (
        "a.c",
        "#define APP_VERSION_MINOR 3\nint first(int a, int b) { return a / b; }\nint second(int *rows) {\n  return rows[0];\n}\n",
        "#define APP_VERSION_MINOR 4\nint first(int a, int b)\n{\n    return a / (b ? b : 1);\n}\nint second(int *rows) {\n  return rows ? rows[0] : 0;\n}\n",
        &[2, 4],
    ),
    (
        "a.cpp",
        "static const char *kVersion = \"3.1\";\nint first(int a, int b) { return a / b; }\nint second(int *rows) {\n  return rows[0];\n}\n",
        "static const char *kVersion = \"3.2\";\nint\nfirst(int a, int b) {\n  return a / std::max(1, b);\n}\nint second(int *rows) {\n  return rows ? rows[0] : 0;\n}\n",
        &[2, 4],
    ),
    (
        "a.rb",
        "VERSION = '0.1'\ndef first(a, b)\n  a / b\nend\n\ndef second(rows)\n  rows[0]\nend\n",
        "VERSION = \"0.2\"\n\ndef first(a,\n          b)\n  a / [1, b].max\nend\n\ndef second(rows)\n  rows.first\nend\n",
        &[3, 7],
    ),
    (
        "a.sol",
        "pragma solidity ^0.8.0;\ncontract A {\n  string version = \"1.0\";\n  function first(uint a, uint b) public returns (uint) { return a / b; }\n  function second(uint a) public returns (uint) {\n    return a - 1;\n  }\n}\n",
        "pragma solidity ^0.8.1;\ncontract A {\n  string version = \"1.1\";\n  function first(\n    uint a,\n    uint b\n  ) public returns (uint) {\n    return a / max(1, b);\n  }\n  function second(uint a) public returns (uint) {\n    return a == 0 ? 0 : a - 1;\n  }\n}\n",
        &[4, 6],
    ),
];

#[test]
fn repaired_lines_are_found_between_versions_and_layout() {
    for (file, before, after, lines) in LANGUAGES {
        let found = check(file, before, after, lines, &[]);
        assert!(!found.only_adds, "{file}");
    }
}

#[test]
fn layout_comments_imports_and_versions_repair_nothing() {
    let nothing = |file: &str, before: &str, after: &str| check(file, before, after, &[], &[]);
    nothing("a.py", "x = f(a, b)\ny = (1)\n", "x = f(\n    a,\n    b,\n)\n\ny = 1\n");
    nothing(
        "a.py",
        "def f():\n    \"\"\"Old.\"\"\"\n    return 1\n",
        "def f():\n    \"\"\"New words.\"\"\"\n    # and why\n    return 1\n",
    );
    nothing("a.py", "import os\nx = 1\n", "import os\nimport re\nfrom a import (b,\n               c)\nx = 1\n");
    nothing("a.rb", "require 'json'\nf(1)\n", "require 'yaml'\nrequire_relative \"b\"\nautoload :C, 'c'\nf(1)\n");
    nothing("a.js", "const a = require('a');\n", "const { a } = require('b'), c = require('c').c;\nrequire('./d');\n");
    nothing("a.ts", "import a = require('a');\n", "import a = require('b');\nvar c = require('c');\n");
    nothing("a.py", "__version__ = \"0.05\"\n", "__version__ = \"1.0rc1\"\n");
    nothing(
        "setup.py",
        "setup(\n    name='a',\n    version='0.5',\n)\n",
        "setup(\n    name=\"a\",\n    version=\"0.6\",\n)\n",
    );
    nothing("a.js", "if (a) return b\n", "if (a) {\n  return b;\n}\n");
    nothing("a.go", "package a\n\nvar version = \"1.0\"\n", "package a\n\nvar version = \"1.1\"\n");
    // Calls that are only named like an import, and those whose result is used, do something.
    check("a.rb", "params.require(:a)\n", "params.require(:b)\n", &[1], &[]);
    check("a.js", "f(require('a'));\n", "f(require('b'));\n", &[1], &[]);
    check("a.js", "const a = require('a'), b = 1;\n", "const a = require('a'), b = 2;\n", &[1], &[]);
    // Without a grammar.
    nothing("package.json", "{\n  \"version\": \"1.0.0\"\n}\n", "{\n    \"version\": \"1.0.1\"\n}\n");
    nothing("pom.xml", "<version>1.2</version>\n", "<version>1.3-rc1</version>\n");
    nothing("a.txt", "f(a, b)\n", "f(\n  a,\n  b)\n");
    nothing("a.txt", "a\n\nb\n", "a\nb\n");
}

#[test]
fn versions_that_decide_something_count() {
    check("a.py", "if version < 2:\n    f()\n", "if version < 3:\n    f()\n", &[1], &[]);
    check("a.py", "tls_version = 1.0\n", "tls_version = 1.2\n", &[1], &[]);
    check("a.py", "def f():\n    return release(1)\n", "def f():\n    return release(2)\n", &[2], &[]);
    check("a.py", "limit = 10\n", "limit = 11\n", &[1], &[]);
}

#[test]
fn what_is_added_to_a_function_repairs_the_lines_around_it() {
    let before = "def f(rows):\n    n = len(rows)\n    return sum(rows) / n\n\n\ndef g():\n    return 1\n";
    let guard = before.replace("    n = len", "    if not rows:\n        return 0\n    n = len");
    assert!(check("a.py", before, &guard, &[1, 2], &[]).only_adds);
    // At the end of a function, what follows it is not meant.
    let end = before.replace("/ n\n", "/ n\n    audit(rows)\n");
    check("a.py", before, &end, &[3], &[]);
    // Code that is wrapped in a block is the same code.
    let wrapped = before.replace("    return sum(rows) / n\n", "    if n:\n        return sum(rows) / n\n");
    check("a.py", before, &wrapped, &[3], &[]);
    // What leaves a block means something else.
    check(
        "a.py",
        "def f(x):\n    if x:\n        a()\n        b()\n",
        "def f(x):\n    if x:\n        a()\n    b()\n",
        &[4],
        &[],
    );
    // A decorator is about what follows it.
    check("a.py", before, &before.replace("def g", "@login_required\ndef g"), &[6], &[]);
    let java = "class A {\n  int x;\n\n  void g() {\n    f();\n  }\n}\n";
    check("A.java", java, &java.replace("  void g", "  @Secured(\"x\")\n  void g"), &[4], &[]);
    // An entry of a list.
    check("a.py", "A = [\n    1,\n    2,\n]\n", "A = [\n    1,\n    7,\n    2,\n]\n", &[2, 3], &[]);
}

#[test]
fn new_definitions_are_no_repaired_lines() {
    let before = "import os\n\n\ndef f(rows):\n    return rows\n";
    check("a.py", before, &before.replace("def f", "LIMIT = 3\n\n\ndef f"), &[], &[1, 4]);
    check("a.py", before, &format!("{before}\n\ndef g():\n    return 1\n"), &[], &[5]);
    let class = "class A {\n  void f() {\n    g();\n  }\n}\n";
    let more = class.replace("  void f", "  int n = 3;\n\n  void h() {\n    g();\n  }\n\n  void f");
    check("A.java", class, &more, &[], &[1, 2]);
}

#[test]
fn lines_weigh_what_their_nodes_do() {
    let before = "def f(a):\n    return a\n\n\ndef g(a):\n    return a\n";
    let after = "def f(a):\n    return b\n\n\ndef g(a):\n    return clean(a, strict=True, limit=LIMIT)\n";
    let found = check("a.py", before, after, &[2, 6], &[]);
    assert!(found.lines[&2] < found.lines[&6], "{found:?}");
    // However many words a text has, it is one node.
    let text = before.replace("    return a\n\n\n", "    raise Bad('far more words than the other line has')\n\n\n");
    let found = check(
        "a.py",
        &text,
        &after.replace("return b", "raise Bad('some other words that nobody needs to see')"),
        &[2, 6],
        &[],
    );
    assert!(found.lines[&2] < found.lines[&6], "{found:?}");
}

#[test]
fn lock_files_are_known() {
    let is_lock = |path: &str| is_lock_file(&RepoPath::new(path).expect("a path"));
    for path in
        ["Cargo.lock", "web/package-lock.json", "yarn.lock", "go.sum", "Gemfile.lock", "a/pnpm-lock.yaml", "uv.lock"]
    {
        assert!(is_lock(path), "{path}");
    }
    for path in ["src/lock.py", "package.json", "lock/a.rs", "deadlock.go"] {
        assert!(!is_lock(path), "{path}");
    }
}
