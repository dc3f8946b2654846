//! Help, what to do next in a folder, and commands about Karat itself: `doctor`, `schema`, `completions` and `man`.

use crate::project::{CommandOutput, Project, root, suite, trial};
use karat_format::schemas::SCHEMAS;
use serde_json::json;

/// Runs the command at 80 columns.
fn at_80(project: &Project, line: &str) -> String {
    CommandOutput::start(project.command().env("COLUMNS", "80").args(line.split_whitespace())).expect(0).out
}

#[test]
fn commands_are_listed_in_groups() {
    let project = Project::new();
    for line in ["-h", "--help", "help"] {
        let text = at_80(&project, line);
        for group in ["Start", "Understand", "Decide", "Judge and label", "Documents", "Maintain"] {
            assert_eq!(text.matches(&format!("\n  {group} ")).count(), 1, "{group} in {line}:\n{text}");
        }
        assert!(text.contains("\n  Start            init         Write a small working suite"), "{text}");
        assert!(text.lines().all(|text| text.chars().count() <= 80), "{text}");
        assert_eq!(text.contains("Examples:"), line != "-h", "{line}:\n{text}");
    }
    assert!(at_80(&project, "-h").lines().count() <= 48);
}

#[test]
fn summary_is_short_and_help_is_long() {
    let project = Project::new();
    let (short, long) = (at_80(&project, "run -h"), at_80(&project, "run --help"));
    assert!(short.lines().count() <= 48, "{} lines:\n{short}", short.lines().count());
    let flags = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!(flags(&short) >= 20 && flags(&long) > flags(&short), "{short}");
    for heading in ["Tools and cases:", "Limits:", "Judge:", "Scoring:", "Store:", "Output:", "General:"] {
        assert!(short.contains(&format!("\n{heading}\n")) && long.contains(&format!("\n{heading}\n")), "{heading}");
    }
    assert!(
        !short.contains("Examples:") && long.contains("\nExamples:\n  karat run code-review\n      a built-in"),
        "{long}"
    );
    // At a width at which they fit, notes stand beside the examples.
    let wide =
        CommandOutput::start(project.command().env("COLUMNS", "200").args(["store", "gc", "--help"])).expect(0).out;
    assert!(wide.contains("--older-than 90d   remove old model exchanges, and no runs\n"), "{wide}");
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
}

#[test]
fn missing_subcommand_shows_help_and_is_a_usage_error() {
    Project::new().run("store").expect_error(2, &["Usage: karat store", "Commands:"]);
}

