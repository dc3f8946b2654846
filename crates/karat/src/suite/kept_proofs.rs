//! What is kept of proofs: `proofs.json` of a suite, and what each entry is about.

use super::{LoadedSuite, StatedIn};
use karat_core::golden::Proof;
use karat_core::ids::CaseId;
use karat_format::diagnostic::Diagnostic;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::proofs::{KeptProofV1, ProofSubjectV1, ProofsV1, SCHEMA};
use karat_io::files::Files;
use std::io;

/// The file of a suite.
pub(super) const PROOFS: &str = "proofs.json";

/// What was kept; nothing if there is no file.
pub(crate) fn read_kept(files: &Files) -> Result<ProofsV1, Vec<Diagnostic>> {
    let shown = files.display(PROOFS);
    let bytes = match files.read(PROOFS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(ProofsV1::default()),
        Err(error) => return Err(vec![Diagnostic::of_file(shown, "unreadable", error.to_string())]),
    };
    let decoded = decode_bytes::<ProofsV1>(&shown, &bytes, Syntax::Json, &schema_of::<ProofsV1>());
    match decoded.value {
        Some((kept, document)) if decoded.faults.is_empty() => {
            if kept.schema == SCHEMA {
                return Ok(kept);
            }
            let message = format!("the format is {:?}, and this version of Karat reads `{SCHEMA}`", kept.schema);
            let help = "remove the file and run `karat suite prove`";
            Err(vec![document.at(&["schema".into()], "unknown-format", message).with_help(help)])
        }
        _ => Err(decoded.faults),
    }
}

/// What was kept of a golden.
pub(super) fn find_kept<'k>(kept: &'k ProofsV1, case: &CaseId, golden: &str) -> Option<&'k KeptProofV1> {
    kept.proofs.iter().find(|own| own.case == case.as_str() && own.golden == golden)
}

/// The folder of a case within its suite, which the paths of its proofs start from.
pub(super) fn case_folder(loaded: &LoadedSuite, case: &CaseId) -> String {
    match loaded.stated_in.get(case) {
        Some(StatedIn::File(file)) => file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
        Some(StatedIn::Line(_)) | None => format!("cases/{case}"),
    }
}

/// The path within the suite of something that a proof names.
pub(super) fn proof_path(loaded: &LoadedSuite, case: &CaseId, path: &str) -> String {
    format!("{}/{}", case_folder(loaded, case), path.trim_end_matches('/'))
}

/// What a proof is about as it is now. An error names what is missing.
pub(super) fn subject(loaded: &LoadedSuite, case: &CaseId, proof: &Proof) -> io::Result<ProofSubjectV1> {
    let missing = |what: &str, path: &str| {
        io::Error::new(io::ErrorKind::NotFound, format!("{what} {} is missing", loaded.files.display(path)))
    };
    let folder = proof_path(loaded, case, &proof.files);
    let mut files = blake3::Hasher::new();
    let listed = loaded.files.walk(&folder)?.files;
    if listed.is_empty() {
        return Err(missing("the folder", &folder));
    }
    for path in listed {
        let bytes = loaded.files.read(&format!("{folder}/{path}"))?.unwrap_or_default();
        files.update(path.as_bytes());
        files.update(&[0]);
        files.update(blake3::hash(&bytes).as_bytes());
        if loaded.files.is_executable(&format!("{folder}/{path}")) {
            files.update(b"executable");
        }
    }
    let patch = proof_path(loaded, case, &proof.fixed);
    let patch = loaded.files.read(&patch)?.ok_or_else(|| missing("the patch", &patch))?;
    let code = loaded.code_hashes.get(case).ok_or_else(|| io::Error::other("the case comes without code"))?;
    Ok(ProofSubjectV1 {
        run: proof.run.clone(),
        language: loaded.suite.cases.iter().find(|own| own.id == *case).and_then(|case| case.language.clone()),
        code: format!("blake3:{code}"),
        files: format!("blake3:{}", files.finalize().to_hex()),
        patch: format!("blake3:{}", blake3::hash(&patch).to_hex()),
    })
}
