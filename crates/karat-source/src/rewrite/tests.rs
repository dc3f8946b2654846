use super::*;
use std::collections::BTreeMap;

fn survey(language: Language, texts: &[&str]) -> NameSurvey {
    let files: Vec<CodeText<'_>> = texts.iter().map(|text| CodeText { language, text }).collect();
    survey_names(&files, &["pkg".to_owned(), "mod_a".to_owned()])
}

/// Checks which names can be changed, and that the text with all of them changed can still be parsed.
fn check(language: Language, text: &str, locals: &[&str], globals: &[&str]) -> String {
    assert!(parses(language, text), "{language:?} cannot be parsed:\n{text}");
    let found = survey(language, &[text]);
    assert_eq!(found.refused, None);
    assert_eq!(found.locals.iter().collect::<Vec<_>>(), locals, "locals of {language:?}");
    assert_eq!(found.globals.iter().collect::<Vec<_>>(), globals, "globals of {language:?}");
    let names: BTreeMap<String, String> =
        found.locals.iter().chain(&found.globals).map(|name| (name.clone(), format!("{name}New"))).collect();
    let splices = Renaming { names }.splices(CodeText { language, text }, &[]);
    let mut out = text.to_owned();
    for (range, new) in splices.into_iter().rev() {
        out.replace_range(range, &new);
    }
    assert!(parses(language, &out), "{language:?} cannot be parsed any more:\n{out}");
    assert_eq!(out.lines().count(), text.lines().count());
    out
}

#[test]
fn python() {
    let out = check(
        Language::Python,
        r#"
import os
from pkg.mod_a import shared_helper

LIMIT = 3

def helper(first, *rest, flag=None):
    total_size = len(rest) + LIMIT
    # total_size is small, and so is the total.
    for entry, (left, right) in rest:
        total_size += left
    with open(first) as stream, open("flag") as other:
        print(f"{total_size} {right=}", stream)
    return [item for item in rest if item], os.path.join(first, second=other)

class Box:
    width = 1

    def area(self, height):
        return self.width * helper(height, flag=1)

def test_box(tmp_path):
    try:
        shared_helper(tmp_path)
    except OSError as error:
        return error
"#,
        &["entry", "error", "first", "height", "item", "left", "other", "rest", "stream", "total_size"],
        &["LIMIT", "helper"],
    );
    assert!(out.contains("# total_sizeNew is small, and so is the total."), "{out}");
    assert!(out.contains("def helperNew(firstNew, *restNew, flag=None):"), "{out}");
    assert!(out.contains("self.width * helperNew(heightNew, flag=1)"), "{out}");
    let reflective = survey(Language::Python, &["def f(value):\n    return locals()\n"]);
    assert_eq!(reflective.refused, Some(NamesRefused::Reflective("locals".to_owned())));
    assert!(reflective.locals.is_empty());
}

#[test]
fn a_name_of_another_library_stays() {
    let files = ["def dumps(value):\n    return value\n\ndumps(1)\n", "from json import dumps\n\ndumps({})\n"];
    assert!(survey(Language::Python, &files).globals.is_empty());
    let files = ["def dump(value):\n    return value\n\ndump(1)\n", "from pkg.mod_a import dump\n\ndump({})\n"];
    assert_eq!(Vec::from_iter(survey(Language::Python, &files).globals), ["dump"]);
    let files = ["def check(id):\n    return id\n", "def other():\n    return id(1)\n"];
    assert!(survey(Language::Python, &files).locals.is_empty(), "a built-in function has the same name");
}

#[test]
fn javascript() {
    let out = check(
        Language::JavaScript,
        r#"
import { readFile } from "node:fs";
import { helper } from "./helper.js";

const LIMIT = 3;

export function collect(items, { depth = 1, size }) {
  const total = items.length + LIMIT;
  for (const [key, value] of items) {
    helper({ key, value, total: depth });
  }
  const next = (left) => left + size;
  try {
    return readFile(total, next);
  } catch (problem) {
    label: for (;;) break label;
    return [problem.key, local(total)];
  }
}

function local(amount) {
  return collect(amount, {});
}
"#,
        &["amount", "depth", "items", "key", "left", "next", "problem", "size", "total", "value"],
        &["LIMIT", "collect", "local"],
    );
    assert!(out.contains("{ depth: depthNew = 1, size: sizeNew }"), "{out}");
    assert!(out.contains("helper({ key: keyNew, value: valueNew, total: depthNew });"), "{out}");
    assert!(out.contains("problemNew.key"), "{out}");
}

