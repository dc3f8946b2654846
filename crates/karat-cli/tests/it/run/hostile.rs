//! Hostile tools: each becomes the right outcome, and the trials around it are unharmed.

use super::sandboxed;
use super::{FINDS_IT, outcomes, parsed, with_cases, with_tool};
use crate::project::{Project, skipped};

/// Runs a hostile tool between two trials of an honest one, all at once, and gives its outcomes; the honest one is unharmed.
#[track_caller]
fn beside_an_honest_one(project: &Project, script: &str, manifest: &str) -> String {
    with_tool(project, "hostile", script, manifest);
    with_tool(project, "honest", FINDS_IT, "");
    let ran = project.run("run suite --tool tools/hostile.toml tools/honest.toml --trials 2 -j 2 --json -q");
    let report = parsed(&ran);
    assert_eq!(report["tools"][1]["outcomes"]["reported"], 4, "{report}");
    assert_eq!(report["tools"][1]["metrics"]["recall"]["value"], 1.0);
    assert_eq!(project.json("store verify --json")["problems"].as_array().map(Vec::len), Some(0));
    outcomes(&report)
}

#[track_caller]
fn check(script: &str, manifest: &str, outcome: &str) -> Project {
    let project = with_cases(2);
    assert_eq!(beside_an_honest_one(&project, script, manifest), outcome, "{script}");
    project
}

#[test]
fn writes_outside_its_copy() {
    if !sandboxed() {
        return skipped("no sandbox can be had here, so a tool can write outside its copy");
    }
    let project = with_cases(2);
    let outside = project.path("outside");
    let script = format!(
        "echo x > {0}; echo x > {1}/x; echo x >> /etc/karat-was-here; {FINDS_IT}",
        outside.display(),
        project.path("suite").display()
    );
    assert_eq!(beside_an_honest_one(&project, &script, ""), "reported 4");
    assert!(
        !outside.exists() && !project.path("suite/x").exists() && !std::path::Path::new("/etc/karat-was-here").exists()
    );
}

#[test]
fn opens_a_loopback_connection() {
    if !sandboxed() {
        return skipped("no sandbox can be had here, so the network is not cut");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let project = with_cases(2);
    let script = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)' || exit 5; {FINDS_IT}"
    );
    assert_eq!(beside_an_honest_one(&project, &script, ""), "crashed 4");
    assert!(listener.accept().is_err(), "it got through");
    // With the network allowed the same tool gets through, so it does try.
    if std::process::Command::new("python3").arg("--version").output().is_ok() {
        assert_eq!(beside_an_honest_one(&project, &script, "network = true"), "reported 4");
        assert!(listener.accept().is_ok());
    }
}

#[test]
fn forks_without_end() {
    // It stops by itself at a number that no machine minds, and that is far beyond what it is allowed.
    let script = "i=0; while [ $i -lt 150 ]; do sleep 30 & i=$((i+1)); done; wait";
    let project = check(script, "limits = { processes = 40 }\ntimeout = \"20s\"", "crashed 4");
    assert!(super::reasons(&project).iter().any(|why| why.contains("processes")), "{:?}", super::reasons(&project));
}

#[test]
fn ignores_being_asked_to_end() {
    check("trap '' TERM INT HUP; while :; do sleep 1; done", "timeout = \"300ms\"", "timed_out 4");
}

#[test]
fn prints_without_end() {
    let project =
        check("yes 0123456789abcdef0123456789abcdef", "limits = { output = \"2MiB\" }\ntimeout = \"60s\"", "crashed 4");
    assert!(
        super::reasons(&project).iter().any(|why| why.contains("printed more than")),
        "{:?}",
        super::reasons(&project)
    );
    check("yes complaints >&2", "limits = { output = \"2MiB\" }\ntimeout = \"60s\"", "crashed 4");
}

#[test]
fn fills_the_memory() {
    let script = "python3 -c 'x = []\nwhile True: x.append(bytearray(8 << 20))'";
    let project = check(script, "limits = { memory = \"256MiB\" }\ntimeout = \"60s\"", "crashed 4");
    // Either the watch sees it first, or the interpreter is refused the memory.
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("memory") || reasons.contains("MemoryError"), "{reasons}");
}

#[test]
fn writes_a_file_without_end() {
    let script = "dd if=/dev/zero of=\"$2\" bs=1M count=64 2>/dev/null || exit 9";
    check(script, "limits = { file_size = \"4MiB\" }", "crashed 4");
}

#[test]
fn leaves_a_daemon() {
    let mark = format!("31{}", std::process::id());
    let script = format!("setsid sh -c 'sleep {mark}' >/dev/null 2>&1 & {FINDS_IT}");
    check(&script, "", "reported 4");
    let left = std::process::Command::new("pgrep").args(["-f", &format!("sleep {mark}")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn deletes_its_checkout() {
    check(&format!("{FINDS_IT}; rm -rf \"$1\""), "", "reported 4");
    check("rm -rf \"$1/..\"/* 2>/dev/null; rm -rf \"$1\"", "", "unparsable 4");
}

#[test]
fn nests_folders_without_end() {
    let nest = "python3 -c 'import os\nfor i in range(15000):\n  os.mkdir(\"d\"); os.chdir(\"d\")'";
    check(&format!("cd \"$1\" && {nest}; {FINDS_IT}"), "timeout = \"60s\"", "reported 4");
}

#[test]
fn makes_a_loop_of_links_and_closed_folders() {
    let script = format!("cd \"$1\"; ln -s . loop; mkdir -p a/b; ln -s ../.. a/b/up; chmod 000 a/b a; {FINDS_IT}");
    check(&script, "", "reported 4");
}

/// Results are taken from the folder that was made for them, whatever a tool puts in its place.
#[test]
fn passes_another_file_off_as_its_result() {
    let project = with_cases(2);
    project.write("answer.json", r#"{"findings":[{"title":"SQL injection","file":"app.py","line_start":2}]}"#);
    let answer = project.path("answer.json");
    let link = format!("ln -s {} \"$2\"", answer.display());
    assert_eq!(beside_an_honest_one(&project, &link, ""), "unparsable 4");
    let swap = format!("d=$(dirname \"$2\"); mv \"$d\" \"$d.old\"; mkdir \"$d\"; ln -s {} \"$2\"", answer.display());
    assert_eq!(beside_an_honest_one(&project, &swap, ""), "unparsable 4");
    assert_eq!(beside_an_honest_one(&project, "mkfifo \"$2\"", "timeout = \"20s\""), "unparsable 4");
    assert_eq!(beside_an_honest_one(&project, "mkdir \"$2\"", ""), "unparsable 4");
}

#[test]
fn writes_what_a_terminal_would_obey() {
    let script = r#"printf '{"findings":[{"title":"\\u001b[2Jgone","file":"app.py","line_start":2}],"notes":["\\u001b]0;owned\\u0007"]}' > "$2""#;
    let project = check(script, "", "reported 4");
    let out = project.ok("report latest") + &project.ok("explain case-1 --tool hostile --run latest");
    assert!(!out.contains('\u{1b}') && out.contains("gone"), "{out:?}");
}