#[test]
fn without_arguments_karat_says_what_to_do_next() {
    let project = Project::new();
    let text = project.ok("");
    for step in ["no suite and no run", "  karat run code-review ", "  karat init ", "  karat doctor ", "karat --help"]
    {
        assert!(text.contains(step), "no {step:?} in:\n{text}");
    }

    let golden = json!([{ "id": "g", "title": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let project = suite(&[json!({ "id": "c", "issues": golden })]);
    let text = project.ok("");
    assert!(text.starts_with("This folder has a suite of cases, tiny.\n"), "{text}");
    assert!(text.contains("  karat check ") && text.contains("  karat run . "), "{text}");
    assert!(!text.contains("karat report") && !text.contains("karat init"), "{text}");

    let found = json!([{ "id": "f", "message": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    project.write("ok.jsonl", format!("{}\n", trial("c", "mine", 1, found)));
    project.ok("run . --tool replay:ok.jsonl --trials 1 -q --name nightly");
    let text = project.ok("");
    let latest = text.lines().find(|line| line.starts_with("Latest run ")).unwrap_or_else(|| panic!("{text}"));
    assert!(latest.contains(" (nightly): tiny of 20"), "{latest}");
    assert!(latest.ends_with(" UTC, complete, 1 trial, mine first, F1 1.000."), "{latest}");
    assert!(
        text.contains("  karat report latest ") && text.contains("  karat explain c --tool mine --run latest "),
        "{text}"
    );
    assert!(!text.contains("--resume"), "{text}");
    // The steps can be typed as they are printed.
    for line in text.lines().filter_map(|line| line.strip_prefix("  karat ")) {
        let words = line.split("   ").next().unwrap();
        // This suite declares no tools to run, and a server would not end.
        if !words.starts_with("serve") && !words.starts_with("run ") {
            project.run(words).expect(0);
        }
    }
}

#[test]
fn unfinished_run_is_to_be_resumed() {
    let project = Project::new().with("bad.toml", "command = [\"false\"]\nformat = \"sarif\"\n");
    project.run("init mine").expect(0);
    project.run("run mine --tool ./bad.toml --trials 2 --fail-fast -j 1 -q").expect(5);
    let text = project.ok("");
    let run = project.json("store list --json")[0]["short_id"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!("  karat run --resume {run} ")), "{text}");
    assert!(text.contains(", stopped, ") && text.contains(" of 4 trials"), "{text}");
}

#[test]
fn damaged_store_does_not_keep_karat_from_helping() {
    let project = Project::new().with(".karat/karat.db", "this is not a database, however long it is made to be");
    let ran = project.run("").expect_error(0, &["note: "]);
    assert!(ran.out.contains("  karat run code-review "), "{}", ran.out);
}

#[test]
fn doctor_reports_what_works_and_never_a_key() {
    let project = Project::new();
    let doctor = |words: &[&str]| {
        let mut command = project.command();
        command.env("ANTHROPIC_API_KEY", "hunter2-hunter2").env("KARAT_MIRRORS", project.path("absent"));
        CommandOutput::start(command.args(["doctor", "--skip-tools"]).args(words))
    };
    let ran = doctor(&[]).expect(0);
    for text in [
        "tools are isolated by ",
        "the first run makes .karat",
        "anthropic: ANTHROPIC_API_KEY is set",
        "openai: OPENAI_API_KEY is not set",
        "Noto Sans",
        "absent does not exist; correct KARAT_MIRRORS",
        "100 columns, no colours",
        "Everything that Karat needs works.",
    ] {
        assert!(ran.out.contains(text), "no {text:?} in:\n{}", ran.out);
    }
    let json = doctor(&["--json"]).expect(0).out;
    assert!(!format!("{}{json}", ran.out).contains("hunter2"));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let strongest = karat_sandbox::available().strongest().as_str();
    assert_eq!(report["sandbox"]["strongest"], strongest);
    assert_eq!((&report["keys"][0]["key"]["set"], &report["keys"][1]["key"]["set"]), (&json!(true), &json!(false)));
    assert_eq!((&report["store"]["exists"], &report["problems"]), (&json!(false), &json!([])));
    assert_eq!(report["terminal"]["width"], 100);

    project.ok("run starter -q");
    let report: serde_json::Value = serde_json::from_str(&doctor(&["--json"]).expect(0).out).unwrap();
    assert_eq!((&report["store"]["exists"], &report["store"]["runs"]), (&json!(true), &json!(1)));
    assert!(report["store"]["schema_version"].as_i64() > Some(0) && report["store"]["free_bytes"].as_u64() > Some(0));
}

#[test]
fn doctor_fails_where_something_needed_is_broken() {
    let project = Project::new().with(".karat/karat.db", "this is not a database, however long it is made to be");
    let ran = project.run("doctor --skip-tools").expect(5);
    assert!(ran.out.contains("1 problem:\n"), "{}", ran.out);
    let mut command = project.command();
    command.env("TMPDIR", project.path("absent")).args(["doctor", "--skip-tools", "--store", "other", "--json"]);
    let ran = CommandOutput::start(&mut command).expect(5);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(report["problems"][0].as_str().is_some_and(|text| text.contains("TMPDIR")), "{report}");
}

#[test]
fn doctor_summarises_the_tools() {
    let project = Project::new().with("bin/empty", "");
    let mut command = project.command();
    // Nothing is installed on this path.
    let ran = CommandOutput::start(command.env("PATH", project.path("bin")).args(["doctor"])).expect(0);
    assert!(ran.out.contains("usable: ") && ran.out.contains("patterns"), "{}", ran.out);
    assert!(ran.out.contains(" without a program or a key: ") && ran.out.contains("bandit"), "{}", ran.out);
    assert!(ran.out.lines().count() < 40, "{}", ran.out);
}

#[test]
fn schemas_are_listed_and_printed() {
    let project = Project::new();
    let list = project.ok("schema");
    for schema in SCHEMAS {
        let name = schema.file.strip_suffix(".json").unwrap();
        assert!(list.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "no {name} in:\n{list}");
        let stored = std::fs::read_to_string(root().join("schemas").join(schema.file)).unwrap();
        assert_eq!(project.ok(&format!("schema {name}")), stored, "{name}");
    }
    assert_eq!(project.json("schema --json").as_array().unwrap().len(), SCHEMAS.len());
    assert_eq!(project.ok("schema case.json"), project.ok("schema case"));
    project.run("schema cofnig").expect_error(2, &["unknown schema `cofnig`, did you mean `config`?"]);
    project.run("schema --json case").expect(2);
}

/// Runs `karat completions` in the home of a user with this shell.
fn complete(project: &Project, shell: &str, words: &[&str]) -> CommandOutput {
    let mut command = project.command();
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "BASH_COMPLETION_USER_DIR"] {
        command.env_remove(name);
    }
    command.env("HOME", project.path("home")).env("SHELL", format!("/bin/{shell}"));
    CommandOutput::start(command.arg("completions").args(words))
}

#[test]
fn completions_are_installed_and_nothing_foreign_is_replaced() {
    let project = Project::new();
    for (shell, file) in [
        ("bash", "home/.local/share/bash-completion/completions/karat"),
        ("zsh", "home/.local/share/zsh/site-functions/_karat"),
        ("fish", "home/.config/fish/completions/karat.fish"),
    ] {
        let printed = complete(&project, shell, &[shell]).expect(0).out;
        assert!(!project.path("home").join(file).exists());
        let ran = complete(&project, shell, &["--install"]).expect(0);
        assert_eq!(ran.out.trim(), project.path(file).display().to_string());
        assert_eq!(project.read(file), printed, "{shell}");
        assert_eq!(ran.err.contains("fpath=("), shell == "zsh", "{}", ran.err);
        // An older version of ours is replaced, also when the shell is named.
        project.write(file, format!("{}\n", printed.lines().take(2).collect::<Vec<_>>().join("\n")));
        let ran = complete(&project, "sh", &["--install", shell, "--json"]).expect(0);
        assert!(ran.out.contains(&format!("\"shell\": \"{shell}\"")), "{}", ran.out);
        assert_eq!(project.read(file), printed, "{shell}");
        project.write(file, "# somebody's own\n");
        complete(&project, shell, &["--install"]).expect_error(4, &["was not written by Karat and is not replaced"]);
        assert_eq!(project.read(file), "# somebody's own\n");
        // A link is somebody's own, whatever it leads to.
        project.write("elsewhere", &printed);
        std::fs::remove_file(project.path(file)).unwrap();
        std::os::unix::fs::symlink(project.path("elsewhere"), project.path(file)).unwrap();
        complete(&project, shell, &["--install"]).expect(4);
        assert!(project.path(file).is_symlink());
    }
    complete(&project, "bash", &["--install", "elvish"]).expect_error(2, &["elvish has no folder for completions"]);
    complete(&project, "unknown", &["--install"]).expect_error(2, &["the shell is not known"]);
    complete(&project, "bash", &[]).expect(2);
}

#[test]
fn manual_pages_are_printed_and_written() {
    let project = Project::new();
    let page = project.ok("man store gc");
    assert!(page.contains("karat-store-gc") && page.contains(".SH EXAMPLES"), "{page}");
    let written = project.ok("man --out pages");
    for file in ["pages/karat.1", "pages/karat-run.1", "pages/karat-judge-fit.1"] {
        assert!(written.lines().any(|line| line == file) && project.path(file).is_file(), "{file}:\n{written}");
    }
    assert_eq!(project.read("pages/karat.1"), project.ok("man"));
    project.run("man stroe").expect_error(2, &["did you mean `store`?"]);
}

#[test]
fn commands_about_karat_work_without_a_home_and_into_a_closed_pipe() {
    let project = Project::new();
    for line in ["doctor --skip-tools", "schema", "schema report", "man", "man store gc", "completions bash"] {
        for home in [None, Some(""), Some("/nonexistent")] {
            let mut command = project.command();
            command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").env("NO_COLOR", "1").env("COLUMNS", "40");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            let ran = CommandOutput::start(command.args(line.split_whitespace())).expect(0);
            assert!(!ran.out.is_empty() && ran.err.is_empty(), "{line} with {home:?}: {}", ran.err);
            assert!(!ran.out.contains('\u{1b}'), "{line}: {}", ran.out);
        }
        let piped = project.run_shell(&format!("(karat {line}; echo \"code $?\" >&2) | head -n 1")).expect(0).out;
        assert!(piped.contains("code 0") && !piped.contains("panicked") && !piped.contains("error"), "{piped}");
    }
    let mut command = project.command();
    command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    CommandOutput::start(command.args(["completions", "--install", "bash"])).expect_error(2, &["HOME is not set"]);
    project.write("file", "");
    let mut command = project.command();
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME").env("HOME", project.path("file"));
    CommandOutput::start(command.args(["completions", "--install", "bash"])).expect_error(5, &["file/.local"]);
}

/// Every command and subcommand, as their manual pages are named.
fn all_commands(project: &Project) -> Vec<String> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let written = project.json("man --out pages --json");
    let files: Vec<String> = written["written"].as_array().unwrap().iter().map(text).collect();
    let pages = files.iter().filter_map(|file| file.rsplit('/').next()?.strip_suffix(".1")?.strip_prefix("karat-"));
    pages.map(str::to_owned).collect()
}

#[test]
fn every_command_takes_quiet_and_verbose() {
    let project = Project::new();
    let commands = all_commands(&project);
    assert!(commands.len() > 50, "{commands:?}");
    for command in &commands {
        let page = project.read(&format!("pages/karat-{command}.1"));
        assert!(page.contains("\\-\\-quiet") && page.contains("\\-\\-verbose"), "karat-{command}.1:\n{page}");
    }

    let golden = json!([{ "id": "g", "title": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let found = json!([{ "id": "f", "rule_id": "R1", "message": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let project = suite(&[json!({ "id": "c", "issues": golden })]);
    project.write("s.jsonl", format!("{}\n", trial("c", "mine", 1, found)));
    project.write("t.md", "# Terms\n\n## One\n\nSome text.\n");
    project.write("qrels", "q1 0 d1 1\n");
    project.write("ranking", "q1 Q0 d1 1 1.0 x\n");
    project.ok("run . --tool replay:s.jsonl --trials 1 -q --name nightly");
    let lines = [
        "check .",
        "score . --submission s.jsonl",
        "report nightly",
        "explain c --run nightly --tool mine",
        "plot --list",
        "replay nightly --speed 1000",
        "metrics list",
        "metrics explain f1",
        "profile list",
        "profile show karat",
        "compare nightly nightly",
        "baseline write nightly -o base.json",
        "import --list",
        "ingest t.md",
        "logs list",
        "label list",
        "label next nightly --as anna",
        "label export nightly",
        "expect --from s.jsonl",
        "key s.jsonl",
        "store list",
        "store show nightly",
        "store verify",
        "store gc --dry-run",
        "suite gc .",
        "tools list",
        "tools show bandit",
        "doctor --skip-tools",
        "schema",
        "completions bash",
        "man",
    ];
    for line in lines {
        let [plain, quiet, verbose] = ["", "-q", "-v"].map(|flag| project.run(&format!("{line} {flag}")).expect(0));
        assert_eq!(quiet.err, "", "{line} -q");
        let count = |ran: &CommandOutput| ran.out.lines().count();
        assert!(count(&quiet) <= count(&plain) && count(&plain) <= count(&verbose), "{line}:\n{}", verbose.out);
    }
    // Its `-q` is that of trec_eval.
    assert_eq!(project.run("trec qrels ranking --quiet").expect(0).err, "");
}