#[test]
fn typescript() {
    let out = check(
        Language::TypeScript,
        r#"
export interface Store { load(key: string): Promise<string>; }

export class Cache {
  constructor(private readonly store: Store, limit: number) {
    this.limit = limit;
  }
  private limit: number;
  async find(wanted: string, retries?: number): Promise<string> {
    const answer: string = await this.store.load(wanted);
    return retries ? shorten(answer) : answer;
  }
}

function shorten<T extends string>(text: T): string {
  return (text as string).slice(0, 3);
}
"#,
        &["answer", "key", "limit", "retries", "text", "wanted"],
        &["shorten"],
    );
    assert!(out.contains("this.limit = limitNew;") && out.contains("private readonly store: Store"), "{out}");
}

#[test]
fn java() {
    let out = check(
        Language::Java,
        r#"
package shop;

class Basket {
    private int count;

    int total(List<Line> lines, int shipping) {
        int sum = shipping;
        for (Line line : lines) {
            sum += rounded(line.price());
        }
        lines.forEach(entry -> System.out.println(entry));
        return sum + count;
    }

    private int rounded(double price) {
        return (int) price;
    }
}
"#,
        &["entry", "line", "lines", "price", "shipping", "sum"],
        &["rounded"],
    );
    assert!(out.contains("sumNew += roundedNew(lineNew.price());"), "{out}");
}

#[test]
fn go() {
    let out = check(
        Language::Go,
        r#"
package lease

import "fmt"

type Table struct{ owner string }

const limit = 3

func (table *Table) Take(holder string) (ok bool, err error) {
	if found, known := lookup(holder); known {
		fmt.Println(found)
	}
	for index, value := range []int{1} {
		_ = Table{owner: holder}
		err = fmt.Errorf("%d %d", index, value)
	}
	return limit > 0, err
}

func lookup(name string) (string, bool) { return name, true }

func main() { lookup("x") }
"#,
        &["err", "found", "holder", "index", "known", "name", "ok", "table", "value"],
        &["limit", "lookup"],
    );
    assert!(out.contains("Table{owner: holderNew}"), "{out}");
}

#[test]
fn rust() {
    let out = check(
        Language::Rust,
        r#"
use std::mem::swap;
use crate::other::shared;

struct Frame { size: usize, kind: u8 }

const LIMIT: usize = 3;

fn decode(input: &[u8], kind: u8) -> Option<Frame> {
    let size = input.len().min(LIMIT);
    let (mut left, right) = (1, 2);
    swap(&mut left, &mut 3);
    if let Some(first) = input.first() {
        println!("{} {right}", first);
    }
    let frame = Frame { size, kind };
    match check(&frame) {
        Some(value) if value > 0 => shared(value + left),
        None | Some(_) => {}
    }
    Some(frame)
}

fn check(frame: &Frame) -> Option<usize> {
    let Frame { size, .. } = frame;
    input_size(|item| item + size)
}

fn input_size(call: impl Fn(usize) -> usize) -> Option<usize> { Some(call(1)) }

fn main() { decode(&[], 1); }
"#,
        &["call", "first", "frame", "input", "item", "kind", "left", "size", "value"],
        &["LIMIT", "check", "decode", "input_size"],
    );
    assert!(out.contains("Frame { size: sizeNew, kind: kindNew }"), "{out}");
    assert!(out.contains("let Frame { size: sizeNew, .. } = frameNew;"), "{out}");
}

