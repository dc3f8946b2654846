//! What tools of a suite ask for beyond the closed sandbox needs the user's word.

use super::{FINDS_IT, outcomes, parsed, with_cases, with_tool};
use crate::project::{Project, Ran, skipped};

/// Each thing that a manifest can ask for, and what allows it.
const ASKS: &[(&str, &str)] = &[
    ("network = true", "network"),
    ("pass_env = [\"A_TOKEN\"]", "env=A_TOKEN"),
    ("expose = [\"~/.notes\"]", "read=~/.notes"),
    ("writable = [\"~/.notes\"]", "write=~/.notes"),
    ("setup = [\"true\"]", "setup"),
];

/// A suite whose own tool reports what it should, and asks for more.
fn with_asking_tool(asks: &str) -> Project {
    let project = with_cases(1);
    let script = FINDS_IT.replace('{', "{{").replace('}', "}}").replace('"', "\\\"");
    project.write(
        "suite/karat.toml",
        format!(
            "[suite]\nname = \"small\"\n[scoring]\ntrials = 1\n[tools.x]\ncommand = [\"sh\", \"-c\", \"{script}\", \"x\", \"{{checkout}}\", \"{{output}}\"]\nformat = \"karat\"\n{asks}\n"
        ),
    );
    project.write("home/.notes/kept", "");
    project
}

fn run(project: &Project, arguments: &[&str]) -> Ran {
    let words = ["run", "suite", "-q", "--json"];
    Ran::start(project.command().env("HOME", project.path("home")).env("A_TOKEN", "t").args(words).args(arguments))
}

#[test]
fn nothing_that_a_suite_asks_for_is_given_without_a_word() {
    for (asks, grant) in ASKS {
        let project = with_asking_tool(asks);
        // To name the tool is not to know what it asks for.
        for arguments in [&[][..], &["--tool", "x"], &["--allow", "x:env=OTHER"]] {
            run(&project, arguments).says(2, &["`x` asks to", "--allow", grant]);
        }
        assert!(!project.path(".karat").exists(), "{asks}: something was run");
        let allow = format!("x:{grant}");
        let ran = run(&project, &["--allow", &allow]).expect(0);
        assert_eq!(outcomes(&parsed(&ran)), "reported 1", "{asks}");
        // Its user's word was for that run alone.
        run(&project, &[]).says(2, &["--allow"]);
    }
}

#[test]
fn check_names_what_tools_ask_for() {
    for (asks, grant) in ASKS {
        let project = with_asking_tool(asks);
        let found = project.json("check suite --json").to_string();
        assert!(found.contains("asks-for-grants") && found.contains(grant), "{asks}: {found}");
        project.run("check suite --strict").expect(0);
    }
    let closed = with_asking_tool("").json("check suite --json").to_string();
    assert!(!closed.contains("asks-for-grants"), "{closed}");
}

#[test]
fn a_plan_is_shown_with_what_it_would_need() {
    let project = with_asking_tool("network = true");
    project.run("run suite --dry-run").says(0, &["asks to use the network", "--allow 'x:network'"]);
    project.run("run suite --allow y:network").says(2, &["`y`, which is not part of this run"]);
    project.run("run suite --allow x:net").says(2, &["invalid grant `net`"]);
}

/// What the user typed needs no further word, and goes on later.
#[test]
fn manifests_that_were_typed_are_given_what_they_ask_for() {
    let project = with_cases(1);
    project.write("broken", "");
    let place = project.path("broken").display().to_string();
    with_tool(&project, "it", &format!("[ -e {place} ] && exit 7; {FINDS_IT}"), &format!("expose = [\"{place}\"]"));
    project.run("run suite --tool tools/it.toml").expect(5);
    std::fs::remove_file(project.path("broken")).unwrap();
    project.run("run --resume latest --retry-failed").expect(0);
    // Whoever gets the folder with its store has typed nothing.
    std::fs::remove_dir_all(project.path(".user")).unwrap();
    project.run("run --resume latest").says(2, &["--allow"]);
    project.run_list(&["run", "--resume", "latest", "--allow", &format!("it:read={place}")]).expect(0);
}

#[test]
fn at_a_terminal_the_answer_is_asked_for_once() {
    if std::process::Command::new("script").arg("--version").output().is_err() {
        return skipped("there is no `script` to make a terminal with");
    }
    let project = with_asking_tool("network = true");
    let karat = assert_cmd::Command::cargo_bin("karat").unwrap().get_program().to_string_lossy().into_owned();
    let typed = |answer: &str| {
        let mut terminal = assert_cmd::Command::new("script");
        terminal.args(["-qec", &format!("{karat} run suite -q"), "/dev/null"]).current_dir(project.path(""));
        terminal.env_remove("CI").env("XDG_CONFIG_HOME", project.path(".user")).env("COLUMNS", "100");
        Ran::start(terminal.write_stdin(answer))
    };
    let refused = typed("n\n");
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(
        refused.out.contains("use the network") && refused.out.contains("was not given the permissions"),
        "{}",
        refused.out
    );
    assert_eq!(typed("y\n").code, Some(0));
    let again = typed("");
    assert!(again.code == Some(0) && !again.out.contains("[y/N]"), "{}", again.out);
    // Without a terminal the answer counts as well, and another manifest needs another.
    run(&project, &[]).expect(0);
    let config = project.read("suite/karat.toml").replace("network = true", "network = true\ntimeout = \"60s\"");
    project.write("suite/karat.toml", config);
    run(&project, &[]).says(2, &["--allow 'x:network'"]);
}
