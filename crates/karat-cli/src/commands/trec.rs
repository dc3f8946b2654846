//! `karat trec`.

use crate::args::TrecArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{note, notes, print, print_json};
use karat::did_you_mean;
use karat::submissions::{open_lines, refuse_repeated_stdin};
use karat::trec::{Evaluated, draw, read_qrels, read_run};
use karat_core::trec::{Evaluation, FAMILIES, Measure, MeasureError, official};

pub(crate) fn run(args: &TrecArgs) -> Result<Exit> {
    let measures = measures(&args.measures)?;
    refuse_repeated_stdin([&args.qrels, &args.run])?;
    let qrels = read_qrels(open_lines(&args.qrels)?)?;
    let read = read_run(open_lines(&args.run)?)?;
    let evaluation = Evaluation::new(&qrels, &read.run);
    if evaluation.topics.is_empty() {
        return Err(Failure::bad_input(format!(
            "{} and {} have no topic in common: the judgements have {}, the run has {}; use judgements and a run of the same topics",
            args.qrels.display(),
            args.run.display(),
            some(&evaluation.missing),
            some(&evaluation.unjudged)
        )));
    }
    let evaluated = Evaluated::new(&evaluation, &measures, args.per_query, args.complete);
    if args.json {
        print_json(&evaluated)?;
    } else {
        // `trec_eval` prints the run's name with its official measures, but not with selected ones.
        let whole = |text: &String| text == "official" || text == "all";
        let run_name = args.measures.is_empty() || args.measures.iter().any(whole);
        print(&draw(&evaluated, run_name))?;
        notes(&read.notes);
        print_topics(&evaluation, args.complete);
    }
    Ok(Exit::Ok)
}

fn measures(asked: &[String]) -> Result<Vec<Measure>> {
    if asked.is_empty() {
        return Ok(official());
    }
    let mut all = Vec::new();
    for text in asked {
        all.extend(Measure::parse(text).map_err(|fault| refused(&fault))?);
    }
    Ok(Measure::in_order(all))
}

fn refused(fault: &MeasureError) -> Failure {
    match fault {
        MeasureError::Unknown(name) => {
            let hint = did_you_mean(name, FAMILIES.iter().map(|family| family.name)).unwrap_or_default();
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            Failure::usage(format!("unknown measure `{name}`{hint}; available: {}", names.join(", ")))
        }
        MeasureError::BadCutoff { name, cutoff } => {
            let family = FAMILIES.iter().find(|family| family.name == *name);
            let how = match family.map(|family| family.cutoffs) {
                Some(karat_core::trec::Cutoffs::Places(_)) => format!("expected ranks from 1, such as {name}.5,10"),
                Some(karat_core::trec::Cutoffs::Shares(_)) => format!("expected shares, such as {name}.0.2,0.5"),
                _ => format!("{name} has no cutoffs: it uses the whole ranking"),
            };
            Failure::usage(format!("invalid cutoff `{cutoff}` of `{name}`: {how}"))
        }
    }
}

/// Notes topics that only one of the files has.
fn print_topics(evaluation: &Evaluation, complete: bool) {
    if !evaluation.unjudged.is_empty() {
        note(&format!("topics of the run without judgements are skipped: {}", some(&evaluation.unjudged)));
    }
    if !evaluation.missing.is_empty() && !complete {
        let missing = some(&evaluation.missing);
        note(&format!("judged topics missing from the run are skipped: {missing}; --complete counts them as 0"));
    }
}

/// The first names, and the number of the others.
fn some(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}
