//! The properties that are fuzzed, checked on every seed and on damaged copies of it, without a fuzzer.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(
    unreachable_pub,
    clippy::panic,
    reason = "in its own place this is a crate of properties, which panic when broken"
)]
mod properties;

use properties::{TARGETS, seeds};
use std::path::Path;

/// With `KARAT_FUZZ_CORPUS` set the seeds are also written there, one folder for each target, for `scripts/fuzz`.
#[test]
fn every_property_holds_for_every_seed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = std::env::var_os("KARAT_FUZZ_CORPUS");
    for target in TARGETS {
        let seeds = seeds::of(&root, target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        assert!(root.join("fuzz/fuzz_targets").join(target.name).with_extension("rs").is_file(), "{}", target.name);
        if let Some(corpus) = &corpus {
            let folder = root.join(corpus).join(target.name);
            std::fs::create_dir_all(&folder).unwrap();
            for (name, bytes) in &seeds {
                std::fs::write(folder.join(name), bytes).unwrap();
            }
        }
        for bytes in seeds.values() {
            (target.check)(bytes);
            for step in 1..8 {
                let at = bytes.len() * step / 8;
                (target.check)(&bytes[..at]);
                let mut damaged = bytes.clone();
                damaged.iter_mut().skip(at).take(1).for_each(|byte| *byte = b"0\"}]\n\\:"[step - 1]);
                (target.check)(&damaged);
            }
        }
    }
}
