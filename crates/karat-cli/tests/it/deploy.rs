//! The examples in `deploy/`: checked by the programs that read them, as far as these are installed.

use crate::ci::lint::linter;
use crate::project::{CommandOutput, Project, report_skipped, root};
use karat_test_servers::wait_for;
use regex::Regex;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn example(path: &str) -> String {
    std::fs::read_to_string(root().join("deploy").join(path)).unwrap()
}

const MANIFESTS: [&str; 3] = ["kubernetes/plan.yaml", "kubernetes/secret.yaml", "kubernetes/workers.yaml"];
const UNIT: &str = "systemd/karat-worker@.service";

#[test]
fn kubernetes_manifests_match_the_published_schemas() {
    let Some(program) = linter("kubernetes-validate") else { return };
    let validate = |path: &Path| CommandOutput::start(assert_cmd::Command::new(&program).arg("--strict").arg(path));
    for name in MANIFESTS {
        let ran = validate(&root().join("deploy").join(name));
        assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.out, ran.err);
    }
    // It passes them, and not just anything.
    let project = Project::new().with("wrong.yaml", example(MANIFESTS[2]).replace("replicas: 4", "replica: 4"));
    assert_ne!(validate(&project.path("wrong.yaml")).code, Some(0));
}

#[test]
fn systemd_accepts_the_unit() {
    let works = std::process::Command::new("systemd-analyze").arg("--version").output();
    if !works.is_ok_and(|output| output.status.success()) {
        report_skipped("systemd-analyze is not installed");
        return;
    }
    let karat = assert_cmd::cargo::cargo_bin("karat").display().to_string();
    let verify = |unit: String| {
        let project = Project::new().with("karat-worker@.service", unit.replace("/usr/local/bin/karat", &karat));
        let mut command = assert_cmd::Command::new("systemd-analyze");
        CommandOutput::start(command.args(["verify", "--man=no"]).arg(project.path("karat-worker@.service")))
    };
    // It warns of what it does not know, and succeeds.
    let ran = verify(example(UNIT));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let wrong = verify(example(UNIT).replace("KillMode=", "KilMode="));
    assert!(wrong.err.contains("KilMode"), "{}", wrong.err);
}

/// Image and pods agree on the user, which is not root.
#[test]
fn containers_run_as_one_ordinary_user() {
    let image = example("Containerfile");
    let user = image.lines().filter_map(|line| line.strip_prefix("USER ")).next_back().unwrap();
    let (user, group) = user.split_once(':').unwrap();
    assert!(user.parse::<u32>().unwrap() > 0 && image.contains(&format!("--uid {user} ")), "{image}");
    for name in ["kubernetes/plan.yaml", "kubernetes/workers.yaml"] {
        for line in
            [format!("runAsUser: {user}\n"), format!("runAsGroup: {group}\n"), "runAsNonRoot: true\n".to_owned()]
        {
            assert!(example(name).contains(&line), "{name} does not have {line}");
        }
    }
}

/// Workers may not plan, so whatever plans has other settings.
#[test]
fn pods_that_plan_are_the_owner_of_the_tables() {
    let secrets = example("kubernetes/secret.yaml");
    let role_of = |manifest: &str| {
        let text = example(manifest);
        let (_, rest) = text.split_once("secretRef:\n                name: ").unwrap();
        let name = rest.lines().next().unwrap();
        let secret = secrets.split("---").find(|secret| secret.contains(&format!("name: {name}\n"))).unwrap();
        secret.split_once("postgres://").unwrap().1.split_once('@').unwrap().0.to_owned()
    };
    assert_eq!(role_of("kubernetes/workers.yaml"), "karat_worker");
    assert_eq!(role_of("kubernetes/plan.yaml"), "karat_owner");
}

/// Commands are run with `--help` appended, so they are parsed but not executed.
#[test]
fn commands_of_the_examples_have_valid_arguments() {
    let mut commands = Vec::new();
    let list = Regex::new(r"args: \[(.*)\]").unwrap();
    for name in ["kubernetes/plan.yaml", "kubernetes/workers.yaml"] {
        let text = example(name);
        let words = list.captures(&text).unwrap()[1].replace(['"', ','], "");
        commands.push(words);
    }
    let line = Regex::new(r"(?:exec |nohup |/usr/local/bin/)karat (worker .*?)(?: <.*)?\n").unwrap();
    for name in [UNIT, "slurm/workers.sbatch", "ssh/workers.sh"] {
        let text = example(name);
        let words = line.captures(&text).unwrap()[1].to_owned();
        commands.push(
            words
                .replace("\"$@\"", "some-run")
                .replace("$KARAT_WORKER_FLAGS", "-j 4")
                .replace("\"${SLURM_CPUS_PER_TASK:-1}\"", "1"),
        );
    }
    let project = Project::new();
    if project.run("worker --help").code != Some(0) {
        report_skipped("this `karat` has no workers");
        return;
    }
    for command in commands {
        let ran = project.run(&format!("{command} --help"));
        assert_eq!(ran.code, Some(0), "karat {command}\n{}", ran.err);
    }
}

/// `ssh` and `karat` are stand-ins: the first runs its command here, the second waits for its end.
#[test]
fn workers_on_hosts_are_started_once_and_end_on_request() {
    let project = Project::new()
        .with("bin/ssh", "#!/bin/sh\nfor command; do :; done\necho \"$*\" >>ssh.log\nexec sh -c \"$command\"\n")
        .with("bin/karat", "#!/bin/sh\ntrap 'exit 0' TERM\necho \"$*; $KARAT_STORE\"\nwhile :; do sleep 0.02; done\n")
        .with("settings", "KARAT_STORE=postgres://a@b/c?x=1&y=2\n# end")
        .with("hosts", "# ours\none.example.org\n\n");
    for name in ["bin/ssh", "bin/karat"] {
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let script = root().join("deploy/ssh/workers.sh");
    let workers = |arguments: &str| {
        let (bin, home) = (project.path("bin"), project.path(""));
        let line = format!(
            "unset XDG_CACHE_HOME; PATH={}:$PATH HOME={} KARAT_SETTINGS=settings {} {arguments}",
            bin.display(),
            home.display(),
            script.display()
        );
        project.run_shell(&line)
    };
    let started = workers("start hosts my-run").expect(0).out;
    assert!(started.starts_with("one.example.org: started, process "), "{started}");
    let log = || std::fs::read_to_string(project.path(".cache/karat/worker.log")).unwrap_or_default();
    wait_for("the worker starts", || log().ends_with('\n').then_some(())).unwrap();
    let expect = "worker my-run --grace 90s --idle exit; postgres://a@b/c?x=1&y=2\n";
    assert_eq!(log(), expect);
    assert!(workers("start hosts").expect(0).out.contains("runs already"));
    assert!(workers("status hosts").expect(0).out.contains("runs, process"));
    assert!(workers("stop hosts").expect(0).out.contains("ends within"));
    wait_for("the worker ends", || workers("status hosts").out.contains("does not run").then_some(())).unwrap();
    assert_eq!(log(), expect);
    // After a restart of the host, the number may be another process's, such as this one's.
    project.write(".cache/karat/worker.pid", std::process::id().to_string());
    assert!(workers("stop hosts").expect(0).out.contains("does not run"));
    // No secret is on a command line.
    assert!(!project.read("ssh.log").contains("postgres"), "{}", project.read("ssh.log"));
    assert!(workers("start hosts 'a b'").expect(2).out.contains("cannot be passed"));
    assert!(workers("start missing").expect(2).out.contains("cannot read missing"));
}