#[test]
fn c_and_cpp() {
    let out = check(
        Language::C,
        r#"
#include <stdio.h>
#define TWICE(value) ((value) * 2)

struct list { int size; struct list *next; };

static int total(const struct list *list, int start);

static int total(const struct list *list, int start)
{
    int sum = start, value = 1;
    for (const struct list *item = list; item != NULL; item = item->next)
        sum += item->size;
    printf("%d", TWICE(value));
    return sum;
}

int main(void) { return total(NULL, 0); }
"#,
        &["item", "list", "start", "sum"],
        &["total"],
    );
    assert!(out.contains("const struct list *listNew, int startNew);"), "{out}");
    assert!(out.contains("sumNew += itemNew->size;"), "{out}");
    let out = check(
        Language::Cpp,
        r#"
#include <vector>
namespace app {
class Queue {
public:
    explicit Queue(std::size_t limit) : limit_(limit) {}
    void push(int value) { items_.push_back(value + limit_); }
private:
    std::size_t limit_;
    std::vector<int> items_;
};

int sum(const std::vector<int>& values) {
    int total = 0;
    for (const auto& entry : values) { total += entry; }
    auto add = [&total](int more) { return total + more; };
    return add(std::move(total));
}

int twice(const std::vector<int>& numbers) { return 2 * sum(numbers); }
}
"#,
        &["add", "entry", "limit", "more", "numbers", "total", "value", "values"],
        &["sum"],
    );
    assert!(out.contains("limit_(limitNew)"), "{out}");
}

#[test]
fn ruby() {
    let out = check(
        Language::Ruby,
        r##"
# frozen_string_literal: true
class Members
  attr_reader :size

  def load(path, limit: 3, &block)
    rows = File.readlines(path).map { |line| line.strip }
    first, *others = rows
    others.each do |row|
      block.call("#{row} #{first}", limit: limit)
    end
    size + rows.length
  rescue IOError => problem
    warn(problem.message)
  end
end
"##,
        &["block", "first", "line", "others", "path", "problem", "row", "rows"],
        &[],
    );
    assert!(out.contains("\"#{rowNew} #{firstNew}\", limit: limit"), "{out}");
}

#[test]
fn solidity() {
    let out = check(
        Language::Solidity,
        r#"
pragma solidity ^0.8.20;

contract Vault {
    mapping(address => uint256) public balances;

    /// @param amount How much.
    function withdraw(uint256 amount) external returns (bool success) {
        uint256 held = balances[msg.sender];
        require(held >= amount, "amount");
        (success, ) = msg.sender.call{value: amount}("");
        balances[msg.sender] = _less(held, amount);
    }

    function _less(uint256 left, uint256 right) internal pure returns (uint256) {
        return left - right;
    }
}
"#,
        &["amount", "held", "left", "right", "success"],
        &["_less"],
    );
    assert!(out.contains("@param amountNew How much.") && out.contains("call{value: amountNew}"), "{out}");
}

