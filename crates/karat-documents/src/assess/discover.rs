//! Finds golden records in files, folders and suites.

use super::folder::Folder;
use karat_format::config::{ConfigV1, SuiteKind};
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::document::suggest::nearest;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::shipped_suites;
use karat_io::files::Files;
use std::collections::BTreeSet;
use std::path::Path;

/// File name endings of golden records.
pub const ENDINGS: [&str; 2] = [".golden-assessment.yml", ".golden-assessment.yaml"];

/// The location of a golden record.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RecordPlace {
    pub folder: Folder,
    pub name: String,
}

impl RecordPlace {
    /// The path as the user knows it.
    pub fn display_path(&self) -> String {
        self.folder.display(&self.name)
    }

    fn identity(&self) -> String {
        let linked = self.folder.disk_path(&self.name).and_then(|path| path.canonicalize().ok());
        linked.map_or_else(|| format!("{}/{}", self.folder.identity(), self.name), |path| path.display().to_string())
    }
}

/// Finds the records at these paths, sorted and distinct. A path is a record, a folder (`recursive`), a suite of kind
/// `assessment`, or the name of a bundled one. A path without records is a fault.
pub fn discover(paths: &[String], recursive: bool) -> Result<Vec<RecordPlace>, Faults> {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        match at(path, recursive) {
            Ok(places) => found.extend(places),
            Err(own) => faults.extend(own),
        }
    }
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    found.sort_by_key(RecordPlace::display_path);
    let mut seen = BTreeSet::new();
    found.retain(|place| seen.insert(place.identity()));
    Ok(found)
}

/// Whether a path is a record, an assessment suite, or a folder with records that is not a suite of findings.
pub fn holds_records(path: &str) -> bool {
    let disk = Path::new(path);
    if is_record(path) {
        return true;
    }
    let files = karat_format::shipped_suites::locate(path);
    if let Some(kind) = kind_of(&files) {
        return kind == SuiteKind::Assessment;
    }
    let findings = ["cases", "challenges", "cases.jsonl"].iter().any(|name| disk.join(name).exists());
    disk.is_dir() && !findings && below(&Folder::on_disk(disk)).is_ok_and(|found| !found.is_empty())
}

fn is_record(name: &str) -> bool {
    let name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ENDINGS.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| !stem.is_empty()))
}

fn kind_of(files: &Files) -> Option<SuiteKind> {
    let bytes = files.read("karat.toml").ok()??;
    let decoded = decode_bytes::<ConfigV1>("", &bytes, Syntax::Toml, &schema_of::<ConfigV1>());
    decoded.value.map(|(config, _)| config.suite.kind)
}

fn at(path: &str, recursive: bool) -> Result<Vec<RecordPlace>, Vec<Diagnostic>> {
    let disk = Path::new(path);
    let fault = |code, message: String, help: &str| Err(vec![Diagnostic::of_file(path, code, message).with_help(help)]);
    match disk.metadata() {
        Ok(there) if there.is_dir() && is_record(path) => fault("not-a-file", IS_A_FOLDER.to_owned(), RENAME),
        Ok(there) if there.is_dir() => folder(path, &Files::Disk(disk.to_owned()), &Folder::on_disk(disk), recursive),
        Ok(there) if !there.is_file() => {
            fault("not-a-file", "this is not a regular file".to_owned(), "give the file of a record, or a folder")
        }
        Ok(_) if !is_record(path) => {
            let message =
                format!("this is not named like a golden record: expected a name that ends in {}", ENDINGS[0]);
            fault("not-a-record", message, "rename the file, or give the record that lies beside the documents")
        }
        Ok(_) => {
            let name = disk.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let folder = Folder::on_disk(disk.parent().unwrap_or(Path::new("")));
            Ok(vec![RecordPlace { folder, name }])
        }
        Err(_) => match shipped_suites::embedded(path) {
            Some(files) => folder(path, &files, &Folder::within(&files, ""), recursive),
            None => {
                let near =
                    nearest(path, shipped_suites::names()).map(|near| format!("did you mean the suite `{near}`?"));
                let help = near.unwrap_or_else(|| format!("give a file that ends in {}, or a folder", ENDINGS[0]));
                fault("no-such-place", "missing file or folder".to_owned(), &help)
            }
        },
    }
}

/// The records of a folder, including its subfolders if requested or if it is a suite.
fn folder(path: &str, files: &Files, folder: &Folder, recursive: bool) -> Result<Vec<RecordPlace>, Vec<Diagnostic>> {
    if let Ok(Some(bytes)) = files.read("karat.toml") {
        let shown = folder.display("karat.toml");
        let (config, _) =
            decode_bytes::<ConfigV1>(&shown, &bytes, Syntax::Toml, &schema_of::<ConfigV1>()).into_result()?;
        if config.suite.kind != SuiteKind::Assessment && !recursive {
            let message = "kind = \"findings\": this suite holds findings to score, not documents to assess";
            let help = "set kind = \"assessment\", or have its folders searched for golden records with -r";
            return Err(vec![Diagnostic::of_file(shown, "wrong-kind", message).with_help(help)]);
        }
    } else if !recursive {
        let message = format!("this is a folder; its records are looked for (**/*{}) only with -r", ENDINGS[0]);
        let help = "add -r, or give the record itself";
        return Err(vec![Diagnostic::of_file(path, "folder", message).with_help(help)]);
    }
    let found = below(folder)?;
    if found.is_empty() {
        let message = format!("no golden record here: no file **/*{} or **/*{}", ENDINGS[0], ENDINGS[1]);
        let help = "hidden folders are not searched; docs/formats.md shows a record";
        return Err(vec![Diagnostic::of_file(folder.display(""), "no-records", message).with_help(help)]);
    }
    Ok(found)
}

/// All records below a folder. Hidden folders and links to folders are skipped; a link out of the root is a fault.
fn below(folder: &Folder) -> Result<Vec<RecordPlace>, Vec<Diagnostic>> {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let mut open = vec![folder.clone()];
    while let Some(folder) = open.pop() {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => {
                faults.push(Diagnostic::of_file(folder.display(""), "unreadable", error.to_string()));
                continue;
            }
        };
        for name in entries.folders.iter().filter(|name| !name.starts_with('.')) {
            if is_record(name) {
                faults.push(Diagnostic::of_file(folder.display(name), "not-a-file", IS_A_FOLDER).with_help(RENAME));
            } else {
                open.push(folder.join(name));
            }
        }
        for link in entries.refused.iter().filter(|name| !name.starts_with('.')) {
            let message = "this link leads out of the folder that is searched, or to nothing";
            let help = "put what it leads to there, or remove it";
            faults.push(Diagnostic::of_file(folder.display(link), "path-escapes", message).with_help(help));
        }
        let records = entries.files.into_iter().filter(|name| is_record(name));
        found.extend(records.map(|name| RecordPlace { folder: folder.alone(), name }));
    }
    if faults.is_empty() {
        return Ok(found);
    }
    faults.sort_by(|a, b| a.file.cmp(&b.file));
    Err(faults)
}

const RENAME: &str = "rename the folder";
const IS_A_FOLDER: &str = "this is a folder with the name of a golden record";
