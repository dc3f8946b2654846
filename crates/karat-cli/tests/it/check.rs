//! `karat check` and `karat init`: reports every fault of a suite at once, with its location.

use crate::project::{Project, suite};
use serde_json::{Value, json};

#[test]
fn all_faults_are_reported_with_locations() {
    let project = Project::new()
        .with("s/karat.toml", "[suite]\nname = \"faulty\"\n")
        .with("s/cases/a/case.yaml", "id: a\nissues:\n  - id: g\n    title: A line in words\n    line_start: twelve\n")
        .with("s/cases/b/case.yaml", "id: a-twin\nlangauge: python\n")
        .with("s/cases/c/case.yaml", "id: c\ntwin: nobody\n")
        .with(
            "s/cases/d/case.yaml",
            "id: d\nissues:\n  - id: g\n    title: Lines the wrong way round\n    file: a.py\n    line_start: 9\n    line_end: 3\n",
        )
        .with("s/cases/e/case.yaml", "id: e\nissues:\n  - id: g\n    title: A path that climbs\n    file: ../../etc/passwd\n")
        .with("s/cases/f/case.yaml", "name: no id at all\n")
        .with("s/cases/g/case.yaml", "id: g\nissues: [{ id: g, title: Nobody knows this severity, severity: terrible }]\n")
        .with("s/cases/h/case.yaml", "# the same id as another\nid: d\n");
    let ran = project.run("check s").expect(4);
    insta::assert_snapshot!("eight_faults", ran.out);
    let json: Value = serde_json::from_str(&project.run("check s --json").expect(4).out).unwrap();
    let faults = json.as_array().unwrap();
    assert_eq!(faults.len(), 8);
    for fault in faults {
        assert!(fault["line"].as_u64().unwrap() > 0 && fault["column"].as_u64().unwrap() > 0, "{fault}");
        assert!(fault["file"].as_str().unwrap().starts_with("s/"), "{fault}");
        assert_eq!(fault["level"], "error");
    }
    // Every command refuses the suite with the same message.
    let scored = project.run("score s").expect_error(4, &["nothing was loaded"]);
    for fault in faults {
        assert!(scored.err.contains(fault["message"].as_str().unwrap()), "{fault}");
    }
}

/// The diagnostics of `check` for one case with these files, one line each: level, code, line:column, message.
fn diagnose(case: &str, files: &[(&str, &str)], flags: &str) -> String {
    let project = Project::new().with("karat.toml", "[suite]\nname = \"s\"\n").with("cases/c/case.yaml", case);
    for (path, text) in files {
        project.write(path, text);
    }
    format_diagnostics(&project.run(&format!("check . --json {flags}")).out)
}

fn format_diagnostics(json: &str) -> String {
    let remarks: Vec<Value> = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let line = |d: &Value| {
        let text = |key: &str| d[key].as_str().unwrap().to_owned();
        format!("{} {} {}:{} {}\n", text("level"), text("code"), d["line"], d["column"], text("message"))
    };
    remarks.iter().map(line).collect()
}

#[track_caller]
fn check(case: &str, files: &[(&str, &str)], flags: &str, expected: &str) {
    assert_eq!(diagnose(case, files, flags), expected);
}

const GOOD: &str = "id: c\nissues:\n  - id: g\n    title: The loop runs once too often\n    file: a.py\n    line_start: 2\n    keywords: [loop]\n";
const TREE: &[(&str, &str)] = &[("cases/c/before/a.py", "one\nold\n"), ("cases/c/after/a.py", "one\ntwo\n")];

#[test]
fn valid_case_has_no_diagnostics() {
    check(GOOD, &[], "", "");
    check(GOOD, TREE, "", "");
    check(GOOD, TREE, "--profile crb", "");
}

