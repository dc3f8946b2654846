use super::*;
use crate::suite::load;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use std::process::Command;

/// A suite with one case, whose sides hold these files.
fn suite(folder: &Path, before: &[(&str, &str)], after: &[(&str, &str)]) -> LoadedSuite {
    let case = folder.join("cases/one");
    for (side, files) in [("before", before), ("after", after)] {
        fs::create_dir_all(case.join(side)).unwrap();
        for (path, text) in files {
            let path = case.join(side).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    fs::write(folder.join("karat.toml"), "[suite]\nname = \"s\"\n").unwrap();
    let yaml = "id: one\npr:\n  title: Faster totals\n  description: |\n    Sums once.\nissues: []\n";
    fs::write(case.join("case.yaml"), yaml).unwrap();
    load(Files::Disk(folder.to_owned())).unwrap()
}

fn template(loaded: &LoadedSuite) -> Template {
    Template::build(loaded, &loaded.suite.cases[0]).unwrap().unwrap()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for (name, value) in [("NAME", AUTHOR), ("EMAIL", ADDRESS)] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "git {args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

const BEFORE: &[(&str, &str)] =
    &[("a.py", "one\ntwo\n"), ("gone.txt", "old\n"), ("lib/x/y.py", "x = 1\n"), ("lib.md", "text"), ("lib-z", "z")];
const AFTER: &[(&str, &str)] = &[
    ("a.py", "one\ntwo and a half\n"),
    ("lib/x/y.py", "x = 1\n"),
    ("lib/new.py", "n = 2\n"),
    ("lib.md", "text"),
    ("lib-z", "z"),
];

#[test]
fn git_finds_a_whole_and_clean_repository() {
    let scratch = tempfile::tempdir().unwrap();
    let loaded = suite(&scratch.path().join("suite"), BEFORE, AFTER);
    let template = template(&loaded);
    let checkout = scratch.path().join("checkout");
    template.write(&checkout).unwrap();
    git(&checkout, &["fsck", "--strict", "--full"]);
    assert_eq!(git(&checkout, &["status", "--porcelain"]), "");
    // The plumbing trusts what the index says of each file, so this shows that it says the truth.
    assert_eq!(git(&checkout, &["diff-files"]), "");
    assert_eq!(git(&checkout, &["branch", "--show-current"]).trim(), HEAD);
    assert_eq!(git(&checkout, &["rev-parse", BASE]).trim(), template.base.to_string());
    assert_eq!(
        git(&checkout, &["log", "-1", "--format=%B%an %ae %at"]).trim(),
        "Faster totals\n\nSums once.\nKarat karat@localhost 1704070800"
    );
    let changed = git(&checkout, &["diff", "--name-status", "main...change"]);
    assert_eq!(changed, "M\ta.py\nD\tgone.txt\nA\tlib/new.py\n");
}

/// What git itself makes of the same files, author, dates and messages.
#[test]
fn commit_ids_are_those_git_gives() {
    let scratch = tempfile::tempdir().unwrap();
    let loaded = suite(&scratch.path().join("suite"), BEFORE, AFTER);
    let template = template(&loaded);
    let own = scratch.path().join("own");
    fs::create_dir(&own).unwrap();
    git(&own, &["init", "--quiet", "--initial-branch", BASE]);
    let commit = |side: &str, seconds: u64, message: &str| {
        git(&own, &["rm", "-rq", "--ignore-unmatch", "."]);
        let from = scratch.path().join("suite/cases/one").join(side).join(".");
        assert!(Command::new("cp").arg("-r").args([&from, &own]).status().unwrap().success());
        git(&own, &["add", "--all"]);
        let date = format!("--date=@{seconds} +0000");
        let status = Command::new("git")
            .args(["commit", "--quiet", "-m", message, &date])
            .current_dir(&own)
            .env("GIT_COMMITTER_DATE", format!("@{seconds} +0000"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", AUTHOR)
            .env("GIT_AUTHOR_EMAIL", ADDRESS)
            .env("GIT_COMMITTER_NAME", AUTHOR)
            .env("GIT_COMMITTER_EMAIL", ADDRESS)
            .status()
            .unwrap();
        assert!(status.success());
        git(&own, &["rev-parse", "HEAD"]).trim().to_owned()
    };
    assert_eq!(commit("before", BEFORE_SECONDS, "Before the change"), template.base.to_string());
    assert_eq!(commit("after", AFTER_SECONDS, "Faster totals\n\nSums once."), template.head.to_string());
}

/// A checkout has only the folders git cannot do without, and a tool may do more with it than look.
#[test]
fn git_can_work_in_it() {
    let scratch = tempfile::tempdir().unwrap();
    let loaded = suite(&scratch.path().join("suite"), &[("a.py", "1\n")], &[("a.py", "2\n")]);
    let checkout = scratch.path().join("checkout");
    template(&loaded).write(&checkout).unwrap();
    fs::write(checkout.join("a.py"), "3\n").unwrap();
    git(&checkout, &["stash", "--quiet"]);
    git(&checkout, &["switch", "--quiet", "--create", "try/this", BASE]);
    fs::write(checkout.join("b.py"), "4\n").unwrap();
    git(&checkout, &["add", "--all"]);
    git(&checkout, &["commit", "--quiet", "--message", "More"]);
    git(&checkout, &["tag", "here"]);
    git(&checkout, &["gc", "--quiet"]);
    git(&checkout, &["sparse-checkout", "set", "--no-cone", "/b.py"]);
    assert!(!checkout.join("a.py").exists());
    git(&checkout, &["fsck", "--strict", "--full"]);
    assert_eq!(git(&checkout, &["log", "--format=%s", "here"]), "More\nBefore the change\n");
}

#[test]
fn the_diff_applies() {
    let scratch = tempfile::tempdir().unwrap();
    let odd = [("no end.txt", "a\nb"), ("odd \"name\".txt", "1\n"), ("empty", "")];
    let changed = [("no end.txt", "a\nc"), ("odd \"name\".txt", "2\n"), ("empty", "no more"), ("new empty", "")];
    let folder = scratch.path().join("suite");
    suite(&folder, &[BEFORE, &odd].concat(), &[AFTER, &changed].concat());
    // A file that can be run from now on.
    let script = folder.join("cases/one/after/a.py");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let loaded = load(Files::Disk(folder)).unwrap();
    let template = template(&loaded);
    let checkout = scratch.path().join("checkout");
    template.write(&checkout).unwrap();
    git(&checkout, &["checkout", "--quiet", BASE]);
    let patch = scratch.path().join("change.diff");
    fs::write(&patch, &template.diff).unwrap();
    git(&checkout, &["apply", patch.to_str().unwrap()]);
    git(&checkout, &["add", "--all"]);
    assert_eq!(git(&checkout, &["diff", "--cached", "--name-only", HEAD]), "");
}

#[test]
fn every_checkout_is_the_same_and_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let loaded = suite(&scratch.path().join("suite"), &[], &[("a/b/c.rs", "fn main() {}\n")]);
    let template = template(&loaded);
    let (first, second) = (scratch.path().join("1"), scratch.path().join("2"));
    template.write(&first).unwrap();
    fs::remove_dir_all(&first).unwrap();
    template.write(&first).unwrap();
    template.write(&second).unwrap();
    fs::write(first.join("a/b/c.rs"), "spoilt").unwrap();
    assert_eq!(fs::read_to_string(second.join("a/b/c.rs")).unwrap(), "fn main() {}\n");
    assert_eq!(git(&first, &["rev-parse", HEAD, BASE]), git(&second, &["rev-parse", HEAD, BASE]));
    assert_eq!(git(&second, &["status", "--porcelain"]), "");
}

#[test]
fn a_case_cannot_bring_a_repository_along() {
    let scratch = tempfile::tempdir().unwrap();
    let hooks = &[("a.py", "1\n"), ("sub/.git/config", "[core]\n"), ("sub/.GIT/hooks/post-checkout", "#!/bin/sh\n")];
    let loaded = suite(&scratch.path().join("suite"), &[], hooks);
    let checkout = scratch.path().join("checkout");
    template(&loaded).write(&checkout).unwrap();
    git(&checkout, &["fsck", "--strict"]);
    assert!(!checkout.join("sub").exists());
}

#[test]
fn a_link_cannot_bring_goldens_into_the_copy() {
    let scratch = tempfile::tempdir().unwrap();
    suite(scratch.path(), &[], &[("a.py", "1\n")]);
    std::os::unix::fs::symlink("../case.yaml", scratch.path().join("cases/one/after/answers")).unwrap();
    let faults = load(Files::Disk(scratch.path().to_owned())).unwrap_err();
    assert!(faults.0[0].message.contains("after/answers leads out"), "{faults:?}");
}

#[test]
fn modes_and_large_files_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir().unwrap();
    let large = "0123456789abcdef".repeat(200_000);
    let folder = scratch.path().join("suite");
    suite(&folder, &[], &[("run.sh", "#!/bin/sh\n"), ("large.txt", &large)]);
    let script = folder.join("cases/one/after/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let loaded = load(Files::Disk(folder)).unwrap();
    let checkout = scratch.path().join("checkout");
    template(&loaded).write(&checkout).unwrap();
    assert_eq!(git(&checkout, &["status", "--porcelain"]), "");
    assert!(git(&checkout, &["ls-tree", HEAD]).starts_with("100644 blob"));
    assert!(git(&checkout, &["ls-tree", HEAD, "run.sh"]).starts_with("100755 blob"));
    assert_eq!(fs::read_to_string(checkout.join("large.txt")).unwrap(), large);
}

/// Deeper than a path may be long, than files may be open, and than a stack could follow.
#[test]
fn folders_nested_without_end_can_be_removed() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("trial");
    fs::create_dir(&folder).unwrap();
    // Each folder is made at the top and then moved around those that are there already, so no path grows long.
    let (mut tree, depth) = (folder.join("d"), 20_000);
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("f"), "").unwrap();
    for _ in 1..depth {
        let outer = folder.join("outer");
        fs::create_dir(&outer).unwrap();
        fs::rename(&tree, outer.join("d")).unwrap();
        tree = folder.join("d");
        fs::rename(&outer, &tree).unwrap();
    }
    fs::create_dir_all(folder.join("0/1")).unwrap();
    fs::write(folder.join("0/1/2"), "").unwrap();
    remove_tree(&folder).unwrap();
    assert!(!folder.exists());
}

#[test]
fn what_a_tool_leaves_behind_can_be_removed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = tempfile::tempdir().unwrap();
    let (folder, outside) = (scratch.path().join("trial"), scratch.path().join("outside"));
    fs::create_dir_all(folder.join("a/b")).unwrap();
    fs::write(&outside, "mine").unwrap();
    symlink("../a", folder.join("a/loop")).unwrap();
    symlink(&outside, folder.join("a/b/out")).unwrap();
    fs::set_permissions(folder.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(folder.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    remove_tree(&folder).unwrap();
    remove_tree(&folder).unwrap();
    assert!(!folder.exists() && outside.exists());
}
