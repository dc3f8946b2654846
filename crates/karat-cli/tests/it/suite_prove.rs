//! `karat suite prove`: verdicts, kept results, and what a proof can reach; and what `karat check` says about quotes and proofs.

use crate::project::{CommandOutput, Project, report_skipped};
use crate::run::sandboxed;
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};

const PATCH: &str = "--- a/value\n+++ b/value\n@@ -1 +1 @@\n-wrong\n+right\n";

/// Adds a case whose code is `value`, which is `wrong` and should be `right`. Its golden is proven by a shell script.
fn add_case(project: &Project, id: &str, script: &str, patch: &str) {
    let case = format!(
        "id: {id}\nlanguage: shell\nissues:\n  - id: g\n    title: The value is not the one that was asked for\n    file: value\n    \
         line_start: 1\n    quote: wrong\n    proof:\n      run: [sh, proof.sh]\n      files: proofs/g\n      fixed: fixed/g.patch\n"
    );
    project.write(&format!("s/cases/{id}/case.yaml"), case);
    project.write(&format!("s/cases/{id}/before/value"), "none\n");
    project.write(&format!("s/cases/{id}/after/value"), "wrong\n");
    project.write(&format!("s/cases/{id}/proofs/g/proof.sh"), script);
    project.write(&format!("s/cases/{id}/fixed/g.patch"), patch);
}

fn suite() -> Project {
    Project::new().with("s/karat.toml", "[suite]\nname = \"proofs\"\n")
}

