//! `karat label add`: labels an item by its id.

use super::label_source::LabelSource;
use super::{annotator, sample};
use crate::args::LabelAddArgs;
use crate::exit::{Exit, Failure};
use crate::store_path;
use crate::terminal::{print_json, tell};
use karat::label::session::ItemView;
use karat_core::judgement::Classification;
use karat_core::profile::Profile;
use karat_core::wording::count;
use karat_store::label::{
    Annotator, Answer, AuditKey, AuditSubject, ExtraKey, ExtraSubject, NewAuditLabel, NewExtraLabel, NewLabel, PairKey,
    PairSubject, SHORT, Source, class_named, validity_word,
};
use karat_store::{OnExisting, Store};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Minimum length of an id prefix.
const FEWEST_SIGNS: usize = 4;

pub(super) fn run(args: &LabelAddArgs, stated: Option<&Path>) -> Result<Exit, Failure> {
    let annotator = annotator(&args.annotator)?;
    let found = find(args, stated)?;
    let note = args.note.clone().filter(|note| !note.trim().is_empty());
    let again = if args.change { OnExisting::Correct } else { OnExisting::Refuse };
    match found.item {
        ItemRef::Pair(pair) => {
            let answer = Answer::parse(&args.answer)
                .ok_or_else(|| Failure::usage("invalid answer for a pair: expected yes, no or partial"))?;
            let (confidence, picked_with_probability) = (None, drawn(args, &pair.key())?);
            let source = Source::Added;
            let label = NewLabel { pair: *pair, annotator, answer, confidence, note, picked_with_probability, source };
            add_pair(args, &label, again, stated)
        }
        ItemRef::Audit(shown) => {
            refuse_sample(args)?;
            let classes = Classification::ALL.map(Classification::as_str).join(", ");
            let classification = class_named(&args.answer).ok_or_else(|| {
                Failure::usage(format!("invalid answer for an audited finding: expected one of {classes}"))
            })?;
            add_audit(
                args,
                NewAuditLabel { shown: *shown, annotator, classification, note, source: Source::Added },
                again,
                stated,
            )
        }
        ItemRef::Extra(shown) => {
            refuse_sample(args)?;
            let answer = Answer::parse(&args.answer).filter(|answer| answer.partial.is_none());
            let message = "invalid answer for an extra: expected yes or no";
            let answer = answer.ok_or_else(|| Failure::usage(message))?;
            let texts = match found.seen {
                Some((seen, profile)) => alike(args, seen, profile, shown, stated)?,
                None => vec![shown],
            };
            let label = |shown| NewExtraLabel {
                shown,
                annotator: annotator.clone(),
                valid: answer.matched,
                note: note.clone(),
                picked_with_probability: None,
                source: Source::Added,
            };
            add_extra(args, texts.into_iter().map(label).collect(), again, stated)
        }
    }
}

fn refuse_sample(args: &LabelAddArgs) -> Result<(), Failure> {
    match args.sample.probability {
        None => Ok(()),
        Some(_) => Err(Failure::usage("--sample applies only to pairs; leave it out")),
    }
}

fn add_audit(
    args: &LabelAddArgs,
    label: NewAuditLabel,
    again: OnExisting,
    stated: Option<&Path>,
) -> Result<Exit, Failure> {
    let (key, said) = (label.shown.key(), label.classification.as_str());
    let mut store = Store::create(&store_path::folder(stated))?;
    let taken = store.add_audit_labels(std::slice::from_ref(&label), again)?;
    if args.json {
        print_json(&json!({ "audit": key, "id": key.short(), "case": label.shown.case, "annotator": label.annotator,
            "answer": said, "note": label.note, "added": taken.added, "corrected": taken.corrected }))?;
    }
    tell(&format!("{} labelled the audited finding {} {said}", label.annotator, key.short()));
    Ok(Exit::Ok)
}

/// The probability with which the pair was sampled, if it was; refuses a pair outside the sample.
fn drawn(args: &LabelAddArgs, key: &PairKey) -> Result<Option<f64>, Failure> {
    let Some(sample) = sample(&args.sample)? else { return Ok(None) };
    if sample.place(key).is_none() {
        let message =
            format!("the pair {} is not in this sample; use the --sample and --seed it was shown with", key.short());
        return Err(Failure::usage(message));
    }
    Ok(Some(sample.probability()))
}

fn add_pair(args: &LabelAddArgs, label: &NewLabel, again: OnExisting, stated: Option<&Path>) -> Result<Exit, Failure> {
    Store::create(&store_path::folder(stated))?.add_label(label, again)?;
    let (key, answer) = (label.pair.key(), label.answer.word());
    if args.json {
        let said = json!({ "pair": key, "id": key.short(), "case": label.pair.known.case, "golden": label.pair.known.golden,
            "annotator": label.annotator, "answer": answer, "note": label.note });
        print_json(&said)?;
    }
    tell(&format!("{} labelled the pair {} {answer}", label.annotator, key.short()));
    Ok(Exit::Ok)
}

