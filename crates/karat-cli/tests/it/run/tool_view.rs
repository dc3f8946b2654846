//! What a tool sees: a fresh repository, the pull request, its own folders, and nothing that reveals the goldens.

use super::sandboxed;
use super::{FINDS_IT, outcomes, report, with_cases, with_tool};
use crate::project::{CommandOutput, Project, report_skipped};

/// The stdout of a script in the first trial of the first case.
#[track_caller]
fn run_script(project: &Project, script: &str, manifest: &str) -> String {
    with_tool(project, "it", &format!("{script}\n{FINDS_IT}"), manifest);
    let report = report(project, "it", "--trials 1");
    assert!(outcomes(&report).starts_with("reported"), "{}", outcomes(&report));
    project.ok("store show latest --trial it case-1 1 --artifact stdout")
}

#[test]
fn checkout_is_a_fresh_repository() {
    let script = r#"cd "$1"
git status --porcelain
git branch --format='%(refname:short)'
git diff --name-only main...HEAD
git log -1 --format=%s
git rev-parse HEAD
echo "$KARAT_HEAD_COMMIT"
ls -a
echo spoilt > app.py; git commit -qam spoilt"#;
    let project = with_cases(1);
    let first = run_script(&project, script, "");
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines[..4], ["change", "main", "app.py", "Search by name"], "{first}");
    assert_eq!(lines[4], lines[5]);
    assert_eq!(lines[6..], [".", "..", ".git", "app.py"]);
    // Other runs and trials see the same.
    assert_eq!(run_script(&project, script, ""), first);
}

#[test]
fn pull_request_is_passed_to_the_tool() {
    let script = r#"echo "$KARAT_PR_TITLE"
echo "$KARAT_PR_DESCRIPTION"
cat "$KARAT_TITLE_FILE" "$KARAT_DESCRIPTION_FILE"
grep '^[+-]' "$KARAT_DIFF_FILE" | head -4"#;
    let out = run_script(&with_cases(1), script, "");
    let expect = "Search by name\nAdds a search.\n\nSearch by nameAdds a search.\n--- a/app.py\n+++ b/app.py\n-    return None\n+    return db.execute(\"SELECT * FROM t WHERE n = '\" + name + \"'\")\n";
    assert_eq!(out, expect);
}

/// Only values that can be secrets are redacted: the values of other variables occur in ordinary text, and redacting
/// them would make results unreadable.
#[test]
fn non_secret_values_are_not_redacted() {
    for value in ["x", "title", "app.py", "injection", "2"] {
        let project = with_cases(1);
        with_tool(&project, "it", FINDS_IT, "pass_env = [\"MODE\"]");
        let line = ["run", "suite", "--tool", "tools/it.toml", "--trials", "1", "-q", "--json"];
        let ran = CommandOutput::start(project.command().env("MODE", value).args(line));
        let report = crate::run::parsed(&ran);
        assert_eq!(outcomes(&report), "reported 1", "{value}");
        assert_eq!(report["tools"][0]["metrics"]["recall"]["value"], 1.0, "{value}");
    }
}

#[test]
fn environment_is_an_allowlist() {
    let project = with_cases(1);
    with_tool(
        &project,
        "it",
        &format!("env; [ \"$HANDED_OVER\" = shown-4-you ] && echo right; echo $HANDED_OVER >&2; {FINDS_IT}"),
        "env = { MINE = \"{base}-{trial}\" }\npass_env = [\"HANDED_OVER\"]",
    );
    let mut command = project.command();
    command
        .env("SECRET_TOKEN", "hidden")
        .env("HANDED_OVER", "shown-4-you")
        .env("TZ", "Asia/Tokyo")
        .env("LC_ALL", "de_DE");
    command.args(["run", "suite", "--tool", "tools/it.toml", "--trials", "1", "-q"]).assert().success();
    let env = project.ok("store show latest --trial it case-1 1 --artifact stdout");
    for line in [
        "TZ=UTC",
        "LC_ALL=C.UTF-8",
        "MINE=main-1",
        "HANDED_OVER=[HANDED_OVER]",
        "right",
        "KARAT_BASE=main",
        "PYTHONHASHSEED=0",
    ] {
        assert!(env.lines().any(|own| own == line), "{line}:\n{env}");
    }
    assert!(!env.contains("hidden") && !env.contains("case-1") && !env.contains("suite"), "{env}");
    let home = env.lines().find_map(|line| line.strip_prefix("HOME=")).unwrap();
    assert_ne!(std::env::var("HOME").unwrap_or_default(), home);
    // Passed values are stored nowhere: neither in the captured output nor in the bytes of the store.
    let complained = project.ok("store show latest --trial it case-1 1 --artifact stderr");
    assert_eq!(complained, "[HANDED_OVER]\n");
    project.ok("store export latest --whole -o whole.jsonl");
    assert!(!project.read("whole.jsonl").contains("shown-4-you"));
}

