//! The reviews of code-review-bench, where they lie beside the repository. They are never part of it.

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every trial of every judge's folder, in the order of their names: the goldens of its pull request, and what was found.
pub(crate) fn trials() -> Option<Vec<(Vec<Golden>, Vec<Finding>)>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("KARAT_SHARED_DATA").map_or_else(beside, PathBuf::from).join("code-review-bench");
    let mut goldens: BTreeMap<String, Vec<Golden>> = BTreeMap::new();
    for path in files(&folder.join("golden_comments"))? {
        for request in read(&path)?.as_array()? {
            let comments = request["comments"].as_array()?.iter().enumerate();
            let golden = |(n, comment): (usize, &Value)| Golden {
                description: comment["comment"].as_str().map(str::to_owned),
                ..Golden::new(format!("g{n}"))
            };
            goldens.insert(request["url"].as_str()?.to_owned(), comments.map(golden).collect());
        }
    }
    let mut trials = Vec::new();
    for judge in files(&folder.join("results"))? {
        for (url, tools) in read(&judge.join("candidates.json"))?.as_object()? {
            let Some(goldens) = goldens.get(url) else { continue };
            for said in tools.as_object()?.values() {
                let finding = |(n, said): (usize, &Value)| Finding {
                    message: said["text"].as_str().map(str::to_owned),
                    ..Finding::new(format!("f{n}"))
                };
                trials.push((goldens.clone(), said.as_array()?.iter().enumerate().map(finding).collect()));
            }
        }
    }
    Some(trials)
}

fn files(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.map(|entry| Some(entry.ok()?.path())).collect::<Option<_>>()?;
    files.sort();
    Some(files)
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
