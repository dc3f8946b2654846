//! Suites as folders of files.

use karat::profile::{self, SHIPPED};
use karat::suite::{self, lint};
use karat_format::case::CaseV1;
use karat_format::diagnostic_render::render;
use karat_io::files::Files;
use std::path::Path;

/// The files a suite is made of, named by letters from `a` on.
pub const NAMES: [&str; 10] = [
    "karat.toml",
    "cases.jsonl",
    "cases/one/case.yaml",
    "cases/one/before/a.py",
    "cases/one/after/a.py",
    "cases/two/case.yml",
    "cases/two/after/b.rs",
    "three/challenge.yaml",
    "challenges/four/challenge.yaml",
    "submissions/s.jsonl",
];

/// Ends a file; the byte never occurs in UTF-8.
pub const END: u8 = 0xff;

/// A folder of any files is a suite or is refused, and the cases of a suite survive being written.
pub fn check(bytes: &[u8]) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let Ok(folder) = folder else { return };
    for (name, content) in bytes.split(|byte| *byte == END).filter_map(|file| file.split_first()) {
        let path = folder.path().join(NAMES[usize::from(name.wrapping_sub(b'a')) % NAMES.len()]);
        if let Some(parent) = path.parent() {
            let _ = std::fs::create_dir_all(parent);
        }
        let _ = std::fs::write(path, content);
    }
    let loaded = match suite::load(Files::Disk(folder.path().to_owned())) {
        Ok(loaded) => loaded,
        Err(faults) => {
            assert!(!faults.0.is_empty(), "refused without a reason");
            render(&faults.0, true, 80);
            return;
        }
    };
    for shipped in SHIPPED {
        if let Ok(profile) = profile::resolve(shipped.name, &profile::no_files, &[]) {
            render(&lint::lint(&loaded, &profile), false, 80);
        }
    }
    for case in &loaded.suite.cases {
        let (mut again, faults) = CaseV1::from(case).into_case();
        again.change.clone_from(&case.change);
        assert_eq!((&again, faults), (case, Vec::new()));
    }
}
