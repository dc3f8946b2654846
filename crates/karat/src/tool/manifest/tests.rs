use super::*;
use crate::tool::command::{Program, ResultFrom};
use karat_format::document::{Syntax, decode, schema_of};
use karat_sandbox::NetworkAccess;

fn manifest(text: &str) -> ToolManifestV1 {
    let decoded = decode::<ToolManifestV1>("tool.toml", text, Syntax::Toml, &schema_of::<ToolManifestV1>());
    decoded.into_result().unwrap_or_else(|faults| panic!("{faults:?}")).0
}

fn resolve(text: &str, model: Option<&str>) -> Result<Manifest, Vec<ManifestFault>> {
    let context = Context { model, home: Some(Path::new("/home/me")), files_anywhere: false };
    Manifest::resolve("scan", &manifest(text), &context)
}

/// What one kind of tool makes of a manifest.
fn declare<T>(text: &str, declare: impl Fn(&mut Check<'_>) -> T) -> T {
    let raw = manifest(text);
    let context = Context { home: Some(Path::new("/home/me")), ..Context::default() };
    let mut check = Check { name: "scan", raw: &raw, context: &context, model: None, faults: Vec::new() };
    let declared = declare(&mut check);
    assert_eq!(check.faults, []);
    declared
}

fn program(text: &str) -> Program {
    declare(text, |check| check.command())
}

const SMALL: &str = "command = [\"scan\", \"{checkout}\"]\nformat = \"sarif\"\n";

#[test]
fn defaults_are_stated() {
    let program = program(SMALL);
    assert_eq!(program.ok_exit, [0]);
    let waits = [1, 2, 3, 4].map(|outages| program.outages.retries.wait(outages).map(|wait| wait.as_secs()));
    assert_eq!(waits, [Some(1), Some(4), Some(16), None]);
    assert_eq!((program.format, program.result), ("sarif", ResultFrom::Stdout));
    assert_eq!(program.limits, karat_sandbox::Limits::default());
    assert_eq!((program.limits.time.as_secs(), program.import_memory, program.caps.findings), (600, 2 << 30, 100_000));
    assert!(
        program.network == NetworkAccess::None
            && program.manifest.setup.is_empty()
            && program.manifest.version.is_empty()
    );
}

#[test]
fn every_value_is_read() {
    let program = program(
        r#"
        command = ["scan", "-o", "{output}", "--prompt", "{{}}"]
        format = "karat"
        ok_exit = [0, 1]
        timeout = "1h30m"
        setup = ["fetch", "{tool_dir}"]
        version = ["scan", "--version"]
        network = true
        expose = ["~/.config/scan", "~", "/opt/scan", "rules", "~other"]
        pass_env = ["API_KEY"]
        env = { RULES = "{tool_dir}/rules", PATH = "/opt/bin" }
        limits = { memory = "4GiB", cpus = 2, processes = 64, file_size = "1GB", disk = "3GB", output = "100", findings = 7 }
        "#,
    );
    assert_eq!((program.result, program.limits.time.as_secs()), (ResultFrom::File, 5400));
    assert_eq!((program.limits.memory, program.import_memory, program.limits.cpus), (4 << 30, 4 << 30, Some(2)));
    assert_eq!((program.limits.file_size, program.limits.output), (1_000_000_000, 100));
    assert_eq!((program.limits.disk, program.limits.processes, program.caps.findings), (3_000_000_000, 64, 7));
    let expose: Vec<String> = program.expose.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(expose, ["/home/me/.config/scan", "/home/me/", "/opt/scan", "rules", "~other"]);
}

#[test]
fn the_result_is_a_file_where_output_is_named_anywhere() {
    assert_eq!(program(&format!("{SMALL}env = {{ OUT = \"{{output}}\" }}")).result, ResultFrom::File);
    let doubled = "command = [\"scan\", \"{{output}}\"]\nformat = \"karat\"\n";
    assert_eq!(program(doubled).result, ResultFrom::Stdout);
}

#[test]
fn recorded_tools_keep_their_name_or_state_another() {
    let recorded = |text: &str| format!("{:?}", declare(text, |check| check.recorded_tool()));
    let same = recorded("kind = \"replay\"\nsubmission = \"a.jsonl\"\n");
    assert!(same.contains("\"a.jsonl\"") && same.contains("scan"), "{same}");
    let renamed = recorded("kind = \"replay\"\nsubmission = \"a.jsonl\"\nrecorded_as = \"old\"\n");
    assert!(renamed.contains("old"), "{renamed}");
}

#[test]
fn the_model_is_filled_in() {
    let check = |text: &str, given: Option<&str>, expect: Result<Option<&str>, &str>| {
        let got = resolve(&format!("{SMALL}{text}"), given);
        let got = got.map(|m| m.model).map_err(|faults| faults.iter().map(|f| format!("{f}\n")).collect::<String>());
        match expect {
            Ok(model) => assert_eq!(got.unwrap().as_deref(), model, "{text}"),
            Err(message) => assert_eq!(got.unwrap_err(), message, "{text}"),
        }
    };
    check("", None, Ok(None));
    check("", Some("sonnet"), Ok(Some("sonnet")));
    check("model = \"opus\"", Some("sonnet"), Ok(Some("opus")));
    check("model = \"vendor/{model}\"", Some("sonnet"), Ok(Some("vendor/sonnet")));
    let missing = "`{model}` has no value: give a model with --model NAME or KARAT_TOOL_MODEL\n";
    check("model = \"{model}\"", None, Err(&format!("model: {missing}")));
    check("env = { MODEL = \"{model}\" }", None, Err(&format!("command: {missing}")));
    check("env = { MODEL = \"{model}\" }", Some("sonnet"), Ok(Some("sonnet")));
    check("env = { MODEL = \"{model}\" }\nmodel = \"opus\"", None, Ok(Some("opus")));
    check("model = \"{seed}\"", Some("sonnet"), Err("model: `{seed}` has no value here; available: {model}\n"));
}

/// Every fault of a manifest, one line each.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let faults = resolve(text, Some("sonnet")).err().unwrap_or_default();
    let found: Vec<String> = faults.iter().map(|fault| format!("{} {fault}", fault.code)).collect();
    assert_eq!(found.len(), expect.len(), "{found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.starts_with(expect), "{found}\nexpected {expect}");
    }
}