/// The first label is of the given extra; earlier labels of the others by the same annotator stay unless `--change` is given.
fn add_extra(
    args: &LabelAddArgs,
    labels: Vec<NewExtraLabel>,
    again: OnExisting,
    stated: Option<&Path>,
) -> Result<Exit, Failure> {
    let mut store = Store::create(&store_path::folder(stated))?;
    let Some(first) = labels.first().cloned() else { return Ok(Exit::Ok) };
    let done = own(&mut store, &first.annotator)?;
    let key = first.shown.key();
    let kept = |label: &NewExtraLabel| again == OnExisting::Refuse && done.contains(&label.shown.key());
    let (meant, others): (Vec<_>, Vec<_>) = labels.into_iter().partition(|label| label.shown.key() == key);
    let labels: Vec<NewExtraLabel> = meant.into_iter().chain(others.into_iter().filter(|l| !kept(l))).collect();
    let taken = store.add_extra_labels(&labels, again)?;
    if args.json {
        let texts: Vec<ExtraKey> = labels.iter().map(|label| label.shown.key()).collect();
        print_json(&json!({ "extra": key, "id": key.short(), "case": first.shown.case, "annotator": first.annotator,
            "answer": validity_word(first.valid), "note": first.note, "texts": texts, "added": taken.added,
            "corrected": taken.corrected }))?;
    }
    let more = match labels.len() - 1 {
        0 => String::new(),
        others => format!(", and {} that report the same", count(others, "text")),
    };
    tell(&format!("{} answered {} for the extra {}{more}", first.annotator, validity_word(first.valid), key.short()));
    Ok(Exit::Ok)
}

/// The labelled extras.
fn own(store: &mut Store, annotator: &Annotator) -> Result<BTreeSet<ExtraKey>, Failure> {
    let labels = store.extra_labels()?.into_iter();
    Ok(labels.filter(|label| label.annotator == *annotator).map(|label| label.extra).collect())
}

/// The given extra, then all others that report the same.
fn alike(
    args: &LabelAddArgs,
    seen: LabelSource,
    profile: Profile,
    shown: ExtraSubject,
    stated: Option<&Path>,
) -> Result<Vec<ExtraSubject>, Failure> {
    let key = shown.key();
    let scored = seen.scored(profile, &args.rules, &args.ask, stated)?;
    let queue = scored.queue(1);
    let texts = queue.items().iter().filter_map(|item| match &item.shown {
        ItemView::Extra(texts) => texts.iter().any(|text| text.key() == key).then_some(texts),
        _ => None,
    });
    let others = texts.flatten().filter(|text| text.key() != key).cloned();
    Ok(std::iter::once(shown).chain(others).collect())
}

/// The item of an id.
enum ItemRef {
    Pair(Box<PairSubject>),
    Extra(ExtraSubject),
    Audit(Box<AuditSubject>),
}

/// The item of an id, and where it was shown, if that was loaded.
struct ResolvedItem {
    item: ItemRef,
    seen: Option<(LabelSource, Profile)>,
}

/// Resolves an id to a labelled item, or to an item of the run or submission.
fn find(args: &LabelAddArgs, stated: Option<&Path>) -> Result<ResolvedItem, Failure> {
    let id = args.id.trim().to_lowercase();
    if id.len() < FEWEST_SIGNS || !id.chars().all(|c| c.is_ascii_hexdigit()) {
        let message = format!("invalid id `{}`: expected at least {FEWEST_SIGNS} hexadecimal digits", args.id);
        return Err(Failure::usage(format!("{message}, as `karat label next` shows them")));
    }
    let mut found: BTreeMap<String, ItemRef> = BTreeMap::new();
    let folder = store_path::folder(stated);
    if Store::is_at(&folder) {
        let mut store = Store::open(&folder)?;
        found.extend(pairs(store.labelled_pairs(&id)?.into_iter().map(|pair| (pair.key(), pair))));
        found.extend(extras(store.labelled_extras(&id)?.into_iter().map(|shown| (shown.key(), shown))));
        found.extend(audits(store.labelled_audits(&id)?.into_iter().map(|shown| (shown.key(), shown))));
    }
    // A labelled item needs no run. Others, and extras that report the same, are looked up in the run or submission.
    let whole = found.len() == 1 && id.len() >= SHORT;
    let placed = args.run.is_some() || args.seen.suite.is_some();
    let is_extra = found.values().all(|meant| matches!(meant, ItemRef::Extra(_)));
    let mut seen = None;
    if !whole || is_extra && placed {
        match LabelSource::with_rules(args.run.as_deref(), &args.seen, &args.rules, stated) {
            Ok((own, profile)) => {
                found.extend(pairs(own.pairs_like(&id)));
                found.extend(extras(own.extras_like(&id)));
                found.extend(audits(own.audits_like(&id)));
                seen = Some((own, profile));
            }
            Err(failure) if found.is_empty() => return Err(failure),
            Err(_) => {}
        }
    }
    let keys: Vec<&str> = found.keys().take(10).map(String::as_str).collect();
    match keys.as_slice() {
        [_] => {}
        [] => {
            let help = "select the run or submission that contains it with --run, or --suite and --submission";
            return Err(Failure::usage(format!("no pair, extra or finding has the id `{id}`; {help}")));
        }
        several => {
            return Err(Failure::usage(format!(
                "ambiguous id `{id}`: matches {}; use a longer prefix",
                several.join(", ")
            )));
        }
    }
    let meant = found.into_values().next().ok_or_else(|| Failure::usage(format!("no pair has the id `{id}`")))?;
    Ok(ResolvedItem { item: meant, seen })
}

fn pairs(found: impl IntoIterator<Item = (PairKey, PairSubject)>) -> impl Iterator<Item = (String, ItemRef)> {
    found.into_iter().map(|(key, pair)| (key.to_string(), ItemRef::Pair(Box::new(pair))))
}

fn audits(found: impl IntoIterator<Item = (AuditKey, AuditSubject)>) -> impl Iterator<Item = (String, ItemRef)> {
    found.into_iter().map(|(key, shown)| (key.to_string(), ItemRef::Audit(Box::new(shown))))
}

fn extras(found: impl IntoIterator<Item = (ExtraKey, ExtraSubject)>) -> impl Iterator<Item = (String, ItemRef)> {
    found.into_iter().map(|(key, shown)| (key.to_string(), ItemRef::Extra(shown)))
}