fn prove(project: &Project, more: &str, code: i32) -> Value {
    let ran = project.run(&format!("suite prove s --json -q {more}")).expect(code);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

/// `case verdict`, with a star where the result was kept, one line each.
fn verdicts(report: &Value) -> String {
    let line = |proof: &Value| {
        let star = if proof["is_unchanged"] == true { "*" } else { "" };
        format!("{} {}{star}\n", proof["case"].as_str().unwrap(), proof["verdict"].as_str().unwrap())
    };
    report["proofs"].as_array().unwrap().iter().map(line).collect()
}

const PROVES: &str = "grep -qx right value\n";

#[test]
fn verdicts_are_told_apart() {
    let project = suite();
    for (id, script, patch) in [
        ("a-proven", PROVES, PATCH),
        ("b-crashes", "grep -qx right value || kill -SEGV $$\n", PATCH),
        ("c-passes", "exit 0\n", PATCH),
        ("d-fails", "exit 1\n", PATCH),
        // Each run is told its number.
        ("e-flaky", "test \"$KARAT_TRIAL\" = 1\n", PATCH),
        ("f-flaky-on-the-fix", "grep -qx right value && test \"$KARAT_TRIAL\" = 1\n", PATCH),
        ("g-says-no-toolchain", "exit 4\n", PATCH),
        ("h-program-missing", "no-such-program-7131\n", PATCH),
        ("i-patch-fails", PROVES, "--- a/value\n+++ b/value\n@@ -1 +1 @@\n-other\n+right\n"),
        ("j-does-not-compile", "exit 3\n", PATCH),
        ("k-inverted", "grep -qx wrong value\n", PATCH),
    ] {
        add_case(&project, id, script, patch);
    }
    add_case(&project, "l-not-installed", PROVES, PATCH);
    let path = "s/cases/l-not-installed/case.yaml";
    project.write(path, project.read(path).replace("[sh, proof.sh]", "[no-such-program-7131]"));
    let report = prove(&project, "", 1);
    assert_eq!(
        verdicts(&report),
        "a-proven proven\nb-crashes proven\nc-passes passes_on_both\nd-fails fails_on_both\ne-flaky flaky\n\
         f-flaky-on-the-fix flaky\ng-says-no-toolchain no_toolchain\nh-program-missing no_toolchain\ni-patch-fails broken\n\
         j-does-not-compile broken\nk-inverted broken\nl-not-installed no_toolchain\n"
    );
    let reason = |case: &str| {
        let proofs = report["proofs"].as_array().unwrap();
        proofs.iter().find(|proof| proof["case"] == case).unwrap()["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(reason("e-flaky"), "on the change it passed 1 of 2 times");
    assert!(reason("i-patch-fails").contains("fixed/g.patch does not apply"), "{}", reason("i-patch-fails"));
    assert!(reason("l-not-installed").contains("no-such-program-7131"), "{}", reason("l-not-installed"));
    let table = project.run("suite prove s -q").expect(1).out;
    assert!(table.contains("c-passes g") && table.contains("passes on both") && table.contains("shell"), "{table}");
    // What is missing here alone is no failure.
    prove(&project, "--only a-* g-* h-*", 0);
}

#[test]
fn unchanged_proof_is_not_run_again() {
    let project = suite();
    add_case(&project, "a", PROVES, PATCH);
    add_case(&project, "b", PROVES, PATCH);
    assert_eq!(verdicts(&prove(&project, "", 0)), "a proven\nb proven\n");
    let kept = project.read("s/proofs.json");
    assert_eq!(verdicts(&prove(&project, "", 0)), "a proven*\nb proven*\n");
    assert_eq!(verdicts(&prove(&project, "--force", 0)), "a proven\nb proven\n");
    assert_eq!(project.read("s/proofs.json"), kept, "the same proofs give the same bytes");
    assert!(kept.contains("karat.proofs/1") && kept.contains("blake3:") && kept.contains("bash"), "{kept}");
    assert!(project.ok("check --strict s").contains("no problems"));

    // Each part that a result depends on makes it outdated.
    let stated = project.read("s/cases/a/case.yaml");
    for (path, was, now, what) in [
        ("s/cases/a/after/value", "wrong\n", "wrong\nmore\n", "the code"),
        ("s/cases/a/proofs/g/proof.sh", PROVES, "grep -q right value\n", "the proof's files"),
        ("s/cases/a/fixed/g.patch", PATCH, &PATCH.replace("right", "right, at last"), "the patch"),
        ("s/cases/a/case.yaml", &stated, &stated.replace("language: shell", "language: python"), "the language"),
    ] {
        project.write(path, now);
        let ran = project.run("check --strict s").expect(4);
        assert!(
            ran.out.contains("outdated-proof") && ran.out.contains(&format!("outdated: {what} changed")),
            "{}",
            ran.out
        );
        assert!(verdicts(&prove(&project, "--only b", 0)) == "b proven*\n");
        project.write(path, was);
    }
    let script = project.path("s/cases/a/proofs/g/proof.sh");
    for (mode, code) in [(0o755, 4), (0o644, 0)] {
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).unwrap();
        let ran = project.run("check --strict s").expect(code);
        assert_eq!(ran.out.contains("outdated: the proof's files changed"), code == 4, "{}", ran.out);
    }
    // A result that was kept without a language holds for any.
    project.write("s/proofs.json", kept.replace("        \"language\": \"shell\",\n", ""));
    assert!(!project.read("s/proofs.json").contains("language"));
    project.ok("check --strict s");
    assert_eq!(verdicts(&prove(&project, "", 0)), "a proven*\nb proven*\n");
    assert_eq!(project.read("s/proofs.json"), kept);
    project.write("s/cases/a/proofs/g/proof.sh", "exit 1\n");
    assert_eq!(verdicts(&prove(&project, "", 1)), "a fails_on_both\nb proven*\n");
    let ran = project.run("check --strict s").expect(4);
    assert!(ran.out.contains("not-proven") && ran.out.contains("`g` is not proven: fails on both"), "{}", ran.out);

    // A machine without the toolchain takes nothing back.
    project.write("s/cases/a/proofs/g/proof.sh", PROVES);
    prove(&project, "", 0);
    let path = project.path("empty");
    std::fs::create_dir(&path).unwrap();
    let mut command = project.command();
    let ran = CommandOutput::start(command.env("PATH", &path).args(["suite", "prove", "s", "--force", "--json", "-q"]));
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    assert_eq!(verdicts(&report), "a no_toolchain\nb no_toolchain\n");
    assert_eq!(project.read("s/proofs.json"), kept);

    // What is gone is removed, and a file of another version is refused.
    std::fs::remove_dir_all(project.path("s/cases/b")).unwrap();
    prove(&project, "", 0);
    assert!(!project.read("s/proofs.json").contains("\"b\""));
    project.write("s/proofs.json", kept.replace("karat.proofs/1", "karat.proofs/2"));
    project.run("suite prove s").expect_error(4, &["karat.proofs/2"]);
}

#[test]
fn proof_cannot_leave_its_folder() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing keeps a proof from looking");
    }
    let project = suite();
    let root = project.path("").canonicalize().unwrap();
    let script = format!(
        "root={}\n\
         echo x > \"$root/written\" 2>/dev/null\n\
         echo x > \"$root/s/written\" 2>/dev/null\n\
         for place in \"$root/s/cases/other/case.yaml\" ../case.yaml ../../case.yaml ../fixed proofs fixed case.yaml; do\n\
         [ -e \"$place\" ] && cat \"$place\" >&2 && exit 0\n\
         done\n\
         [ -w . ] && [ -d \"$HOME\" ] || exit 0\n\
         case $HOME in \"$root\"*) exit 0;; esac\n\
         {PROVES}",
        root.display()
    );
    add_case(&project, "a", &script, PATCH);
    add_case(&project, "other", PROVES, PATCH);
    let report = prove(&project, "", 0);
    assert_eq!(verdicts(&report), "a proven\nother proven\n", "{report}");
    assert!(!project.path("written").exists() && !project.path("s/written").exists());
    // The proof has written nothing into the suite but its result.
    assert_eq!(std::fs::read_dir(project.path("s/cases/a")).unwrap().count(), 5);
}

/// A sanitizer reserves far more memory than a tool may use.
#[test]
fn proof_may_use_a_sanitizer() {
    let project = suite();
    let script = "echo 'int main(void) { return 0; }' > a.c\ncc -fsanitize=address a.c -o a || exit 4\n./a && grep -qx right value\n";
    add_case(&project, "a", script, PATCH);
    let path = "s/cases/a/case.yaml";
    project.write(path, project.read(path).replace("language: shell", "language: c"));
    match verdicts(&prove(&project, "", 0)).as_str() {
        "a no_toolchain\n" => report_skipped("no C compiler with AddressSanitizer is installed"),
        found => assert_eq!(found, "a proven\n"),
    }
}

