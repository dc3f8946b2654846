//! Well-behaved tools: what they see, and the exit reason they get.

use super::*;
use karat_sandbox::{ToolFolder, tool_folder_in_sandbox};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

#[test]
fn exit_reasons_are_reported() {
    check("exit 0", &ExitReason::Exited(0), "");
    check("echo out; echo err >&2; exit 3", &ExitReason::Exited(3), "out\n");
    check("kill -9 $$", &ExitReason::Signalled(9), "");
    check("kill -TERM $$", &ExitReason::Signalled(15), "");
    check("exec 1>&- 2>&-; sleep 0.2; exit 4", &ExitReason::Exited(4), "");
}

#[test]
fn stdin_is_empty_and_the_working_directory_is_the_checkout() {
    check("cat; cat a.txt", &ExitReason::Exited(0), "a\n");
    for_each_isolation(|isolation| {
        let finished = Trial::new(isolation, "pwd; echo $HOME").run();
        let printed = text(&finished.stdout.bytes);
        if isolation == Isolation::Bubblewrap {
            assert_eq!(printed, "/tmp/trial/checkout\n/tmp/trial/home\n");
        }
        assert!(printed.lines().next().unwrap().ends_with("/checkout"), "{printed}");
    });
}

#[test]
fn environment_is_exactly_the_given_one() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "");
        trial.job.command = vec!["/usr/bin/env".into()];
        trial.job.env.insert("LD_SOMETHING".into(), "x y".into());
        let finished = trial.run();
        let printed = text(&finished.stdout.bytes);
        let names: BTreeSet<&str> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
        assert_eq!(names, BTreeSet::from(["HOME", "LD_SOMETHING", "PATH", "PWD", "TMPDIR"]), "{isolation:?}");
        assert!(printed.contains("LD_SOMETHING=x y\n"));
    });
}

/// Descriptors inherited by this process would pass on to its children; none may reach the tool.
#[test]
fn no_descriptor_of_karat_is_inherited() {
    let handed = |number: &str| {
        let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or("02000000");
        u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0
    };
    for_each_isolation(|isolation| {
        let finished = Trial::new(isolation, "exec ls /proc/self/fd").run();
        let printed = text(&finished.stdout.bytes);
        // The fourth is the folder being listed.
        let own: Vec<&str> = printed.lines().filter(|number| number.len() == 1 || !handed(number)).collect();
        assert_eq!(own, ["0", "1", "2", "3"], "{isolation:?}");
    });
}

#[test]
fn failure_to_start_is_a_distinct_exit_reason() {
    for_each_isolation(|isolation| {
        for program in ["/nowhere/at-all", "no-such-program-anywhere", "/etc/passwd"] {
            let mut trial = Trial::new(isolation, "");
            trial.job.command = vec![program.into()];
            match trial.run().exit {
                ExitReason::NotStarted(why) => assert!(why.contains(program), "{isolation:?}: {why}"),
                other => panic!("{isolation:?}: {program}: {other:?}"),
            }
        }
    });
}

#[test]
fn scripts_and_programs_on_the_path_run() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "");
        let script = trial.path("checkout/tool.sh");
        std::fs::write(&script, "#!/bin/sh\necho \"$1 and $2\"\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        trial.job.command = ["./tool.sh", "a b", "*"].map(Into::into).to_vec();
        assert_eq!(text(&trial.run().stdout.bytes), "a b and *\n");
        trial.job.command = ["echo", "found"].map(Into::into).to_vec();
        assert_eq!(text(&trial.run().stdout.bytes), "found\n");
    });
}

#[test]
fn written_files_remain_after_the_job() {
    for_each_isolation(|isolation| {
        let trial =
            Trial::new(isolation, "echo x > out.txt; mkdir d; mv out.txt d/; echo y > $TMPDIR/t && echo z > $HOME/h");
        assert_eq!(trial.run().exit, ExitReason::Exited(0), "{isolation:?}");
        assert_eq!(std::fs::read_to_string(trial.path("checkout/d/out.txt")).unwrap(), "x\n");
        assert_eq!(std::fs::read_to_string(trial.path("home/h")).unwrap(), "z\n");
    });
}

/// Programs share memory and semaphores between processes through files there.
#[test]
fn temporary_folders_are_writable() {
    if available().unavailable_reason(Isolation::Bubblewrap).is_some() {
        return report_skipped("bubblewrap is not available");
    }
    let script = "for at in /tmp /var/tmp /dev/shm; do echo x > $at/karat-new && rm $at/karat-new && ls -A $at; done";
    let finished = Trial::new(Isolation::Bubblewrap, script).run();
    assert_eq!((finished.exit, text(&finished.stdout.bytes)), (ExitReason::Exited(0), "trial\n".to_owned()));
}

#[test]
fn wall_time_is_measured() {
    for_each_isolation(|isolation| {
        let finished = Trial::new(isolation, "sleep 0.2").run();
        assert!(finished.wall >= Duration::from_millis(200), "{:?}", finished.wall);
    });
}

/// The folder prepared by setup has the same path in every trial where the tool has its own file system.
#[test]
fn setup_folder_has_a_stable_path() {
    for_each_isolation(|isolation| {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let mut places = BTreeSet::new();
        for folder in &folders {
            let path = folder.path().canonicalize().unwrap();
            let place = tool_folder_in_sandbox(isolation, &path);
            let mut trial = Trial::new(isolation, "echo rule > $tool/rules && cat $tool/rules");
            trial.job.env.insert("tool".into(), place.clone().into());
            trial.job.tool = Some(ToolFolder { path: path.clone(), writable: true });
            assert_eq!(text(&trial.run().stdout.bytes), "rule\n", "{isolation:?}");
            assert_eq!(std::fs::read_to_string(path.join("rules")).unwrap(), "rule\n");

            trial.job.command[2] = "echo more >> $tool/rules; rm -f $tool/rules; cat $tool/rules".into();
            trial.job.tool = Some(ToolFolder { path, writable: false });
            if isolation > Isolation::Process {
                assert_eq!(text(&trial.run().stdout.bytes), "rule\n", "{isolation:?}");
            }
            places.insert(place);
        }
        assert_eq!(places.len(), if isolation == Isolation::Bubblewrap { 1 } else { 2 });
    });
}

#[test]
fn invalid_jobs_are_refused() {
    #[track_caller]
    fn assert_refused(change: impl Fn(&mut Job), expect: &str) {
        for_each_isolation(|isolation| {
            let mut trial = Trial::new(isolation, "true");
            change(&mut trial.job);
            let error = run(&trial.job, &supervisor(), &Cancel::default()).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
        });
    }
    assert_refused(|job| job.command.clear(), "name a program");
    assert_refused(|job| job.root = "/nowhere".into(), "/nowhere: No such file");
    assert_refused(|job| job.dir = "/usr".into(), "/usr lies outside");
    assert_refused(|job| job.access.secret.push(job.root.join("home")), "must stay hidden");
    assert_refused(|job| job.access.writable.push("/nowhere".into()), "/nowhere: No such file");
    let tool = |path: &Path| Some(ToolFolder { path: path.to_owned(), writable: false });
    assert_refused(|job| job.tool = tool(Path::new("/nowhere")), "/nowhere: No such file");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("golden"), "").unwrap();
    let with_secret = |job: &mut Job| {
        job.tool = tool(folder.path());
        job.access.secret.push(folder.path().join("golden"));
    };
    assert_refused(with_secret, "must stay hidden");
}
