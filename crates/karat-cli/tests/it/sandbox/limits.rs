//! Limits on memory, files and time.

use super::*;
use crate::project::report_skipped;
use karat_sandbox::Resource;

#[test]
fn gradual_allocation_exceeds_the_memory_limit() {
    for_each_isolation(|isolation| {
        let mark = marker();
        // Two processes, so that only their sum exceeds the limit. The shells double a string until it is large.
        let hog = "a=0123456789abcdef; i=0; while [ $i -lt 22 ]; do a=$a$a; i=$((i+1)); done; sleep 20";
        let mut trial = Trial::new(isolation, &format!("sleep {mark} & ({hog}) & ({hog}) & wait"));
        trial.job.limits.memory = 100 << 20;
        let finished = trial.run();
        assert_eq!(
            finished.exit,
            ExitReason::LimitExceeded(Resource::Memory),
            "{isolation:?}: {}",
            text(&finished.stderr.bytes)
        );
        assert_eq!(survivors(&mark), Vec::<String>::new(), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

/// Memory shared between processes counts towards the limit.
#[test]
fn shared_memory_counts_towards_the_memory_limit() {
    if !Path::new("/usr/bin/python3").exists() {
        return report_skipped("python3 is not installed");
    }
    for_each_isolation(|isolation| {
        let script =
            "import mmap, time; own = b'x' * (200 << 20); m = mmap.mmap(-1, 200 << 20); m.write(own); time.sleep(60)";
        let mut trial = Trial::new(isolation, "");
        trial.job.command = ["/usr/bin/python3", "-c", script].map(Into::into).to_vec();
        // Private memory alone is within the limit, and only the sum with shared memory is over it. Both stay
        // allocated.
        trial.job.limits.memory = 300 << 20;
        let finished = trial.run();
        assert_eq!(
            finished.exit,
            ExitReason::LimitExceeded(Resource::Memory),
            "{isolation:?}: {}",
            text(&finished.stderr.bytes)
        );
    });
}

#[test]
fn single_allocation_beyond_the_limit_fails() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "head -c 4000000000 /dev/zero | tail -c 3900000000 | wc -c");
        trial.job.limits.memory = 64 << 20;
        let finished = trial.run();
        assert_ne!(text(&finished.stdout.bytes), "3900000000\n", "{isolation:?}: {:?}", finished.exit);
    });
}

#[test]
fn cpu_count_is_limited() {
    if karat_sandbox::describe_limits(Isolation::Bubblewrap) == "limits by cgroup" {
        return report_skipped("the control group limits time on processors, which no program can count");
    }
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "nproc");
        trial.job.limits.cpus = Some(1);
        let finished = trial.run();
        assert_eq!(text(&finished.stdout.bytes), "1\n", "{isolation:?}: {}", text(&finished.stderr.bytes));
    });
}

#[test]
fn file_over_the_size_limit_is_reported() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "exec head -c 3000000 /dev/zero > big");
        trial.job.limits.file_size = 1_000_000;
        assert_eq!(trial.run().exit, ExitReason::LimitExceeded(Resource::FileSize), "{isolation:?}");
        assert_eq!(std::fs::metadata(trial.path("checkout/big")).unwrap().len(), 1_000_000);
    });
}

#[test]
fn files_over_the_disk_limit_together_are_reported() {
    for_each_isolation(|isolation| {
        let script = "i=0; while :; do i=$((i+1)); mkdir -p d/$i; head -c 500000 /dev/zero > d/$i/f; done";
        let mut trial = Trial::new(isolation, script);
        trial.job.limits.disk = 5_000_000;
        trial.job.limits.time = Duration::from_secs(120);
        assert_eq!(trial.run().exit, ExitReason::LimitExceeded(Resource::Disk), "{isolation:?}");
        assert_next_trial_works(isolation);
    });
}

#[test]
fn sigterm_handler_runs_before_the_kill() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done");
        trial.job.limits.time = Duration::from_millis(300);
        trial.job.limits.grace = Duration::from_secs(300);
        let finished = trial.run();
        assert_eq!(finished.exit, ExitReason::TimedOut, "{isolation:?}");
        assert_eq!(text(&finished.stdout.bytes), "bye\n", "{isolation:?}");
        assert!(finished.wall < Duration::from_secs(200), "waited for the whole grace period: {:?}", finished.wall);
    });
}

#[test]
fn output_up_to_the_limit_is_not_truncated() {
    for_each_isolation(|isolation| {
        let mut trial = Trial::new(isolation, "head -c 1000000 /dev/zero");
        trial.job.limits.output = 1_000_000;
        let finished = trial.run();
        assert_eq!((finished.exit, finished.stdout.truncated), (ExitReason::Exited(0), false), "{isolation:?}");
        assert_eq!(finished.stdout.bytes.len(), 1_000_000);
    });
}

#[test]
fn temporary_file_systems_are_limited() {
    if available().unavailable_reason(Isolation::Bubblewrap).is_some() {
        return report_skipped("bubblewrap is not available");
    }
    let script = "for at in /tmp /var/tmp /dev/shm /dev /run /home; do head -c 70000000 /dev/zero > $at/big && echo $at; done; echo done";
    let finished = Trial::new(Isolation::Bubblewrap, script).run();
    assert_eq!(text(&finished.stdout.bytes), "done\n");
}
