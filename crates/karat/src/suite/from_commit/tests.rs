use super::scratch_repository::Scratch;
use super::*;

fn names(files: &[(RepoPath, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(path, _)| path.as_str()).collect()
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let long: String = (0..40).map(|row| format!("row {row}\n")).collect();
    scratch.write("src/app.py", "import os\n\ndef f():\n    return 1\n").write("src/old.py", &long);
    scratch.write("gone.py", "bye\n").write("README.md", "hello\n").commit("First: set up");
    scratch.write("src/app.py", "import os\n\ndef f(q):\n    os.system(q)\n    return 1\n");
    scratch
        .remove("src/old.py")
        .write("src/new.py", long + "more\n")
        .remove("gone.py")
        .write("README.md", "hello you\n");
    scratch.write("logo.png", b"\x89PNG\0\0").write("big.js", "x".repeat((1 << 20) + 1));
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("link.py")).expect("a link");
    scratch.commit("Run: \"queries\" #now\n\nThe shell runs them:\n\n  - fast\n  - loose\n");
    scratch
}

#[test]
fn a_commit_becomes_a_case() {
    let scratch = scratch();
    let case = skeleton(&scratch.open(), "HEAD", None).expect("a case");
    assert_eq!(case.id.as_str(), "run-queries-now");
    assert_eq!(case.title, "Run: \"queries\" #now");
    assert_eq!(case.description, "The shell runs them:\n\n  - fast\n  - loose");
    assert_eq!(case.language.map(Language::name), Some("python"));
    assert_eq!(names(&case.before), ["README.md", "gone.py", "src/app.py", "src/old.py"]);
    assert_eq!(names(&case.after), ["README.md", "src/app.py", "src/new.py"]);
    assert_eq!(case.first_touched, RepoPath::new("src/app.py").map(|path| (path, Lines { start: 3, end: 4 })));
    assert_eq!(
        case.notes,
        [
            "left out for being a link or a submodule: \"link.py\"",
            "left out for being binary: \"logo.png\"",
            "left out for being longer than 1 MiB: \"big.js\"",
        ]
    );
}

#[test]
fn the_first_commit_has_nothing_before_it() {
    let scratch = scratch();
    let case = skeleton(&scratch.open(), "HEAD~1", Some("Case_1.a")).expect("a case");
    assert_eq!(case.id.as_str(), "Case_1.a");
    assert!(case.before.is_empty());
    assert_eq!(names(&case.after), ["README.md", "gone.py", "src/app.py", "src/old.py"]);
    assert_eq!(case.first_touched, RepoPath::new("gone.py").map(|path| (path, Lines { start: 1, end: 1 })));
}

#[test]
fn cases_are_written_whole() {
    let scratch = scratch();
    let case = skeleton(&scratch.open(), "HEAD", None).expect("a case");
    let suite = tempfile::tempdir().expect("a folder");
    let folder = case.write(suite.path()).expect("written");
    assert_eq!(folder, suite.path().join("cases/run-queries-now"));
    let read = |path: &str| fs::read_to_string(folder.join(path)).expect("a file");
    assert_eq!(read("before/gone.py"), "bye\n");
    assert!(read("after/src/app.py").contains("os.system(q)"));
    assert!(!folder.join("after/gone.py").exists());
    let commit = case.commit.as_str();
    let expect = r##"# Taken from commit COMMIT.
# Say below what a good tool reports for this change, then run `karat check` on the suite.
id: "run-queries-now"
name: "Run: \"queries\" #now"
language: python
# difficulty: medium        # easy, medium or hard
categories: []              # such as [security, performance]
pr:
  title: "Run: \"queries\" #now"
  description: |2-
    The shell runs them:

      - fast
      - loose

# One entry for each issue that the change brings in. Write `issues: []` if there is none: tools should then stay silent.
issues:
  - id: issue-1
    title: "TODO: say what is wrong, in a few words"
    # description: Why it is wrong and what it does
    # severity: high        # critical, high, medium, low or info
    # category: security
    file: "src/app.py"
    line_start: 3
    line_end: 4
    # keywords: [words, that, a, report, uses]
"##;
    assert_eq!(read("case.yaml"), expect.replace("COMMIT", commit));

    let error = case.write(suite.path()).expect_err("it exists");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("already exists"), "{error}");
    let left: Vec<_> =
        fs::read_dir(suite.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left, ["cases"]);
}

#[test]
fn a_case_that_cannot_be_written_leaves_nothing() {
    let scratch = scratch();
    let mut case = skeleton(&scratch.open(), "HEAD", None).expect("a case");
    for hostile in ["../out.py", "a/.GIT/config", "src/app.py/below"] {
        case.after.truncate(3);
        case.after.push((RepoPath::new(hostile).expect("a path"), Vec::new()));
        let suite = tempfile::tempdir().expect("a folder");
        case.write(suite.path()).expect_err(hostile);
        assert!(!suite.path().join("cases/run-queries-now").exists());
        assert_eq!(fs::read_dir(suite.path()).expect("a folder").count(), 1, "{hostile}");
    }
}

#[test]
fn an_empty_change_is_no_case() {
    let scratch = Scratch::new();
    scratch.write("a.bin", b"\0").commit("one").commit("two");
    let check = |rev: &str, expect: &str| {
        let error = skeleton(&scratch.open(), rev, None).expect_err(rev);
        assert!(error.text().ends_with(expect), "{}", error.text());
    };
    check("HEAD", "changes no text file that a case could hold");
    check("HEAD~1", "could hold; left out for being binary: \"a.bin\"");
}

#[test]
fn merges_take_the_first_parent() {
    let scratch = Scratch::new();
    scratch.write("a.py", "a\n").commit("root");
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("b.py", "b\n").commit("side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("c.py", "c\n").commit("main");
    scratch.git(&["merge", "-q", "--no-ff", "-m", "Merge it", "side"]);
    let case = skeleton(&scratch.open(), "HEAD", None).expect("a case");
    assert_eq!(names(&case.after), ["b.py"]);
    assert!(case.notes[0].contains("is a merge"), "{:?}", case.notes);
}

#[test]
fn ids_are_names_of_folders() {
    let check = |title: &str, expect: Option<&str>| assert_eq!(slug(title).as_deref(), expect, "{title:?}");
    check("fix(auth): Don't trust `X-User`!", Some("fix-auth-don-t-trust-x-user"));
    check("../../etc/passwd", Some("etc-passwd"));
    check("\u{4fee}\u{6b63}", None);
    check("", None);
    check(&"word ".repeat(30), Some("word-word-word-word-word-word-word-word-word-word-word-word"));
    check(&"w".repeat(300), Some(&"w".repeat(60)));
    for id in ["../x", "a/b", "", ".hidden", "_skipped", "-x", "a b", "a.", "\u{e9}"] {
        assert!(!valid_id(id), "{id:?}");
        let error = skeleton(&scratch().open(), "HEAD", Some(id)).expect_err(id);
        assert!(error.text().contains("invalid case id"), "{}", error.text());
    }
}

#[test]
fn a_case_is_not_written_through_a_link() {
    let scratch = scratch();
    let case = skeleton(&scratch.open(), "HEAD", None).expect("a case");
    let folder = tempfile::tempdir().expect("a folder");
    let (suite, other) = (folder.path().join("suite"), folder.path().join("other"));
    fs::create_dir(&suite).expect("a suite");
    fs::create_dir(&other).expect("another folder");
    std::os::unix::fs::symlink(&other, suite.join("cases")).expect("a link");
    assert!(case.write(&suite).is_err());
    assert_eq!(fs::read_dir(&other).expect("a folder").count(), 0);
}
