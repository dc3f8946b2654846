//! Secret files cannot be read by a tool.

use super::*;
use karat_sandbox::{NetworkAccess, find_installation, locate_program};
use std::os::unix::fs::symlink;

/// A folder outside `/tmp` and all home directories.
fn make_suite() -> TempDir {
    let folder = tempfile::Builder::new().prefix("karat-suite").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(folder.path().join("golden.yaml"), "the answer").unwrap();
    std::fs::create_dir(folder.path().join("part")).unwrap();
    std::fs::write(folder.path().join("part/golden.yaml"), "the answer").unwrap();
    open_to_all(folder.path());
    folder
}

fn canonical_path(folder: &TempDir) -> PathBuf {
    folder.path().canonicalize().unwrap()
}

/// Runs a script in which `$secret` is the path of a folder it must not read.
#[track_caller]
fn check_hidden(script: &str, view: impl Fn(&Path) -> Access) {
    for_each_sandbox(|isolation| {
        let suite = make_suite();
        let secret = canonical_path(&suite);
        let mut trial = Trial::new(isolation, script);
        trial.job.env.insert("secret".into(), secret.clone().into());
        trial.job.access = view(&secret);
        let finished = trial.run();
        let printed = text(&finished.stdout.bytes) + &text(&finished.stderr.bytes);
        assert!(!printed.contains("the answer"), "{isolation:?}: {printed}");
        assert!(printed.contains("done"), "{isolation:?}: {:?} {printed}", finished.exit);
        assert_eq!(std::fs::read_to_string(secret.join("golden.yaml")).unwrap(), "the answer");
        assert_next_trial_works(isolation);
    });
}

fn access_with_secret(path: &Path) -> Access {
    Access { secret: vec![path.to_owned()], ..Access::default() }
}

const READS: [&str; 7] = [
    "cat $secret/golden.yaml $secret/part/golden.yaml; echo done",
    "cat /proc/1/root/$secret/golden.yaml; cat /proc/self/root/$secret/golden.yaml; echo done",
    "cat /proc/$PPID/root/$secret/golden.yaml /proc/$PPID/cwd/golden.yaml /proc/$PPID/task/*/root/$secret/golden.yaml; echo done",
    "ln -s $secret link; cat link/golden.yaml; ln -s $secret/golden.yaml l2; cat l2; echo done",
    "ln $secret/golden.yaml hard; cat hard; cp -r $secret mine; cat mine/golden.yaml; echo done",
    "mv $secret mine; cat mine/golden.yaml; mount --bind $secret . ; cat golden.yaml; echo done",
    "unshare -rm sh -c 'umount -l $secret; umount $secret; cat $secret/golden.yaml'; echo done",
];

#[test]
fn secret_and_unlisted_paths_cannot_be_read() {
    for script in READS {
        check_hidden(script, access_with_secret);
        check_hidden(script, |_| Access::default());
    }
}

#[test]
fn other_access_rules_do_not_expose_a_secret() {
    let script = "cat $secret/golden.yaml $secret/part/golden.yaml; echo done";
    let with = |readable: &[&Path], path: &Path| Access {
        readable: readable.iter().map(|path| path.to_path_buf()).collect(),
        ..access_with_secret(path)
    };
    check_hidden(script, |path| with(&[path], path));
    check_hidden(script, |path| with(&[&path.join("part"), &path.join("golden.yaml")], path));
    check_hidden(script, |path| with(&[path.parent().unwrap()], path));
    check_hidden(script, |path| Access {
        writable: vec![path.parent().unwrap().to_owned()],
        ..access_with_secret(path)
    });
    check_hidden(script, |path| Access { network: NetworkAccess::External, ..access_with_secret(path) });
}

#[test]
fn symlink_in_the_checkout_does_not_expose_a_secret() {
    for_each_sandbox(|isolation| {
        let suite = make_suite();
        let mut trial = Trial::new(isolation, "cat link/golden.yaml file; echo done");
        symlink(suite.path(), trial.path("checkout/link")).unwrap();
        symlink(suite.path().join("golden.yaml"), trial.path("checkout/file")).unwrap();
        trial.job.access = access_with_secret(suite.path());
        assert_eq!(text(&trial.run().stdout.bytes), "done\n", "{isolation:?}");
    });
}

#[test]
fn only_listed_paths_are_readable() {
    for_each_sandbox(|isolation| {
        let home = make_suite();
        let path = canonical_path(&home);
        symlink(path.join("part"), path.join("link")).unwrap();
        let script =
            "cat $home/golden.yaml; cat $home/part/golden.yaml; cat $home/link/golden.yaml; echo x > $home/part/x";
        for readable in [path.join("part"), path.join("link")] {
            let mut trial = Trial::new(isolation, script);
            trial.job.env.insert("home".into(), path.clone().into());
            trial.job.access = Access { readable: vec![readable.clone()], ..Access::default() };
            let printed = text(&trial.run().stdout.bytes);
            let by_link = readable.ends_with("link") || isolation == Isolation::Landlock;
            assert_eq!(
                printed,
                if by_link { "the answerthe answer" } else { "the answer" },
                "{isolation:?} {readable:?}"
            );
            assert!(!path.join("part/x").exists());
        }
    });
}

