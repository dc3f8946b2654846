//! Hostile tools: each gets the right outcome, and other trials are unaffected.

use super::sandboxed;
use super::{FINDS_IT, outcomes, parsed, with_cases, with_tool};
use crate::project::{Project, gzip_repeated, report_skipped};

/// Runs two trials of a hostile tool in parallel with two of an honest one and returns the outcomes of the hostile
/// tool. Asserts that the honest one is unaffected.
#[track_caller]
fn run_beside_honest_tool(project: &Project, script: &str, manifest: &str) -> String {
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
    assert_eq!(run_beside_honest_tool(&project, script, manifest), outcome, "{script}");
    project
}

#[test]
fn writes_outside_the_checkout_are_refused() {
    if !sandboxed() {
        return report_skipped("no sandbox is available, so a tool can write outside its checkout");
    }
    let project = with_cases(2);
    let outside = project.path("outside");
    let script = format!(
        "echo x > {0}; echo x > {1}/x; echo x >> /etc/karat-was-here; {FINDS_IT}",
        outside.display(),
        project.path("suite").display()
    );
    assert_eq!(run_beside_honest_tool(&project, &script, ""), "reported 4");
    assert!(
        !outside.exists() && !project.path("suite/x").exists() && !std::path::Path::new("/etc/karat-was-here").exists()
    );
}

#[test]
fn loopback_connections_are_refused_unless_allowed() {
    if !sandboxed() {
        return report_skipped("no sandbox is available, so the network is not blocked");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let project = with_cases(2);
    let script = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)' || exit 5; {FINDS_IT}"
    );
    assert_eq!(run_beside_honest_tool(&project, &script, ""), "crashed 4");
    assert!(listener.accept().is_err(), "the tool reached the service");
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return report_skipped("python3 is not installed");
    }
    // Control: with `loopback` allowed the same tool does connect.
    assert_eq!(run_beside_honest_tool(&project, &script, "loopback = true"), "reported 4");
    assert!(listener.accept().is_ok());
    while listener.accept().is_ok() {}
    if karat_sandbox::available().bubblewrap.is_ok() {
        assert_eq!(run_beside_honest_tool(&project, &script, "network = true"), "crashed 4");
        assert!(listener.accept().is_err(), "the tool reached the service");
    }
}

/// With `network`, a tool goes through Karat's proxy, which refuses every name of this machine and forwards to the
/// user's own proxy.
#[test]
fn network_access_excludes_this_machine() {
    if karat_sandbox::available().bubblewrap.is_err() {
        return report_skipped("bubblewrap is not available, so tools share the network of the machine");
    }
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return report_skipped("python3 is not installed");
    }
    let service = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    service.set_nonblocking(true).unwrap();
    let port = service.local_addr().unwrap().port();
    let upstream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", upstream.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in upstream.incoming().flatten() {
            let mut head = Vec::new();
            let mut client = client;
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if std::io::Read::read(&mut client, &mut byte).unwrap_or(0) == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let known = head.starts_with(b"GET http://models.example/answer HTTP/1.1\r\n");
            let body = if known { "elsewhere" } else { "unknown" };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = std::io::Write::write_all(&mut client, answer.as_bytes());
        }
    });
    let project = with_cases(1);
    let python = format!(
        r#"import urllib.request, urllib.error, socket
def get(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read().decode()
    except urllib.error.HTTPError as error:
        return str(error.code)
print(get("http://models.example/answer"))
for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::1]"]:
    print(get("http://%s:{port}/" % host))
try:
    socket.create_connection(("127.0.0.1", {port}), 2)
    print("direct")
except OSError:
    print("not direct")
"#
    );
    project.write("tools/get.py", &python);
    let script = format!("python3 {} && {FINDS_IT}", project.path("tools/get.py").display());
    let more = format!("network = true\nexpose = [\"{}\"]", project.path("tools/get.py").display());
    with_tool(&project, "it", &script, &more);
    let mut command = project.command();
    command.env("http_proxy", &proxy).env("no_proxy", "");
    command.args(["run", "suite", "--tool", "tools/it.toml", "--trials", "1", "-q", "--isolation", "bubblewrap"]);
    crate::project::CommandOutput::start(&mut command).expect(0);
    let stdout = project.ok("store show latest --trial it case-1 1 --artifact stdout");
    assert_eq!(stdout, "elsewhere\n403\n403\n403\n403\nnot direct\n");
    assert!(service.accept().is_err(), "the tool reached the service");
}

