//! Variants of small programs, one in each language.

use super::program::{FileTree, Mark, Program, TwistOperation, TwistedProgram};
use super::{TwistReport, TwistRequest, twist_suite};
use crate::failure::Result;
use crate::run::selection::Selection;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_source::language::Language;
use karat_source::rewrite::parses;
use std::fs;
use std::path::Path;

fn tree(files: &[(&str, &str)]) -> FileTree {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

fn mark(file: &str, text: &str, quote: &str) -> Mark {
    let line = text.lines().position(|line| line.contains(quote)).unwrap_or_else(|| panic!("{quote}")) + 1;
    let line = u32::try_from(line).unwrap();
    Mark { file: Some(file.to_owned()), lines: Some(Lines { start: line, end: line }), quote: Some(quote.to_owned()) }
}

/// Twists a program of one file, whose fix replaces `quote` by `fixed`, and checks everything that must stay true.
fn twist(path: &str, text: &str, quote: &str, fixed: &str, outside: &str, seed: u64) -> TwistedProgram {
    let language = Language::from_path(&RepoPath::new(path).unwrap()).unwrap();
    assert!(parses(language, text), "{path} is no program");
    let before = text.replace(quote, fixed);
    let versions = [tree(&[(path, &before)]), tree(&[(path, text)]), tree(&[(path, &before)])];
    let marks = [mark(path, text, quote)];
    let program = Program { versions: &versions, after: 1, before: Some(0), outside, marks: &marks, seed };
    let twisted = program.twist(&TwistOperation::ALL).unwrap_or_else(|why| panic!("{path}: {why}"));
    for files in &twisted.versions {
        for (path, bytes) in files {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(parses(language, &text), "{path} cannot be parsed any more:\n{text}");
        }
    }
    // The change is as large as it was.
    let [old, new] = [&twisted.versions[0], &twisted.versions[1]].map(|files| {
        let bytes = files.values().next().unwrap();
        String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(old.iter().zip(&new).filter(|(old, new)| old != new).count(), 1, "{path}: {old:#?} {new:#?}");
    let moved = &twisted.marks[0];
    let line = &new[moved.lines.unwrap().start as usize - 1];
    assert!(line.contains(moved.quote.as_deref().unwrap()), "{path}: {moved:?} is not on {line:?}");
    assert_eq!(twisted.versions[0], twisted.versions[2], "the fix is the code before");
    let again = program.twist(&TwistOperation::ALL).unwrap();
    assert!(again.versions == twisted.versions && again.marks == twisted.marks, "the same seed gave another variant");
    twisted
}

const PROGRAMS: [(&str, &str, &str, &str); 11] = [
    (
        "app/items.py",
        "import logging\n\nlog = logging.getLogger()\n\n\ndef pick(rows, limit):\n    chosen = rows[:limit + 1]\n    \
         log.info(\"picked some rows\")\n    return chosen\n\n\ndef drop(rows):\n    return [row for row in rows if row]\n",
        "rows[:limit + 1]",
        "rows[:limit]",
    ),
    (
        "src/items.js",
        "import fs from \"node:fs\";\n\nexport function pick(rows, limit) {\n  const chosen = rows.slice(0, limit + 1);\n  \
         return { chosen };\n}\n\nexport function drop(rows) {\n  return rows.filter((row) => row);\n}\n",
        "rows.slice(0, limit + 1)",
        "rows.slice(0, limit)",
    ),
    (
        "src/items.ts",
        "import fs from \"node:fs\";\n\nexport function pick(rows: string[], limit: number): string[] {\n  \
         const chosen = rows.slice(0, limit + 1);\n  return chosen;\n}\n\nexport function drop(rows: string[]): string[] {\n  \
         return rows.filter((row) => row);\n}\n",
        "rows.slice(0, limit + 1)",
        "rows.slice(0, limit)",
    ),
    (
        "src/View.tsx",
        "import React from \"react\";\n\nexport function View(props: Props) {\n  const shown = props.limit + 1;\n  \
         return <b>{shown}</b>;\n}\n\nexport function half(rows: string[]): number {\n  return rows.length;\n}\n",
        "props.limit + 1",
        "props.limit",
    ),
    (
        "src/Items.java",
        "package shop;\n\nclass Items {\n    int pick(int[] rows, int limit) {\n        int last = limit + 1;\n        \
         return rows[last];\n    }\n\n    int drop(int[] rows) {\n        return rows.length;\n    }\n}\n",
        "int last = limit + 1;",
        "int last = limit;",
    ),
    (
        "items/items.go",
        "package items\n\n// pick takes rows.\nfunc pick(rows []int, limit int) []int {\n\tchosen := rows[:limit+1]\n\t\
         return chosen\n}\n\nfunc drop(rows []int) int {\n\treturn len(pick(rows, 1))\n}\n",
        "rows[:limit+1]",
        "rows[:limit]",
    ),
    (
        "src/items.rs",
        "//! Items.\n\n/// Picks.\npub fn pick(rows: &[u8], limit: usize) -> &[u8] {\n    let last = limit + 1;\n    \
         &rows[..last]\n}\n\nfn drop(rows: &[u8]) -> usize {\n    pick(rows, 1).len()\n}\n",
        "let last = limit + 1;",
        "let last = limit;",
    ),
    (
        "src/items.c",
        "#include <stddef.h>\n\nint pick(const int *rows, size_t limit)\n{\n    size_t last = limit + 1;\n    \
         return rows[last];\n}\n\nint drop(const int *rows)\n{\n    return rows[0];\n}\n",
        "size_t last = limit + 1;",
        "size_t last = limit;",
    ),
    (
        "src/items.cpp",
        "#include <vector>\n\nint pick(const std::vector<int>& rows, int limit) {\n    int last = limit + 1;\n    \
         return rows[last];\n}\n\nint drop(const std::vector<int>& rows) {\n    return rows[0];\n}\n",
        "int last = limit + 1;",
        "int last = limit;",
    ),
    (
        "lib/items.rb",
        "# frozen_string_literal: true\n\nclass Items\n  def pick(rows, limit)\n    chosen = rows.take(limit + 1)\n    \
         chosen\n  end\n\n  def drop(rows)\n    rows.compact\n  end\nend\n",
        "rows.take(limit + 1)",
        "rows.take(limit)",
    ),
    (
        "contracts/Items.sol",
        "pragma solidity ^0.8.20;\n\ncontract Items {\n    function pick(uint256 rows, uint256 limit) public pure returns (uint256) {\n        \
         uint256 last = limit + 1;\n        return rows % last;\n    }\n\n    function drop(uint256 rows) public pure returns (uint256) {\n        \
         return rows;\n    }\n}\n",
        "uint256 last = limit + 1;",
        "uint256 last = limit;",
    ),
];

#[test]
fn a_program_in_every_language_has_variants() {
    for (path, text, quote, fixed) in PROGRAMS {
        let mut reordered = false;
        for seed in 0..8 {
            let twisted = twist(path, text, quote, fixed, "", seed);
            let has = |operation| twisted.operations.contains_key(&operation);
            assert!(has(TwistOperation::Rename), "{path} {:?}", twisted.operations);
            assert!(has(TwistOperation::DeadCode), "{path} {:?}", twisted.operations);
            reordered |= has(TwistOperation::Reorder);
            // In other languages, a file is moved only if an import names it.
            let moves = matches!(path.rsplit('.').next(), Some("go" | "c" | "cpp"));
            assert_eq!(has(TwistOperation::Move), moves, "{path} {:?}", twisted.operations);
        }
        assert!(reordered, "{path} was never put in another order");
    }
}

#[test]
fn what_is_said_elsewhere_stays() {
    let (path, text, quote, fixed) = PROGRAMS[0];
    let twisted = twist(path, text, quote, fixed, "from app.items import pick\nlimit\n\"picked some rows\"", 1);
    let after = String::from_utf8(twisted.versions[1].get(path).expect("it is not moved").clone()).unwrap();
    assert!(
        after.contains("def pick(") && after.contains("limit + 1") && after.contains("\"picked some rows\""),
        "{after}"
    );
    assert!(after.contains("rows[:") && !after.contains("    chosen ="), "{after}");
    assert_eq!(twisted.operations.get(&TwistOperation::LogText), None);
}

#[test]
fn moved_files_are_imported_by_their_new_names() {
    let main = "from app.stock import read_all\n\n\ndef show(path):\n    return read_all(path)\n";
    let stock = "import os\n\n\ndef read_all(path):\n    return os.listdir(path)\n";
    let versions = [tree(&[("app/__init__.py", ""), ("app/show.py", main), ("app/stock.py", stock)])];
    let program = Program { versions: &versions, after: 0, before: None, outside: "show", marks: &[], seed: 1 };
    let twisted = program.twist(&[TwistOperation::Move]).unwrap();
    assert_eq!(twisted.moves.keys().collect::<Vec<_>>(), ["app/stock.py"]);
    let new = twisted.moves["app/stock.py"].strip_prefix("app/").unwrap().strip_suffix(".py").unwrap();
    let main = String::from_utf8(twisted.versions[0]["app/show.py"].clone()).unwrap();
    assert!(main.starts_with(&format!("from app.{new} import read_all\n")), "{main}");
}

/// The files that are moved, and the program with them moved.
fn moved(files: &[(&str, &str)]) -> (Vec<String>, FileTree) {
    let versions = [tree(files)];
    let program = Program { versions: &versions, after: 0, before: None, outside: "", marks: &[], seed: 1 };
    let mut twisted = program.twist(&[TwistOperation::Move]).unwrap();
    (twisted.moves.keys().cloned().collect(), twisted.versions.remove(0))
}

#[test]
fn files_that_may_be_loaded_by_a_computed_name_are_not_moved() {
    let created = ("src/handlers/created.mjs", "export function act() {}\n");
    let stock = ("src/stock.mjs", "export function count() {}\n");
    let main = "import { count } from \"./stock.mjs\";\n\ncount();\n";
    // Nothing names `created`, so it may be loaded in a way that is not seen.
    let (moves, _) = moved(&[created, stock, ("src/start.mjs", main)]);
    assert_eq!(moves, ["src/stock.mjs"]);
    let computed = format!("{main}const {{ act }} = await import(`./handlers/${{process.argv[2]}}.mjs`);\nact();\n");
    assert_eq!(moved(&[created, stock, ("src/start.mjs", &computed)]).0, [""; 0]);
    let plugin = ("plugins/csv_out.py", "def write():\n    pass\n");
    let main = "import importlib\nfrom plugins.csv_out import write\n\nwrite()\nimportlib.import_module(\"plugins.\" + KIND)\n";
    assert_eq!(moved(&[plugin, ("start.py", main)]).0, [""; 0]);
}

#[test]
fn imports_of_libraries_stay() {
    let queue = ("app/queue.py", "class Jobs:\n    pass\n");
    let main = "from queue import Empty\n\nfrom app.stock import read\nfrom .shelf import find\n\nread(find(Empty))\n";
    let (moves, files) = moved(&[
        queue,
        ("app/stock.py", "def read(rows):\n    return rows\n"),
        ("app/shelf.py", "def find(row):\n    return row\n"),
        ("app/start.py", main),
        ("lib/app/stock2.py", "x = 1\n"),
    ]);
    assert_eq!(moves, ["app/shelf.py", "app/stock.py"]);
    let text = String::from_utf8(files["app/start.py"].clone()).unwrap();
    assert!(text.starts_with("from queue import Empty\n\nfrom app."), "{text}");
    // Even beside an import of the code's own file of that name.
    let both = "from queue import Empty\n\nfrom .queue import Jobs\n\nJobs(Empty)\n";
    assert_eq!(moved(&[queue, ("app/start.py", both)]).0, [""; 0]);
    let events = ("src/events.js", "export const a = 1;\n");
    let script =
        "import { EventEmitter } from \"events\";\nimport { a } from \"./events.js\";\n\nnew EventEmitter(a);\n";
    assert_eq!(moved(&[events, ("src/start.js", script)]).0, [""; 0]);
}

#[test]
fn names_of_the_standard_library_stay() {
    let json = "from json import loads\n\n\ndef dumps(item):\n    return loads(item)\n\n\ndef helper(item):\n    return dumps(item)\n";
    let main = "from json import dumps\nfrom pkg.json import helper\n\n\ndef run(item):\n    return dumps(item) + helper(item)\n";
    let renamed = |folder: &str| {
        let paths = ["__init__", "json", "main"].map(|name| format!("{folder}/{name}.py"));
        let versions = [tree(&[(&paths[0], ""), (&paths[1], json), (&paths[2], main)])];
        let program = Program { versions: &versions, after: 0, before: None, outside: "", marks: &[], seed: 1 };
        let twisted = program.twist(&[TwistOperation::Rename]).unwrap();
        String::from_utf8(twisted.versions[0][&paths[2]].clone()).unwrap()
    };
    for folder in ["pkg", "src/pkg"] {
        let text = renamed(folder);
        assert!(text.starts_with("from json import dumps\n") && text.contains("return dumps("), "{text}");
        assert!(!text.contains("import helper"), "{text}");
    }
}

#[test]
fn line_ends_stay() {
    let (path, text, ..) = PROGRAMS[0];
    let text = text.replace('\n', "\r\n");
    let versions = [tree(&[(path, &text)])];
    let program = Program { versions: &versions, after: 0, before: None, outside: "", marks: &[], seed: 1 };
    let twisted = program.twist(&TwistOperation::ALL).unwrap();
    assert!(twisted.operations.contains_key(&TwistOperation::DeadCode), "{:?}", twisted.operations);
    let text = String::from_utf8(twisted.versions[0].values().next().unwrap().clone()).unwrap();
    assert!(
        text.lines().count() > 12 && text.split('\n').filter(|line| !line.is_empty()).all(|line| line.ends_with('\r')),
        "{text:?}"
    );
}

const CODE: &str = "import os\n\n\ndef first(path, names):\n    for name in names:\n        os.remove(path + name)\n\n\n\
                    def second(path, names):\n    return [first(path, [name]) for name in names]\n";

/// Writes a suite of one case for each text, whose code is `code` unless the text names other code.
fn suite(folder: &Path, cases: &[(&str, &str, &str)]) {
    for (id, text, code) in cases {
        let case = folder.join("cases").join(id);
        fs::create_dir_all(case.join("after")).unwrap();
        fs::write(case.join("case.yaml"), text).unwrap();
        fs::write(case.join("after/app.py"), code).unwrap();
    }
    fs::write(folder.join("karat.toml"), "[suite]\nname = \"small\"\n").unwrap();
}

fn twist_folder(from: &Path, to: &Path) -> Result<TwistReport> {
    let suite = from.display().to_string();
    twist_suite(&TwistRequest { suite, folder: to.to_owned(), seed: 1, selection: Selection::default() })
}

#[test]
fn unusual_case_files_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("s"), folder.path().join("t"));
    suite(
        &from,
        &[
            ("plain", "id: plain\nlanguage: python\nissues: []\n", CODE),
            ("flow", "{id: flow, language: python, issues: []}\n", CODE),
            ("ended", "id: ended\nlanguage: python\nissues: []\n...\n", CODE),
            ("both", "id: both\r\nlanguage: python\r\nissues: []\r\n", CODE),
        ],
    );
    let report = twist_folder(&from, &to).unwrap();
    let why = |id: &str| report.cases.iter().find(|case| case.case.as_str() == id).unwrap().copied_because.clone();
    assert_eq!((why("plain"), why("both")), (None, None));
    for id in ["flow", "ended"] {
        assert_eq!(why(id).as_deref(), Some("its case file is laid out in a way that cannot be edited safely"));
        let copy = |file: &str| [&from, &to].map(|suite| fs::read(suite.join("cases").join(id).join(file)).unwrap());
        for [old, new] in ["case.yaml", "after/app.py"].map(copy) {
            assert!(old == new, "{id} is no copy");
        }
    }
    let both = fs::read_to_string(to.join("cases/both/case.yaml")).unwrap();
    assert!(
        both.contains("twisted_from:\r\n") && both.matches('\n').count() == both.matches("\r\n").count(),
        "{both:?}"
    );
}

#[test]
fn twisted_suites_and_folders_inside_the_suite_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("s"), folder.path().join("t"));
    suite(&from, &[("plain", "id: plain\nlanguage: python\nissues: []\n", CODE)]);
    for inside in ["cases/new", "deep/er/folder"] {
        let failure = format!("{:?}", twist_folder(&from, &from.join(inside)).unwrap_err());
        assert!(failure.contains("is inside the suite"), "{failure}");
    }
    twist_folder(&from, &to).unwrap();
    let failure = format!("{:?}", twist_folder(&to, &folder.path().join("again")).unwrap_err());
    assert!(failure.contains("twisted already; twist the original with another --seed"), "{failure}");
    assert!(!folder.path().join("again").exists());
}

