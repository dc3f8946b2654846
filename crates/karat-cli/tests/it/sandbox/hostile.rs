//! Tools that mean harm. Each comes to the right end, and the next trial is unharmed.

use super::*;
use crate::project::skipped;
use std::net::TcpListener;

#[test]
fn writing_elsewhere_is_refused() {
    each_apart(|isolation| {
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

        // What the tool was given it may write.
        trial.job.access.writable.push(path.clone());
        trial.run();
        assert_eq!(std::fs::read_to_string(path.join("new")).unwrap(), "x\n", "{isolation:?}");
        next_is_fine(isolation);
    });
}

/// What is said of each isolation holds: where files lie in a namespace nothing of them changes; rules on files know of no modes
/// and times.
#[test]
fn modes_and_times_outside_change_only_where_it_is_said() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    each_apart(|isolation| {
        let folder = tempfile::Builder::new().tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().canonicalize().unwrap().join("old");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let mut trial = Trial::new(isolation, "chmod 777 $file; touch -m -d @86400 $file");
        trial.job.env.insert("file".into(), file.clone().into());
        trial.run();
        let about = std::fs::metadata(&file).unwrap();
        let changed = (about.mode() & 0o777 == 0o777, about.mtime() == 86400);
        let said = isolation.describe().contains("modes and times of files that the user owns can be changed");
        // The files of root are not those of the user that its tools run as.
        let said = said && !is_root();
        assert_eq!(changed, (said, said), "{isolation:?}");
    });
}

/// Connects to a port of this machine; the shell prints what came of it.
fn connects(isolation: Isolation, network: bool, loopback: bool) -> (String, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut trial = Trial::new(isolation, "");
    let script =
        format!("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected; echo done", listener.local_addr().unwrap().port());
    trial.job.command = ["/bin/bash", "-c", &script].map(Into::into).to_vec();
    trial.job.access.network = network;
    trial.job.access.loopback = loopback;
    (text(&trial.run().stdout.bytes), listener.accept().is_ok())
}

#[test]
fn the_network_is_cut_unless_it_is_asked_for() {
    if !Path::new("/bin/bash").exists() {
        return skipped("there is no bash, which connects without another program");
    }
    each(|isolation| {
        let apart = isolation > Isolation::Process;
        let refused = ("done\n".to_owned(), false);
        let accepted = ("connected\ndone\n".to_owned(), true);
        let cut = if apart { &refused } else { &accepted };
        assert_eq!(connects(isolation, false, false), *cut, "{isolation:?}");
        let elsewhere = if isolation == Isolation::Bubblewrap { &refused } else { &accepted };
        assert_eq!(connects(isolation, true, false), *elsewhere, "{isolation:?}");
        assert_eq!(connects(isolation, true, true), accepted, "{isolation:?}");
    });
}

/// One goes on for ever, two multiply. These stop at some thousand, so that a machine lives through it where Karat fails; what
/// they do first is the same as without an end.
#[test]
fn forking_without_end_is_ended() {
    let multiply = "f() { [ $1 -gt 10 ] && exec sleep 5; f $(($1+1)) | f $(($1+1)) & wait; }; f 0; sleep 20";
    let leave = "echo '[ $1 -gt 9 ] && exec sleep 5; setsid sh ./f $(($1+1)) $2 & setsid sh ./f $(($1+1)) $2; wait' > f; sh ./f 0 $0; sleep 20";
    for script in ["while :; do sleep 30 & done", multiply, leave] {
        each(|isolation| {
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
            next_is_fine(isolation);
        });
    }
}

/// Each process starts the next and ends: there are never many, and each is gone when it is looked for.
#[test]
fn running_away_is_no_use() {
    each(|isolation| {
        let mark = marker();
        let mut trial = Trial::new(isolation, "");
        std::fs::write(trial.path("checkout/run"), "(setsid sh ./run $1 &) ; exit 0\n").unwrap();
        trial.job.command = ["/bin/sh", "./run", &mark].map(Into::into).to_vec();
        assert_eq!(trial.run().exit, ExitReason::Exited(0), "{isolation:?}");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        next_is_fine(isolation);
    });
}

#[test]
fn ignoring_sigterm_is_no_use() {
    each(|isolation| {
        let mark = marker();
        let mut trial =
            Trial::new(isolation, &format!("trap '' TERM INT HUP; sleep {mark} & while :; do sleep {mark}; done"));
        trial.job.limits.time = Duration::from_millis(300);
        let finished = trial.run();
        assert_eq!(finished.exit, ExitReason::TimedOut, "{isolation:?}");
        assert!(finished.wall >= Duration::from_millis(300), "{:?}", finished.wall);
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        next_is_fine(isolation);
    });
}

