//! Problems of what backs a golden: a quote that its lines do not contain, a proof without its files, and results that are out of date.

use super::{Lint, Path, error, issue, warning};
use crate::suite::LoadedSuite;
use crate::suite::kept_proofs::{find_kept, proof_path, read_kept, subject};
use karat_core::golden::{Golden, Proof};
use karat_core::path::FilePattern;
use karat_core::suite::Case;
use karat_format::diagnostic::Diagnostic;
use karat_format::proofs::{ProofVerdictV1, ProofsV1};

/// What was kept of the suite's proofs; faults of the file are reported.
pub(super) fn read_kept_proofs(loaded: &LoadedSuite, diagnostics: &mut Vec<Diagnostic>) -> ProofsV1 {
    read_kept(&loaded.files).unwrap_or_else(|faults| {
        diagnostics.extend(faults);
        ProofsV1::default()
    })
}

/// Reports a quote that is not on the golden's lines. Without lines, its file must contain it.
pub(super) fn quote_lint(loaded: &LoadedSuite, case: &Case, index: usize, golden: &Golden, lints: &mut Vec<Lint>) {
    let Some(quote) = golden.quote.as_deref().filter(|quote| !quote.trim().is_empty()) else { return };
    let Some(file) = &golden.file else {
        let message = format!("`{}` has a quote and no file in which it could be", golden.id);
        return lints.push(error("misplaced-quote", issue(index, "quote"), message));
    };
    let paths = loaded.after_paths(&case.id);
    let texts: Vec<String> =
        paths.iter().filter(|path| file.matches(path)).filter_map(|path| loaded.source(&case.id, path)).collect();
    // A file that is missing, or lines outside it, are reported elsewhere.
    let count = |text: &String| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if texts.is_empty() || golden.lines.is_some_and(|lines| texts.iter().all(|text| lines.end > count(text))) {
        return;
    }
    let is_there = |text: &String| match golden.lines {
        None => text.contains(quote),
        Some(lines) => {
            let (start, end) = (lines.start.saturating_sub(1) as usize, lines.end as usize);
            let own: Vec<&str> = text.lines().skip(start).take(end.saturating_sub(start)).collect();
            own.join("\n").contains(quote)
        }
    };
    if texts.iter().any(is_there) {
        return;
    }
    let place = match (golden.lines, file) {
        (Some(lines), FilePattern::Exact(_)) if lines.start == lines.end => format!("line {} of `{file}`", lines.start),
        (Some(lines), _) => format!("lines {} to {} of `{file}`", lines.start, lines.end),
        (None, _) => format!("`{file}`"),
    };
    let message = format!("the quote of `{}` is not on {place}", golden.id);
    let found = texts.iter().find_map(|text| Some(text[..text.find(quote)?].matches('\n').count() + 1));
    let help = match found {
        Some(line) => format!("it begins on line {line}; correct the lines"),
        None => "repeat a part of the code, with its blanks".to_owned(),
    };
    lints.push(Lint { help: Some(help), ..error("misplaced-quote", issue(index, "quote"), message) });
}

/// Reports files of a proof that are missing, and a result that was kept for other code or is not the wanted one.
pub(super) fn proof_lints(
    loaded: &LoadedSuite,
    case: &Case,
    index: usize,
    golden: &Golden,
    kept: &ProofsV1,
    lints: &mut Vec<Lint>,
) {
    let Some(proof) = &golden.proof else { return };
    // A path that leads out of the case is reported elsewhere.
    if ![&proof.files, &proof.fixed].iter().all(|path| Proof::is_inside_case(path)) {
        return;
    }
    let before = lints.len();
    file_lints(loaded, case, index, proof, lints);
    if lints.len() > before {
        return;
    }
    let Some(kept) = find_kept(kept, &case.id, golden.id.as_str()) else { return };
    let at = || issue(index, "proof");
    match subject(loaded, &case.id, proof) {
        Err(why) => {
            lints.push(error("unusable-proof", at(), format!("the proof of `{}` cannot be run: {why}", golden.id)))
        }
        Ok(now) if !kept.subject.is_about(&now) => {
            let changed = [
                ("the command", now.run != kept.subject.run),
                ("the code", now.code != kept.subject.code),
                ("the proof's files", now.files != kept.subject.files),
                ("the patch", now.patch != kept.subject.patch),
                ("the language", kept.subject.language.is_some() && now.language != kept.subject.language),
            ];
            let changed: Vec<&str> = changed.iter().filter(|(_, is)| *is).map(|(what, _)| *what).collect();
            let message = format!(
                "the result that is kept for the proof of `{}` is outdated: {} changed",
                golden.id,
                changed.join(", ")
            );
            let help = Some("`karat suite prove` runs it again".to_owned());
            lints.push(Lint { help, ..warning("outdated-proof", at(), message) });
        }
        Ok(_) if !matches!(kept.verdict, ProofVerdictV1::Proven | ProofVerdictV1::NoToolchain) => {
            let message = format!("`{}` is not proven: {}", golden.id, kept.verdict.describe());
            let help = Some("`karat suite prove --force` says more".to_owned());
            lints.push(Lint { help, ..warning("not-proven", at(), message) });
        }
        Ok(_) => {}
    }
}

fn file_lints(loaded: &LoadedSuite, case: &Case, index: usize, proof: &Proof, lints: &mut Vec<Lint>) {
    let at = |key: &'static str| -> Path { vec!["issues".into(), index.into(), "proof".into(), key.into()] };
    let folder = proof_path(loaded, &case.id, &proof.files);
    match loaded.files.walk(&folder) {
        Err(why) => lints.push(error("unreadable", at("files"), why.to_string())),
        Ok(found) => {
            if let Some(link) = found.refused.first() {
                let message =
                    format!("the link {}/{link} leads out of the proof, to a folder or to nothing", proof.files);
                lints.push(error("path-escapes", at("files"), message));
            } else if found.files.is_empty() {
                lints.push(error("no-such-file", at("files"), format!("no file in the folder `{}`", proof.files)));
            }
        }
    }
    if !matches!(loaded.files.read(&proof_path(loaded, &case.id, &proof.fixed)), Ok(Some(_))) {
        lints.push(error("no-such-file", at("fixed"), format!("missing file `{}` in the case folder", proof.fixed)));
    }
}
