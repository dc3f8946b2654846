//! Tools of more than one file, each declared as the documentation says: in Python, for Node, and compiled.

use super::{FINDS_IT, outcomes, parsed, reasons, sandboxed, with_cases, with_tool};
use crate::project::{Project, report_skipped};
use karat_sandbox::{Isolation, available};
use std::path::Path;
use std::process::Command;

fn has_program(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success())
}

/// Runs a manifest in every isolation, and requires the only golden to be found.
#[track_caller]
fn assert_finds_golden(project: &Project, manifest: &str) {
    for isolation in Isolation::ALL {
        if let Some(why) = available().unavailable_reason(isolation) {
            report_skipped(&format!("{}: {why}", isolation.as_str()));
            continue;
        }
        let name = isolation.as_str();
        let ran = project.run(&format!("run suite --tool {manifest} --trials 1 --json -q --isolation {name}"));
        let report = parsed(&ran);
        assert_eq!(outcomes(&report), "reported 1", "{name}: {:?}", reasons(project));
        assert_eq!(report["tools"][0]["counts"]["tp"], 1, "{name}: {}", report["tools"][0]["counts"]);
    }
}

/// A reviewer in Python whose parts are in its folder, in a package, and in its virtual environment.
fn with_python_reviewer(program: &str) -> Project {
    let project = with_cases(1)
        .with(
            "reviewer/main.py",
            "import json, sys\nfrom checks import sql\nimport wording\n\nfound = sql.find(sys.argv[1], wording.TITLE)\njson.dump({'findings': found}, open(sys.argv[2], 'w'))\n",
        )
        .with("reviewer/checks/__init__.py", "")
        .with(
            "reviewer/checks/sql.py",
            "import os\n\n\ndef find(folder, title):\n    lines = open(os.path.join(folder, 'app.py')).read().splitlines()\n    hits = [n for n, line in enumerate(lines, 1) if 'SELECT' in line]\n    return [{'title': title, 'file': 'app.py', 'line_start': n} for n in hits]\n",
        );
    project.write(
        "reviewer/reviewer.toml",
        format!("command = [\"{program}\", \"main.py\", \"{{checkout}}\", \"{{output}}\"]\nformat = \"karat\"\n"),
    );
    project
}

#[test]
fn python_tool_with_modules_beside_it_runs() {
    if !has_program("python3") {
        return report_skipped("python3 is not installed");
    }
    let project = with_python_reviewer("python3").with("reviewer/wording.py", "TITLE = 'SQL injection'\n");
    assert_finds_golden(&project, "reviewer/reviewer.toml");
}

#[test]
fn python_tool_with_a_virtual_environment_runs() {
    let project = with_python_reviewer("./venv/bin/python");
    let venv = project.path("reviewer/venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return report_skipped("python3 cannot make virtual environments");
    }
    let lib = std::fs::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(lib.join("site-packages/wording.py"), "TITLE = 'SQL injection'\n").unwrap();
    assert_finds_golden(&project, "reviewer/reviewer.toml");
    // A program in the folder may start the environment's interpreter itself.
    project.write("reviewer/run", "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nexec venv/bin/python main.py \"$1\" \"$2\"\n");
    make_executable(&project.path("reviewer/run"));
    let manifest = "command = [\"./run\", \"{checkout}\", \"{output}\"]\nformat = \"karat\"\n";
    project.write("reviewer/by-script.toml", manifest);
    assert_finds_golden(&project, "reviewer/by-script.toml");
}

#[test]
fn node_tool_with_packages_runs() {
    if !has_program("node") {
        return report_skipped("node is not installed");
    }
    let project = with_cases(1)
        .with(
            "reviewer/index.js",
            "const fs = require('fs');\nconst find = require('./lib/find');\nconst [checkout, output] = process.argv.slice(2);\nfs.writeFileSync(output, JSON.stringify({ findings: find(checkout) }));\n",
        )
        .with(
            "reviewer/lib/find.js",
            "const fs = require('fs');\nconst { title, pattern } = require('rules');\nmodule.exports = (folder) => fs.readFileSync(`${folder}/app.py`, 'utf8').split('\\n')\n  .flatMap((line, n) => (pattern.test(line) ? [{ title, file: 'app.py', line_start: n + 1 }] : []));\n",
        )
        .with("reviewer/node_modules/rules/package.json", "{\"name\": \"rules\", \"main\": \"rules.js\"}\n")
        .with(
            "reviewer/node_modules/rules/rules.js",
            "module.exports = { title: 'SQL injection', pattern: /SELECT/ };\n",
        )
        .with(
            "reviewer/reviewer.toml",
            "command = [\"node\", \"index.js\", \"{checkout}\", \"{output}\"]\nformat = \"karat\"\n",
        );
    assert_finds_golden(&project, "reviewer/reviewer.toml");
}

