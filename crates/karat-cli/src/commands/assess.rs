//! `karat assess`.

mod reading;

use crate::args::{AssessArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::progress::Assessing;
use crate::signals::cancel_on_signals;
use crate::terminal::{look, note, print, tell};
use crate::{inputs, output_files, outputs, store_path};
use karat_core::scorecard::Intervals;
use karat_documents::assess::assessor::BASELINE;
use karat_documents::assess::evaluate::{Assessor, EvaluationContext, EvaluationError, open};
use karat_documents::assess::event::AssessEvent;
use karat_documents::assess::export::trec;
use karat_documents::assess::log::{LogContext, LogWriter};
use karat_documents::assess::measure::{EvaluationAnswers, MeasureOptions, report};
use karat_documents::assess::search::{SearchCost, SearchProviders, SearchedBundle, search};
use karat_documents::assess::{Bundle, RecordPlace, Template, discover, search_providers};
use karat_documents::retrieval::embed::Embedder;
use karat_documents::retrieval::rerank::Reranker;
use karat_documents::retrieval::{RetrievalError, SearchOptions};
use karat_format::assessment::{AssessmentReportV1, MeasuredV1, StageV1};
use karat_format::document::suggest::nearest;
use karat_format::log::LogLineV1;
use karat_io::atomic_write;
use karat_io::cancel::Cancel;
use karat_llm::ledger::{CacheMode, Ledger, MemoryLedger};
use karat_report::assessment::{csv, draw, html, markdown};
use karat_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &AssessArgs) -> Result<Exit, Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
    let plan = Plan::from_args(args)?;
    let places = discover(&args.paths, args.recursive)?;
    let mut site = RunContext::open(args, &plan)?;
    site.journal.write("run_began", LogLineV1 { detail: Some(args.paths.join(" ")), ..LogLineV1::default() });
    let done = whole(args, &plan, &places, &mut site);
    if let Err(failure) = &done {
        let (stage, error_kind) = (Some("run".to_owned()), Some("stopped".to_owned()));
        let line = LogLineV1 { stage, error_kind, error: Some(failure.text()), ..LogLineV1::default() };
        site.journal.write("run_failed", line);
    }
    site.progress.end();
    done
}

/// Loads records, assesses them, and prints the report.
fn whole(args: &AssessArgs, plan: &Plan, places: &[RecordPlace], site: &mut RunContext) -> Result<Exit, Failure> {
    let began = Instant::now();
    let bundles = reading::bundles(places, args.session.as_deref(), site)?;
    site.took("ingest", began);
    wanted_exist(&args.requirement, &bundles)?;
    let templates = templates(&bundles);
    let evaluations = plan.evaluations(&templates)?;
    let helpers = plan.helpers(args, &templates)?;
    let inside = args.search.embedding.as_deref().is_none_or(|name| name == search_providers::DEFAULT);
    site.warn_of_languages = inside && helpers.values().any(|(embedder, _)| embedder.is_some());

    let began = Instant::now();
    let (looked, took) = plan.search(args, &bundles, &helpers, site)?;
    site.took("search", began);
    if let Some(folder) = &args.trec {
        write_trec(folder, &looked)?;
    }
    let began = Instant::now();
    let answers = ask(&evaluations, &looked, plan.cache, site)?;
    site.took("assess", began);

    let report = plan.report(args, &looked, &took, &answers, &helpers, site);
    site.journal.write("run_ended", LogLineV1::default());
    site.progress.end();
    show(args, &report)?;
    site.end();
    let silent = report.assessments.iter().any(|(_, one)| one.answered == 0 && !one.requirements.is_empty());
    Ok(if silent { Exit::Failed } else { Exit::Ok })
}

/// Options that apply to all bundles.
struct Plan {
    stage: StageV1,
    intervals: Intervals,
    margin: f64,
    cache: CacheMode,
    evaluation: Vec<String>,
}

/// The search providers, by template file.
type Helpers = BTreeMap<String, (Option<Box<dyn Embedder>>, Option<Box<dyn Reranker>>)>;

