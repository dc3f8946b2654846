//! Malformed, oversized, deeply nested or binary input: a clear message, no panic, bounded memory.

use crate::project::{CommandOutput, Project, fixture, gzip_repeated};

#[track_caller]
fn assert_sarif_refused(content: &[u8], texts: &[&str]) {
    let project = Project::new().with("bad.sarif", content);
    let ran = project.run("import --from sarif --case c bad.sarif").expect_error(4, texts);
    assert!(ran.out.is_empty() && !ran.err.contains("panicked"), "{}{}", ran.out, ran.err);
    // As a submission, recognized by the file name.
    let suite = Project::new()
        .with("karat.toml", "[suite]\nname = \"s\"\n")
        .with("cases.jsonl", "{\"id\":\"c\"}\n")
        .with("bad.sarif", content);
    suite.run("score . --case c --submission bad.sarif").expect_error(4, texts);
}

#[test]
fn malformed_sarif_is_refused_with_its_position() {
    let truncated = std::fs::read(fixture("sarif/truncated.sarif")).unwrap();
    assert_sarif_refused(&truncated, &["bad.sarif:1:", "ends in the middle of its JSON"]);
    assert_sarif_refused(&std::fs::read(fixture("sarif/binary.sarif")).unwrap(), &["bad.sarif: this is not text"]);
    let deep = format!("{{\"version\":\"2.1.0\",\"runs\":[{{\"x\":{}", "[".repeat(100_000));
    assert_sarif_refused(deep.as_bytes(), &["bad.sarif:1:", "nested more than 512 levels deep"]);
    assert_sarif_refused(b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage", &["bad.sarif:", "compressed data"]);
    assert_sarif_refused(b"", &["bad.sarif"]);
    assert_sarif_refused(b"[]", &["bad.sarif:1:"]);
    assert_sarif_refused(
        b"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}},\"results\":[7]}]}",
        &["bad.sarif:1:"],
    );
    assert_sarif_refused(b"{\"version\":\"2.1.0\",\"runs\":[nul]}", &["bad.sarif:1:"]);
}

#[test]
fn truncated_input_leaves_the_output_file_unchanged() {
    let text = std::fs::read_to_string(fixture("sarif/full.sarif")).unwrap();
    let project = Project::new().with("cut.sarif", &text[..text.len() - 3]).with("out.jsonl", "before\n");
    project.run("import --from sarif --case c cut.sarif -o out.jsonl").expect(4);
    assert_eq!(project.read("out.jsonl"), "before\n");
}

#[test]
fn no_importer_panics_on_malformed_input() {
    for importer in karat_import::IMPORTERS {
        let project = Project::new()
            .with("deep.json", "[".repeat(2_000_000))
            .with("cut.json", "{\"results\": [{\"a")
            .with("zero.json", [0; 64]);
        for file in ["deep.json", "cut.json", "zero.json"] {
            let ran = project.run(&format!("import --from {} --case c --tool t {file}", importer.name));
            assert!(matches!(ran.code, Some(0 | 4)), "{} {file}: {:?} {}", importer.name, ran.code, ran.err);
            assert!(!ran.err.contains("panicked"), "{} {file}: {}", importer.name, ran.err);
        }
    }
}

#[test]
fn malformed_suites_and_submissions_are_refused_with_their_position() {
    let project = Project::new().with("karat.toml", "[suite]\nname = \"s\"\n").with("cases.jsonl", "{\"id\":\"c\"}\n");
    for content in ["[".repeat(100_000), "{\"case\":".repeat(50_000), "\u{0}\u{0}".to_owned(), "{".to_owned()] {
        let arguments = ["score", ".", "--submission", "-"];
        let ran =
            CommandOutput::start(project.command().args(arguments).write_stdin(content)).expect_error(4, &["<stdin>"]);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    let anchors = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n";
    for yaml in [anchors.to_owned(), "[".repeat(50_000), "\t\u{0}".to_owned(), "- ".repeat(50_000)] {
        let suite = Project::new().with("cases/c/case.yaml", yaml);
        let ran = suite.run("check .").expect(4);
        assert!(ran.out.contains("cases/c/case.yaml:1:") && !ran.err.contains("panicked"), "{}{}", ran.out, ran.err);
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    /// Writes `head`, then `body` repeated up to `size` bytes, then `tail` to the command's standard input; returns the exit
    /// code, standard error, and the peak memory in MB.
    fn run_with_stdin(
        arguments: &[&str],
        head: &str,
        body: &str,
        size: usize,
        tail: &str,
    ) -> (Option<i32>, String, u64) {
        let project =
            Project::new().with("karat.toml", "[suite]\nname = \"s\"\n").with("cases.jsonl", "{\"id\":\"c\"}\n");
        let mut child = Command::new(project.command().get_program())
            .current_dir(project.path("."))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let block = body.repeat((1 << 20) / body.len() + 1);
        let (head, tail) = (head.to_owned(), tail.to_owned());
        let feeder = std::thread::spawn(move || {
            // The command may exit before it has read everything.
            let _ = stdin.write_all(head.as_bytes());
            for _ in 0..size / block.len() {
                if stdin.write_all(block.as_bytes()).is_err() {
                    return;
                }
            }
            let _ = stdin.write_all(tail.as_bytes());
        });
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let code = loop {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let high =
                text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(high.unwrap_or(0));
            if let Some(ended) = child.try_wait().unwrap() {
                break ended.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        };
        feeder.join().unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(peak > 0, "the memory was not measured");
        (code, err, peak / 1024)
    }

    const HEAD: &str = "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}},\"results\":[";

    #[test]
    fn long_string_is_refused_in_bounded_memory() {
        let arguments = ["import", "--from", "sarif", "--case", "c", "-"];
        let (code, err, peak) =
            run_with_stdin(&arguments, &format!("{HEAD}{{\"message\":{{\"text\":\""), "endless ", 1 << 30, "\"}}]}]}");
        assert_eq!(code, Some(4), "{err}");
        assert!(
            err.contains("<stdin>:1:") && err.contains("a string of more than 16777216 bytes starts here"),
            "{err}"
        );
        assert!(peak < 150, "{peak} MB");
    }

    #[test]
    fn long_line_is_refused_in_bounded_memory() {
        let arguments = ["score", ".", "--submission", "-"];
        let head = "{\"case\":\"c\",\"tool\":\"t\",\"trial\":1,\"outcome\":\"reported\",\"response\":\"";
        let (code, err, peak) = run_with_stdin(&arguments, head, "endless ", 1 << 30, "\"}\n");
        assert_eq!(code, Some(4), "{err}");
        assert!(err.contains("<stdin>") && err.contains("line 1: a string of more than 16777216 bytes"), "{err}");
        assert!(peak < 150, "{peak} MB");
    }

    #[test]
    fn large_sarif_file_is_streamed() {
        let arguments = ["import", "--from", "sarif", "--case", "c", "-"];
        let text = "long ".repeat(400);
        let result = format!(
            "{{\"ruleId\":\"r\",\"message\":{{\"text\":\"{text}\"}},\"suppressions\":[{{\"kind\":\"inSource\"}}]}},"
        );
        let (code, err, peak) = run_with_stdin(
            &arguments,
            HEAD,
            &result,
            100 << 20,
            "{\"ruleId\":\"last\",\"message\":{\"text\":\"x\"}}]}]}",
        );
        assert_eq!(code, Some(0), "{err}");
        assert!(err.contains("results are suppressed"), "{err}");
        assert!(peak < 60, "{peak} MB for a file of 100 MB without findings");
    }
}

/// Each of these small files decompresses to hundreds of megabytes.
#[test]
fn decompression_bombs_are_refused_in_bounded_memory() {
    let project = crate::project::suite(&[serde_json::json!({ "id": "a" })]);
    let sarif = "{\"version\":\"2.1.0\",\"runs\":[{\"results\":[";
    let trial = "{\"case\":\"a\",\"tool\":\"t\",\"trial\":1,\"outcome\":\"reported\",\"findings\":[";
    let too_long = ["the text is longer than 268435456 bytes", "gunzip"];
    for (name, bytes, expect) in [
        ("results.sarif.gz", gzip_repeated(sarif, "{},", 100_000_000, ""), ["more than 1000000 results", "split it"]),
        ("findings.jsonl.gz", gzip_repeated(trial, "{\"id\":\"a\"},", 10_000_000, ""), ["a line of more than", ""]),
        ("lines.jsonl.gz", gzip_repeated("", "\n", 300_000_000, ""), too_long),
    ] {
        project.write(name, bytes);
        let ran = project.run_shell(&format!("ulimit -d 1500000; karat score . --submission {name}"));
        assert_eq!(ran.code, Some(4), "{name}: {}", ran.out);
        assert!(expect.iter().all(|text| ran.out.contains(text)), "{name}: {}", ran.out);
    }
}