#[test]
fn functions_that_can_change_places() {
    let check = |language: Language, text: &str, expect: &[(&[&str], bool)]| {
        assert!(parses(language, text), "{language:?}");
        let found: Vec<(Vec<String>, bool)> = function_runs(language, text)
            .iter()
            .map(|run| {
                (run.blocks.iter().map(|block| format!("{} {:?}", block.key, block.lines)).collect(), run.is_free)
            })
            .collect();
        let found: Vec<(Vec<&str>, bool)> =
            found.iter().map(|(run, free)| (run.iter().map(String::as_str).collect(), *free)).collect();
        let expect: Vec<(Vec<&str>, bool)> = expect.iter().map(|(run, free)| (run.to_vec(), *free)).collect();
        assert_eq!(found, expect, "{language:?}");
    };
    let python = "import os\n\n# A.\ndef a():\n    pass\n\n\ndef b(x=1):\n    a()\n\n\nclass C:\n    def m(self):\n        pass\n\n    def n(self):\n        pass\n";
    check(Language::Python, python, &[(&["a 2..5", "b 7..9"], true), (&["m 12..14", "n 15..17"], true)]);
    check(Language::Python, "x = 1\ndef a():\n    pass\ndef b(f=a):\n    pass\n", &[(&["a 1..3", "b 3..5"], false)]);
    check(
        Language::Go,
        "package a\n\n// F.\nfunc f() {}\n\nfunc (t *T) f() {}\n\nfunc init() {}\n\nfunc g() {}\n",
        &[(&["f 2..4", "f(t *T) 5..6"], true), (&["g 9..10"], true)],
    );
    check(
        Language::C,
        "int x;\nint a(void) { return 1; }\nint b(void) { return a(); }\n",
        &[(&["a 1..2", "b 2..3"], false)],
    );
    check(
        Language::C,
        "int x;\nint a(void) { return 1; }\nint b(void) { return 2; }\n",
        &[(&["a 1..2", "b 2..3"], true)],
    );
    check(
        Language::Rust,
        "use x;\n\n#[inline]\nfn a() {}\n\n// Apart.\n\nfn b() {}\nimpl T {\n    fn c() {}\n    fn d() {}\n}\n",
        &[(&["a 2..4"], true), (&["b 7..8"], true), (&["c 9..10", "d 10..11"], true)],
    );
    let java = "class A {\n    int f(int a) { return 1; }\n    int f(long a) { return 2; }\n    int x;\n}\n";
    check(Language::Java, java, &[(&["f(int a) 1..2", "f(long a) 2..3"], true)]);
    let script =
        "const x = 1;\nexport function a() {}\nfunction b() {} // b\nclass C {\n  m() {}\n  get n() { return 1; }\n}\n";
    check(Language::JavaScript, script, &[(&["a 1..2", "b 2..3"], true), (&["m 4..5", "n 5..6"], true)]);
    let ruby = "class A\n  def a\n  end\n\n  private\n\n  def b\n  end\n\n  def c; end\nend\n";
    check(Language::Ruby, ruby, &[(&["a 1..3"], true), (&["b 6..8", "c 9..10"], true)]);
    let solidity = "contract A {\n    function a() public {}\n    function a(uint256 x) public {}\n}\n";
    check(Language::Solidity, solidity, &[(&["a 1..2", "a uint256 x 2..3"], true)]);
}

#[test]
fn imports_and_log_texts_are_found() {
    let check = |language: Language, text: &str, expect: &[&str]| {
        let paths: Vec<String> = imported_files(language, text).into_iter().map(|import| import.path).collect();
        assert_eq!(paths, expect, "{language:?}");
    };
    check(Language::Python, "from a.b import c\nfrom .d import e\nimport f.g\n", &["a.b", ".d"]);
    check(
        Language::JavaScript,
        "import a from \"./a.js\";\nexport { b } from './b';\nconst c = require(\"./c\");\nconst d = \"./d\";\n",
        &["./a.js", "./b", "./c"],
    );
    check(Language::C, "#include <stdio.h>\n#include \"a.h\"\nconst char *b = \"b.h\";\n", &["a.h"]);
    check(Language::Ruby, "require \"json\"\nrequire_relative \"a/b\"\n", &["a/b"]);
    check(Language::Solidity, "import \"./A.sol\";\nimport {B} from \"./B.sol\";\n", &["./A.sol", "./B.sol"]);
    let texts: Vec<String> = log_texts(Language::Python, "log.info(\"started %s\", x)\nprint(\"shown\")\n")
        .into_iter()
        .map(|own| own.text)
        .collect();
    assert_eq!(texts, ["started %s"]);
    let script = "console.log(\"shown to all\");\nconsole.info(\"shown, too\");\nconsole.warn(\"only logged\");\n";
    let texts: Vec<String> = log_texts(Language::JavaScript, script).into_iter().map(|own| own.text).collect();
    assert_eq!(texts, ["only logged"], "the others write to standard output");
}

fn globals(language: Language, texts: &[&str]) -> Vec<String> {
    let found = survey(language, texts);
    assert_eq!(found.refused, None, "{texts:?}");
    found.globals.into_iter().collect()
}

fn locals(language: Language, text: &str) -> Vec<String> {
    let found = survey(language, &[text]);
    assert_eq!(found.refused, None, "{text}");
    found.locals.into_iter().collect()
}