#[test]
fn what_could_not_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("s"), folder.path().join("t"));
    let read = format!("{CODE}\n\ndef third(text):\n    return eval(text)\n");
    suite(
        &from,
        &[
            ("plain", "id: plain\nlanguage: python\nissues: []\n", CODE),
            ("read", "id: read\nlanguage: python\nissues: []\n", &read),
        ],
    );
    let report = twist_folder(&from, &to).unwrap();
    let refused: Vec<Option<&str>> =
        report.cases.iter().map(|case| case.refused.get(&TwistOperation::Rename).map(String::as_str)).collect();
    assert_eq!(refused, [None, Some("code with `eval` may depend on names")]);
}

#[test]
fn recorded_findings_are_left_out_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("s"), folder.path().join("t"));
    suite(&from, &[("plain", "id: plain\nlanguage: python\nissues: []\n", CODE)]);
    let trial = "{\"case\":\"plain\",\"tool\":\"reviewer\",\"trial\":1,\"outcome\":\"reported\",\"findings\":[]}\n";
    for path in ["old/recorded.jsonl", "recorded.txt", "cases/plain/after/fixture.jsonl"] {
        fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
        fs::write(from.join(path), trial).unwrap();
    }
    fs::write(from.join("rules.json"), "{\"case\": 1}\n").unwrap();
    let report = twist_folder(&from, &to).unwrap();
    assert_eq!(report.left_out, ["old/recorded.jsonl", "recorded.txt"]);
    assert!(to.join("rules.json").exists() && to.join("cases/plain/after/fixture.jsonl").exists());
}
