pub(crate) mod scratch_repository;

use super::*;
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
    assert!(error.to_string().contains("is not in a git repository"), "{error}");

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
    assert!(!trap.exists());
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
