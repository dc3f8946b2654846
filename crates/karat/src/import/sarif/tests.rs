use super::*;
use crate::import::input;
use std::path::{Path, PathBuf};

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("KARAT_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    Some(root.join(path)).filter(|path| path.exists())
}

#[test]
fn a_real_file_of_solhint_comes_in_whole() {
    let Some(path) = shared("solhint/solhint.sarif") else {
        eprintln!("skipped: shared data is absent");
        return;
    };
    let mut harvest = Harvest::default();
    import(input::open(&path).unwrap(), &mut harvest).unwrap();
    assert_eq!(harvest.findings.len(), 9_572);
    assert!(harvest.findings.iter().all(|r| r.finding.file.is_some() && r.finding.line_start.is_some()));
    assert_eq!(harvest.tools, [ToolName::new("solhint")]);
    assert_eq!(harvest.notes, [""; 0]);
}