#[test]
fn printing_five_gigabytes_is_cut_short() {
    each(|isolation| {
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
        next_is_fine(isolation);
    });
}

#[test]
fn a_daemon_does_not_stay() {
    each(|isolation| {
        let mark = marker();
        // One keeps the streams open, one leaves its session, and one has no parent any more.
        let script =
            format!("sleep {mark} & setsid sleep {mark} >/dev/null 2>&1 & (sleep {mark} &) ; sleep 0.2; echo out");
        let finished = Trial::new(isolation, &script).run();
        assert_eq!(finished.exit, ExitReason::Exited(0), "{isolation:?}");
        assert_eq!(text(&finished.stdout.bytes), "out\n");
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        let counted = (isolation != Isolation::Bubblewrap).then_some(3);
        assert_eq!(finished.leftover_processes, counted, "{isolation:?}");
        next_is_fine(isolation);
    });
}

#[test]
fn deleting_the_checkout_harms_nobody_else() {
    each(|isolation| {
        let trial = Trial::new(isolation, "rm -rf ../checkout ../* ; cd ..; rm -rf ./*; ls -A");
        let finished = trial.run();
        assert_eq!(
            (finished.exit, text(&finished.stdout.bytes)),
            (ExitReason::Exited(0), String::new()),
            "{isolation:?}"
        );
        assert!(!trial.path("checkout").exists());
        next_is_fine(isolation);
    });
}

#[test]
fn a_loop_of_links_harms_nobody() {
    each(|isolation| {
        let script = "ln -s . here; ln -s b a; ln -s a b; ln -s ../checkout d; cat a; mkdir -p x/y; ln -s ../.. x/y/up; echo done";
        let trial = Trial::new(isolation, script);
        assert_eq!(text(&trial.run().stdout.bytes), "done\n", "{isolation:?}");
        // The same folder is given to another job, as it would be when a trial goes on.
        let again =
            Job { command: ["/bin/sh", "-c", "cat here/here/a.txt"].map(Into::into).to_vec(), ..trial.job.clone() };
        let finished = run(&again, &supervisor(), &Cancel::default()).unwrap();
        assert_eq!(text(&finished.stdout.bytes), "a\n", "{isolation:?}");
        next_is_fine(isolation);
    });
}

#[test]
fn signals_do_not_reach_out() {
    each_apart(|isolation| {
        let mark = marker();
        let mut bystander = std::process::Command::new("sleep").arg(&mark).spawn().unwrap();
        let script = format!("kill -9 0 & kill -9 {} $PPID; sleep 0.2; echo alive", bystander.id());
        let finished = Trial::new(isolation, &script).run();
        let told = matches!(finished.exit, ExitReason::Signalled(9) | ExitReason::Exited(_));
        assert!(told, "{isolation:?}: {:?}", finished.exit);
        assert!(bystander.try_wait().unwrap().is_none(), "{isolation:?}");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
        next_is_fine(isolation);
    });
}

/// No socket of a daemon is reached, whether it has a path or only a name, with the network or without; connected pairs reach
/// nobody and stay.
#[test]
fn daemons_cannot_be_reached() {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};
    if !Path::new("/usr/bin/perl").exists() {
        return skipped("there is no perl, which opens sockets without another program");
    }
    each_apart(|isolation| {
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
        let printed = |isolation: Isolation, network: bool| {
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
        // Were the script wrong, nothing would be reached without isolation either.
        assert_eq!(printed(Isolation::Process, false), "pair in in in ");
        assert_eq!(printed(isolation, false), "pair out out out ", "{isolation:?}");
        assert_eq!(printed(isolation, true), "pair out out out ", "{isolation:?}");
    });
}

/// A tool that can reach its supervisor ends its own trial by that, and no other.
#[test]
fn ending_the_supervisor_ends_the_trial() {
    each(|isolation| {
        let mark = marker();
        // Whoever is left starts others for as long as it lives.
        let script = format!(
            "(while :; do sleep {mark} & sleep 0.05; done) & sleep 0.3; kill -9 $PPID; sleep 0.3; echo alive; exit 4"
        );
        let finished = Trial::new(isolation, &script).run();
        let reached = finished.exit == ExitReason::LostSupervisor;
        // Root's tools run as another user, who cannot signal it.
        assert_eq!(reached, isolation == Isolation::Process && !is_root(), "{isolation:?}: {:?}", finished.exit);
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        next_is_fine(isolation);
    });
}