#[test]
fn fork_bomb_exceeds_the_process_limit() {
    // Bounded, so that the machine survives if the limit does not work.
    let script = "i=0; while [ $i -lt 150 ]; do sleep 30 & i=$((i+1)); done; wait";
    let project = check(script, "limits = { processes = 40 }\ntimeout = \"20s\"", "crashed 4");
    assert!(super::reasons(&project).iter().any(|why| why.contains("processes")), "{:?}", super::reasons(&project));
}

#[test]
fn tool_ignoring_sigterm_times_out() {
    check("trap '' TERM INT HUP; while :; do sleep 1; done", "timeout = \"300ms\"", "timed_out 4");
}

#[test]
fn endless_output_exceeds_the_output_limit() {
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
fn filling_memory_exceeds_the_memory_limit() {
    let script = "python3 -c 'x = []\nwhile True: x.append(bytearray(8 << 20))'";
    let project = check(script, "limits = { memory = \"256MiB\" }\ntimeout = \"60s\"", "crashed 4");
    // Either the watchdog notices first, or the interpreter fails to allocate.
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("memory") || reasons.contains("MemoryError"), "{reasons}");
}

#[test]
fn endless_file_exceeds_the_file_limit() {
    let script = "dd if=/dev/zero of=\"$2\" bs=1M count=64 2>/dev/null || exit 9";
    check(script, "limits = { file_size = \"4MiB\" }", "crashed 4");
}

/// The disk limit applies to the sum of many small files. The honest tool still finishes.
#[test]
fn many_files_exceed_the_disk_limit() {
    let script = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > \"$TMPDIR/$i\"; done";
    let project = check(script, "limits = { disk = \"20MB\" }\ntimeout = \"120s\"", "crashed 4");
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("its files took up more than 20000000 bytes") && reasons.contains("limits.disk"));
}

/// A single file cannot exceed the limit for all files together.
#[test]
fn one_file_exceeds_the_disk_limit() {
    let script = "exec head -c 100000000 /dev/zero > \"$TMPDIR/large\"";
    let project = check(script, "limits = { disk = \"20MB\" }\ntimeout = \"120s\"", "crashed 4");
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("limits.disk"), "{reasons}");
}

/// Output is decompressed and imported under the limits of its trial. Exceeding them is a failure of the tool, which
/// is not retried.
#[test]
fn oversized_output_is_a_failure_of_the_tool() {
    let project = with_cases(1);
    let sarif = "{\"version\":\"2.1.0\",\"runs\":[{\"results\":[";
    // 90 MB of spaces, and 9 MB that would expand to gigabytes of results.
    project.write("unpacks", gzip_repeated(sarif, " ", 90_000_000, "{}]}]}"));
    project.write("results", gzip_repeated(sarif, "{},", 3_000_000, "{}]}]}"));
    // A long text that is defined once and referenced by every result.
    let text = "x".repeat(1_000_000);
    let rule = format!(
        "{{\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{{\"name\":\"t\",\"rules\":[{{\"id\":\"r\",\"messageStrings\":{{\"m\":{{\"text\":\"{text}\"}}}}}}]}}}},\"results\":["
    );
    project.write("repeats", gzip_repeated(&rule, "{\"ruleId\":\"r\",\"message\":{\"id\":\"m\"}},", 10_000, "{}]}]}"));
    let finding = "{\"title\":\"SQL\",\"file\":\"app.py\"},";
    project.write("many", format!("{{\"findings\":[{}{{\"title\":\"x\"}}]}}", finding.repeat(500_000)));
    project.write("some", format!("{{\"findings\":[{}{{\"title\":\"x\"}}]}}", finding.repeat(4_000)));
    let tools = [
        ("unpacks", "sarif", "", "unparsable", "longer than 67108864 bytes"),
        ("results", "sarif", "", "unparsable", "more than 1000000 results"),
        ("repeats", "sarif", "limits = { memory = \"300MB\" }", "crashed", "more than 300000000 bytes of memory"),
        ("many", "karat", "limits = { memory = \"100MB\" }", "crashed", "more than 100000000 bytes of memory"),
        ("some", "karat", "limits = { findings = 4000 }", "unparsable", "4001 findings, and 4000 are the most"),
    ];
    for (name, format, more, ..) in tools {
        let file = project.path(name).display().to_string();
        let manifest = format!("command = [\"/bin/cat\", \"{file}\"]\nformat = \"{format}\"\n{more}\n");
        project.write(&format!("tools/{name}.toml"), manifest);
    }
    let late = format!(
        "command = [\"/bin/cat\", \"{}\"]\nformat = \"karat\"\ntimeout = \"1s\"\n",
        project.path("many").display()
    );
    project.write("tools/late.toml", late);
    with_tool(&project, "honest", FINDS_IT, "");
    let names = tools.map(|tool| tool.0).into_iter().chain(["late", "honest"]);
    let names: Vec<String> = names.map(|name| format!("tools/{name}.toml")).collect();
    let report = parsed(&project.run(&format!("run suite --tool {} --trials 1 -q --json", names.join(" "))));
    let attempts = || project.json("store show latest --json")["attempts"].as_u64();
    let before = attempts();
    let outcome = |index: usize, word: &str| report["tools"][index]["outcomes"][word].as_u64();
    let reasons = super::reasons(&project);
    for (index, (name, _, _, word, reason)) in tools.into_iter().enumerate() {
        assert_eq!(outcome(index, word), Some(1), "{name}: {} {reasons:?}", report["tools"][index]["outcomes"]);
        assert!(reasons.iter().any(|why| why.contains(reason)), "{name}: {reasons:?}");
    }
    assert_eq!(outcome(5, "timed_out"), Some(1), "{} {reasons:?}", report["tools"][5]["outcomes"]);
    assert_eq!(outcome(6, "reported"), Some(1), "{}", report["tools"][6]["outcomes"]);
    project.run("run --resume latest -q --json").expect(0);
    assert_eq!(attempts(), before, "a failed trial was retried");
}