#[test]
fn faults_are_named_all_at_once() {
    check(SMALL, &[]);
    check("", &["no-command command: names no program", "no-format needs `format`"]);
    check("command = [\" \"]\nformat = \"sarif\"", &["no-command command: "]);
    check(
        "command = [\"a\", \"{chekout}\", \"{\"]\nformat = \"sariff\"\ntimeout = \"soon\"\nok_exit = [1, 999]\n[limits]\nmemory = \"4G\"",
        &[
            "unknown-placeholder command: 1: unknown placeholder `{chekout}`, did you mean `{checkout}`?",
            "bad-placeholder command: 2: the `{` at character 1",
            "unknown-format format: unknown format `sariff`, did you mean `sarif`? available: karat, sarif",
            "out-of-range ok_exit: 1: invalid exit code 999",
            "bad-duration timeout: invalid duration \"soon\"",
            "bad-size limits: memory: invalid size \"4G\"",
        ],
    );
    check(&format!("{SMALL}ok_exit = []"), &["no-exit ok_exit: "]);
    check(
        &format!(
            "{SMALL}ok_exit = [0, 3]\ninfra_exit = [75, 3, 256]\ninfra_pattern = \"rate (limit\"\nretry_wait = \"soon\""
        ),
        &[
            "set-twice infra_exit: 1: exit code 3 does not mean failure (ok_exit)",
            "out-of-range infra_exit: 2: invalid exit code 256",
            "bad-pattern infra_pattern: `rate (limit` is not a regular expression: unclosed group",
            "bad-duration retry_wait: invalid duration \"soon\"",
        ],
    );
    check(&format!("{SMALL}infra_pattern = \"429|\""), &["bad-pattern infra_pattern: `429|` matches every text"]);
    check("command = [\"a\\u0000\"]\nformat = \"sarif\"", &["zero-byte command: 0: "]);
    check("command = [\"a\"]\nformat = \"owasp\"", &["unknown-format format: unknown format `owasp`"]);
}

#[test]
fn variables_are_checked() {
    check(
        &format!(
            "{SMALL}env = {{ \"A B\" = \"1\", HOME = \"/\", PATH = \"/bin\" }}\npass_env = [\"TZ\", \"PATH\", \"9X\"]"
        ),
        &[
            "bad-variable env: A B: invalid variable name \"A B\"",
            "frozen-variable env: HOME: `HOME` is the same for every tool",
            "frozen-variable pass_env: 0: `TZ`",
            "set-twice pass_env: 1: `PATH` is already set by `env`",
            "bad-variable pass_env: 2: invalid variable name \"9X\"",
        ],
    );
}

#[test]
fn keys_of_another_kind_are_faults() {
    check(
        &format!("{SMALL}submission = \"a.jsonl\""),
        &["foreign-key submission: has no effect for kind = \"command\"; remove it, or use kind = \"replay\""],
    );
    check("kind = \"replay\"", &["no-submission kind = \"replay\" needs `submission`"]);
    check(
        "kind = \"replay\"\nsubmission = \"a.jsonl\"\ntimeout = \"5m\"\nnetwork = true\nrule_map = \"m.csv\"",
        &[
            "foreign-key timeout: ",
            "foreign-key network: ",
            "foreign-key rule_map: has no effect for kind = \"replay\"; remove it, or use kind = \"command\"",
        ],
    );
    check("kind = \"patterns\"\nformat = \"sarif\"", &["foreign-key format: "]);
}

#[test]
fn set_up_knows_no_case() {
    check(
        &format!("{SMALL}setup = [\"fetch\", \"{{checkout}}\"]\nversion = [\"scan\", \"{{output}}\"]"),
        &[
            "bad-placeholder setup: 1: `{checkout}` has no value here; available: {tool_dir}",
            "bad-placeholder version: 1: ",
        ],
    );
    check("command = [\"{tool_dir}/scan\"]\nformat = \"sarif\"", &["no-setup command: "]);
}

#[test]
fn files_lie_in_the_suite() {
    check(
        "kind = \"patterns\"\nrules = \"../rules.toml\"",
        &["bad-path rules: \"../rules.toml\" leads out of the suite"],
    );
    check("kind = \"patterns\"\nrules = \"/etc/rules.toml\"", &["bad-path rules: "]);
    check(&format!("{SMALL}expose = [\"\"]"), &["bad-path expose: 0: "]);
    let homeless = Manifest::resolve("scan", &manifest(&format!("{SMALL}expose = [\"~/x\"]")), &Context::default());
    assert!(homeless.err().unwrap()[0].message.contains("HOME is not set"));
}

#[test]
fn names_are_ids() {
    let bad = Manifest::resolve("a\u{7}b", &manifest(SMALL), &Context::default()).err().unwrap();
    assert_eq!((bad.len(), bad[0].code), (1, "bad-id"));
}