#[test]
fn missing_locations_are_reported() {
    let outside = GOOD.replace("line_start: 2", "line_start: 2\n    line_end: 9");
    check(&outside, TREE, "", "error lines-outside-file 7:15 line 9 lies outside `a.py`, which has 2 lines\n");
    let absent = GOOD.replace("a.py", "b.py");
    check(&absent, TREE, "", "error no-such-file 5:11 missing file `b.py` in after/\n");
    let untouched = GOOD.replace("line_start: 2", "line_start: 1");
    check(&untouched, TREE, "", "warning golden-outside-change 6:17 `g` is outside the changed lines\n");
    let glob = GOOD.replace("a.py", "'src/**/*.py'");
    check(&glob, TREE, "", "warning glob-fits-nothing 5:11 no file in after/ fits `src/**/*.py`\n");
    // Without code, locations cannot be checked.
    check(&outside, &[], "", "");
}

#[test]
fn uninformative_titles_and_keywords_are_reported() {
    let stray = GOOD.replace("[loop]", "[loop, overflow, '']");
    check(
        &stray,
        &[],
        "",
        "warning stray-keyword 7:15 keywords of `g` that do not occur in its text: \"overflow\", \"\"\n",
    );
    let vague = GOOD.replace("The loop runs once too often", "Loop");
    check(&vague, &[], "", "warning vague-golden 4:12 `g` says almost nothing; describe what is wrong and where\n");
    let twice = format!("{GOOD}  - id: h\n    title: The loop runs too often, once\n    file: a.py\n");
    check(&twice, &[], "", "warning duplicate-golden 8:9 `h` says the same as `g` about the same place\n");
    let elsewhere =
        format!("{GOOD}  - id: h\n    title: The loop runs too often, once\n    file: a.py\n    line_start: 40\n");
    check(&elsewhere, &[], "", "");
}

#[test]
fn unmatchable_goldens_are_reported() {
    let lines_only = "id: c\nissues:\n  - id: g\n    title: The loop runs once too often\n    line_start: 2\n";
    let expected = "warning unmatchable-golden 3:9 no tool could match `g` under the profile `crb`: \
                    the best possible score is 0.20, below 0.30; give it a file or keywords\n";
    check(lines_only, &[], "--profile crb", expected);
    check(lines_only, &[], "", "");
    let expected = "warning unmatchable-golden 3:9 no tool could match `g` under the profile `karat`: \
                    the profile requires an equal category, but it has none\n";
    check(GOOD, &[], "--set require=[\"category\"]", expected);
    let no_lines = GOOD.replace("    line_start: 2\n", "");
    let expected = "warning unmatchable-golden 3:9 no tool could match `g` under the profile `karat`: \
                    the profile has a line_tolerance, but it has no lines\n";
    check(&no_lines, &[], "--set line_tolerance=3", expected);
    let expected = "warning unmatchable-golden 3:9 no tool could match `g` under the profile `identity`: \
                    it needs file, rule_id and lines or an anchor, or an identity_key\n\
                    warning no-rule-id 3:9 `g` has no rule_id; goldens of an identity suite need one\n";
    check(GOOD, &[], "--profile identity", expected);
    let ruled = format!("{no_lines}    rule_id: R1\n");
    let expected =
        "warning fallback-only 3:9 only the fallback on file and rule could match `g`; give it lines or an anchor\n";
    check(&ruled, &[], "--profile identity", expected);
    check(&format!("{GOOD}    rule_id: R1\n"), &[], "--profile identity", "");
}

/// A golden of an identity suite with this key, after `line_start: 2` in line 6.
fn golden_with_key(key: &str) -> String {
    format!("{GOOD}    rule_id: R1\n    identity_key: '{key}'\n")
}

