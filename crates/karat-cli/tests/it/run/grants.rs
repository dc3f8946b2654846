//! Permissions beyond the default sandbox: a tool defined by a suite gets none of them unless the user allows it.

use super::{FINDS_IT, outcomes, parsed, with_cases, with_tool};
use crate::project::{CommandOutput, Project};

/// Each permission a manifest can request, with the grant that allows it.
const REQUESTS: &[(&str, &str)] = &[
    ("network = true", "network"),
    ("pass_env = [\"A_TOKEN\"]", "env=A_TOKEN"),
    ("expose = [\"~/.notes\"]", "read=~/.notes"),
    ("writable = [\"~/.notes\"]", "write=~/.notes"),
    ("setup = [\"true\"]", "setup"),
];

/// A suite with a tool of its own that reports the expected finding and requests extra permissions.
fn with_requesting_tool(request: &str) -> Project {
    let project = with_cases(1);
    let script = FINDS_IT.replace('{', "{{").replace('}', "}}").replace('"', "\\\"");
    project.write(
        "suite/karat.toml",
        format!(
            "[suite]\nname = \"small\"\n[scoring]\ntrials = 1\n[tools.x]\ncommand = [\"sh\", \"-c\", \"{script}\", \"x\", \"{{checkout}}\", \"{{output}}\"]\nformat = \"karat\"\n{request}\n"
        ),
    );
    project.write("home/.notes/kept", "");
    project
}

fn run(project: &Project, arguments: &[&str]) -> CommandOutput {
    let words = ["run", "suite", "-q", "--json"];
    CommandOutput::start(
        project.command().env("HOME", project.path("home")).env("A_TOKEN", "t").args(words).args(arguments),
    )
}

#[test]
fn suite_tools_get_no_permission_without_allow() {
    for (request, grant) in REQUESTS {
        let project = with_requesting_tool(request);
        // Selecting a tool does not grant what it requests.
        for arguments in [&[][..], &["--tool", "x"], &["--allow", "x:env=OTHER"]] {
            run(&project, arguments).expect_error(2, &["`x` asks to", "--allow", grant]);
        }
        assert!(!project.path(".karat").exists(), "{request}: a tool was run without a grant");
        let allow = format!("x:{grant}");
        let ran = run(&project, &["--allow", &allow]).expect(0);
        assert_eq!(outcomes(&parsed(&ran)), "reported 1", "{request}");
        // A grant applies to one run only.
        run(&project, &[]).expect_error(2, &["--allow"]);
    }
}

#[test]
fn check_lists_requested_permissions() {
    for (request, grant) in REQUESTS {
        let project = with_requesting_tool(request);
        let found = project.json("check suite --json").to_string();
        assert!(found.contains("asks-for-grants") && found.contains(grant), "{request}: {found}");
        project.run("check suite --strict").expect(0);
    }
    let closed = with_requesting_tool("").json("check suite --json").to_string();
    assert!(!closed.contains("asks-for-grants"), "{closed}");
}

#[test]
fn dry_run_lists_missing_grants() {
    let project = with_requesting_tool("network = true");
    project.run("run suite --dry-run").expect_error(0, &["asks to use the network", "--allow 'x:network'"]);
    project.run("run suite --allow y:network").expect_error(2, &["`y`, which is not part of this run"]);
    project.run("run suite --allow x:net").expect_error(2, &["invalid grant `net`"]);
}

/// Naming a manifest on the command line grants its requests, also when the run is resumed.
#[test]
fn manifests_named_on_the_command_line_need_no_grant() {
    let project = with_cases(1);
    project.write("broken", "");
    let place = project.path("broken").display().to_string();
    with_tool(&project, "it", &format!("[ -e {place} ] && exit 7; {FINDS_IT}"), &format!("expose = [\"{place}\"]"));
    project.run("run suite --tool tools/it.toml").expect(5);
    std::fs::remove_file(project.path("broken")).unwrap();
    project.run("run --resume latest --retry-failed").expect(0);
    // On another machine, with the same folder and store, nothing has been granted.
    std::fs::remove_dir_all(project.path(".user")).unwrap();
    project.run("run --resume latest").expect_error(2, &["--allow"]);
    let folder = project.path("tools").canonicalize().unwrap();
    let allowed = format!("it:read={place},read={}", folder.display());
    project.run_list(&["run", "--resume", "latest", "--allow", &allowed]).expect(0);
}

#[test]
fn terminal_prompts_once_and_remembers_the_answer() {
    let project = with_requesting_tool("network = true");
    let answer_with = |answer: &str| project.run_on_terminal("run suite -q", answer);
    let Some(refused) = answer_with("n\n") else { return };
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(
        refused.out.contains("use the network") && refused.out.contains("was not given the permissions"),
        "{}",
        refused.out
    );
    assert_eq!(answer_with("y\n").unwrap().code, Some(0));
    let again = answer_with("").unwrap();
    assert!(again.code == Some(0) && !again.out.contains("[y/N]"), "{}", again.out);
    // The remembered answer also applies without a terminal, but not to a changed manifest.
    run(&project, &[]).expect(0);
    let config = project.read("suite/karat.toml").replace("network = true", "network = true\ntimeout = \"60s\"");
    project.write("suite/karat.toml", config);
    run(&project, &[]).expect_error(2, &["--allow 'x:network'"]);
}
