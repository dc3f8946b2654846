//! `karat suite add`: whole trees, cases from fixes, and code in mirrors.

use crate::project::{CommandOutput, Project, lines, trial};
use crate::run::{outcomes, parsed, with_tool};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

/// Runs git in the project's `repo`, with fixed authors and dates, and returns what it printed.
fn git(project: &Project, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(project.path("repo"));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.com");
        command.env(format!("GIT_{who}_DATE"), "2001-02-03T04:05:06Z");
    }
    let output = command.output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(project: &Project, message: &str) -> String {
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", message]);
    git(project, &["rev-parse", "HEAD"])
}

const CART: &str = "def total(rows):\n    return sum(row.price for row in rows)\n";
const AVERAGE: &str = "def total(rows):\n    return sum(row.price for row in rows)\n\n\ndef average(rows):\n    return total(rows) / len(rows)\n";

/// A repository in which a fault came in and was repaired: `start`, `average`, `docs` and `fix`.
fn project() -> Project {
    let project = Project::new()
        .with("suite/karat.toml", "[suite]\nname = \"s\"\n")
        .with("repo/src/cart.py", CART)
        .with("repo/src/unrelated.py", "x = 1\n")
        .with("repo/run.sh", "#!/bin/sh\necho from the tree\n")
        .with("repo/logo.png", b"\x89PNG\0\0");
    std::fs::set_permissions(project.path("repo/run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("src/cart.py", project.path("repo/link.py")).unwrap();
    symlink("/etc/passwd", project.path("repo/outside")).unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project, "start");
    project.write("repo/src/cart.py", AVERAGE);
    commit(&project, "Average price of a cart");
    project.write("repo/README.md", "about\n");
    commit(&project, "docs");
    project.write(
        "repo/src/cart.py",
        AVERAGE.replace("    return total(rows) / len(rows)", "    return total(rows) / max(1, len(rows))"),
    );
    project.write("repo/tests/test_cart.py", "assert average([]) == 0\n");
    commit(&project, "Fix the average of an empty cart");
    project
}

fn fill(project: &Project, case: &str) {
    let path = format!("suite/cases/{case}/case.yaml");
    let yaml = project.read(&path);
    assert!(yaml.contains("TODO: say what is wrong, in a few words"), "{yaml}");
    project.write(&path, yaml.replace("TODO: say what is wrong, in a few words", "An empty cart divides by zero"));
}

fn objects(project: &Project) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(project.path("suite/objects")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap();
            found.push((file.file_name().into_string().unwrap(), file.metadata().unwrap().ino()));
        }
    }
    found.sort();
    found
}

const LOOKS: &str = r#"cd "$1"
git status --porcelain
git diff --name-status main...HEAD
./run.sh
readlink link.py
head -1 link.py
ls -A
echo spoilt > src/unrelated.py; chmod 777 run.sh; echo spoilt >> run.sh
echo '{"findings":[{"title":"An empty cart divides by zero","file":"src/cart.py","line_start":6}]}' > "$2""#;

#[track_caller]
fn run_tool(project: &Project, environment: &[(&str, String)]) -> Value {
    let mut command = project.command();
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.args(["run", "suite", "--tool", "tools/it.toml", "--trials", "2", "-q", "--json"]);
    parsed(&CommandOutput::start(&mut command))
}