#[test]
fn variables_are_not_known_in_their_own_declaration() {
    let go = "package a\n\nimport \"net/url\"\n\nfunc parse(raw string, rows []int) error {\n\turl, err := url.Parse(raw)\n\t\
              len := len(rows)\n\tvar cap = cap(rows)\n\tfor _, list := range list {\n\t\tuse(list)\n\t}\n\t\
              if copy := copy(rows, rows); copy > 0 {\n\t\treturn nil\n\t}\n\tswitch kind := kind.(type) {\n\tdefault:\n\t\tuse(kind)\n\t}\n\t\
              if next := err; next != nil {\n\t\treturn next\n\t}\n\tuse(url, len, cap)\n\treturn err\n}\n";
    assert_eq!(locals(Language::Go, go), ["err", "next", "raw", "rows"]);
    let ruby = "class A\n  def f(rows)\n    puts(width)\n    width = rows.length\n    label = label\n    total = rows.sum\n    \
                rows.each do |row|\n      total += row\n    end\n    total\n  rescue IOError => problem\n    warn(problem)\n  end\nend\n";
    assert_eq!(locals(Language::Ruby, ruby), ["problem", "row", "rows", "total"]);
    let rust = "use super::*;\n\nfn f(rows: &[u8]) -> usize {\n    let count = count(rows);\n    let left = 1;\n    \
                let left = left + count;\n    for item in item(rows) {\n        use_it(item);\n    }\n    left\n}\n";
    assert_eq!(locals(Language::Rust, rust), ["left", "rows"]);
}

#[test]
fn what_is_taken_out_of_a_module_keeps_its_name() {
    let module =
        "export function parse(rows) {\n  return rows;\n}\n\nexport function other() {\n  return parse([]);\n}\n";
    let taken =
        "export async function load(kind) {\n  const { parse } = await import(\"./a.js\");\n  return parse(kind);\n}\n";
    assert_eq!(globals(Language::JavaScript, &[module, taken]), [""; 0]);
    let own = "export function load(kind) {\n  const { rows } = kind;\n  return rows;\n}\n";
    assert_eq!(globals(Language::JavaScript, &[module, own]), ["parse"]);
}

#[test]
fn names_of_other_programs_stay() {
    let c = "extern int counter;\nint helper(int value);\nint twice(int value);\n\nint twice(int value)\n{\n    \
             return helper(value) + counter;\n}\n\nint local(void)\n{\n    return twice(1);\n}\n";
    assert_eq!(globals(Language::C, &[c]), ["twice"]);
    let cpp = "extern \"C\" {\nint plug(int value) { return value; }\n}\n\nint own(int value) { return plug(value); }\n\n\
               int use() { return own(1); }\n";
    assert_eq!(globals(Language::Cpp, &[cpp]), ["own"]);
    let ts = "declare function track(name: string): void;\ndeclare const VERSION: string;\nconst LIMIT = 1;\n\n\
              export function show() {\n  track(VERSION + LIMIT);\n}\n";
    assert_eq!(globals(Language::TypeScript, &[ts]), ["LIMIT"]);
}

#[test]
fn inherited_names_stay() {
    let solidity = |base: &str| {
        format!(
            "pragma solidity ^0.8.20;\n\ncontract Own {{\n    function _mint(uint256 amount) internal pure returns (uint256) {{\n        \
             return amount;\n    }}\n\n    function give() external pure returns (uint256) {{\n        return _mint(1);\n    }}\n}}\n\n\
             contract Coin is {base} {{\n    function grant() external {{\n        _mint(1);\n    }}\n}}\n"
        )
    };
    assert_eq!(globals(Language::Solidity, &[&solidity("Own")]), ["_mint"]);
    assert_eq!(globals(Language::Solidity, &[&solidity("ERC20")]), [""; 0]);
    let java = |base: &str| {
        format!(
            "class Outer {{\n    private int helper() {{ return 1; }}\n    int run() {{ return helper(); }}\n    \
             class Inner {base} {{\n        int go() {{ return helper(); }}\n    }}\n}}\n"
        )
    };
    assert_eq!(globals(Language::Java, &[&java("")]), ["helper"]);
    assert_eq!(globals(Language::Java, &[&java("extends External")]), [""; 0]);
    let cpp = |base: &str| {
        format!(
            "struct Known {{ int size; }};\n\nint pick(int value) {{ return value; }}\n\nint twice() {{ return pick(1); }}\n\n\
             class Queue : public {base} {{\n    int take() {{ return pick(2); }}\n}};\n"
        )
    };
    assert_eq!(globals(Language::Cpp, &[&cpp("Known")]), ["pick"]);
    assert_eq!(globals(Language::Cpp, &[&cpp("lib::Base")]), [""; 0]);
}