#[test]
fn home_and_temp_are_empty_in_each_trial() {
    let script =
        r#"ls -A "$HOME" "$TMPDIR" | grep -v '^$' | grep -v ':$'; echo x > "$HOME/x"; echo x > "$TMPDIR/x"; echo done"#;
    let project = with_cases(1);
    with_tool(&project, "it", &format!("{script}\n{FINDS_IT}"), "");
    report(&project, "it", "--trials 3 -j 1");
    for trial in 1..=3 {
        let out = project.ok(&format!("store show latest --trial it case-1 {trial} --artifact stdout"));
        assert_eq!(out, "done\n");
    }
}

/// A tool that searches for the goldens in the suite, above its own folder, in the store, in the git history of the
/// suite, in other processes, in the user's home and in the program itself.
#[test]
fn goldens_cannot_be_found_by_a_tool() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing keeps a tool from looking");
    }
    let marker = "golden-marker-7131";
    let project = with_cases(1);
    let yaml = project.read("suite/cases/case-1/case.yaml");
    let proof = format!(
        "    proof:\n      run: [sh, proof.sh]\n      files: proofs/query\n      fixed: fixed/query.patch\ncanary: {marker}\n"
    );
    let yaml = format!("{}{proof}", yaml.replace("SQL query built from input", marker));
    project.write("suite/cases/case-1/case.yaml", yaml);
    project.write("suite/cases/case-1/proofs/query/proof.sh", format!("# {marker}\n"));
    project.write("suite/cases/case-1/fixed/query.patch", marker);
    project.write("home/notes.txt", marker);
    for words in
        [&["init", "-q"][..], &["add", "-A"], &["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", marker]]
    {
        assert!(
            std::process::Command::new("git").args(words).current_dir(project.path("")).status().unwrap().success()
        );
    }
    let root = project.path("").canonicalize().unwrap();
    let script = format!(
        r#"root={root}
word={half}; word=${{word}}er-7131
look() {{ grep -rasl "$word" "$@" 2>/dev/null; }}
look "$root/suite" "$root/.karat" "$root/home" "$1/.." "$1/../.." "$HOME/.."
cat "$root/suite/cases/case-1/case.yaml" 2>/dev/null
git --git-dir="$root/.git" log -1 --format=%s 2>/dev/null
git --git-dir="$root/.git" show HEAD:suite/cases/case-1/case.yaml 2>/dev/null
for p in /proc/[0-9]*; do look $p/environ $p/cmdline; ls $p/cwd/suite $p/root$root/suite 2>/dev/null; done
ln -s "$root/suite" "$1/link"; look "$1/link/"
echo looked"#,
        root = root.display(),
        // The script itself must not contain the search term.
        half = marker.trim_end_matches("er-7131"),
    );
    with_tool(&project, "it", &format!("{script}\n{FINDS_IT}"), "");
    let mut command = project.command();
    command.env("HOME", project.path("home")).args(["run", "suite", "--tool", "tools/it.toml", "--trials", "1", "-q"]);
    command.assert().success();
    let out = project.ok("store show latest --trial it case-1 1 --artifact stdout");
    assert_eq!(out, "looked\n");
    // Control: the same tool finds them without a sandbox.
    let plain = std::process::Command::new(project.path("tools/it.sh"))
        .arg(project.path("suite/cases/case-1"))
        .arg(project.path("out"))
        .env("HOME", project.path("home"))
        .current_dir(project.path(""))
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&plain.stdout).contains("case.yaml"));
}