#[test]
fn a_whole_tree_is_stored_once_and_given_to_tools() {
    let project = project();
    let ran = project
        .run("suite add --from-commit HEAD~2 --repo repo --suite suite --id average --whole-tree")
        .expect_error(0, &["being a link that leads out of the tree: \"outside\""]);
    assert_eq!(ran.out, "suite/cases/average\n");
    assert!(!ran.err.contains("binary"), "{}", ran.err);
    assert!(!project.path("suite/cases/average/after").exists());
    // Five contents and the link's target, and the trees of `src` and of the root on both sides.
    let first = objects(&project);
    assert_eq!(first.len(), 10, "{first:?}");
    // A case of the next commit shares all that it did not change.
    project.run("suite add --from-commit HEAD~1 --repo repo --suite suite --id docs --whole-tree").expect(0);
    let second = objects(&project);
    assert!(first.iter().all(|object| second.contains(object)));
    assert_eq!(second.len(), 12, "README.md and the root");
    for case in ["average", "docs"] {
        fill(&project, case);
    }
    let checked = project.ok("check suite");
    assert!(checked.contains("s: 2 cases, 2 goldens"), "{checked}");

    with_tool(&project, "it", LOOKS, "");
    let report = run_tool(&project, &[]);
    assert_eq!(outcomes(&report), "reported 4", "{report}");
    let seen = project.ok("store show latest --trial it average 2 --artifact stdout");
    let expect = "M\tsrc/cart.py\nfrom the tree\nsrc/cart.py\ndef total(rows):\n.git\nlink.py\nlogo.png\nrun.sh\nsrc\n";
    assert_eq!(seen, expect);
    // What a tool does to its copy does not reach the suite.
    assert_eq!(objects(&project), second);
    project.ok("check suite");

    // Symbols are read from the tree.
    let finding =
        json!({ "id": "f", "message": "Divides by zero", "rule_id": "R", "file": "src/cart.py", "line_start": 6 });
    project.write("s.jsonl", lines(&[trial("average", "t", 1, json!([finding])), trial("docs", "t", 1, json!([]))]));
    let keys = project.ok("key s.jsonl --v3 --source suite");
    assert!(keys.contains("v3|src/cart.py|r|symbol:average#1"), "{keys}");
    project.ok("explain average --tool t --suite suite --submission s.jsonl");
    // Findings are placed by files that only one case has.
    let only = json!([{ "path": "README.md", "line": 1, "body": "Too short" }]);
    project.write("comments.json", only.to_string());
    let imported = project.ok("import comments.json --from github-review --tool t --suite suite");
    let placed = |line: &str| line.contains("\"case\":\"docs\"") && line.contains("Too short");
    assert!(imported.lines().any(placed), "{imported}");

    // The digest covers the content, and damage is found.
    let digest = |project: &Project| project.json("score suite --submission s.jsonl --json")["suite"]["digest"].clone();
    let before = digest(&project);
    let yaml = project.read("suite/cases/average/case.yaml");
    let docs = project.read("suite/cases/docs/case.yaml");
    let after = |text: &str| text.lines().find_map(|line| line.strip_prefix("  after: ")).unwrap().to_owned();
    project.write("suite/cases/average/case.yaml", yaml.replace(&after(&yaml), &after(&docs)));
    assert_ne!(digest(&project), before);
    project.write("suite/cases/average/case.yaml", yaml);
    let (name, _) = &objects(&project)[0];
    let folders = std::fs::read_dir(project.path("suite/objects")).unwrap().map(|folder| folder.unwrap().path());
    let damaged = folders.map(|folder| folder.join(name)).find(|path| path.exists()).unwrap();
    std::fs::set_permissions(&damaged, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::write(&damaged, "spoilt").unwrap();
    let out = project.run("check suite").expect(4).out;
    assert!(out.contains("is damaged: its content does not fit its name"), "{out}");
}

#[test]
fn code_may_be_in_a_mirror() {
    let project = project();
    let rev = git(&project, &["rev-parse", "HEAD~2"]);
    let case = |repo: &str| {
        format!(
            "id: average\nrepo: {repo}\nrev: '{rev}'\nissues:\n  - id: g\n    title: An empty cart divides by zero\n    file: src/cart.py\n    line_start: 6\n"
        )
    };
    project.write("suite/cases/average/case.yaml", case("https://host.example/shop/cart.git"));
    let refused = project.run("check suite").expect(4).out;
    assert!(refused.contains("no-mirror") && refused.contains("KARAT_MIRRORS"), "{refused}");
    // A suite cannot have a folder outside itself read.
    std::fs::create_dir_all(project.path("suite/mirrors")).unwrap();
    symlink(project.path("repo"), project.path("suite/mirrors/cart")).unwrap();
    assert!(project.run("check suite").expect(4).out.contains("no-mirror"));
    std::fs::remove_file(project.path("suite/mirrors/cart")).unwrap();
    project.write("suite/cases/average/case.yaml", case("../../repo"));
    assert!(project.run("check suite").expect(4).out.contains("no-mirror"));
    project.write("suite/cases/average/case.yaml", case("https://host.example/shop/cart.git"));

    // In a folder that the user named.
    std::fs::create_dir_all(project.path("mirrors/shop")).unwrap();
    git(&project, &["clone", "-q", "--mirror", ".", "../mirrors/shop/cart.git"]);
    let place = [("KARAT_MIRRORS", project.path("mirrors").display().to_string())];
    with_tool(&project, "it", LOOKS, "");
    let report = run_tool(&project, &place);
    assert_eq!(outcomes(&report), "reported 2", "{report}");
    let seen = project.ok("store show latest --trial it average 1 --artifact stdout");
    assert!(seen.starts_with("M\tsrc/cart.py\nfrom the tree\nsrc/cart.py\n"), "{seen}");
    assert!(!seen.contains("outside"), "{seen}");

    // Or in the suite itself, with the same digest.
    std::fs::rename(project.path("mirrors/shop/cart.git"), project.path("suite/mirrors/cart.git")).unwrap();
    let out = project.run("check suite").expect(0);
    assert!(out.out.contains("s: 1 case, 1 golden"), "{}", out.out);
    assert!(out.err.contains("being a link that leads out of the tree"), "{}", out.err);
    project.write("s.jsonl", lines(&[trial("average", "t", 1, json!([]))]));
    let scored = project.json("score suite --submission s.jsonl --json");
    assert_eq!(scored["suite"]["digest"], report["suite"]["digest"]);
    // A commit that the mirror does not have.
    let absent = "0".repeat(40);
    project.write("suite/cases/average/case.yaml", case("cart").replace(&rev, &absent));
    let refused = project.run("check suite").expect(4).out;
    assert!(refused.contains("no-commit") && refused.contains("fetch"), "{refused}");
}

#[test]
fn a_fix_leads_to_the_change_it_repairs() {
    let project = project();
    let ran = project
        .run("suite add --from-fix HEAD --repo repo --suite suite")
        .expect_error(0, &["introduced by", "check suite/cases/average-price-of-a-cart/case.yaml"]);
    assert_eq!(ran.out, "suite/cases/average-price-of-a-cart\nsuite/cases/average-price-of-a-cart-fixed\n");
    let yaml = project.read("suite/cases/average-price-of-a-cart/case.yaml");
    for expected in [
        "twin: \"average-price-of-a-cart-fixed\"",
        "title: \"Fix the average of an empty cart\"",
        "file: \"src/cart.py\"\n    line_start: 6\n    line_end: 6\n",
        "target: true",
    ] {
        assert!(yaml.contains(expected), "{expected}:\n{yaml}");
    }
    let twin = project.read("suite/cases/average-price-of-a-cart-fixed/case.yaml");
    assert!(
        twin.contains("verdict: safe\nissues: []\n") && twin.contains("twin: \"average-price-of-a-cart\""),
        "{twin}"
    );
    assert!(project.read("suite/cases/average-price-of-a-cart-fixed/after/src/cart.py").contains("max(1, len(rows))"));
    assert_eq!(project.ok("check suite --strict"), "s: 2 cases, 1 golden to find, profile karat: no problems\n");

    // Neither of the two is written if one cannot be.
    let refused = "suite add --from-fix HEAD --repo repo --suite other --id x";
    project.write("other/cases/x-fixed/case.yaml", "id: x-fixed\n");
    project.run(refused).expect_error(4, &["other/cases/x-fixed: this case already exists"]);
    assert!(!project.path("other/cases/x").exists());

    let start = git(&project, &["rev-parse", "HEAD~3"]);
    let line =
        "suite add --from-fix HEAD --repo repo --suite suite --id named --introduced-by HEAD~3 --whole-tree --json";
    let named = project.json(line);
    assert_eq!((&named["commit"], &named["twin"]["case"]), (&json!(start), &json!("named-fixed")));
    assert_eq!(named["candidates"][0]["lines"], 1);
    assert!(named["candidates"][0]["weight"].as_u64().unwrap() > 1, "{named}");
    assert!(named["notes"][1].as_str().unwrap().contains("no repaired line comes from"), "{named}");
    project.run("suite add --from-fix HEAD~1 --repo repo --suite suite").expect_error(4, &["--introduced-by"]);
    project.run("suite add --from-commit HEAD --from-fix HEAD --repo repo --suite suite").expect(2);
    project.run("suite add --repo repo --suite suite").expect(2);
    project
        .run("suite add --from-commit HEAD --repo absent --suite suite")
        .expect_error(4, &["absent: no such folder"]);
}

/// For each language: the file, two faulty functions, and their repair between a version bump and other layout.
const REPAIRS: [(&str, &str, &str); 5] = [
    (
        "app.py",
        "__version__ = \"0.05\"\n\n\ndef average(rows):\n    return sum(rows) / len(rows)\n\n\ndef listed(a, b, c):\n    return [a, b, c]\n\n\ndef newest(rows):\n    return rows[0]\n",
        "__version__ = '0.06'\n\n\ndef average(rows):\n    return sum(rows) / max(1, len(rows))\n\n\ndef listed(\n    a,\n    b,\n    c,\n):\n    return [a, b, c]\n\n\ndef newest(rows):\n    if not rows:\n        return None\n    return rows[0]\n",
    ),
    (
        "app.ts",
        "export const VERSION = \"0.05\";\n\nexport function average(rows: number[]) {\n  return sum(rows) / rows.length;\n}\n\nfunction listed(a: number, b: number) { return [a, b]; }\n\nexport function newest(rows: number[]) {\n  return rows[0];\n}\n",
        "export const VERSION = '0.06';\n\nexport function average(rows: number[]) {\n  return sum(rows) / Math.max(1, rows.length);\n}\n\nfunction listed(\n  a: number,\n  b: number,\n) {\n  return [a, b];\n}\n\nexport function newest(rows: number[]) {\n  if (rows.length === 0) {\n    return undefined;\n  }\n  return rows[0];\n}\n",
    ),
    (
        "app.go",
        "package app\n\nconst Version = \"v0.0.5\"\n\nfunc average(rows []int) int {\n\treturn sum(rows) / len(rows)\n}\n\nfunc listed(a, b int) []int { return []int{a, b} }\n\nfunc newest(rows []int) int {\n\treturn rows[0]\n}\n",
        "package app\n\nconst Version = \"v0.0.6\"\n\nfunc average(rows []int) int {\n\treturn sum(rows) / atLeastOne(len(rows))\n}\n\nfunc listed(a, b int) []int {\n\treturn []int{a, b}\n}\n\nfunc newest(rows []int) int {\n\tif len(rows) == 0 {\n\t\treturn 0\n\t}\n\treturn rows[0]\n}\n",
    ),
    (
        "App.java",
        "class App {\n  static final String VERSION = \"0.5\";\n\n  int average(int[] rows) {\n    return sum(rows) / rows.length;\n  }\n\n  int[] listed(int a, int b) { return new int[] {a, b}; }\n\n  int newest(int[] rows) {\n    return rows[0];\n  }\n}\n",
        "class App {\n  static final String VERSION = \"0.6\";\n\n  int average(int[] rows) {\n    return sum(rows) / Math.max(1, rows.length);\n  }\n\n  int[] listed(\n      int a, int b) {\n    return new int[] {a, b};\n  }\n\n  int newest(int[] rows) {\n    if (rows.length == 0) {\n      return 0;\n    }\n    return rows[0];\n  }\n}\n",
    ),
    (
        "app.rs",
        "pub const VERSION: &str = \"0.5.0\";\n\nfn average(rows: &[u32]) -> u32 {\n    sum(rows) / rows.len()\n}\n\nfn listed(a: u32, b: u32) -> [u32; 2] { [a, b] }\n\nfn newest(rows: &[u32]) -> u32 {\n    rows[0]\n}\n",
        "pub const VERSION: &str = \"0.5.1\";\n\nfn average(rows: &[u32]) -> u32 {\n    sum(rows) / rows.len().max(1)\n}\n\nfn listed(a: u32, b: u32) -> [u32; 2] {\n    [a, b]\n}\n\nfn newest(rows: &[u32]) -> u32 {\n    if rows.is_empty() {\n        return 0;\n    }\n    rows[0]\n}\n",
    ),
];

/// Version bumps, layout and lock files repair nothing, and each repaired place is an issue.
#[test]
fn every_repaired_place_becomes_an_issue() {
    for (file, faulty, repaired) in REPAIRS {
        let project = Project::new()
            .with("suite/karat.toml", "[suite]\nname = \"s\"\n")
            .with(&format!("repo/{file}"), "")
            .with("repo/Cargo.lock", "a 1\nb 1\nc 1\nd 1\n");
        git(&project, &["init", "-q", "-b", "main"]);
        commit(&project, "start");
        project.write(&format!("repo/{file}"), faulty);
        project.write("repo/Cargo.lock", "a 2\nb 2\nc 2\nd 2\n");
        commit(&project, "Statistics of carts");
        // What blame must not choose.
        project.write("repo/Cargo.lock", "a 3\nb 3\nc 3\nd 3\n");
        commit(&project, "Update");
        project.write(&format!("repo/{file}"), repaired);
        project.write("repo/Cargo.lock", "a 4\nb 4\nc 4\nd 4\ne 4\n");
        commit(&project, "Fix empty carts\n\nAn empty cart divides by zero and has no newest row.");
        let ran = project.run("suite add --from-fix HEAD --repo repo --suite suite --id c").expect(0);
        assert!(!ran.err.contains("other repaired lines"), "{file}: {}", ran.err);
        assert!(!ran.err.contains("no other words"), "{file}: {}", ran.err);
        let yaml = project.read("suite/cases/c/case.yaml");
        assert_eq!(yaml.matches("  - id: issue-").count(), 2, "{file}:\n{yaml}");
        assert_eq!(yaml.matches("target: true").count(), 1, "{file}:\n{yaml}");
        let lines: Vec<&str> = faulty.lines().collect();
        let mut named: Vec<String> = Vec::new();
        for issue in yaml.split("  - id: issue-").skip(1) {
            let number = |key: &str| {
                let text = issue.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
                text.trim().parse::<usize>().unwrap()
            };
            let code = lines[number("line_start:") - 1..number("line_end:")].join("\n");
            assert!(!code.contains("ersion") && !code.contains("listed"), "{file}:\n{issue}\n{code}");
            for (name, fault) in [("average", "sum(rows)"), ("newest", "rows[0]")] {
                if code.contains(fault) {
                    assert!(
                        issue.contains(&format!("Fix empty carts ({})", name)) || issue.contains(&format!(".{name})")),
                        "{issue}"
                    );
                    named.push(name.to_owned());
                }
            }
        }
        named.sort();
        assert_eq!(named, ["average", "newest"], "{file}:\n{yaml}");
        project.run("check suite").expect(0);

        // Nothing but a version, layout and lock files.
        project.write(
            &format!("repo/{file}"),
            format!("{}\n\n", repaired.replace("0.06", "0.07").replace("0.5.1", "0.5.2")),
        );
        project.write("repo/Cargo.lock", "a 5\n");
        commit(&project, "Release");
        project.run("suite add --from-fix HEAD --repo repo --suite suite --id d").expect_error(
            4,
            &["repairs no line that was there before", "lock files do not count", "--introduced-by REV"],
        );
    }
}

#[test]
fn what_a_drafted_case_lacks_is_said() {
    let project = project();
    for number in 0..193 {
        project.write(&format!("repo/src/part{number}.py"), format!("x = {number}\n"));
    }
    project.write("repo/src/cart.py", AVERAGE.replace("return sum", "return 2 * sum"));
    commit(&project, "Crash");
    let ran = project.run("suite add --from-fix HEAD --repo repo --suite suite --id wide").expect(0);
    for text in ["touches 194 files", "a title and no other words"] {
        assert!(ran.err.contains(text), "{text}:\n{}", ran.err);
    }
    let ran = project.run("suite add --from-commit HEAD --repo repo --suite suite --id whole").expect(0);
    assert!(ran.err.contains("touches 194 files"), "{}", ran.err);
}

/// The lines of a case to fill in are those that its change means something by.
#[test]
fn the_first_lines_of_a_commit_are_no_version() {
    let project = project();
    project.write("repo/src/cart.py", format!("__version__ = \"1.1\"\n{}", AVERAGE));
    commit(&project, "Version");
    let changed = format!("__version__ = \"1.2\"\n{}", AVERAGE.replace("/ len(rows)", "/ count(rows)"));
    project.write("repo/src/cart.py", changed);
    commit(&project, "Count");
    project.run("suite add --from-commit HEAD --repo repo --suite suite --id count").expect(0);
    let yaml = project.read("suite/cases/count/case.yaml");
    assert!(yaml.contains("file: \"src/cart.py\"\n    line_start: 7\n    line_end: 7\n"), "{yaml}");
}

#[test]
fn the_examples_give_way_to_the_first_case() {
    let project = project();
    project.run("init mine").expect(0);
    project.run("suite add --from-fix HEAD --repo repo --suite mine --keep-examples --id kept").expect(0);
    assert!(project.path("mine/cases/tidy-rename").exists());
    // A changed example is the user's own.
    let own = project.read("mine/cases/tidy-rename/case.yaml").replace("Rename a parameter", "My own");
    project.write("mine/cases/tidy-rename/case.yaml", own);
    let ran = project.run("suite add --from-commit HEAD~2 --repo repo --suite mine --id one").expect(0);
    assert!(ran.err.contains("removed the 1 example case of `karat init`: unchecked-index"), "{}", ran.err);
    assert!(project.path("mine/cases/tidy-rename").exists() && !project.path("mine/cases/unchecked-index").exists());
    assert!(project.path("mine/submissions/example-reviewer.jsonl").exists());

    project.run("init other").expect(0);
    project.run("suite add --from-fix HEAD --repo repo --suite other --id one").expect(0);
    let link = "# yaml-language-server: $schema=../../schemas/case.json\n";
    assert!(project.read("other/cases/one/case.yaml").starts_with(link));
    let left = |folder: &str| std::fs::read_dir(project.path(folder)).unwrap().count();
    assert_eq!((left("other/cases"), left("other/submissions")), (2, 0));
    assert!(project.ok("check other").starts_with("other: 2 cases, 1 golden"));
}

#[test]
fn objects_of_removed_cases_are_removed_on_request() {
    let project = project();
    let add = |rev: &str, id: &str| {
        let line = format!("suite add --from-commit {rev} --repo repo --suite suite --id {id} --whole-tree");
        project.run(&line).expect(0);
        fill(&project, id);
    };
    let stored = || {
        let mut found = Vec::new();
        for folder in std::fs::read_dir(project.path("suite/objects")).unwrap() {
            let folder = folder.unwrap().path();
            found.extend(std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
        }
        found.sort();
        found
    };
    add("HEAD~2", "average");
    let before = stored();
    add("HEAD", "fix");
    let both = stored();
    assert!(before.len() < both.len(), "the second case adds objects");
    project.write("suite/objects/notes/README", "mine\n");
    let none = json!({ "dry_run": false, "objects": [], "bytes": 0 });
    assert_eq!(project.json("suite gc suite --json"), none);

    std::fs::remove_dir_all(project.path("suite/cases/fix")).unwrap();
    let planned = project.json("suite gc suite --dry-run --json");
    assert_eq!(planned["objects"].as_array().unwrap().len(), both.len() - before.len(), "{planned}");
    assert!(planned["bytes"].as_u64().unwrap() > 0, "{planned}");
    project.run("suite gc suite").expect_error(0, &["that no case uses"]);
    let left: Vec<_> = stored().into_iter().filter(|path| !path.ends_with("README")).collect();
    assert_eq!(left, before);
    assert_eq!(project.read("suite/objects/notes/README"), "mine\n");
    project.run("check suite").expect(0);

    // A suite that cannot be read completely keeps everything.
    let yaml = project.read("suite/cases/average/case.yaml");
    project.write("suite/cases/average/case.yaml", "id: [");
    project.run("suite gc suite").expect(4);
    project.write("suite/cases/average/case.yaml", yaml);
    assert_eq!(stored().len(), before.len() + 1);
    std::fs::remove_dir_all(project.path("suite/objects")).unwrap();
    project.run("suite gc suite").expect_error(4, &["is missing"]);
    project.run("suite gc starter").expect_error(2, &["built in and cannot be changed"]);
}