#[test]
fn compiled_tool_with_data_beside_it_runs() {
    if !has_program("cc") {
        return report_skipped("cc is not installed");
    }
    let project = with_cases(1)
        .with(
            "reviewer/scan.c",
            "#include <stdio.h>\nint main(int count, char **words) {\n  char title[64];\n  FILE *rules = fopen(words[1], \"r\");\n  if (!rules || !fgets(title, 14, rules)) return 3;\n  FILE *out = fopen(words[2], \"w\");\n  fprintf(out, \"{\\\"findings\\\": [{\\\"title\\\": \\\"%s\\\", \\\"file\\\": \\\"app.py\\\", \\\"line_start\\\": 2}]}\", title);\n  return fclose(out);\n}\n",
        )
        .with("reviewer/rules/titles.txt", "SQL injection\n")
        .with(
            "reviewer/reviewer.toml",
            "command = [\"./scan\", \"{manifest_dir}/rules/titles.txt\", \"{output}\"]\nformat = \"karat\"\n",
        );
    let mut compile = Command::new("cc");
    compile.arg("-o").args([project.path("reviewer/scan"), project.path("reviewer/scan.c")]);
    assert!(compile.status().unwrap().success());
    assert_finds_golden(&project, "reviewer/reviewer.toml");
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The manifest, the suite and the store are often in one folder, of which a tool sees all but the latter two.
#[test]
fn manifest_folder_is_read_only_and_without_suite_and_store() {
    if !sandboxed() {
        return report_skipped("no sandbox is available, so nothing is hidden");
    }
    let project = with_cases(1).with("words.txt", "from the folder\n").with(
        "it.sh",
        format!(
            "#!/bin/sh\ncat \"$3/words.txt\" \"$3/suite/cases/case-1/case.yaml\"\nls -A \"$3/.karat\"\necho x > \"$3/new\"\n{FINDS_IT}\n"
        ),
    );
    make_executable(&project.path("it.sh"));
    project.write(
        "it.toml",
        "command = [\"./it.sh\", \"{checkout}\", \"{output}\", \"{manifest_dir}\"]\nformat = \"karat\"\n",
    );
    for isolation in Isolation::ALL {
        if isolation == Isolation::Process || available().unavailable_reason(isolation).is_some() {
            continue;
        }
        let name = isolation.as_str();
        let ran = project.run(&format!("run suite --tool ./it.toml --trials 1 --json -q --isolation {name}"));
        assert_eq!(outcomes(&parsed(&ran)), "reported 1", "{name}: {:?}", reasons(&project));
        let printed = project.ok("store show latest --trial it case-1 1 --artifact stdout");
        assert_eq!(printed, "from the folder\n", "{name}");
        assert!(!project.path("new").exists(), "{name}");
    }
}

#[test]
fn manifest_folder_exists_only_for_manifest_files() {
    let project = with_cases(1);
    let config =
        "[suite]\nname = \"small\"\n[tools.x]\ncommand = [\"cat\", \"{manifest_dir}/x\"]\nformat = \"karat\"\n";
    project.write("suite/karat.toml", config);
    project.run("check suite").expect(4);
    project.run("run suite").expect_error(4, &["`{manifest_dir}` is the folder"]);
    // Nor can a manifest state a folder of its choice.
    project.write("x.toml", "command = [\"cat\"]\nformat = \"karat\"\nmanifest_dir = \"/\"\n");
    project.run("run suite --tool ./x.toml").expect_error(4, &["manifest_dir"]);
}

#[test]
fn programs_that_cannot_be_started_are_explained() {
    let project = with_cases(1).with("reviewer/tool.py", "print(1)\n");
    let run = |command: &str| {
        project.write("reviewer/it.toml", format!("command = {command}\nformat = \"karat\"\n"));
        project.run("run suite --tool reviewer/it.toml")
    };
    run("[\"./tool.py\"]").expect_error(5, &["is not executable; run chmod +x, or name its interpreter first"]);
    run("[\"./absent\"]").expect_error(5, &["there is no program", "reviewer/absent"]);
}

#[test]
fn crash_shows_the_last_lines_of_standard_error_and_where_the_rest_is() {
    let project = with_cases(1);
    let script = "for n in 1 2 3 4 5 6 7 8; do echo line $n >&2; done; exit 2";
    with_tool(&project, "it", script, "");
    let ran = project.run("run suite --tool tools/it.toml --trials 1").expect(5);
    assert!(ran.err.contains("it exited with 2: line 8"), "{}", ran.err);
    assert!(ran.err.contains("│ line 4\n    │ line 5\n") && !ran.err.contains("│ line 3"), "{}", ran.err);
    let command = ran.err.lines().find_map(|line| line.split("karat store show ").nth(1)).unwrap();
    assert!(command.contains("--trial it case-1 1 --artifact stderr"), "{command}");
    assert!(project.ok(&format!("store show {command}")).starts_with("line 1\n"));
    project
        .run("store show latest --trial it case-1 1 --artifact stdout")
        .expect_error(2, &["the trial has no artifact `stdout`; available: stderr"]);
    with_tool(&project, "silent", "exit 2", "");
    project.run("run suite --tool tools/silent.toml --trials 1").expect_error(5, &["it exited with 2"]);
    project
        .run("store show latest --trial silent case-1 1 --artifact stderr")
        .expect_error(2, &["no artifact `stderr`; it has none at all"]);
}

#[test]
fn tool_is_tried_on_one_case_and_nothing_is_stored() {
    let project = with_cases(2).with("private/notes.txt", "mine\n");
    let private = project.path("private/notes.txt").canonicalize().unwrap().display().to_string();
    with_tool(&project, "it", &format!("echo working; cat {private} >&2; {FINDS_IT}"), "");
    let ran = project.run("tools try tools/it.toml --case case-2 suite").expect(0);
    assert!(ran.err.contains("out │ working\n"), "{}", ran.err);
    assert!(ran.out.starts_with("it on case-2: reported · exit code 0 · "), "{}", ran.out);
    assert!(ran.out.contains("  1 finding\n    app.py:2 SQL injection\n"), "{}", ran.out);
    if sandboxed() {
        assert!(ran.out.contains(&format!("blocked: {private} exists and is hidden from it")), "{}", ran.out);
        assert!(ran.out.contains("help: name it in `expose`"), "{}", ran.out);
    }
    let json = project.json("tools try tools/it.toml --case case-2 suite --json");
    assert_eq!(json["trial"]["case"], "case-2");
    assert_eq!(json["trial"]["findings"].as_array().unwrap().len(), 1);
    assert_eq!((json["detail"]["exit"].as_i64(), json["stdout"].as_str()), (Some(0), Some("working\n")));
    assert_eq!(json["blocked"].as_array().unwrap().len(), usize::from(sandboxed()));
    assert!(!project.path(".karat").exists());
    project.run("tools try tools/it.toml --case case-* suite").expect_error(2, &["name one tool and one case"]);
    project.run("tools try tools/it.toml --case other suite").expect(2);
    // Without a case, the first with something to find; a clean one if there is no other.
    let ran = project.run("tools try tools/it.toml suite").expect(0);
    assert!(ran.out.starts_with("it on case-1: reported"), "{}", ran.out);
    assert!(
        ran.err.contains("trying it on case-1, the first case of ") && ran.err.contains("--case ID"),
        "{}",
        ran.err
    );
    let quiet = project.run("tools try tools/it.toml suite -q").expect(0);
    assert!(!quiet.err.contains("trying it on"), "{}", quiet.err);
    project.write("suite/cases/a-clean/case.yaml", "id: a-clean\nissues: []\n");
    project.write("suite/cases/a-clean/before/app.py", "x = 1\n");
    project.write("suite/cases/a-clean/after/app.py", "x = 2\n");
    let ran = project.run("tools try tools/it.toml suite").expect_error(0, &["case-1", "with something to find"]);
    assert!(ran.out.starts_with("it on case-1: "), "{}", ran.out);

    with_tool(&project, "it", "echo broken >&2; exit 3", "");
    let ran = project.run("tools try tools/it.toml --case case-1 suite").expect(5);
    assert!(ran.err.contains("err │ broken") && ran.out.contains("crashed · exit code 3"), "{}\n{}", ran.err, ran.out);
}

#[test]
fn doctor_tries_tools_and_details_only_problems() {
    let project = Project::new();
    with_tool(&project, "fine", "echo noise >&2; echo '[]' > \"$2\"", "");
    with_tool(&project, "broken", "echo 'no rules' >&2; echo 'giving up' >&2; exit 4", "");
    let ran = project.run("tools doctor tools/fine.toml tools/broken.toml").expect(5);
    assert!(ran.err.contains("checking 2 tools"), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "fine: usable · 0 findings in its trial", "{}", ran.out);
    assert_eq!(lines[1], "broken: not usable · its trial crashed: it exited with 4: giving up", "{}", ran.out);
    assert_eq!(lines[2..4], ["  │ no rules", "  │ giving up"], "{}", ran.out);
    let all = project.ok("tools doctor tools/fine.toml --all");
    assert!(all.contains("no network") && all.contains("│ noise"), "{all}");
    let json = project.json("tools doctor tools/fine.toml --json");
    assert_eq!((&json[0]["trial"]["outcome"], &json[0]["usable"]), (&"reported".into(), &true.into()));
}