#[test]
fn impossible_keys_are_reported() {
    let refused = |key: &str, why: &str, help: &str| {
        let expected = format!("error unmatchable-key 9:19 no finding can have the identity_key of `g`: {why}\n");
        check(&golden_with_key(key), &[], "--profile identity", &expected);
        let project = Project::new()
            .with("karat.toml", "[suite]\nname = \"s\"\n")
            .with("cases/c/case.yaml", golden_with_key(key));
        let out = project.run("check . --profile identity").expect(4).out;
        assert!(out.contains(help), "{key}: {out}");
    };
    let right = "write \"v2|a.py|r1|lines:2-2\"";
    refused("garbage", "expected v2|<path>|<rule>|<anchor>", right);
    refused("v9|a.py|r1|lines:2-2", "unknown key version \"v9\"", right);
    refused("v2|./a.py|r1|lines:2-2", "invalid path \"./a.py\"", right);
    refused("v2|a.py|R1|lines:2-2", "invalid rule \"R1\"", right);
    refused("v2|a.py|r1|lines:2", "invalid anchor \"lines:2\" for its version", right);
    refused(
        "v2|a.py|r1|lines:2-2|source:llm",
        "it names the source \"source:llm\", but identity.include_source is off",
        right,
    );
    for good in ["v2|a.py|r1|lines:2-2", "v2|*.py|r1|lines:2-2", "v2|a.py|r1|anchor:n", "v3|a.py|r1|symbol:f#1"] {
        check(&golden_with_key(good), &[], "--profile identity", "");
    }
    // Keys are ignored unless matching uses them.
    let warned = "warning unmatchable-key 9:19 no finding can have the identity_key of `g`: \
                  expected v2|<path>|<rule>|<anchor>\n";
    check(&golden_with_key("garbage"), &[], "", warned);
}

#[test]
fn contradicting_keys_are_reported() {
    let expected = "error contradicting-key 9:19 the identity_key of `g` contradicts it: \
                    file is \"a.py\", the key says \"b.py\"; rule_id is \"r1\", the key says \"r2\"; \
                    line_start is \"2-2\", the key says \"9-9\"\n";
    check(&golden_with_key("v2|b.py|r2|lines:9-9"), &[], "--profile identity", expected);
    let chunk = "warning unmatchable-golden 3:9 no tool could match `g` under the profile `identity`: \
                 identity.chunk_anchors does not accept its kind of anchor\n";
    check(&golden_with_key("v2|a.py|r1|chunk:1"), &[], "--profile identity", chunk);
    check(&golden_with_key("v2|a.py|r1|chunk:1"), &[], "--profile identity --set identity.chunk_anchors=true", "");
}

#[test]
fn goldens_of_an_identity_suite_need_a_rule() {
    let golden_with_key = format!("{GOOD}    identity_key: 'v2|a.py|r1|lines:2-2'\n");
    let expected = "warning no-rule-id 3:9 `g` has no rule_id; goldens of an identity suite need one\n";
    check(&golden_with_key, &[], "--profile identity", expected);
    check(&golden_with_key, &[], "", "");
}

#[test]
fn inconsistent_cases_are_reported() {
    let twin = "id: c\ntwin: d\nissues:\n  - id: g\n    title: The loop runs once too often\n    file: a.py\n";
    let expected = "warning one-sided-twin 2:7 the twin `d` does not name `c` as its own twin\n";
    check(twin, &[("cases/d/case.yaml", "id: d\n")], "", expected);
    check(twin, &[("cases/d/case.yaml", "id: d\ntwin: c\n")], "", "");
    let alike = "warning twins-alike 2:7 `c` and its twin `d` have the same verdict; one should be the fix\n\
                 warning twins-alike 2:7 `d` and its twin `c` have the same verdict; one should be the fix\n";
    check(twin, &[("cases/d/case.yaml", &twin.replace("id: c\ntwin: d", "id: d\ntwin: c"))], "", alike);
    let near = "error unknown-twin 2:7 unknown twin `d`\n";
    check(twin, &[], "", near);
    check("id: c\ntwin: c\n", &[], "", "error unknown-twin 2:7 the case `c` cannot be its own twin\n");
    check("id: other\n", &[], "", "warning id-differs 1:5 the id `other` differs from the folder's name `c`\n");
    let safe = GOOD.replace("id: c\n", "id: c\nverdict: safe\n");
    check(&safe, &[], "", "warning verdict-contradicts 2:10 `c` is called safe and has required issues\n");
    check(
        "id: c\n",
        &[("cases/empty/notes.txt", "")],
        "",
        "error no-case-file 0:0 the folder empty has no case.yaml\n",
    );
    check("id: c\n", &[("cases/_draft/notes.txt", "")], "", "");
}

/// A twin that is refused for another reason still exists, so its absence is not reported as well.
#[test]
fn faulty_twin_is_not_reported_as_unknown() {
    let twin = "id: c\ntwin: d\n";
    let faulty = "id: d\ntwin: c\nlangauge: python\n";
    check(twin, &[("cases/d/case.yaml", faulty)], "", "error unknown-key 3:1 unknown key `langauge`\n");
}