/// Who may set the limits of another process may end it.
#[test]
fn limits_of_the_supervisor_stay() {
    if !Path::new("/usr/bin/prlimit").exists() {
        return skipped("there is no prlimit, which sets limits of others");
    }
    each_apart(|isolation| {
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

/// Even a root user is nobody special inside.
#[test]
fn no_privilege_is_left() {
    each_apart(|isolation| {
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

/// Whoever owns system files may write to them even without capabilities. Files are opened and nothing is written.
#[test]
fn settings_of_the_machine_cannot_be_opened_for_writing() {
    each_apart(|isolation| {
        let script = "for f in $(find /proc/sys /proc/irq /proc/bus /proc/acpi /proc/sysrq-trigger /proc/mtrr /sys/kernel \
                      -type f 2>/dev/null); do ( : >> $f ) 2>/dev/null && echo $f; done; echo done";
        let finished = Trial::new(isolation, script).run();
        assert_eq!(text(&finished.stdout.bytes), "done\n", "{isolation:?}");
    });
}

#[test]
fn tools_of_root_run_as_an_unprivileged_user() {
    if !is_root() {
        return skipped("these tests do not run as root");
    }
    each(|isolation| {
        let script = "id -u; id -g; id -G; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -v '0000000000000000'; \
                      grep NoNewPrivs /proc/self/status; echo x > made; cat /etc/shadow 2>/dev/null | head -c 1; echo end";
        let trial = Trial::new(isolation, script);
        assert_eq!(tool_user(isolation, &trial.job.root, &trial.job.access), ToolUser::Unprivileged, "{isolation:?}");
        let finished = trial.run();
        let expect = "65534\n65534\n65534\nNoNewPrivs:\t1\nend\n";
        assert_eq!(text(&finished.stdout.bytes), expect, "{isolation:?}: {}", text(&finished.stderr.bytes));
        assert_eq!(std::fs::read_to_string(trial.path("checkout/made")).unwrap(), "x\n");
        next_is_fine(isolation);
    });
}

/// What only root can write or read is no reason to fail, but it is stated.
#[test]
fn a_tool_stays_root_where_it_must_and_the_reason_is_stated() {
    if !is_root() {
        return skipped("these tests do not run as root");
    }
    each(|isolation| {
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

/// System calls that no tool needs and through which it could look at other processes, gain rights or leave memory behind.
#[test]
fn system_calls_that_no_tool_needs_are_refused() {
    if !cfg!(target_arch = "x86_64") || !Path::new("/usr/bin/perl").exists() {
        return skipped("the numbers of system calls here are not in this test, or there is no perl to make them with");
    }
    // Numbers on x86-64, with the code of the error that is expected: 13 for "permission denied", 38 for "no such call".
    let calls = [
        ("ptrace", "101, 0, 0, 0, 0", 13),
        ("process_vm_readv", "310, $$, 0, 0, 0, 0, 0", 13),
        ("keyctl", "250, 0, -4, 0, 0, 0", 13),
        ("add_key", "248, 0, 0, 0, 0, -4", 13),
        ("bpf", "321, 0, 0, 0", 13),
        ("perf_event_open", "298, 0, 0, -1, -1, 0", 13),
        ("unshare of users", "272, 0x10000000", 13),
        ("io_uring_setup", "425, 1, 0", 38),
        ("clone3", "435, 0, 0", 38),
        ("shmget", "29, 0, 4096, 0666", 38),
        ("semget", "64, 0, 1, 0666", 38),
        ("msgget", "68, 0, 0666", 38),
    ];
    each(|isolation| {
        for (name, call, expect) in calls {
            let script = format!("perl -e 'my $r = syscall({call}); print $r == -1 ? $!+0 : \"allowed\"'");
            let finished = Trial::new(isolation, &script).run();
            assert_eq!(text(&finished.stdout.bytes), expect.to_string(), "{isolation:?}: {name}");
        }
        // Threads and processes are made as ever.
        let finished = Trial::new(isolation, "perl -e 'print fork() ? wait() > 0 : exit'").run();
        assert_eq!(text(&finished.stdout.bytes), "1", "{isolation:?}");
    });
}
