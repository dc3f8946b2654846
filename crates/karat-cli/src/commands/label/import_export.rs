//! `karat label export` and `karat label import`.

use super::checked;
use super::label_source::LabelSource;
use crate::args::{LabelExportArgs, LabelImportArgs};
use crate::exit::{Exit, Failure};
use crate::terminal::{note, print, print_json, tell};
use crate::{inputs, store_path};
use karat_core::judgement::Judgement;
use karat_core::wording::count;
use karat_format::recorded::write_judgements;
use karat_io::atomic_write;
use karat_store::label::{ImportContext, audit_label_judgements, extra_label_judgements, pair_label_judgements, read};
use karat_store::{OnExisting, Store};
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn export(args: &LabelExportArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let only = args.name.as_deref().map(checked).transpose()?;
    let mut store = store_path::open(stated)?;
    let (mut labels, mut extras, mut audits) = (store.labels()?, store.extra_labels()?, store.audit_labels()?);
    labels.retain(|label| only.as_ref().is_none_or(|only| label.annotator == *only));
    extras.retain(|label| only.as_ref().is_none_or(|only| label.annotator == *only));
    audits.retain(|label| only.as_ref().is_none_or(|only| label.annotator == *only));
    let seen = LabelSource::load(args.run.as_deref(), &args.seen, stated)?;
    let heard = pair_label_judgements(&labels, &seen.loaded.suite, &seen.trials);
    let of_extras = extra_label_judgements(&extras, &seen.trials);
    let used: HashSet<i64> = heard.iter().map(|(label, _)| label.sequence).collect();
    let used_of_extras: HashSet<i64> = of_extras.iter().map(|(label, _)| label.sequence).collect();
    let of_audits = audit_label_judgements(&audits, &seen.loaded.suite, &seen.trials);
    let used_of_audits: HashSet<i64> =
        of_audits.iter().flat_map(|(labels, _)| labels).map(|label| label.sequence).collect();
    let all = labels.len() + extras.len() + audits.len();
    let unseen = all - used.len() - used_of_extras.len() - used_of_audits.len();
    let pairs = heard.into_iter().map(|(_, judgement)| judgement);
    let extras = of_extras.into_iter().map(|(_, judgement)| judgement);
    let audits = of_audits.into_iter().map(|(_, judgement)| judgement);
    let judgements: Vec<Judgement> = pairs.chain(extras).chain(audits).collect();
    let mut lines = Vec::new();
    write_judgements(&mut lines, &judgements).map_err(|error| Failure::unwritten("the export", error))?;
    match &args.output {
        None => print(&String::from_utf8_lossy(&lines))?,
        Some(path) => {
            atomic_write::write(path, &mut |out| out.write_all(&lines))
                .map_err(|error| Failure::unwritten(path.display(), error))?;
            if args.json {
                print_json(&json!({
                    "file": path, "judgements": judgements.len(), "labels": all,
                    "labels_of_other_findings": unseen,
                }))?;
            }
            tell(&format!(
                "wrote {}, {} from {}",
                path.display(),
                count(judgements.len(), "judgement"),
                count(all, "label")
            ));
        }
    }
    if unseen > 0 {
        note(&format!("{} skipped: the labelled finding is not in this run or submission", count(unseen, "label")));
    }
    Ok(Exit::Ok)
}

pub(super) fn import(args: &LabelImportArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let all = args.files.iter().chain(&args.seen.submissions);
    if all.filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read only once: use `-` for one file"));
    }
    let seen = LabelSource::load(args.run.as_deref(), &args.seen, stated)?;
    let inputs = args.files.iter().map(|path| inputs::lines(path)).collect::<Result<Vec<_>, _>>()?;
    let folder = store_path::folder(stated);
    let (mut kept, mut kept_extras, mut kept_audits) = (Vec::new(), Vec::new(), Vec::new());
    if Store::is_at(&folder) {
        let mut store = Store::open(&folder)?;
        (kept, kept_extras, kept_audits) = (store.labels()?, store.extra_labels()?, store.audit_labels()?);
    }
    let reading = ImportContext {
        suite: &seen.loaded.suite,
        trials: &seen.trials,
        kept: &kept,
        kept_extras: &kept_extras,
        kept_audits: &kept_audits,
        change: args.change,
    };
    let labels = read(inputs, &reading)?;
    let again = if args.change { OnExisting::Correct } else { OnExisting::Refuse };
    let taken = Store::create(&folder)?.add_all_labels(&labels, again)?;
    if args.json {
        print_json(&taken)?;
    }
    let corrected = if taken.corrected > 0 { format!(", {} corrected", taken.corrected) } else { String::new() };
    tell(&format!("{} added{corrected}, {} already present", count(taken.added, "label"), taken.were_here));
    Ok(Exit::Ok)
}
