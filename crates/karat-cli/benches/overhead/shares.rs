//! What the parts of a trial cost, each by itself and in this process, on the data of the whole runs.

use crate::drawn::{self, NOTHING_FOUND, PROGRAM, TRIALS};
use crate::spent::Spent;
use crate::whole::KARAT;
use karat::checkout::Template;
use karat::evaluate::{EvaluateRequest, Quiet, prepare};
use karat::profile;
use karat::profile::ProfileRequest;
use karat::suite::{LoadedSuite, load};
use karat::tool::replay;
use karat::work::Work;
use karat_core::profile::Profile;
use karat_core::trial::Trial;
use karat_format::run::{PlanV1, TrialDetailV1};
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{Access, ExitReason, Isolation, Job, Limits, Supervisor, available, root_in_sandbox};
use karat_store::record::{Artifact, TrialRecord};
use karat_store::{NewRun, RunId, RunState, Store};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of a trial, and the milliseconds of processor time that it takes.
pub(crate) type Share = (&'static str, f64);

/// So many recorded trials come to the store at once.
const BATCH: usize = 512;

/// The parts of a replayed trial.
pub(crate) fn of_replaying() -> Vec<Share> {
    const CASES: usize = 1_000;
    let trials = CASES * TRIALS;
    let folder = tempfile::tempdir().expect("a folder");
    drawn::recorded(folder.path(), CASES);
    let (reading, (loaded, recorded)) = Spent::on(|| {
        let loaded = loaded(folder.path());
        let recorded = replay::read(&loaded, Path::new("recorded.jsonl")).expect("the recording");
        (loaded, recorded)
    });
    let records: Vec<TrialRecord> = recorded.into_iter().map(record).collect();
    let mut kept = Kept::begin(&folder.path().join("store"), &loaded, "recorded");
    let storing = kept.save(&records, BATCH);
    let (reading_back, stored) = Spent::on(|| kept.store.trials(&kept.run).expect("the trials"));
    let stored: Vec<Trial> = stored.into_iter().map(|stored| stored.trial).collect();
    let (scoring, scored) = Spent::on(|| work(stored).score(&loaded));
    let (report, ()) = Spent::on(|| {
        let report = serde_json::to_vec(&scored.report).expect("the report");
        kept.store.finish(&kept.run, RunState::Complete, Some(&report)).expect("the end");
    });
    let each = |spent: Spent| spent.cpu_ms_each(trials);
    vec![
        ("reading suite and recording", each(reading)),
        ("store: saving, 512 at once", each(storing)),
        ("store: reading back", each(reading_back)),
        ("scoring", each(scoring)),
        ("store: the report", each(report)),
    ]
}

/// The parts of a trial in which a program is executed that does nothing, without a sandbox; and what sandboxes add.
pub(crate) fn of_executing() -> (Vec<Share>, Vec<Share>) {
    const COUNT: usize = 100;
    let least = |work: &mut dyn FnMut()| Spent::least_of(3, || Spent::on(|| (0..COUNT).for_each(|_| work())).0);
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("its full name");
    let suite = root.join("suite");
    drawn::with_code(&suite, 1);
    let loaded = loaded(&suite);
    let case = loaded.suite.cases.first().expect("a case");
    let template = Template::build(&loaded, case).expect("the code").expect("a case with code");
    let checkout = root.join("checkout");
    let copying = least(&mut || {
        template.write(&checkout).expect("a checkout");
        remove_tree(&checkout).expect("no checkout");
    });
    let bare = least(&mut || {
        Command::new(PROGRAM).arg(NOTHING_FOUND).output().expect("the program");
    });
    let trial_root = root.join("trial");
    std::fs::create_dir(&trial_root).expect("a folder");
    template.write(&trial_root.join("checkout")).expect("a checkout");
    let run = |isolation: Isolation| least(&mut || execute(&trial_root, isolation));
    let watched = run(Isolation::Process);
    // Trials of programs take longer than storing one, so they come to the store one by one.
    let records: Vec<TrialRecord> = (1..=COUNT).map(|number| finished(case.id.as_str(), number as u32)).collect();
    let mut kept = Kept::begin(&root.join("store"), &loaded, "nothing");
    let storing = kept.save(&records, 1);
    let each = |spent: Spent| spent.cpu_ms_each(COUNT);
    let shares = vec![
        ("checkout: written and removed", each(copying)),
        ("process: the program itself", each(bare)),
        ("process: its supervisor", each(watched) - each(bare)),
        ("store: saving, one at once", each(storing)),
    ];
    let there = [Isolation::Landlock, Isolation::Bubblewrap].into_iter();
    let there = there.filter(|isolation| available().unavailable_reason(*isolation).is_none());
    let extra = there.map(|isolation| (isolation.as_str(), each(run(isolation)) - each(watched))).collect();
    (shares, extra)
}

/// Runs the program that does nothing, as a trial does.
fn execute(root: &Path, isolation: Isolation) {
    let supervisor = Supervisor { program: KARAT.into(), args: vec!["__supervise".into()] };
    let dir = root.join("checkout");
    // A trial's environment holds a few dozen variables.
    let seen = root_in_sandbox(isolation, root).display().to_string();
    let variable = |n: usize| (format!("KARAT_VARIABLE_{n}"), seen.clone().into());
    let path = ("PATH".to_owned(), "/usr/bin:/bin".into());
    let job = Job {
        command: vec![PROGRAM.into(), NOTHING_FOUND.into()],
        env: (0..24).map(variable).chain([path]).collect(),
        root: root.to_owned(),
        dir,
        tool: None,
        access: Access::default(),
        limits: Limits::default(),
        isolation,
    };
    let finished = karat_sandbox::run(&job, &supervisor, &Cancel::default()).expect("a run");
    assert_eq!(finished.exit, ExitReason::Exited(0));
}

/// A run in a store.
struct Kept {
    store: Store,
    run: RunId,
}

impl Kept {
    fn begin(folder: &Path, loaded: &LoadedSuite, tool: &str) -> Self {
        let mut store = Store::create(folder).expect("a store");
        let suite_snapshot = serde_json::to_vec(&loaded.snapshot()).expect("a snapshot");
        let new = NewRun { name: None, plan: planned(loaded, tool, folder), suite_snapshot, scratch: None };
        let run = store.begin(&new).expect("a run");
        Self { store, run }
    }

    fn save(&mut self, records: &[TrialRecord], at_once: usize) -> Spent {
        let save = || records.chunks(at_once).try_for_each(|batch| self.store.save(&self.run, batch));
        let (spent, saved) = Spent::on(save);
        saved.expect("the trials are stored");
        spent
    }
}

fn loaded(folder: &Path) -> LoadedSuite {
    load(Files::Disk(PathBuf::from(folder))).expect("the drawn suite")
}

fn rules() -> Profile {
    // A judge's time is its own; `cargo bench -p karat-core --bench local_judge` tells of it.
    let shipped = profile::resolve("karat", &profile::no_files, &[]).expect("the shipped profile");
    Profile { judge: "none".to_owned(), ..shipped }
}

fn planned(loaded: &LoadedSuite, tool: &str, store: &Path) -> PlanV1 {
    let supervisor = Supervisor { program: KARAT.into(), args: vec!["__supervise".into()] };
    let profile = ProfileRequest { profile: Some("karat".to_owned()), sets: vec!["judge=none".to_owned()] };
    let request = EvaluateRequest::new(&loaded.files.display(""), &[tool], store, supervisor);
    prepare(&EvaluateRequest { profile, ..request }, &mut Quiet::default()).expect("a plan").plan
}

fn work(trials: Vec<Trial>) -> Work {
    Work { seed: Some(1), ..Work::new(trials, rules()) }
}

fn record(trial: Trial) -> TrialRecord {
    TrialRecord { trial, attempt: 1, detail: TrialDetailV1::default(), artifacts: Vec::new() }
}

/// What a trial of the program leaves behind.
fn finished(case: &str, number: u32) -> TrialRecord {
    let stages = [("checkout", 2.0), ("process", 4.0), ("import", 0.1)];
    let detail = TrialDetailV1 {
        exit: Some(0),
        isolation: Some(Isolation::Process.describe().to_owned()),
        stages_ms: stages.into_iter().map(|(stage, ms)| (stage.to_owned(), ms)).collect(),
        ..TrialDetailV1::default()
    };
    let artifacts = vec![Artifact { name: "stdout".to_owned(), bytes: format!("{NOTHING_FOUND}\n").into_bytes() }];
    let trial = Trial::reported(case.into(), "nothing".into(), number);
    TrialRecord { trial, attempt: 1, detail, artifacts }
}
