//! A change that only deletes is a case like any other.

use super::{outcomes, report, with_tool};
use crate::project::Project;
use serde_json::json;

const LOOKS: &str = r#"cd "$1" && git diff --name-status main...HEAD && ls -A
echo '{"findings":[]}' > "$2""#;

/// A suite with a clean case that deletes every file, with an empty `after` folder or without one, as git leaves it.
fn project(with_folder: bool) -> Project {
    let project = Project::new()
        .with("suite/karat.toml", "[suite]\nname = \"s\"\n")
        .with(
            "suite/cases/c/case.yaml",
            "id: c\nlanguage: python\npr:\n  title: Remove the old client\nverdict: safe\n",
        )
        .with("suite/cases/c/before/client.py", "def old():\n    return eval('1')\n")
        .with("suite/cases/d/case.yaml", "id: d\nverdict: safe\n")
        .with("suite/cases/d/after/a.py", "x = 1\n");
    if with_folder {
        std::fs::create_dir(project.path("suite/cases/c/after")).unwrap();
    }
    with_tool(&project, "it", LOOKS, "");
    project
}

#[test]
fn deletion_is_given_to_tools_and_scored() {
    for with_folder in [true, false] {
        let project = project(with_folder);
        let checked = project.run("check suite --strict").expect(0);
        assert_eq!(checked.out.contains("so its change deletes every file"), !with_folder, "{}", checked.out);
        let scored = report(&project, "it", "--trials 1 --judge none");
        assert_eq!(outcomes(&scored), "reported 2", "{scored}");
        assert_eq!(scored["tools"][0]["metrics"]["clean_pass"]["value"], json!(1.0));
        assert_eq!(project.ok("store show latest --trial it c 1 --artifact stdout"), "D\tclient.py\n.git\n");
        let patterns = project.json("run suite --tool patterns --trials 1 --judge none --json -q");
        assert_eq!(outcomes(&patterns), "reported 2", "{patterns}");
    }
}

/// A golden may lie in a file that the change deletes, and a report of it there is on the change.
#[test]
fn goldens_may_lie_in_deleted_files() {
    let project = project(false);
    project.write(
        "suite/cases/c/case.yaml",
        "id: c\nissues:\n  - id: g\n    title: The login check is removed\n    file: client.py\n    line_start: 1\n    keywords: [login]\n",
    );
    project.run("check suite").expect(0);
    with_tool(
        &project,
        "it",
        r#"echo '{"findings":[{"title":"Login check removed","file":"client.py","line_start":1}]}' > "$2""#,
        "",
    );
    let scored = report(&project, "it", "--trials 1 --judge none");
    assert_eq!(scored["tools"][0]["metrics"]["recall"]["value"], json!(1.0), "{scored}");
}