impl Plan {
    fn from_args(args: &AssessArgs) -> Result<Self, Failure> {
        let intervals = Intervals { seed: args.seed, ..inputs::interval_options(&args.intervals) };
        if let Some(field) = intervals.cluster.named().filter(|field| *field != "bundle") {
            return Err(Failure::usage(format!("--cluster {field}: requirements can only be clustered by bundle")));
        }
        if !(args.margin.is_finite() && args.margin >= 0.0) {
            return Err(Failure::usage(format!("--margin {}: expected a number of at least 0", args.margin)));
        }
        let stage = match args.stage.as_str() {
            "retrieve" => StageV1::Retrieve,
            "assess" => StageV1::Assess,
            _ => StageV1::Full,
        };
        if stage == StageV1::Retrieve && !args.evaluation.is_empty() {
            return Err(Failure::usage("--stage retrieve uses no assessor; omit --evaluation, or use --stage full"));
        }
        let evaluation = match (stage, args.evaluation.as_slice()) {
            (StageV1::Retrieve, _) => Vec::new(),
            (_, []) => vec![BASELINE.to_owned()],
            (_, some) => some.to_vec(),
        };
        let cache = CacheMode::from_name(&args.judge_cache).unwrap_or_default();
        Ok(Self { stage, intervals, margin: args.margin, cache, evaluation })
    }