#[test]
fn manifest_cannot_expose_the_suite() {
    let project = with_cases(1);
    for (key, path) in [("expose", "suite"), ("expose", "."), ("writable", "suite/cases"), ("expose", ".karat")] {
        let path = project.path(path);
        std::fs::create_dir_all(project.path(".karat")).unwrap();
        with_tool(&project, "it", FINDS_IT, &format!("{key} = [\"{}\"]", path.display()));
        project.run("run suite --tool tools/it.toml").expect_error(5, &["would let it see the suite or the store"]);
    }
    project.write("suite/inside.sh", format!("#!/bin/sh\n{FINDS_IT}\n"));
    let inside = project.path("suite/inside.sh");
    std::fs::set_permissions(&inside, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.write("tools/it.toml", format!("command = [\"{}\"]\nformat = \"karat\"\n", inside.display()));
    project.run("run suite --tool tools/it.toml").expect_error(5, &["is in the suite or the store"]);
}

#[test]
fn setup_runs_once_and_the_version_is_stored() {
    let project = with_cases(2);
    let manifest = "setup = [\"sh\", \"-c\", \"echo once >> {tool_dir}/made\"]\nversion = [\"echo\", \"it 1.2.3\"]\n";
    let script =
        format!("cat \"$KARAT_TOOL_DIR/made\"; echo more >> \"$KARAT_TOOL_DIR/made\" && echo wrote; {FINDS_IT}");
    with_tool(&project, "it", &script, manifest);
    report(&project, "it", "--trials 2");
    for case in ["case-1", "case-2"] {
        let out = project.ok(&format!("store show latest --trial it {case} 2 --artifact stdout"));
        assert!(out.starts_with("once\n"), "{out}");
        if sandboxed() {
            assert_eq!(out, "once\n");
        }
    }
    let shown = project.json("store show latest --json").to_string();
    assert!(shown.contains("it 1.2.3"), "{shown}");
    with_tool(&project, "it", FINDS_IT, "setup = [\"sh\", \"-c\", \"echo cannot >&2; exit 4\"]");
    project.run("run suite --tool tools/it.toml").expect_error(5, &["set-up command failed", "cannot"]);
}

#[test]
fn report_states_the_isolation() {
    let project = with_cases(1);
    with_tool(&project, "it", FINDS_IT, "");
    with_tool(&project, "net", FINDS_IT, "network = true");
    let out = project.ok("run suite --tool tools/it.toml tools/net.toml patterns --trials 1 -v");
    assert!(out.contains("isolation · "), "{out}");
    let report = project.json("report latest --json");
    let isolation = &report["measured"]["isolation"];
    assert_eq!(isolation["patterns"], "nothing is executed");
    let [it, net] = ["it", "net"].map(|tool| isolation[tool].as_str().unwrap());
    assert!(net.contains(", network allowed") && !it.contains("network allowed"), "{it}\n{net}");
    // Paths shown to a tool by default are listed.
    let folder = project.path("tools").canonicalize().unwrap();
    assert_eq!(it.contains(&format!("sees its installation {}", folder.display())), sandboxed(), "{it}");
    assert!(it.contains("limits by "), "{it}");
    let loose = project.run("run suite --tool tools/it.toml --trials 1 --isolation process -v").expect(0);
    assert!(
        loose.err.contains("only weak isolation") && loose.out.contains("isolation · it: process"),
        "{}",
        loose.err
    );
    project
        .run("run suite --tool tools/it.toml --isolation process --require-isolation")
        .expect_error(2, &["is less than"]);
    let weaker = project.run("run suite --tool tools/it.toml --trials 1 --require-isolation");
    assert_eq!(weaker.code, Some(if sandboxed() { 0 } else { 5 }), "{}", weaker.err);
}

/// The program is resolved before the run, regardless of what the case under review contains.
#[test]
fn case_cannot_substitute_the_tool_program() {
    let project = with_cases(1);
    with_tool(&project, "it", "echo the real one; echo '{\"findings\":[]}' > \"$2\"", "");
    project.write("bin/mytool", project.read("tools/it.sh"));
    project.write("suite/cases/case-1/after/mytool", format!("#!/bin/sh\necho an impostor\n{FINDS_IT}\n"));
    for path in ["bin/mytool", "suite/cases/case-1/after/mytool"] {
        std::fs::set_permissions(project.path(path), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    project.write("mine.toml", "command = [\"mytool\", \"{checkout}\", \"{output}\"]\nformat = \"karat\"\n");
    let path = format!(":{}:/usr/bin:/bin:.", project.path("bin").display());
    let mut command = project.command();
    command.env("PATH", path).args(["run", "suite", "--tool", "./mine.toml", "--trials", "1", "-q"]).assert().success();
    let out = project.ok("store show latest --trial mine case-1 1 --artifact stdout");
    assert_eq!(out, "the real one\n");
    // A program that a suite names by path would lie in the suite, which is hidden from tools.
    let toml = "[suite]\nname = \"s\"\n[tools.own]\ncommand = [\"./mytool\"]\nformat = \"karat\"\n";
    project.write("suite/karat.toml", toml);
    project.run("run suite").expect_error(5, &["the tool `own` cannot be run"]);
}

/// Other work trees, repositories that objects are borrowed from, and recorded answers contain goldens too.
#[test]
fn copies_of_the_goldens_are_hidden() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing keeps a tool from looking");
    }
    let project = with_cases(1);
    // Outside the places that are always hidden, which would prove nothing.
    let folder = tempfile::tempdir_in("/opt").or_else(|_| tempfile::tempdir_in("/srv"));
    let Ok(folder) = folder else { return report_skipped("no writable folder outside those that are always hidden") };
    let place = |name: &str| folder.path().join(name);
    let git = |dir: &std::path::Path, words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=b"]).args(words).current_dir(dir);
        assert!(command.output().unwrap().status.success(), "git {words:?}");
    };
    let copied = std::process::Command::new("cp").arg("-r").arg(project.path("suite")).arg(place("repo")).status();
    assert!(copied.unwrap().success());
    git(&place("repo"), &["init", "-q"]);
    git(&place("repo"), &["add", "-A"]);
    git(&place("repo"), &["commit", "-qm", "x"]);
    git(&place("repo"), &["worktree", "add", "-q", "../tree"]);
    git(folder.path(), &["clone", "-q", "--shared", "repo", "clone"]);
    std::fs::write(
        place("told.jsonl"),
        "{\"case\":\"case-1\",\"tool\":\"told\",\"trial\":1,\"outcome\":\"reported\"}\n",
    )
    .unwrap();
    let root = folder.path().display();
    // A clone does not know the other work trees of its repository, but does know where it borrows objects from.
    for (suite, places) in
        [("tree", "repo/cases tree/cases repo/.git/objects"), ("clone", "clone/cases repo/.git/objects")]
    {
        let looked: Vec<String> = places.split(' ').map(|place| format!("{root}/{place}")).collect();
        let script = format!("ls {} 2>/dev/null; cat {root}/told.jsonl 2>/dev/null; echo looked", looked.join(" "));
        with_tool(&project, "it", &format!("{script}\n{FINDS_IT}"), "");
        let line = format!("run {root}/{suite} --tool tools/it.toml replay:{root}/told.jsonl --trials 1 -q");
        project.run(&line).expect(0);
        let out = project.ok("store show latest --trial it case-1 1 --artifact stdout");
        let names: Vec<&str> = out.lines().filter(|line| !line.is_empty() && !line.ends_with(':')).collect();
        assert_eq!(names, ["looked"], "{suite}");
    }
}

