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
    assert_eq!(project.ok("check suite --strict"), "s: 2 cases, 1 golden, profile karat: no problems\n");

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
    assert!(named["notes"][1].as_str().unwrap().contains("no repaired line comes from"), "{named}");
    project.run("suite add --from-fix HEAD~1 --repo repo --suite suite").expect_error(4, &["--introduced-by"]);
    project.run("suite add --from-commit HEAD --from-fix HEAD --repo repo --suite suite").expect(2);
    project.run("suite add --repo repo --suite suite").expect(2);
    project
        .run("suite add --from-commit HEAD --repo absent --suite suite")
        .expect_error(4, &["absent: no such folder"]);
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
