//! Workers that die or stand still.

use super::{Process, SHORT, Site};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Kills workers of eight at random moments and starts new ones for them. When a run is done before, the next one begins.
fn kill_workers(kills: usize) {
    let Some(site) = Site::new(50, SHORT) else { return };
    let expected = site.run_on_one_machine("--trials 3");
    let start = || site.worker("--lease 1s -j 1");
    let plan = || site.plan("--trials 3");
    let mut planner = plan();
    let mut workers: Vec<Process> = (0..8).map(|_| start()).collect();
    let mut random = Random(20);
    let mut runs = 1;
    for _ in 0..kills {
        let pause = Duration::from_millis(random.below(250));
        let victim = usize::try_from(random.below(8)).unwrap();
        let began = Instant::now();
        while began.elapsed() < pause {
            assert!(workers.iter_mut().all(Process::is_running), "a worker ended by itself:\n{}", site.logs());
            std::thread::sleep(Duration::from_millis(5));
        }
        workers[victim].kill();
        workers[victim] = start();
        if !planner.is_running() {
            site.check_when_followed(&mut planner, &expected);
            planner = plan();
            runs += 1;
        }
    }
    site.check_when_followed(&mut planner, &expected);
    assert_eq!(site.json("store list --json").as_array().unwrap().len(), runs);
    assert_eq!(site.count("SELECT COUNT(*) FROM queue_units WHERE state <> 'done'"), Some(0));
}

#[test]
fn killed_workers_lose_and_double_nothing() {
    kill_workers(200);
}

/// `cargo test -p karat-cli --test it thousand_killed_workers -- --ignored`
#[test]
#[ignore = "a thousand kills, on demand; killed_workers_lose_and_double_nothing does two hundred"]
fn thousand_killed_workers_lose_and_double_nothing() {
    kill_workers(1_000);
}

/// The result of a worker that stood still past its lease is refused: it would say that the tool found nothing.
#[test]
fn result_of_a_worker_that_stood_still_is_refused() {
    let first = "if mkdir PROJECT/first 2>/dev/null; then : > PROJECT/started; while [ ! -e PROJECT/go ]; do sleep 0.05; \
                 done; echo '{\"findings\":[]}' > \"$2\"; : > PROJECT/reported; exit 0; fi";
    let Some(site) = Site::new(3, first) else { return };
    std::fs::create_dir(site.project.path("first")).unwrap();
    let expected = site.run_on_one_machine("");
    std::fs::remove_dir(site.project.path("first")).unwrap();

    let mut planner = site.plan("");
    let mut still = site.worker("-j 1");
    site.wait_for_file("started");
    still.signal(Signal::STOP);
    let other = site.worker("-j 1");
    site.check_when_followed(&mut planner, &expected);
    // Its tool has gone on all the while, and has a result now.
    site.write("go");
    site.wait_for_file("reported");
    still.signal(Signal::CONT);
    // Whichever it notices first: that its time is over, or that somebody else has the trial.
    let refusals = ["could not be renewed in time", "another worker"];
    super::wait_for("a refusal", || refusals.iter().any(|text| still.errors().contains(text)).then_some(()));
    site.check(&expected);
    assert!(still.is_running(), "{}", still.everything());
    // It is of use again.
    drop(other);
    site.check_when_followed(&mut site.plan(""), &expected);
}

/// A trial that ends its worker is given up, and blames nobody. The others are recorded.
#[test]
fn trial_that_kills_its_workers_is_given_up() {
    let Some(site) = Site::new(3, "") else { return };
    // The worker is the first ancestor whose command line says so.
    let poison = "[ \"$(cat \"$1/number\")\" = 2 ] || { echo '{\"findings\":[]}' > \"$2\"; exit 0; }\n\
                  id=$$\nwhile ! tr '\\0' ' ' < /proc/$id/cmdline | grep -q ' worker --isolation'; do\n\
                  id=$(sed 's/.*) //' /proc/$id/stat | cut -d' ' -f2)\n[ \"$id\" -gt 1 ] || exit 3\ndone\n\
                  echo $id >> PROJECT/killed\nkill -9 $id\nsleep 600";
    site.add_tool("it", poison, "");
    let mut planner = site.plan("--trials 1 --max-tries 2");
    let mut started = 0;
    while planner.is_running() {
        let mut worker = site.worker("-j 1 --lease 1s");
        started += 1;
        assert!(started < 20, "{}", site.logs());
        super::wait_for("the worker or the run ends", || (!worker.is_running() || !planner.is_running()).then_some(()));
    }
    planner.wait().expect(0);
    site.check_records(3);
    let killed = site.project.read("killed").lines().count();
    assert_eq!((killed, started), (2, 3), "{}", site.logs());
    let shown = site.json("store show latest --json");
    let reason = &shown["failures"][0]["detail"]["reason"];
    assert_eq!(reason, "given up: 2 workers ended or failed while executing it", "{shown:#}");
    site.run("report latest -o report.json").expect(0);
    let report: serde_json::Value = serde_json::from_str(&site.project.read("report.json")).unwrap();
    assert_eq!(crate::run::outcomes(&report), "reported 2, unavailable 1");
    // What killed them was ended with them.
    super::wait_for("the tool's end", || (!site.has_tool_process()).then_some(()));
}