/// Shells, editors and CI leave files open in the programs they start. None of these descriptors reaches a tool.
#[test]
fn inherited_file_descriptors_are_closed() {
    let project = with_cases(1);
    with_tool(
        &project,
        "it",
        &format!("ls /proc/self/fd | sort -n | tr '\\n' ' '; cat <&8 2>/dev/null; {FINDS_IT}"),
        "",
    );
    let script =
        "exec \"$karat\" run suite --tool tools/it.toml --trials 1 -q 7>>precious 8<suite/cases/case-1/case.yaml 9<.";
    for isolation in karat_sandbox::Isolation::ALL {
        if karat_sandbox::available().unavailable_reason(isolation).is_some() {
            continue;
        }
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("{script} --isolation {}", isolation.as_str())]);
        command.env("karat", env!("CARGO_BIN_EXE_karat")).env("XDG_CONFIG_HOME", project.path(".user"));
        command.current_dir(project.path(""));
        assert!(command.output().unwrap().status.success());
        let out = project.ok("store show latest --trial it case-1 1 --artifact stdout");
        // Three streams, and the folder that `ls` is listing.
        assert_eq!(out, "0 1 2 3 ", "{}", isolation.as_str());
    }
}

/// A symlink, shebang or setting that setup left in the tool's folder exposes no file of the user.
#[test]
fn setup_output_exposes_no_private_files() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing is hidden from a tool");
    }
    let project = with_cases(1).with("private/lib/key", "marker-5512").with("private/bin/run", "#!/bin/sh\n");
    std::fs::set_permissions(project.path("private/bin/run"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let private = project.path("private").canonicalize().unwrap();
    let looks = format!("cat {0}/lib/key $KARAT_TOOL_DIR/lib/key 2>/dev/null; {FINDS_IT}", private.display());
    let made = [
        format!("ln -s {0}/lib {{tool_dir}}/lib; ln -s {0}/bin/run {{tool_dir}}/bin/other", private.display()),
        format!("ln -s {0}/lib {{tool_dir}}/lib; echo 'home = {0}/bin' > {{tool_dir}}/pyvenv.cfg", private.display()),
        format!(
            "ln -s {0} {{tool_dir}}/lib; printf '#!{0}/bin/run\\n' > {{tool_dir}}/bin/it; chmod 755 {{tool_dir}}/bin/it",
            private.display()
        ),
        format!("ln -sf {0}/bin/run {{tool_dir}}/bin/it", private.display()),
    ];
    project.write("looks.sh", format!("#!/bin/sh\n{looks}\n"));
    for made in made {
        let script = project.path("looks.sh").canonicalize().unwrap();
        let setup =
            format!("mkdir {{tool_dir}}/bin; cp \"$1\" {{tool_dir}}/bin/it; chmod 755 {{tool_dir}}/bin/it; {made}");
        let manifest = serde_json::json!({
            "command": ["{tool_dir}/bin/it", "{checkout}", "{output}"],
            "setup": ["sh", "-c", setup, "sh", script],
            "format": "karat",
        });
        let lines: Vec<String> =
            manifest.as_object().unwrap().iter().map(|(key, value)| format!("{key} = {value}")).collect();
        project.write("tools/it.toml", lines.join("\n"));
        let ran = project.run("run suite --tool tools/it.toml --trials 1 --json -q");
        assert!(!ran.out.contains("private") && ran.err.is_empty() || ran.code == Some(5), "{made}: {}", ran.out);
        project.ok("store export latest --whole -o whole.jsonl");
        assert!(!project.read("whole.jsonl").contains("marker-5512"), "{made}");
    }
}

/// A file that the user names in a tool's command is readable. One that a suite names is not.
#[test]
fn suite_cannot_expose_a_file_by_naming_it() {
    if !sandboxed() {
        return report_skipped("no sandbox can be had here, so nothing is hidden from a tool");
    }
    let project = with_cases(1).with("notes.txt", "marker-5513\n");
    let notes = project.path("notes.txt").canonicalize().unwrap();
    let manifest = format!("command = [\"cat\", \"{}\"]\nformat = \"karat\"\n", notes.display());
    project.write("tools/it.toml", &manifest);
    project.run("run suite --tool tools/it.toml --trials 1 -q");
    let read = project.ok("store show latest --trial it case-1 1 --artifact stdout");
    assert_eq!(read, "marker-5513\n");
    project.write("suite/karat.toml", format!("[suite]\nname = \"small\"\n[tools.own]\n{manifest}"));
    project.run("run suite --trials 1 -q");
    let complained = project.ok("store show latest --trial own case-1 1 --artifact stderr");
    assert!(complained.contains("No such file") || complained.contains("ermission denied"), "{complained}");
}