    fn evaluations(&self, templates: &[&Template]) -> Result<Vec<Assessor>, Failure> {
        let mut seen = BTreeSet::new();
        if let Some(name) = self.evaluation.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(EvaluationError::Twice { name: name.clone() }.into());
        }
        let variable = |name: &str| std::env::var(name).ok();
        let opened = self.evaluation.iter().map(|name| open(name, templates, &variable, self.cache));
        Ok(opened.collect::<Result<_, EvaluationError>>()?)
    }

    fn helpers(&self, args: &AssessArgs, templates: &[&Template]) -> Result<Helpers, Failure> {
        let variable = |name: &str| std::env::var(name).ok();
        let name = |stated: &Option<String>| stated.clone().unwrap_or_else(|| search_providers::DEFAULT.to_owned());
        let mut helpers = Helpers::new();
        for template in templates {
            let knobs = knobs(args, template);
            knobs.check()?;
            let embedder = match knobs.by_vectors() {
                true => search_providers::embedder(&name(&args.search.embedding), template, &variable)?,
                false => None,
            };
            let reranker = match knobs.rerank {
                true => search_providers::reranker(&name(&args.search.reranking), template, &variable)?,
                false => None,
            };
            if embedder.is_none() && args.search.bm25_weight == Some(0.0) {
                return Err(RetrievalError::NoVectors { weight: 0.0 }.into());
            }
            helpers.insert(template.display_path(), (embedder, reranker));
        }
        Ok(helpers)
    }

    fn search<'b>(
        &self,
        args: &AssessArgs,
        bundles: &'b [Bundle],
        helpers: &Helpers,
        site: &mut RunContext,
    ) -> Result<(Vec<SearchedBundle<'b>>, SearchCost), Failure> {
        let wanted = |id: &str| args.requirement.is_empty() || args.requirement.iter().any(|own| own == id);
        let mut means = |template: &Template| {
            let (embedder, reranker) =
                helpers.get(&template.display_path()).map_or((None, None), |(e, r)| (e.as_deref(), r.as_deref()));
            let mut knobs = knobs(args, template);
            // Without vectors, only the word search is used, whatever its weight.
            if embedder.is_none() {
                knobs.bm25_weight = 1.0;
            }
            Ok(SearchProviders { options: knobs, embedder, reranker })
        };
        Ok(search(bundles, &wanted, &mut means, &mut |event| site.on_event(&event))?)
    }

    fn report(
        &self,
        args: &AssessArgs,
        looked: &[SearchedBundle<'_>],
        took: &SearchCost,
        answers: &[EvaluationAnswers<'_>],
        helpers: &Helpers,
        site: &mut RunContext,
    ) -> AssessmentReportV1 {
        let first = looked.first().map(|bundle| &bundle.corpus.bundle.template);
        let own = first.and_then(|template| helpers.get(&template.display_path()));
        let embedding = own.and_then(|(embedder, _)| embedder.as_ref()).map(|embedder| embedder.id());
        let mut knobs = first.map_or_else(SearchOptions::default, |template| knobs(args, template));
        if embedding.is_none() {
            knobs.bm25_weight = 1.0;
        }
        let how = MeasureOptions {
            stage: self.stage,
            intervals: &self.intervals,
            margin: self.margin,
            search: knobs,
            embedding,
            reranking: own.and_then(|(_, reranker)| reranker.as_ref()).map(|reranker| reranker.id()),
        };
        let mut report = report(looked, took, answers, &how, std::mem::take(&mut site.measured));
        report.warnings.extend(others_differ(args, looked));
        if site.warn_of_languages {
            report.warnings.extend(foreign(&report));
        }
        report
    }
}

/// The template's search options, overridden by the flags.
fn knobs(args: &AssessArgs, template: &Template) -> SearchOptions {
    let own = SearchOptions::from(&template.config.search);
    let typed = &args.search;
    let or = |typed: Option<u32>, own: usize| typed.map_or(own, |typed| typed as usize);
    SearchOptions {
        search_limit: or(typed.search_limit, own.search_limit),
        bm25_weight: typed.bm25_weight.unwrap_or(own.bm25_weight),
        rerank_top_n: or(typed.rerank_top_n, own.rerank_top_n),
        min_candidate_length: or(typed.min_candidate_length, own.min_candidate_length),
        rerank: own.rerank && !typed.no_rerank,
    }
}

/// The context of an execution: the store, the log and the progress observer.
struct RunContext {
    store: Option<Store>,
    journal: LogWriter,
    progress: Assessing,
    cancel: Cancel,
    measured: MeasuredV1,
    warn_of_languages: bool,
    quiet: bool,
    hint: bool,
}

impl RunContext {
    /// If the store cannot be created, only the log is lost, unless something must be stored.
    fn open(args: &AssessArgs, plan: &Plan) -> Result<Self, Failure> {
        let folder = store_path::folder(args.store.folder.as_deref());
        let asks = plan.evaluation.iter().any(|name| name != BASELINE);
        let needed = args.session.is_some() || asks && plan.cache == CacheMode::ReadWrite;
        let store = match Store::create(&folder) {
            Ok(store) => Some(store),
            Err(error) if !needed => {
                note(&format!("no log is written: {error}"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        let bound = LogContext::new(args.session.clone(), plan.stage.name());
        let measured = MeasuredV1 {
            batch_run_id: Some(bound.batch_run_id.clone()),
            session_id: bound.session_id.clone(),
            ..MeasuredV1::default()
        };
        let journal = match &store {
            Some(store) => LogWriter::begin(store.folder(), bound),
            None => LogWriter::disabled(bound),
        };
        Ok(Self {
            store,
            journal,
            progress: Assessing::new(args.quiet),
            // A stage that does not check for cancellation must not catch signals.
            cancel: if asks { cancel_on_signals()? } else { Cancel::default() },
            measured,
            warn_of_languages: false,
            quiet: args.quiet,
            hint: !args.quiet && !args.json,
        })
    }

    fn on_event(&mut self, event: &AssessEvent<'_>) {
        self.journal.record(event);
        self.progress.on_event(event);
    }

    fn took(&mut self, stage: &str, began: Instant) {
        self.measured.seconds.insert(stage.to_owned(), (began.elapsed().as_secs_f64() * 1e3).round() / 1e3);
    }

    fn end(&self) {
        if let Some(fault) = self.journal.fault() {
            note(&format!("the log is incomplete: {fault}"));
        }
        if self.hint && self.store.is_some() {
            let id = &self.journal.context().batch_run_id;
            tell(&format!("\nRun {}: karat logs summarize --run {}", &id[..13.min(id.len())], &id[..13.min(id.len())]));
        }
    }
}

/// Runs each assessor in turn on the same parts.
fn ask<'e>(
    evaluations: &'e [Assessor],
    looked: &[SearchedBundle<'_>],
    cache: CacheMode,
    site: &mut RunContext,
) -> Result<Vec<EvaluationAnswers<'e>>, Failure> {
    let mut answers = Vec::new();
    let mut none = MemoryLedger::default();
    for evaluation in evaluations {
        let RunContext { store, journal, progress, cancel, .. } = site;
        let ledger: &mut dyn Ledger = match store {
            Some(store) if cache.reads() => store,
            _ => &mut none,
        };
        let mut tell = |event: AssessEvent<'_>| {
            journal.record(&event);
            progress.on_event(&event);
        };
        let evaluated = evaluation.assess(looked, &mut EvaluationContext { ledger, cancel, observer: &mut tell })?;
        if cancel.is_cancelled() {
            progress.end();
            let kept =
                if cache == CacheMode::ReadWrite { "; answers so far are stored and will be reused" } else { "" };
            return Err(Failure::failed(format!("stopped{kept}")));
        }
        answers.push(EvaluationAnswers { evaluation, evaluated });
    }
    Ok(answers)
}

/// The output formats of an assessment report.
const EXTENSIONS: [&str; 4] = ["json", "md", "csv", "html"];

fn show(args: &AssessArgs, report: &AssessmentReportV1) -> Result<(), Failure> {
    // Standard output may be closed; the files are written all the same.
    let printed = match args.json {
        true => print(&output_files::json(report)),
        false => print(&draw(report, args.verbose, &look())),
    };
    write(report, &args.outputs, args.quiet)?;
    outputs::add_to_summary(&|| markdown::draw(report))?;
    printed
}

/// Renders a stored assessment report as it was first rendered.
pub(super) fn redraw(report: &AssessmentReportV1, args: &OutputArgs) -> Result<(), Failure> {
    output_files::check(&args.outputs, &EXTENSIONS)?;
    let format = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    print(&match format {
        "table" => draw(report, false, &look()),
        "json" => output_files::json(report),
        "markdown" => markdown::draw(report),
        "csv" => csv::draw(report),
        "html" => html::draw(report),
        other => {
            let message =
                format!("unsupported format `{other}` of an assessment: expected table, json, markdown, csv or html");
            return Err(Failure::usage(message));
        }
    })?;
    write(report, &args.outputs, false)
}

fn write(report: &AssessmentReportV1, outputs: &[PathBuf], quiet: bool) -> Result<(), Failure> {
    let all = [
        output_files::Drawing { extension: "json", draw: &|| output_files::json(report) },
        output_files::Drawing { extension: "md", draw: &|| markdown::draw(report) },
        output_files::Drawing { extension: "html", draw: &|| html::draw(report) },
        output_files::Drawing { extension: "csv", draw: &|| csv::draw(report) },
    ];
    output_files::write(outputs, &all, quiet)
}

fn write_trec(folder: &Path, looked: &[SearchedBundle<'_>]) -> Result<(), Failure> {
    let wrong = |error| Failure::unwritten(folder.display(), error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    let files = trec(looked);
    for (name, text) in [("run.txt", &files.run), ("qrels.txt", &files.qrels)] {
        let path = folder.join(name);
        atomic_write::write(&path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
    }
    Ok(())
}

/// The distinct templates of the bundles.
fn templates(bundles: &[Bundle]) -> Vec<&Template> {
    let mut seen = BTreeSet::new();
    bundles.iter().map(|bundle| &bundle.template).filter(|template| seen.insert(template.display_path())).collect()
}

/// Refuses a `--requirement` that no record has.
fn wanted_exist(wanted: &[String], bundles: &[Bundle]) -> Result<(), Failure> {
    let known: BTreeSet<&str> =
        bundles.iter().flat_map(|bundle| &bundle.record.requirements).map(|one| one.id.as_str()).collect();
    let Some(unknown) = wanted.iter().find(|id| !known.contains(id.as_str())) else { return Ok(()) };
    let hint = nearest(unknown, known.iter().copied()).map_or_else(
        || format!("available: {}", known.iter().copied().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(Failure::usage(format!("--requirement {unknown}: no record has it; {hint}")))
}

/// Templates may set their own search options and k; the report shows those of the first.
fn others_differ(args: &AssessArgs, looked: &[SearchedBundle<'_>]) -> Option<String> {
    let of = |bundle: &SearchedBundle<'_>| {
        let template = &bundle.corpus.bundle.template;
        (knobs(args, template), template.config.scoring.k)
    };
    let first = looked.first()?;
    let other = looked.iter().find(|bundle| of(bundle) != of(first))?;
    let [first, other] = [first, other].map(|bundle| bundle.corpus.bundle.template.display_path());
    Some(format!("{other} has other search settings than {first}, whose settings are shown"))
}

/// Notes bundles in other languages: the embedded model is for English.
fn foreign(report: &AssessmentReportV1) -> Option<String> {
    let other = |language: &str| language != "en" && language != "none";
    let bundles: Vec<&str> =
        report.bundles.iter().filter(|b| other(&b.language)).map(|b| b.bundle_id.as_str()).collect();
    (!bundles.is_empty()).then(|| {
        format!(
            "the embedded model works best for English, and {} {} in another language; select another with --embedding",
            bundles.join(", "),
            if bundles.len() == 1 { "is" } else { "are" }
        )
    })
}
