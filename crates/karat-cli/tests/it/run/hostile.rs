//! Hostile tools: each becomes the right outcome, and the trials around it are unharmed.

use super::sandboxed;
use super::{FINDS_IT, outcomes, parsed, with_cases, with_tool};
use crate::project::{Project, skipped, zipped};

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
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return skipped("there is no python3 to connect with");
    }
    // With the services of this machine allowed the same tool gets through, so it does try.
    assert_eq!(beside_an_honest_one(&project, &script, "loopback = true"), "reported 4");
    assert!(listener.accept().is_ok());
    while listener.accept().is_ok() {}
    if karat_sandbox::available().bubblewrap.is_ok() {
        assert_eq!(beside_an_honest_one(&project, &script, "network = true"), "crashed 4");
        assert!(listener.accept().is_err(), "it got through");
    }
}

/// A tool with the network goes through Karat's proxy, which refuses this machine by every name, and through the user's own proxy
/// beyond it.
#[test]
fn goes_elsewhere_and_not_to_this_machine() {
    if karat_sandbox::available().bubblewrap.is_err() {
        return skipped("there is no bubblewrap, so the network is the machine's own");
    }
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return skipped("there is no python3 to connect with");
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
    crate::project::Ran::start(&mut command).expect(0);
    let said = project.ok("store show latest --trial it case-1 1 --artifact stdout");
    assert_eq!(said, "elsewhere\n403\n403\n403\n403\nnot direct\n");
    assert!(service.accept().is_err(), "it got through");
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

/// Many files, each of them small enough: what counts is all of them. The honest tool beside it finishes.
#[test]
fn fills_the_disk_with_many_files() {
    let script = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > \"$TMPDIR/$i\"; done";
    let project = check(script, "limits = { disk = \"20MB\" }\ntimeout = \"120s\"", "crashed 4");
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("its files took up more than 20000000 bytes") && reasons.contains("limits.disk"));
}

/// One file may not be larger than all may be together.
#[test]
fn fills_the_disk_with_one_file() {
    let script = "exec head -c 100000000 /dev/zero > \"$TMPDIR/large\"";
    let project = check(script, "limits = { disk = \"20MB\" }\ntimeout = \"120s\"", "crashed 4");
    let reasons = super::reasons(&project).join("; ");
    assert!(reasons.contains("limits.disk"), "{reasons}");
}

/// What a tool prints is unpacked and imported under the limits of its trial, and what goes over them is the tool's doing: it is
/// told once, and never tried again.
#[test]
fn writes_what_no_memory_holds() {
    let project = with_cases(1);
    let sarif = "{\"version\":\"2.1.0\",\"runs\":[{\"results\":[";
    // 90 MB of nothing, and 9 MB that would come to gigabytes.
    project.write("unpacks", zipped(sarif, " ", 90_000_000, "{}]}]}"));
    project.write("results", zipped(sarif, "{},", 3_000_000, "{}]}]}"));
    // Texts that are stated once and repeated by each result.
    let text = "x".repeat(1_000_000);
    let rule = format!(
        "{{\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{{\"name\":\"t\",\"rules\":[{{\"id\":\"r\",\"messageStrings\":{{\"m\":{{\"text\":\"{text}\"}}}}}}]}}}},\"results\":["
    );
    project.write("repeats", zipped(&rule, "{\"ruleId\":\"r\",\"message\":{\"id\":\"m\"}},", 10_000, "{}]}]}"));
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
    assert_eq!(attempts(), before, "a trial was tried again");
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