#[test]
fn fields_and_widths_in_macros_stay() {
    let text = "fn f(size: usize, kind: u8, width: usize, depth: usize, other: usize) {\n    \
                println!(\"{:?} {:>width$} {:0depth$} {}\", Frame { size, kind }, 1, 2, other);\n    \
                assert_eq!(other, size + width + depth + usize::from(kind));\n}\n";
    assert_eq!(locals(Language::Rust, text), ["other"]);
}

#[test]
fn names_that_are_said_or_read_stay() {
    let splat = "def f(limit, rows):\n    return rows[:limit]\n\n\ndef g(values):\n    found = f(\n        **values)\n    return found\n";
    assert_eq!(locals(Language::Python, splat), ["found"]);
    let power = "def f(limit, rows):\n    return rows[(limit) **2]\n";
    assert_eq!(locals(Language::Python, power), ["limit", "rows"]);
    let said = "def f(limit, rows):\n    \"\"\"Cuts rows.\"\"\"\n    return rows[:limit]\n\n\nKEYS = [\"limit\"]\n";
    assert_eq!(locals(Language::Python, said), ["rows"]);
    let python = |read: &str| {
        format!("def handle(row):\n    return row\n\n\ndef other(row):\n    return handle(row), {read}\n\n\nother(1)\n")
    };
    for (read, expect) in [
        ("__name__", &["handle", "other"][..]),
        ("type(row).__name__", &["handle", "other"]),
        ("getattr(row, \"size\")", &["handle", "other"]),
        ("row.__name__", &[]),
        ("row.__qualname__", &[]),
        ("getattr(row, \"on_\" + row)", &[]),
    ] {
        assert_eq!(globals(Language::Python, &[&python(read)]), expect, "{read}");
    }
    let script = "register(handle);\nonly(1);\n\nfunction handle(row) {\n  return row;\n}\n\nfunction only(row) {\n  \
                  return handle(row);\n}\n\nfunction register(own) {\n  return own.READ;\n}\n";
    assert_eq!(globals(Language::JavaScript, &[&script.replace("READ", "size")]), ["handle", "only", "register"]);
    assert_eq!(globals(Language::JavaScript, &[&script.replace("READ", "name")]), ["only", "register"]);
    let dollar = "export function f(row$, $el, plain) {\n  const total$ = row$ + $el;\n  return total$ + plain;\n}\n";
    assert_eq!(locals(Language::JavaScript, dollar), ["plain"]);
}

#[test]
fn overloads_stay_with_their_implementation() {
    let text = "const x = 1;\nexport function a(v: string): void;\n// More.\nexport function a(v: unknown): void {}\n\
                export function b(): void {}\nexport function c(): void {}\n";
    let runs: Vec<Vec<String>> = function_runs(Language::TypeScript, text)
        .into_iter()
        .map(|run| run.blocks.into_iter().map(|block| block.key).collect())
        .collect();
    assert_eq!(runs, [vec!["a"], vec!["b", "c"]]);
    let found: Vec<String> = definition_lines(Language::TypeScript, text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, ["b", "c"]);
    let class = "class A {\n  a(v: string): void;\n  a(v: unknown): void {}\n  b(): void {}\n}\n";
    assert_eq!(function_runs(Language::TypeScript, class)[0].blocks.len(), 1);
}