#[test]
fn faults_in_jsonl_cases_name_the_line() {
    let project = suite(&[
        json!({ "id": "a", "issues": [{ "id": "g", "title": "Wrong", "file": "a.py" }] }),
        json!({ "id": "b", "twin": "aa" }),
        json!({ "id": "a" }),
    ]);
    let expected = "error unknown-twin 2:1 unknown twin `aa`\n\
                    error duplicate-id 3:1 duplicate case id `a`, first used at ./cases.jsonl:1\n";
    assert_eq!(format_diagnostics(&project.run("check . --json").expect(4).out), expected);
    let project = suite(&[json!({ "id": "a", "issues": [{ "id": "g", "title": "Wrong", "file": "a.py" }] })]);
    let expected = "warning vague-golden 1:39 `g` says almost nothing; describe what is wrong and where\n";
    assert_eq!(format_diagnostics(&project.run("check . --json").expect(0).out), expected);
}

#[test]
fn warnings_fail_only_with_strict() {
    let project = Project::new().with("karat.toml", "[suite]\nname = \"s\"\n").with("cases/c/case.yaml", "id: other\n");
    let ran = project.run("check .").expect(0);
    assert!(ran.out.ends_with("s: 1 case, 0 goldens, profile karat: 1 warning\n"), "{}", ran.out);
    project.run("check . --strict").expect(4);
    project.write("cases/c/case.yaml", "id: c\n");
    let ran = project.run("check . --strict").expect(0);
    assert_eq!(ran.out, "s: 1 case, 0 goldens, profile karat: no problems\n");
    assert_eq!(project.ok("check . --json"), "[]\n");
}