#[test]
fn homes_and_temporary_files_are_hidden() {
    for_each_sandbox(|isolation| {
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("secret"), "the answer").unwrap();
        let mut trial =
            Trial::new(isolation, "cat $other/secret; ls -A /home /root /run | grep -v '^/'; ls -A $other; ls ..");
        trial.job.env.insert("other".into(), other.path().into());
        let finished = trial.run();
        let printed = text(&finished.stdout.bytes);
        assert_eq!(printed.trim_start(), "checkout\nhome\ntmp\n", "{isolation:?}");
    });
}

#[test]
fn environment_of_karat_is_hidden() {
    for_each_sandbox(|isolation| {
        let mut trial = Trial::new(
            isolation,
            "cat /proc/$karat/environ /proc/$PPID/environ | tr '\\0' '\\n'; ls -l /proc/$karat/cwd; echo done",
        );
        trial.job.env.insert("karat".into(), std::process::id().to_string().into());
        let printed = text(&trial.run().stdout.bytes);
        // In a PID namespace, the parent is bubblewrap, which has the environment of the tool.
        let foreign: Vec<&str> = printed.lines().filter(|line| line.starts_with("CARGO")).collect();
        assert!(foreign.is_empty(), "{isolation:?}: {printed}");
        assert!(printed.ends_with("done\n") && !printed.contains("->"), "{isolation:?}: {printed}");
    });
}

/// The weakest isolation is documented to hide nothing.
#[test]
fn process_isolation_hides_nothing() {
    let suite = make_suite();
    let mut trial = Trial::new(Isolation::Process, "cat $secret/golden.yaml; echo x > $secret/new");
    trial.job.env.insert("secret".into(), suite.path().into());
    trial.job.access = access_with_secret(suite.path());
    assert_eq!(text(&trial.run().stdout.bytes), "the answer");
    assert!(suite.path().join("new").exists());
}

/// A program in a home directory runs only if its installation is readable.
#[test]
fn program_in_a_home_needs_its_installation() {
    use std::os::unix::fs::PermissionsExt;
    for_each_sandbox(|isolation| {
        let home = make_suite();
        let path = canonical_path(&home);
        let put = |name: &str, content: &str| {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, content).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        put(".tool/bin/tool", &format!("#!{}/.run/bin/run\n", path.display()));
        put(".tool/lib/data", "data\n");
        std::fs::create_dir_all(path.join(".run/bin")).unwrap();
        std::fs::copy("/bin/sh", path.join(".run/bin/run")).unwrap();
        put(
            ".tool/bin/tool",
            &format!("#!{0}/.run/bin/run\ncat {0}/.tool/lib/data; cat {0}/golden.yaml\n", path.display()),
        );
        std::fs::create_dir(path.join("bin")).unwrap();
        symlink("../.tool/bin/tool", path.join("bin/tool")).unwrap();
        let program = locate_program("tool".as_ref(), path.join("bin").as_os_str()).unwrap();
        let mut trial = Trial::new(isolation, "");
        trial.job.command = vec![program.clone().into()];
        assert!(matches!(trial.run().exit, ExitReason::NotStarted(_)), "{isolation:?}");
        trial.job.access.readable = find_installation(&program);
        let finished = trial.run();
        assert_eq!(text(&finished.stdout.bytes), "data\n", "{isolation:?}: {}", text(&finished.stderr.bytes));
    });
}

#[test]
fn resolv_conf_is_readable_with_network_access() {
    let Ok(expected) = std::fs::read_to_string("/etc/resolv.conf") else { return };
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "cat /etc/resolv.conf");
        trial.job.access.network = NetworkAccess::External;
        assert_eq!(text(&trial.run().stdout.bytes), expected, "{isolation:?}");
    });
}

/// Accounts, service configuration, other users' data, sources.
#[test]
fn private_system_paths_are_hidden() {
    for_each_sandbox(|isolation| {
        let script = "for f in /etc/shadow /etc/gshadow /etc/ssl/private /etc/ssh /etc/sudoers /root/.bashrc /home /srv /opt /mnt /media \
                      /boot /var/lib /var/log /var/mail /var/spool /usr/src /usr/local/src; do \
                      head -c 1 $f >/dev/null 2>&1 && echo read $f; ls -A $f/ 2>/dev/null | head -n 1 | sed \"s|^|$f: |\"; done; echo done";
        let finished = Trial::new(isolation, script).run();
        assert_eq!(text(&finished.stdout.bytes), "done\n", "{isolation:?}");
    });
}
