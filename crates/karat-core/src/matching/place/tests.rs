use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const STEPS: FileSteps = FileSteps { same_path: 1.0, same_name: 0.8, shared_directory: 0.3 };

/// The file part of two paths compared by text.
fn file_part(golden: &FilePattern, finding: &RepoPath, steps: &FileSteps, partial: PartialPath) -> f64 {
    if golden.matches(finding) {
        return steps.same_path;
    }
    let own = golden.path();
    let same_name = match golden {
        FilePattern::Exact(path) => path.file_name() == finding.file_name(),
        FilePattern::Glob(glob) => {
            let name = glob.file_name();
            !name.contains("**") && glob_matches(name, finding.file_name())
        }
    };
    if same_name {
        return steps.same_name;
    }
    if partial == PartialPath::Scaled {
        return scaled(own, finding, steps);
    }
    let shared = own.directories().filter(|d| !d.contains('*')).any(|d| finding.directories().any(|other| other == d));
    if shared { steps.shared_directory } else { 0.0 }
}

#[test]
fn paths_compared_by_number_get_the_part_of_paths_compared_by_text() {
    let raw = ["src/a.rs", "a.rs", "src/web/b.rs", "web/src/c.rs", "b.rs/a.rs", "src", "src/*.rs", "**/b.rs", "a*/*"];
    let patterns: Vec<FilePattern> = raw.iter().filter_map(|p| FilePattern::new(p)).collect();
    let mut places = Places::default();
    for pattern in patterns.iter().chain(&patterns) {
        places.number(pattern);
    }
    assert_eq!(places.patterns.len(), raw.len());
    for partial in [PartialPath::Fixed, PartialPath::Scaled] {
        for finding in raw.iter().filter_map(|p| RepoPath::new(p)) {
            let read = places.read(&finding);
            let part = |own| places.file_part(own, &read, &STEPS, partial);
            let parts: Vec<f64> = (0..places.patterns.len() as u32).map(part).collect();
            let expect: Vec<f64> = patterns.iter().map(|own| file_part(own, &finding, &STEPS, partial)).collect();
            assert_eq!(parts, expect, "{finding}");
        }
    }
}

/// The file score of the reference program, in the order of its tests: equal parts, equal last parts, then the share of
/// the longer path.
fn reference(golden: &str, finding: &str) -> f64 {
    let (own, theirs): (Vec<&str>, Vec<&str>) = (golden.split('/').collect(), finding.split('/').collect());
    if own == theirs {
        return 1.0;
    }
    if own.last() == theirs.last() {
        return 0.8;
    }
    let sets: [HashSet<&str>; 2] = [own.iter().copied().collect(), theirs.iter().copied().collect()];
    let common = sets[0].intersection(&sets[1]).count();
    0.3 * common as f64 / own.len().max(theirs.len()) as f64
}

#[test]
fn scaled_paths_by_hand() {
    let check = |golden: &str, finding: &str, fixed: f64, scaled: f64| {
        let (own, theirs) = (FilePattern::new(golden).unwrap(), RepoPath::new(finding).unwrap());
        assert_eq!(file_part(&own, &theirs, &STEPS, PartialPath::Fixed), fixed, "{golden} {finding}");
        let part = file_part(&own, &theirs, &STEPS, PartialPath::Scaled);
        assert!((part - scaled).abs() < 1e-12, "{golden} {finding}: {part}");
    };
    check("src/web/a.rs", "src/web/a.rs", 1.0, 1.0);
    check("src/web/a.rs", "a.rs", 0.8, 0.8);
    check("src/web/a.rs", "src/web/b.rs", 0.3, 0.2);
    check("src/a.rs", "src/x/y/z/b.rs", 0.3, 0.06);
    // A directory that stands twice is one part in common, of three.
    check("src/src/a.rs", "src/b.rs", 0.3, 0.1);
    // A file named like a directory is a part, and no directory.
    check("src/a.rs", "b/src", 0.0, 0.15);
    check("lib/a.rs", "src/b.rs", 0.0, 0.0);
    check("src/*/a.rs", "src/x/b.rs", 0.3, 0.1);
}

proptest! {
    #[test]
    fn scaled_paths_are_those_of_the_reference(
        golden in prop::collection::vec("[abc]", 1..5),
        finding in prop::collection::vec("[abc]", 1..5),
    ) {
        let (golden, finding) = (golden.join("/"), finding.join("/"));
        let (own, theirs) = (FilePattern::new(&golden).unwrap(), RepoPath::new(&finding).unwrap());
        let mut places = Places::default();
        places.number(&own);
        let part = places.file_part(0, &places.read(&theirs), &STEPS, PartialPath::Scaled);
        prop_assert!((part - reference(&golden, &finding)).abs() < 1e-12, "{} {}: {}", golden, finding, part);
    }
}