#[test]
fn computed_imports_are_found() {
    let check = |language: Language, text: &str, expect: bool| {
        assert!(parses(language, text), "{text}");
        assert_eq!(computes_imports(language, text), expect, "{text}");
    };
    for (text, expect) in [
        ("import a from \"./a.js\";\nconst b = require(\"./b\");\nconst c = await import(\"./c.js\");\n", false),
        ("if (require.main === module) run(import.meta.url);\n", false),
        ("const a = await import(`./handlers/${kind}.mjs`);\n", true),
        ("const a = require(path.join(folder, kind));\n", true),
        ("const load = require;\n", true),
        ("module.require(kind);\n", true),
    ] {
        check(Language::JavaScript, text, expect);
    }
    for (text, expect) in [
        ("from importlib import import_module\nimport importlib\nimportlib.import_module(\"a.b\")\n", false),
        ("import importlib\nimportlib.import_module(\"plugins.\" + kind)\n", true),
        ("import importlib\nimportlib.import_module(f\"plugins.{kind}\")\n", true),
        ("from importlib import import_module as load\nload(kind)\n", true),
        ("__import__(kind)\n", true),
        ("import runpy\nrunpy.run_path(path)\n", true),
    ] {
        check(Language::Python, text, expect);
    }
    for (text, expect) in [
        ("require \"json\"\nrequire_relative \"a/b\"\nYAML.load(text)\nautoload :A, \"a\"\n", false),
        ("require_relative \"a/#{kind}\"\n", true),
        ("Dir[\"*.rb\"].each { |file| require file }\n", true),
    ] {
        check(Language::Ruby, text, expect);
    }
    check(Language::C, "#include <a.h>\n#include \"b.h\"\n", false);
    check(Language::C, "#include CONFIG\n", true);
}

#[test]
fn marked_functions_stay_below_what_marks_them() {
    let runs = |language: Language, text: &str| -> Vec<Vec<String>> {
        assert!(parses(language, text), "{text}");
        let runs = function_runs(language, text).into_iter();
        runs.map(|run| run.blocks.into_iter().map(|block| block.key).collect()).collect()
    };
    let class = "import { Get } from \"./web\";\n\nexport class Users {\n  @Get(\"list\")\n  // All of them.\n  list() {}\n\n  \
                 remove() {}\n\n  clear() {}\n\n  @Get(\"last\") last() {}\n}\n";
    assert_eq!(runs(Language::TypeScript, class), [vec!["list"], vec!["remove", "clear"]]);
    let ruby = |above: &str| {
        format!("class App < Thor\n  {above}\n\n  def list\n  end\n\n  def report\n  end\n\n  def total\n  end\nend\n")
    };
    for above in
        ["desc \"list\", \"Lists all\"", "sig { void }", "sig do\n    void\n  end", "memoize", "T.sig { void }"]
    {
        assert_eq!(runs(Language::Ruby, &ruby(above)), [vec!["list"], vec!["report", "total"]], "{above}");
    }
    for above in ["private", "attr_reader :size", "include Comparable", "SIZE = 3"] {
        assert_eq!(runs(Language::Ruby, &ruby(above)), [vec!["list", "report", "total"]], "{above}");
    }
    // Nothing is inserted between the two.
    let rake = "require \"rake\"\n\nsig { void }\ndef list\nend\n\ndef report\nend\n";
    let found: Vec<String> = definition_lines(Language::Ruby, rake).into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, ["report"]);
}

#[test]
fn what_python_evaluates_outside_a_function_is_no_variable_of_it() {
    let check = |text: &str, expect: &[&str]| assert_eq!(locals(Language::Python, text), expect, "{text}");
    check("def measure(rows, len=len):\n    return len(rows)\n", &["rows"]);
    check("def convert(str: str, width):\n    return str * width\n", &["width"]);
    check("def convert(text) -> text:\n    return text\n", &[""; 0]);
    check("def f(x=total):\n    total = 1\n    return total\n", &[""; 0]);
    check("find = lambda id=id: id\n", &[""; 0]);
    check("def f():\n    return [sum for sum in sum(1, 2)]\n", &[""; 0]);
    // What an outer function declares is known there.
    check(
        "def outer(limit):\n    def inner(row, bound=limit):\n        return row < bound\n    return inner\n",
        &["bound", "inner", "limit", "row"],
    );
    check("def f(rows):\n    return [row for row in rows if row]\n", &["row", "rows"]);
}

#[test]
fn names_with_a_meaning_of_their_own_stay() {
    let special = "__doc__ = (__doc__ or \"\") + \"more\"\n__all__ = [\"f\"]\n__all__.extend([\"g\"])\nLIMIT = 3\n\n\ndef f():\n    return LIMIT\n";
    assert_eq!(globals(Language::Python, &[special]), ["LIMIT"]);
    let compatible = "import sys\n\nPY2 = sys.version_info[0] == 2\nif PY2:\n    range = xrange\n\n\ndef f(size):\n    return range(size)\n";
    assert_eq!(globals(Language::Python, &[compatible]), ["PY2"]);
}