#[test]
fn proof_files_replace_links_of_the_code() {
    let project = suite();
    add_case(&project, "a", PROVES, PATCH);
    project.write("s/cases/a/after/target", "kept\n");
    std::os::unix::fs::symlink("target", project.path("s/cases/a/after/link")).unwrap();
    project.write("s/cases/a/proofs/g/link", "own\n");
    project.write("s/cases/a/proofs/g/proof.sh", "grep -qx own link && grep -qx kept target && grep -qx right value\n");
    assert_eq!(verdicts(&prove(&project, "", 0)), "a proven\n");
}

/// The codes that `karat check` reports for a case with this change of its text.
#[track_caller]
fn check(from: &str, to: &str, expect: &str) {
    let project = suite();
    add_case(&project, "a", PROVES, PATCH);
    let yaml = project.read("s/cases/a/case.yaml");
    let changed = yaml.replace(from, to);
    assert!(changed != yaml || from == to, "{from:?} is not in:\n{yaml}");
    project.write("s/cases/a/case.yaml", changed);
    let found: Vec<Value> = serde_json::from_str(&project.run("check --strict s --json").out).unwrap();
    let line = |d: &Value| {
        format!("{} {}:{} {}\n", d["code"].as_str().unwrap(), d["line"], d["column"], d["message"].as_str().unwrap())
    };
    assert_eq!(found.iter().map(line).collect::<String>(), expect);
}

#[test]
fn quotes_and_proofs_are_checked_with_their_places() {
    check("", "", "");
    check("language: shell", "language: shell\nmade: 2026-02-28\ncanary: karat-canary-1", "");
    check(
        "language: shell",
        "language: shell\nmade: 2026-02-30",
        "bad-date 3:7 \"2026-02-30\" is not a date: expected YYYY-MM-DD, such as 2026-03-31\n",
    );
    check("language: shell", "canary: ''", "blank-canary 2:9 the canary is blank; write a new UUID, or remove it\n");
    check("quote: wrong", "quote: right", "misplaced-quote 8:12 the quote of `g` is not on line 1 of `value`\n");
    check("proofs/g", "proofs/absent", "no-such-file 11:14 no file in the folder `proofs/absent`\n");
    check("fixed/g.patch", "fixed/h.patch", "no-such-file 12:14 missing file `fixed/h.patch` in the case folder\n");
    check(
        "proofs/g",
        "after",
        "visible-proof 11:14 \"after\" is part of the code that tools see; move it out of there\n",
    );
    check("[sh, proof.sh]", "[]", "no-program 10:12 the command is empty: name a program and its arguments\n");
    check(
        "[sh, proof.sh]",
        "[/bin/sh]",
        "no-program 10:12 \"/bin/sh\" is neither the name of a program nor a file of the proof\n",
    );
}

#[test]
fn suite_without_proofs_has_nothing_to_prove() {
    let project = Project::new();
    assert_eq!(project.ok("suite prove starter"), "no golden of these cases has a proof\n");
    project.run("suite prove starter --only absent").expect_error(2, &["no case of the suite matches `absent`"]);
}

/// A suite may come from a stranger: what is kept in it is not written through a link.
#[test]
fn results_are_not_written_through_a_link() {
    let project = suite();
    add_case(&project, "a", PROVES, PATCH);
    project.write("mine", "mine\n");
    for target in ["../mine", "../missing", "karat.toml"] {
        symlink(target, project.path("s/proofs.json")).unwrap();
        let ran = project.run("suite prove s").expect_error(5, &["proofs.json", "a link is not followed"]);
        assert!(!ran.err.contains("running"), "it is known before a proof is run: {}", ran.err);
        std::fs::remove_file(project.path("s/proofs.json")).unwrap();
    }
    assert_eq!(project.read("mine"), "mine\n");
    assert_eq!(project.read("s/karat.toml"), "[suite]\nname = \"proofs\"\n");
    assert!(!project.path("missing").exists());
}

#[test]
fn proof_has_no_network() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing keeps a proof from the network");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Somebody listens there.
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    let project = suite();
    let script = format!(
        "command -v bash > /dev/null || exit 4\n\
         if bash -c 'exec 3<> /dev/tcp/127.0.0.1/{port}' 2> /dev/null; then exit 0; fi\n{PROVES}"
    );
    add_case(&project, "a", &script, PATCH);
    match verdicts(&prove(&project, "", 0)).as_str() {
        "a no_toolchain\n" => report_skipped("bash is not installed"),
        found => assert_eq!(found, "a proven\n"),
    }
    // Without a sandbox, which has to be asked for and is warned about, the same proof connects.
    let ran = project.run("suite prove s --force --isolation process").expect(1);
    assert!(ran.err.contains("no sandbox is used") && ran.out.contains("passes on both"), "{} {}", ran.err, ran.out);
}