#[test]
fn missing_suite_is_explained() {
    let project = Project::new().with("empty/readme.txt", "");
    assert!(project.run("check empty").expect(4).out.contains("no suite here"));
    assert!(project.run("check nowhere").expect(4).out.contains("there is no such folder"));
    project.write("docs/karat.toml", "[suite]\nname = \"d\"\nkind = \"assessment\"\n");
    assert!(project.run("check docs").expect(4).out.contains("no golden record here"));
    let help = "`karat assess docs` assesses it, and `karat check docs` checks its golden records";
    project.run("score docs").expect_error(4, &["documents to assess", help]);
    project.run("run agreements").expect_error(4, &["`karat assess agreements` assesses it"]);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_suite_are_refused() {
    let project = Project::new()
        .with("secret.txt", "secret\n")
        .with("s/karat.toml", "[suite]\nname = \"s\"\n")
        .with("s/cases/c/case.yaml", "id: c\n")
        .with("s/cases/c/after/a.py", "x\n");
    let link = |target: &str, path: &str| std::os::unix::fs::symlink(project.path(target), project.path(path)).unwrap();
    link("secret.txt", "s/cases/c/after/link.py");
    let out = project.run("check s").expect(4).out;
    assert!(out.contains("path-escapes") && out.contains("link.py"), "{out}");
    assert!(!out.contains("secret\n"), "{out}");
    project.run("score s").expect_error(4, &["path-escapes"]);
    std::fs::remove_file(project.path("s/cases/c/after/link.py")).unwrap();
    // A case file that links to the outside, and a case folder that does.
    std::fs::create_dir_all(project.path("s/cases/d")).unwrap();
    project.write("outside.yaml", "id: d\n");
    link("outside.yaml", "s/cases/d/case.yaml");
    assert!(project.run("check s").expect(4).out.contains("path-escapes"));
    std::fs::remove_dir_all(project.path("s/cases/d")).unwrap();
    project.write("outside/case.yaml", "id: d\nname: from outside\n");
    link("outside", "s/cases/d");
    let out = project.run("check s").expect(4).out;
    assert!(out.contains("path-escapes") && !out.contains("from outside"), "{out}");
    std::fs::remove_file(project.path("s/cases/d")).unwrap();
    // A code folder that is a link.
    std::fs::remove_dir_all(project.path("s/cases/c/after")).unwrap();
    link("outside", "s/cases/c/after");
    let out = project.run("check s").expect(4).out;
    assert!(out.contains("path-escapes") && out.contains("the link after/"), "{out}");
}

#[test]
fn shipped_suites_have_no_problems() {
    let project = Project::new();
    assert_eq!(
        project.ok("check starter --strict"),
        "starter: 10 cases, 26 goldens, 21 to find, 3 acceptable, 2 traps, profile karat: no problems\n"
    );
    assert_eq!(
        project.ok("check scanned --strict"),
        "scanned: 8 cases, 78 goldens to find, profile karat: no problems\n"
    );
    let on_disk = crate::project::root().join("suites/starter").display().to_string();
    let ran = project.run_list(&["check", &on_disk, "--strict"]).expect(0);
    assert!(ran.out.ends_with("no problems\n"), "{}", ran.out);
}

#[test]
fn initial_suite_passes_check_and_scores() {
    let project = Project::new();
    let written = project.run("init mine").expect_error(0, &["karat check mine", "karat score mine"]).out;
    assert!(written.contains("mine/karat.toml"), "{written}");
    for path in written.lines() {
        assert!(project.path(path).is_file(), "{path} was listed but not written");
    }
    assert!(project.ok("check mine --strict").ends_with("no problems\n"));
    let report = project.json("score mine --json");
    assert_eq!(report["warnings"], json!([]));
    assert!(report["tools"][0]["metrics"]["f1"]["value"].as_f64().unwrap() > 0.0);
    assert!(project.read("mine/karat.toml").contains("\nname = \"mine\"\n"), "named after its folder");
    // An existing suite is not overwritten.
    project.write("mine/karat.toml", "[suite]\nname = \"kept\"\n");
    project.run("init mine").expect_error(4, &["mine/karat.toml already exists"]);
    assert_eq!(project.read("mine/karat.toml"), "[suite]\nname = \"kept\"\n");
    project.run("init mine/karat.toml").expect_error(4, &["mine/karat.toml is a file; name a folder"]);
    // The name may hold what a string of TOML must escape.
    project.run_list(&["init", "it's \"mine\""]).expect(0);
    let checked = project.run_list(&["check", "it's \"mine\""]).expect(0).out;
    assert!(checked.starts_with("it's \"mine\": 2 cases"), "{checked}");
}

/// The schema that a file names, for a language server: relative to the file, on this machine.
fn linked_schema(project: &Project, file: &str) -> Option<std::path::PathBuf> {
    let text = project.read(file);
    let first = text.lines().next()?;
    let link = first.strip_prefix("#:schema ").or_else(|| first.strip_prefix("# yaml-language-server: $schema="))?;
    Some(project.path(file).parent().unwrap().join(link))
}

#[test]
fn every_file_of_an_initial_suite_names_its_schema() {
    for kind in ["findings", "assessment"] {
        let project = Project::new();
        let written = project.run(&format!("init mine --kind {kind}")).expect(0).out;
        let mut linked = 0;
        for file in written.lines().filter(|file| [".toml", ".yaml", ".yml"].iter().any(|end| file.ends_with(end))) {
            let schema = linked_schema(&project, file).unwrap_or_else(|| panic!("{file} names no schema"));
            let schema: Value = serde_json::from_slice(&std::fs::read(&schema).unwrap()).unwrap();
            let text = project.read(file);
            let value = match file.ends_with(".toml") {
                true => karat_format::document::toml::parse(&text).unwrap().to_json(),
                false => karat_format::document::yaml::parse(&text).unwrap().to_json(),
            };
            let validator = jsonschema::validator_for(&schema).unwrap();
            assert!(validator.is_valid(&value), "{file} does not conform to its schema");
            linked += 1;
        }
        assert_eq!(linked, 3, "{kind}:\n{written}");
    }
}

#[test]
fn bare_suite_has_no_examples() {
    let project = Project::new();
    let ran = project.run("init mine --bare").expect_error(0, &["karat suite add --from-commit"]);
    assert_eq!(ran.out, "mine/karat.toml\nmine/schemas/config.json\nmine/schemas/case.json\n");
    project.run("check mine").expect(4);
    project.run("init docs --bare --kind assessment").expect_error(0, &["bundles/NAME/NAME.golden-assessment.yml"]);
    assert!(!project.path("docs/bundles").exists() && project.read("docs/karat.toml").contains("name = \"docs\""));
    // Without a name, the suite is that of the current folder.
    std::fs::create_dir(project.path("here")).unwrap();
    let mut command = project.command();
    crate::project::CommandOutput::start(command.current_dir(project.path("here")).args(["init", "--bare"])).expect(0);
    assert!(project.read("here/karat.toml").contains("\nname = \"here\"\n"));
    project.run("init mine --kind nosuch").expect(2);
}

#[test]
fn missing_code_is_reported() {
    let case = "id: c\nissues:\n  - id: g\n    title: The loop runs once too often\n    file: a.py\n";
    let no_after = "note no-after 1:5 `c` has `before/` and no `after/`, so its change deletes every file\n";
    check(case, &[("cases/c/before/a.py", "x\n")], "", no_after);
    let other = [("cases/d/case.yaml", "id: d\n"), ("cases/d/after/a.py", "x\n")];
    let no_code = "warning no-code 1:5 `c` has no file in `after/`, unlike other cases; tools that read code skip it\n";
    check(case, &other, "", no_code);
    check(case, &[], "", "");
    check(case, &[("cases/c/before/a.py", "x\n"), ("cases/c/after/a.py", "y\n")], "", "");
}

#[test]
fn keys_that_say_where_code_is_are_checked() {
    check(
        "id: c\nrepo: app\nrev: v1\n",
        &[],
        "",
        "error bad-revision 3:6 \"v1\" is not a full commit id; `git rev-parse \"v1\"` prints it\n",
    );
    let rev = "0123456789012345678901234567890123456789";
    let no_repo = "error no-repo 2:6 `rev` without `repo`: name the repository of this commit\n";
    check(&format!("id: c\nrev: '{rev}'\n"), &[], "", no_repo);
    check(&format!("id: c\nbase_rev: '{rev}'\n"), &[], "", "error no-rev 2:11 `base_rev` without `rev`\n");
    let short = "error bad-object-name 3:10 \"ab\" is not the name of an object: expected 64 hexadecimal digits\n";
    check("id: c\ntrees:\n  after: ab\n", &[], "", short);
}

#[test]
fn init_asks_at_a_terminal_what_the_suite_is_for() {
    let project = Project::new();
    let kind = |folder: &str| match project.path(folder).join("templates").is_dir() {
        true => "assessment",
        false => "findings",
    };
    let question = "What is the suite for?";
    let answers = [
        ("1", "1\n", "findings"),
        ("2", "2\n", "assessment"),
        ("word", "Assessment\n", "assessment"),
        ("enter", "\n", "findings"),
        ("again", "documents\n2\n", "assessment"),
    ];
    for (folder, typed, expected) in answers {
        let Some(ran) = project.run_on_terminal(&format!("init {folder}"), typed) else { return };
        let out = ran.expect(0).out;
        for text in [question, "1  findings: ", "2  assessment: ", "1 or 2? [1]"] {
            assert!(out.contains(text), "no {text:?}:\n{out}");
        }
        assert_eq!(out.contains("answer 1 or 2"), folder == "again", "{out}");
        assert!(project.path(folder).join("karat.toml").is_file(), "{out}");
        assert_eq!(kind(folder), expected, "{out}");
    }
    // Somebody who types nothing at all gets no suite.
    let silent = project.run_on_terminal("init silent", "").unwrap().expect(2);
    assert!(silent.out.contains("--kind findings") && !project.path("silent").exists(), "{}", silent.out);
    // No question where the answer is given, or where nobody can answer.
    for (folder, flags) in [("stated", "--kind assessment"), ("json", "--json")] {
        let out = project.run_on_terminal(&format!("init {folder} {flags}"), "").unwrap().expect(0).out;
        assert!(!out.contains(question), "{out}");
    }
    let ran = project.run("init elsewhere").expect(0);
    assert!(!ran.err.contains(question) && kind("elsewhere") == "findings", "{}", ran.err);
}
