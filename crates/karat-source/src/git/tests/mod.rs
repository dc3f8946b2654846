pub(crate) mod scratch_repository;

use super::*;
use karat_core::lines::Lines;
use scratch_repository::Scratch;

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn show(repo: &Repository, commit: &CommitId, file: &str) -> Option<Vec<u8>> {
    let entry = repo.entry(commit, &path(file)).expect("git")?;
    repo.content(&entry, 1 << 20).expect("git")
}

fn listing(changes: &Changes) -> Vec<String> {
    let kind = |entry: &Entry| if entry.is_file { "file" } else { "link" };
    let name = |side: &Option<Entry>| side.as_ref().map_or("-".to_owned(), |e| format!("{} {}", e.path, kind(e)));
    changes.files.iter().map(|c| format!("{} > {}", name(&c.old), name(&c.new))).collect()
}

#[test]
fn changes_are_listed_with_renames() {
    let scratch = Scratch::new();
    let long: String = (0..40).map(|row| format!("row {row}\n")).collect();
    scratch.write("kept.py", "1\n").write("old name.py", &long).write("gone.py", "bye\n").write("mod.py", "a\n");
    scratch.commit("one");
    scratch
        .remove("gone.py")
        .remove("old name.py")
        .write("sub/n\u{e9}w \"q\".py", long.replace("row 7\n", "row seven\n"));
    scratch.write("mod.py", "b\n").write("added.py", "new\n").write("back\\slash.py", "odd\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("kept.py", scratch.path().join("link.py")).expect("a link");
    scratch.commit("two");
    let repo = scratch.open();
    let (one, two) = (repo.resolve("HEAD~1").expect("one"), repo.resolve("main").expect("two"));
    let changes = repo.changed_files(Some(&one), &two).expect("changes");
    assert_eq!(
        listing(&changes),
        [
            "- > added.py file",
            "gone.py file > -",
            "- > link.py link",
            "mod.py file > mod.py file",
            "old name.py file > sub/n\u{e9}w \"q\".py file",
        ]
    );
    assert_eq!(changes.odd_paths, ["back\\slash.py"]);
    let first = repo.changed_files(None, &one).expect("changes");
    assert_eq!(first.files.len(), 4);
    assert!(first.files.iter().all(|file| file.new.is_some() && file.old.is_none()));
}

#[test]
fn contents_are_read() {
    let scratch = Scratch::new();
    scratch
        .write("a/b.txt", "first\n")
        .write("*.txt", "star\n")
        .commit("one")
        .write("a/b.txt", "second\n")
        .commit("two");
    let repo = scratch.open();
    let (one, two) = (repo.resolve("HEAD~1").expect("one"), repo.resolve("HEAD").expect("two"));
    assert_eq!(show(&repo, &one, "a/b.txt"), Some(b"first\n".to_vec()));
    assert_eq!(show(&repo, &two, "a/b.txt"), Some(b"second\n".to_vec()));
    assert_eq!(show(&repo, &two, "*.txt"), Some(b"star\n".to_vec()));
    for absent in ["a", "a/c", "../x", ":(top)a/b.txt", "-r"] {
        assert_eq!(show(&repo, &two, absent), None, "{absent}");
    }
    let entry = repo.entry(&two, &path("a/b.txt")).expect("git").expect("an entry");
    assert_eq!(repo.content(&entry, 3).expect("git"), None);
    assert_eq!(repo.content(&entry, 7).expect("git"), Some(b"second\n".to_vec()));
}

#[test]
fn messages_have_title_and_body() {
    let check = |message: &str, title: &str, body: &str| {
        let scratch = Scratch::new();
        scratch.commit(message);
        let repo = scratch.open();
        let commit = repo.resolve("HEAD").expect("a commit");
        assert_eq!(repo.message(&commit).expect("a message"), (title.to_owned(), body.to_owned()));
    };
    check("Only a title", "Only a title", "");
    check("Title\n\nBody: \"x\"\n\n- more\n", "Title", "Body: \"x\"\n\n- more");
    check("Broken\ntitle\n\n  indented\n", "Broken title", "indented");
}

#[test]
fn parents_are_followed() {
    let scratch = Scratch::new();
    scratch.commit("root").commit("next");
    let repo = scratch.open();
    let head = repo.resolve("HEAD").expect("a commit");
    let parent = repo.parent(&head).expect("git").expect("a parent");
    assert_eq!(parent, repo.resolve("HEAD^").expect("a commit"));
    assert_eq!(repo.parent(&parent).expect("git"), None);

    let shallow = tempfile::tempdir().expect("a folder");
    let from = format!("file://{}", scratch.path().display());
    scratch.git(&["clone", "-q", "--depth=1", &from, &shallow.path().join("c").display().to_string()]);
    let clone = Repository::open(&shallow.path().join("c")).expect("a repository");
    let error = clone.parent(&clone.resolve("HEAD").expect("a commit")).expect_err("a shallow clone");
    assert!(error.to_string().contains("git fetch --deepen=1"), "{error}");
}

#[test]
fn subfolders_belong_to_their_repository() {
    let scratch = Scratch::new();
    scratch.write("suites/a/x", "1").commit("one");
    let repo = Repository::open(&scratch.path().join("suites/a")).expect("a repository");
    let head = repo.resolve("HEAD").expect("a commit");
    assert_eq!(show(&repo, &head, "suites/a/x"), Some(b"1".to_vec()));
    assert_eq!(repo.changed_files(None, &head).expect("git").files.len(), 1);
}

#[test]
fn errors_have_help() {
    let empty = tempfile::tempdir().expect("a folder");
    let error = Repository::open(empty.path()).expect_err("no repository");
    assert!(error.to_string().contains("is not in a git repository"), "{error}");
    let error = Repository::open(&empty.path().join("missing")).expect_err("no folder");
    assert!(error.to_string().ends_with("missing: no such folder"), "{error}");

    let scratch = Scratch::new();
    scratch.write("a", "1").commit("one");
    let repo = scratch.open();
    let check = |rev: &str, expect: &str| {
        let error = repo.resolve(rev).expect_err(rev);
        assert!(error.to_string().contains(expect), "{rev}: {error}");
    };
    check("nope", "names no commit");
    check("HEAD:a", "names no commit");
    check("HEAD..HEAD", "names no commit");
    check("", "invalid revision");
    check("--output=/tmp/x", "invalid revision");
    check("a\nb", "invalid revision");
    check("a\0b", "invalid revision");
}

#[test]
fn commands_configured_by_a_repository_are_not_run() {
    let scratch = Scratch::new();
    scratch
        .write("a.txt", "1\n")
        .write(".gitattributes", "*.txt diff=evil\n")
        .commit("one")
        .write("a.txt", "2\n")
        .commit("two");
    let trap = scratch.path().join("ran");
    let run = format!("touch {}", trap.display());
    for key in
        ["diff.external", "diff.evil.textconv", "diff.evil.command", "core.pager", "core.fsmonitor", "gpg.program"]
    {
        scratch.git(&["config", key, &run]);
    }
    scratch.git(&["config", "log.showSignature", "true"]);
    let repo = scratch.open();
    let head = repo.resolve("HEAD").expect("a commit");
    let parent = repo.parent(&head).expect("git");
    repo.changed_files(parent.as_ref(), &head).expect("changes");
    repo.message(&head).expect("a message");
    show(&repo, &head, "a.txt").expect("content");
    repo.tree(&head).expect("a tree");
    repo.blame(&head, &path("a.txt"), &[Lines { start: 1, end: 1 }]).expect("origins");
    assert!(!trap.exists());
}

#[cfg(unix)]
#[test]
fn trees_are_listed_and_read() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.write("src/a.py", "x = 1\n").write("run.sh", "#!/bin/sh\n").write("empty", "");
    std::fs::set_permissions(scratch.path().join("run.sh"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::os::unix::fs::symlink("src/a.py", scratch.path().join("link")).expect("a link");
    scratch.commit("one");
    let repo = Repository::open_exactly(scratch.path()).expect("a repository");
    let head = repo.resolve("HEAD").expect("a commit");
    let tree = repo.tree(&head).expect("a tree");
    let mut blobs = repo.blobs().expect("a process");
    let mut listed = String::new();
    for file in &tree.files {
        let content = String::from_utf8(blobs.read(&file.id).expect("content")).expect("text");
        assert_eq!(content.len() as u64, file.size);
        listed.push_str(&format!("{} {:?} {content:?}\n", file.path, file.kind));
    }
    let expect =
        "empty Plain \"\"\nlink Link \"src/a.py\"\nrun.sh Executable \"#!/bin/sh\\n\"\nsrc/a.py Plain \"x = 1\\n\"\n";
    assert_eq!(listed, expect);
    assert!(blobs.read(&"0".repeat(40)).expect_err("nothing").to_string().contains("is not in this clone"));
    assert!(blobs.read("HEAD").is_err());
    // Neither the repository above a folder nor one that a file points to.
    assert!(Repository::open_exactly(&scratch.path().join("src")).is_err());
    let other = tempfile::tempdir().expect("a folder");
    std::fs::write(other.path().join(".git"), format!("gitdir: {}\n", scratch.path().join(".git").display()))
        .expect("a file");
    assert!(Repository::open_exactly(other.path()).is_err());
}

#[test]
fn lines_have_origins() {
    let scratch = Scratch::new();
    scratch.write("a.py", "one = 1\ntwo = 2\nthree = 3\nfour = 4\n").commit("first");
    scratch.remove("a.py").write("b.py", "zero = 0\none = 1\ntwo = 22\nthree = 3\nfour = 4\n").commit("second");
    scratch.write("b.py", "zero = 0\n  one = 1\ntwo = 22\nthree = 3\nfour = 4\n").commit("spaces");
    let repo = scratch.open();
    let head = repo.resolve("HEAD").expect("a commit");
    let blamed = repo.blame(&head, &path("b.py"), &[Lines { start: 2, end: 3 }, Lines { start: 5, end: 5 }]);
    let line = |line: &BlamedLine| {
        let (title, _) = repo.message(&line.commit).expect("a message");
        let file = line.file.as_ref().expect("a file");
        format!("{} {title} {file}:{}", line.line, line.line_there)
    };
    let lines: Vec<String> = blamed.expect("origins").iter().map(line).collect();
    assert_eq!(lines, ["2 first a.py:1", "3 second b.py:3", "5 first a.py:4"]);
    assert_eq!(repo.blame(&head, &path("b.py"), &[]).expect("nothing"), []);
    assert!(repo.blame(&head, &path("none.py"), &[Lines { start: 1, end: 1 }]).is_err());
    let first = repo.resolve("HEAD~2").expect("a commit");
    assert!(repo.is_ancestor(&first, &head) && !repo.is_ancestor(&head, &first));
}

#[test]
fn invalid_git_output_is_an_error() {
    for answer in [&b"x"[..], b":1 2 3", b":1 2 3 4 M", b":1 2 3 4 X\0a\0", b":1 2 3 4 R100\0a"] {
        assert!(parse_changes(answer).is_err(), "{answer:?}");
    }
    assert_eq!(parse_changes(b"").expect("nothing"), Changes::default());
    assert!(object_id("x", b"zz").is_err());
}

impl Repository {
    /// The first parent; `None` for a root commit.
    fn parent(&self, commit: &CommitId) -> Result<Option<CommitId>, GitError> {
        Ok(self.parents(commit)?.into_iter().next())
    }
}