#[test]
fn daemons_are_killed_after_the_trial() {
    let mark = format!("31{}", std::process::id());
    let script = format!("setsid sh -c 'sleep {mark}' >/dev/null 2>&1 & {FINDS_IT}");
    check(&script, "", "reported 4");
    let left = std::process::Command::new("pgrep").args(["-f", &format!("sleep {mark}")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn deleting_the_checkout_affects_no_other_trial() {
    check(&format!("{FINDS_IT}; rm -rf \"$1\""), "", "reported 4");
    check("rm -rf \"$1/..\"/* 2>/dev/null; rm -rf \"$1\"", "", "unparsable 4");
}

#[test]
fn deeply_nested_folders_are_cleaned_up() {
    let nest = "python3 -c 'import os\nfor i in range(15000):\n  os.mkdir(\"d\"); os.chdir(\"d\")'";
    check(&format!("cd \"$1\" && {nest}; {FINDS_IT}"), "timeout = \"60s\"", "reported 4");
}

#[test]
fn symlink_loops_and_unreadable_folders_are_cleaned_up() {
    let script = format!("cd \"$1\"; ln -s . loop; mkdir -p a/b; ln -s ../.. a/b/up; chmod 000 a/b a; {FINDS_IT}");
    check(&script, "", "reported 4");
}

/// Results are read only from the folder created for them, whatever a tool puts in its place.
#[test]
fn results_are_not_read_through_links_or_special_files() {
    let project = with_cases(2);
    project.write("answer.json", r#"{"findings":[{"title":"SQL injection","file":"app.py","line_start":2}]}"#);
    let answer = project.path("answer.json");
    let link = format!("ln -s {} \"$2\"", answer.display());
    assert_eq!(run_beside_honest_tool(&project, &link, ""), "unparsable 4");
    let swap = format!("d=$(dirname \"$2\"); mv \"$d\" \"$d.old\"; mkdir \"$d\"; ln -s {} \"$2\"", answer.display());
    assert_eq!(run_beside_honest_tool(&project, &swap, ""), "unparsable 4");
    assert_eq!(run_beside_honest_tool(&project, "mkfifo \"$2\"", "timeout = \"20s\""), "unparsable 4");
    assert_eq!(run_beside_honest_tool(&project, "mkdir \"$2\"", ""), "unparsable 4");
}

#[test]
fn terminal_escapes_in_findings_are_removed() {
    let script = r#"printf '{"findings":[{"title":"\\u001b[2Jgone","file":"app.py","line_start":2}],"notes":["\\u001b]0;owned\\u0007"]}' > "$2""#;
    let project = check(script, "", "reported 4");
    let out = project.ok("report latest") + &project.ok("explain case-1 --tool hostile --run latest");
    assert!(!out.contains('\u{1b}') && out.contains("gone"), "{out:?}");
}
