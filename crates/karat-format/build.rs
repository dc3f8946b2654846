//! Packs and compresses the suites that are shipped in the binary. `src/shipped_suites.rs` unpacks them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const SUITES: [&str; 4] = ["code-review", "starter", "scanned", "agreements"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let suites =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?).join("suites");
    for name in SUITES {
        let mut packed = Vec::new();
        pack(&suites.join(name), "", &mut packed)?;
        fs::write(out.join(name), miniz_oxide::deflate::compress_to_vec(&packed, 8))?;
    }
    Ok(())
}

fn pack(folder: &Path, prefix: &str, packed: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().map_err(|name| format!("{} is not UTF-8", name.display()))?;
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            pack(&entry.path(), &format!("{path}/"), packed)?;
            continue;
        }
        println!("cargo::rerun-if-changed={}", entry.path().display());
        for part in [path.as_bytes(), &fs::read(entry.path())?] {
            packed.extend(u32::try_from(part.len())?.to_le_bytes());
            packed.extend(part);
        }
    }
    Ok(())
}
