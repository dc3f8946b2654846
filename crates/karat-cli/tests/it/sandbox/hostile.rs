//! Hostile tools: each gets the right exit reason, and the next trial is unaffected.

use super::*;
use crate::project::report_skipped;
use karat_sandbox::NetworkAccess;
use std::net::TcpListener;

#[test]
fn writes_outside_the_job_are_refused() {
    for_each_sandbox(|isolation| {
        let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::fs::write(path.join("old"), "old").unwrap();
        let script = "echo x > $there/new; echo x > $there/old; rm -f $there/old; mkdir $there/d; mv $there/old .; \
                      truncate -s 0 $there/old; echo x > /usr/karat-new; echo x > /dev/karat-new; echo x > /etc/karat-new; \
                      for at in /home /root /run; do echo x > $at/karat-new && echo wrote $at; done; echo done";
        let mut trial = Trial::new(isolation, script);
        trial.job.env.insert("there".into(), path.clone().into());
        let finished = trial.run();
        assert_eq!(text(&finished.stdout.bytes), "done\n", "{isolation:?}");
        let names: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!((names, std::fs::read_to_string(path.join("old")).unwrap()), (vec!["old".into()], "old".into()));
        assert!(!Path::new("/usr/karat-new").exists() && !Path::new("/dev/karat-new").exists());

        // Control: a path listed as writable is.
        trial.job.access.writable.push(path.clone());
        trial.run();
        assert_eq!(std::fs::read_to_string(path.join("new")).unwrap(), "x\n", "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

/// As documented per isolation: in a mount namespace nothing outside changes, while Landlock does not cover modes and
/// times.
#[test]
fn modes_and_times_outside_change_only_where_documented() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    for_each_sandbox(|isolation| {
        let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().canonicalize().unwrap().join("old");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let mut trial = Trial::new(isolation, "chmod 777 $file; touch -m -d @86400 $file");
        trial.job.env.insert("file".into(), file.clone().into());
        trial.run();
        let about = std::fs::metadata(&file).unwrap();
        let changed = (about.mode() & 0o777 == 0o777, about.mtime() == 86400);
        let documented = isolation.describe().contains("modes and times of files that the user owns can be changed");
        // Files of root do not belong to the user that its tools run as.
        let documented = documented && !is_root();
        assert_eq!(changed, (documented, documented), "{isolation:?}");
    });
}

/// Connects to a port of this machine; returns the stdout and whether the listener was reached.
fn try_loopback(isolation: Isolation, network: NetworkAccess) -> (String, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut trial = Trial::new(isolation, "");
    let script =
        format!("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected; echo done", listener.local_addr().unwrap().port());
    trial.job.command = ["/bin/bash", "-c", &script].map(Into::into).to_vec();
    trial.job.access.network = network;
    (text(&trial.run().stdout.bytes), listener.accept().is_ok())
}

#[test]
fn network_is_blocked_unless_allowed() {
    if !Path::new("/bin/bash").exists() {
        return report_skipped("bash is not installed");
    }
    for_each_isolation(|isolation| {
        let apart = isolation > Isolation::Process;
        let refused = ("done\n".to_owned(), false);
        let accepted = ("connected\ndone\n".to_owned(), true);
        let cut = if apart { &refused } else { &accepted };
        assert_eq!(try_loopback(isolation, NetworkAccess::None), *cut, "{isolation:?}");
        let elsewhere = if isolation == Isolation::Bubblewrap { &refused } else { &accepted };
        assert_eq!(try_loopback(isolation, NetworkAccess::External), *elsewhere, "{isolation:?}");
        assert_eq!(try_loopback(isolation, NetworkAccess::Full), accepted, "{isolation:?}");
    });
}

/// Three ways to fork without end, bounded to some thousand processes so that the machine survives if the limit does
/// not work.
#[test]
fn fork_bombs_exceed_the_process_limit() {
    let multiply = "f() { [ $1 -gt 10 ] && exec sleep 5; f $(($1+1)) | f $(($1+1)) & wait; }; f 0; sleep 20";
    let leave = "echo '[ $1 -gt 9 ] && exec sleep 5; setsid sh ./f $(($1+1)) $2 & setsid sh ./f $(($1+1)) $2; wait' > f; sh ./f 0 $0; sleep 20";
    for script in ["while :; do sleep 30 & done", multiply, leave] {
        for_each_isolation(|isolation| {
            let mark = marker();
            let mut trial = Trial::new(isolation, script);
            trial.job.command.push((&mark).into());
            trial.job.limits.processes = 100;
            let finished = trial.run();
            assert_eq!(
                finished.exit,
                ExitReason::LimitExceeded(karat_sandbox::Resource::Processes),
                "{isolation:?}: {script}"
            );
            assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}: {script}");
            assert_next_trial_works(isolation);
        });
    }
}

/// Each process starts the next and exits, so each is gone by the time it is looked up.
#[test]
fn self_respawning_processes_are_killed() {
    for_each_isolation(|isolation| {
        let mark = marker();
        let mut trial = Trial::new(isolation, "");
        std::fs::write(trial.path("checkout/run"), "(setsid sh ./run $1 &) ; exit 0\n").unwrap();
        trial.job.command = ["/bin/sh", "./run", &mark].map(Into::into).to_vec();
        assert_eq!(trial.run().exit, ExitReason::Exited(0), "{isolation:?}");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn tool_ignoring_sigterm_is_killed() {
    for_each_isolation(|isolation| {
        let mark = marker();
        let mut trial =
            Trial::new(isolation, &format!("trap '' TERM INT HUP; sleep {mark} & while :; do sleep {mark}; done"));
        trial.job.limits.time = Duration::from_millis(300);
        let finished = trial.run();
        assert_eq!(finished.exit, ExitReason::TimedOut, "{isolation:?}");
        assert!(finished.wall >= Duration::from_millis(300), "{:?}", finished.wall);
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn output_beyond_the_limit_is_truncated() {
    for_each_isolation(|isolation| {
        for stream in ["", " >&2"] {
            let mark = marker();
            let mut trial = Trial::new(isolation, &format!("sleep {mark} & head -c 5000000000 /dev/zero{stream}"));
            trial.job.limits.output = 1_000_000;
            let finished = trial.run();
            assert_eq!(finished.exit, ExitReason::LimitExceeded(karat_sandbox::Resource::Output), "{isolation:?}");
            let (full, other) =
                if stream.is_empty() { (finished.stdout, finished.stderr) } else { (finished.stderr, finished.stdout) };
            assert!(full.truncated && full.bytes.len() == 1_000_000 && !other.truncated, "{isolation:?}");
            assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        }
        assert_next_trial_works(isolation);
    });
}

#[test]
fn daemons_are_killed() {
    for_each_isolation(|isolation| {
        let mark = marker();
        // One keeps the streams open, one leaves its session, one is orphaned.
        let script =
            format!("sleep {mark} & setsid sleep {mark} >/dev/null 2>&1 & (sleep {mark} &) ; sleep 0.2; echo out");
        let finished = Trial::new(isolation, &script).run();
        assert_eq!(finished.exit, ExitReason::Exited(0), "{isolation:?}");
        assert_eq!(text(&finished.stdout.bytes), "out\n");
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        let counted = (isolation != Isolation::Bubblewrap).then_some(3);
        assert_eq!(finished.leftover_processes, counted, "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn deleting_the_checkout_affects_no_other_job() {
    for_each_isolation(|isolation| {
        let trial = Trial::new(isolation, "rm -rf ../checkout ../* ; cd ..; rm -rf ./*; ls -A");
        let finished = trial.run();
        assert_eq!(
            (finished.exit, text(&finished.stdout.bytes)),
            (ExitReason::Exited(0), String::new()),
            "{isolation:?}"
        );
        assert!(!trial.path("checkout").exists());
        assert_next_trial_works(isolation);
    });
}

#[test]
fn symlink_loops_affect_no_other_job() {
    for_each_isolation(|isolation| {
        let script = "ln -s . here; ln -s b a; ln -s a b; ln -s ../checkout d; cat a; mkdir -p x/y; ln -s ../.. x/y/up; echo done";
        let trial = Trial::new(isolation, script);
        assert_eq!(text(&trial.run().stdout.bytes), "done\n", "{isolation:?}");
        // The same folder is used by another job, as when a trial continues.
        let again =
            Job { command: ["/bin/sh", "-c", "cat here/here/a.txt"].map(Into::into).to_vec(), ..trial.job.clone() };
        let finished = run(&again, &supervisor(), &Cancel::default()).unwrap();
        assert_eq!(text(&finished.stdout.bytes), "a\n", "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn signals_do_not_leave_the_sandbox() {
    for_each_sandbox(|isolation| {
        let mark = marker();
        let mut bystander = std::process::Command::new("sleep").arg(&mark).spawn().unwrap();
        let script = format!("kill -9 0 & kill -9 {} $PPID; sleep 0.2; echo alive", bystander.id());
        let finished = Trial::new(isolation, &script).run();
        let is_expected = matches!(finished.exit, ExitReason::Signalled(9) | ExitReason::Exited(_));
        assert!(is_expected, "{isolation:?}: {:?}", finished.exit);
        assert!(bystander.try_wait().unwrap().is_none(), "{isolation:?}");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
        assert_next_trial_works(isolation);
    });
}

/// Sockets of daemons, by path or abstract name, cannot be reached, with or without the network. Socket pairs still
/// work.
#[test]
fn unix_sockets_of_daemons_are_unreachable() {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};
    if !Path::new("/usr/bin/perl").exists() {
        return report_skipped("perl is not installed");
    }
    for_each_sandbox(|isolation| {
        let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let hidden = tempfile::tempdir().unwrap();
        let _seen = std::os::unix::net::UnixListener::bind(folder.path().join("s")).unwrap();
        let _hidden = std::os::unix::net::UnixListener::bind(hidden.path().join("s")).unwrap();
        for path in [folder.path(), hidden.path()] {
            open_to_all(path);
            open_to_all(&path.join("s"));
        }
        let name = format!("karat-{}", marker());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _named = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        let script = "use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) && print 'pair ';
                      for (@ARGV[0, 1], \"\\0$ARGV[2]\") {
                          my $at = pack('S a*', AF_UNIX, $_) . (/^\\0/ ? '' : \"\\0\");
                          print socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, $at) ? 'in ' : 'out ' }";
        let printed = |isolation: Isolation, network: NetworkAccess| {
            let mut trial = Trial::new(isolation, "");
            trial.job.command = ["/usr/bin/perl", "-e", script].map(Into::into).to_vec();
            trial.job.command.extend([
                folder.path().join("s").into(),
                hidden.path().join("s").into(),
                name.clone().into(),
            ]);
            trial.job.access.network = network;
            text(&trial.run().stdout.bytes)
        };
        // Control: without isolation the script reaches them.
        assert_eq!(printed(Isolation::Process, NetworkAccess::None), "pair in in in ");
        assert_eq!(printed(isolation, NetworkAccess::None), "pair out out out ", "{isolation:?}");
        assert_eq!(printed(isolation, NetworkAccess::External), "pair out out out ", "{isolation:?}");
    });
}

/// A tool that can signal its supervisor ends only its own trial by that.
#[test]
fn killing_the_supervisor_ends_only_its_own_trial() {
    for_each_isolation(|isolation| {
        let mark = marker();
        // Any process left keeps starting others.
        let script = format!(
            "(while :; do sleep {mark} & sleep 0.05; done) & sleep 0.3; kill -9 $PPID; sleep 0.3; echo alive; exit 4"
        );
        let finished = Trial::new(isolation, &script).run();
        let reached = finished.exit == ExitReason::LostSupervisor;
        // Root's tools run as another user, who cannot signal the supervisor.
        assert_eq!(reached, isolation == Isolation::Process && !is_root(), "{isolation:?}: {:?}", finished.exit);
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

/// Setting the limits of another process can kill it.
#[test]
fn limits_of_the_supervisor_cannot_be_changed() {
    if !Path::new("/usr/bin/prlimit").exists() {
        return report_skipped("prlimit is not installed");
    }
    for_each_sandbox(|isolation| {
        let script =
            "prlimit --pid $PPID --nofile=3:3 && echo set; prlimit --nofile=100:100 true && ulimit -n 64 && echo own";
        let finished = Trial::new(isolation, script).run();
        assert_eq!(
            (finished.exit, text(&finished.stdout.bytes)),
            (ExitReason::Exited(0), "own\n".into()),
            "{isolation:?}"
        );
    });
}

/// Also where Karat runs as root.
#[test]
fn tools_have_no_capabilities() {
    for_each_sandbox(|isolation| {
        let script = "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status | tr -d '\\n\\t'; \
                      mknod node b 8 0 2>/dev/null && echo made";
        let printed = text(&Trial::new(isolation, script).run().stdout.bytes);
        let none = "0000000000000000";
        let bounds = printed.find("CapBnd:").map_or("", |at| &printed[at..at + 23]);
        assert!(printed.starts_with(&format!("CapPrm:{none}CapEff:{none}")), "{isolation:?}: {printed}");
        assert!(printed.ends_with("NoNewPrivs:1"), "{isolation:?}: {printed}");
        if is_root() {
            assert_eq!(bounds, format!("CapBnd:{none}"), "{isolation:?}");
        }
    });
}

/// The owner of system files may write to them even without capabilities. Files are opened and nothing is written.
#[test]
fn kernel_settings_cannot_be_opened_for_writing() {
    for_each_sandbox(|isolation| {
        let script = "for f in $(find /proc/sys /proc/irq /proc/bus /proc/acpi /proc/sysrq-trigger /proc/mtrr /sys/kernel \
                      -type f 2>/dev/null); do ( : >> $f ) 2>/dev/null && echo $f; done; echo done";
        let finished = Trial::new(isolation, script).run();
        assert_eq!(text(&finished.stdout.bytes), "done\n", "{isolation:?}");
    });
}

#[test]
fn tools_of_root_run_as_an_unprivileged_user() {
    if !is_root() {
        return report_skipped("these tests do not run as root");
    }
    for_each_isolation(|isolation| {
        let script = "id -u; id -g; id -G; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -v '0000000000000000'; \
                      grep NoNewPrivs /proc/self/status; echo x > made; cat /etc/shadow 2>/dev/null | head -c 1; echo end";
        let trial = Trial::new(isolation, script);
        assert_eq!(tool_user(isolation, &trial.job.root, &trial.job.access), ToolUser::Unprivileged, "{isolation:?}");
        let finished = trial.run();
        let expect = "65534\n65534\n65534\nNoNewPrivs:\t1\nend\n";
        assert_eq!(text(&finished.stdout.bytes), expect, "{isolation:?}: {}", text(&finished.stderr.bytes));
        assert_eq!(std::fs::read_to_string(trial.path("checkout/made")).unwrap(), "x\n");
        assert_next_trial_works(isolation);
    });
}

/// A path that only root can access keeps the tool running as root, which is stated.
#[test]
fn tool_needing_root_stays_root_with_a_stated_reason() {
    if !is_root() {
        return report_skipped("these tests do not run as root");
    }
    for_each_isolation(|isolation| {
        let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().canonicalize().unwrap();
        let mut trial = Trial::new(isolation, "echo x > $there/new && id -u");
        trial.job.env.insert("there".into(), path.clone().into());
        trial.job.access.writable.push(path.clone());
        let user = tool_user(isolation, &trial.job.root, &trial.job.access);
        let words = user.describe().unwrap();
        assert!(words.starts_with("as root (") && words.contains(&path.display().to_string()), "{words}");
        assert_eq!(text(&trial.run().stdout.bytes), "0\n", "{isolation:?}");
    });
}

/// System calls no tool needs that would let it inspect other processes, gain privileges or leave memory behind.
#[test]
fn unneeded_system_calls_are_refused() {
    if !cfg!(target_arch = "x86_64") || !Path::new("/usr/bin/perl").exists() {
        return report_skipped("this test needs x86-64 and perl");
    }
    // System call numbers on x86-64, with the expected errno: 1 is EPERM, 13 is EACCES, 38 is ENOSYS.
    let calls = [
        ("ptrace", "101, 0, 0, 0, 0", 1),
        ("process_vm_readv", "310, $$, 0, 0, 0, 0, 0", 1),
        ("bpf", "321, 0, 0, 0", 1),
        ("pidfd_getfd", "438, 0, 0, 0", 1),
        ("unshare of users", "272, 0x10000000", 1),
        ("perf_event_open", "298, 0, 0, -1, -1, 0", 13),
        ("keyctl", "250, 0, -4, 0, 0, 0", 38),
        ("add_key", "248, 0, 0, 0, 0, -4", 38),
        ("userfaultfd", "323, 1", 38),
        ("io_uring_setup", "425, 1, 0", 38),
        ("io_uring_enter", "426, 0, 0, 0, 0, 0, 0", 38),
        ("io_uring_register", "427, 0, 0, 0, 0", 38),
        ("clone3", "435, 0, 0", 38),
        ("shmget", "29, 0, 4096, 0666", 38),
        ("semget", "64, 0, 1, 0666", 38),
        ("msgget", "68, 0, 0666", 38),
    ];
    for_each_isolation(|isolation| {
        for (name, call, expect) in calls {
            let script = format!("perl -e 'my $r = syscall({call}); print $r == -1 ? $!+0 : \"allowed\"'");
            let finished = Trial::new(isolation, &script).run();
            assert_eq!(text(&finished.stdout.bytes), expect.to_string(), "{isolation:?}: {name}");
        }
        // Control: threads and processes still work.
        let finished = Trial::new(isolation, "perl -e 'print fork() ? wait() > 0 : exit'").run();
        assert_eq!(text(&finished.stdout.bytes), "1", "{isolation:?}");
    });
}