#[test]
fn words_that_macros_turn_into_text_stay() {
    let c = |defined: &str| {
        format!(
            "{defined}\nstatic int help(int depth) {{ return depth; }}\n\nint main(void) {{\n    int item_count = 3;\n    \
             SHOW(item_count + help(1));\n    return item_count;\n}}\n"
        )
    };
    let plain = c("#define SHOW(x) ((x) * 2)");
    assert_eq!(
        (locals(Language::C, &plain), globals(Language::C, &[&plain])),
        (vec!["depth".to_owned(), "item_count".to_owned()], vec!["help".to_owned()])
    );
    for defined in [
        "#define SHOW(x) show(#x, x)",
        "#define SHOW(x) x ## _entry",
        "#define TEXT(x) #x\n#define SHOW(x) \\\n    show(TEXT(x), x)",
    ] {
        let text = c(defined);
        assert_eq!(locals(Language::C, &text), ["depth"], "{defined}");
        assert_eq!(globals(Language::C, &[&text]), [""; 0], "{defined}");
    }
    // The macro may be in another file, and a call of it no expression.
    let cpp = "int start(int depth) { return depth; }\n\nREGISTER(start);\n\nint run() { return start(1); }\n";
    assert_eq!(globals(Language::Cpp, &["#define REGISTER(n) handler n##_entry{#n, n}\n", cpp]), [""; 0]);
    let rust = |call: &str| format!("fn f(item_count: usize) {{\n    {call};\n}}\n");
    for (call, expect) in [
        ("println!(\"{}\", item_count)", true),
        ("std::println!(\"{}\", item_count)", true),
        ("println!(\"{}\", stringify!(item_count))", false),
        ("stringify!(item_count)", false),
        ("dbg!(item_count)", false),
        ("register!(item_count)", false),
        ("vec![register![(item_count)]]", false),
    ] {
        assert_eq!(!locals(Language::Rust, &rust(call)).is_empty(), expect, "{call}");
    }
}

#[test]
fn names_that_code_can_read_stay() {
    for (text, word) in [
        ("import inspect\n\n\ndef f(rows):\n    return inspect.signature(rows)\n", "inspect"),
        ("from inspect import signature\n\n\ndef f(rows):\n    return signature(rows)\n", "inspect"),
        ("from own import getmembers\n", "getmembers"),
        ("from own import getfullargspec\n", "getfullargspec"),
        ("def f(rows):\n    return rows.__code__.co_varnames\n", "__code__"),
    ] {
        let found = survey(Language::Python, &[text]);
        assert_eq!(found.refused, Some(NamesRefused::Reflective(word.to_owned())), "{text}");
    }
    assert_eq!(locals(Language::Python, "def f(rows):\n    return rows.inspect()\n"), ["rows"]);
    let python = |read: &str| format!("LIMIT = 3\n\n\ndef f(rows):\n    return LIMIT, {read}\n");
    assert_eq!(globals(Language::Python, &[&python("rows.size")]), ["LIMIT"]);
    for read in ["rows.__dict__", "dir(rows)"] {
        assert_eq!(globals(Language::Python, &[&python(read)]), [""; 0], "{read}");
    }
    let hooks = "def pytest_configure(config):\n    return config\n\n\ndef helper(rows):\n    return rows\n";
    assert_eq!(locals(Language::Python, hooks), ["rows"]);
    let script = |read: &str| {
        format!(
            "function inject(handler, bag) {{\n  return bag[handler{read}];\n}}\n\nfunction area(width, other) {{\n  return width + other;\n}}\n\n\
             inject(area, {{ width: 2 }});\n"
        )
    };
    assert_eq!(locals(Language::JavaScript, &script(".toString(16)")), ["bag", "handler", "other", "width"]);
    assert_eq!(globals(Language::JavaScript, &[&script(".toString(16)")]), ["area", "inject"]);
    assert_eq!(locals(Language::JavaScript, &script(".toString()")), ["bag", "handler", "other"]);
    assert_eq!(globals(Language::JavaScript, &[&script(".toString()")]), ["inject"]);
}
