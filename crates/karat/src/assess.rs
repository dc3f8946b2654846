//! Assesses documents against golden records: loads them, searches every requirement, asks the assessors and scores them.

mod storage;

pub use storage::{NamedLog, find_log, named_logs};

use crate::evaluate::run_and_score::require_free_name;
use crate::failure::{Failure, Result};
use karat_core::comparison::MARGIN;
use karat_core::scorecard::Intervals;
use karat_core::wording::plural;
use karat_documents::DocumentError;
use karat_documents::assess::assessor::BASELINE;
use karat_documents::assess::assessor::model::EvaluationContext;
use karat_documents::assess::bundle::content_hash;
use karat_documents::assess::evaluate::{Assessor, EvaluationResult, open};
use karat_documents::assess::log::{LogWriter, new_context};
use karat_documents::assess::measure::{MeasureOptions, report};
use karat_documents::assess::search::trec;
use karat_documents::assess::search::{SearchCost, SearchProviders, SearchedBundle, search};
use karat_documents::assess::{
    AssessEvent, Bundle, DocumentSource, IngestedBefore, RecordPlace, Template, discover, load_all, search_providers,
};
use karat_documents::ingest::{self, Document, IngestLimits, ingest, stored_document};
use karat_documents::retrieval::embed::Embedder;
use karat_documents::retrieval::rerank::Reranker;
use karat_documents::retrieval::{SearchOptions, no_vectors};
use karat_format::assessment::{AssessmentReportV1, MeasuredV1, StageV1};
use karat_format::diagnostic::{Diagnostic, Faults, Level};
use karat_format::document::suggest::did_you_mean;
use karat_format::log::LogLineV1;
use karat_format::retrieval::SearchV1;
use karat_format::session::IngestedV1;
use karat_io::atomic_write;
use karat_io::cancel::Cancel;
use karat_llm::ledger::{CacheMode, Ledger, MemoryLedger};
use karat_store::{RunId, SessionDocument, Store, StoreError, StoreLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use storage::{StoredAssessment, template_names, wanted_requirements};

/// What is assessed, by whom and how.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AssessRequest {
    /// Golden records, folders of them, or suites of assessments.
    pub paths: Vec<String>,
    pub recursive: bool,
    /// The name to store it by.
    pub name: Option<String>,
    pub stage: StageV1,
    /// Default: the rule-based one.
    pub assessors: Vec<String>,
    /// Default: all.
    pub requirements: Vec<String>,
    pub search: SearchRequest,
    /// The name under which parsed documents are cached.
    pub session: Option<String>,
    pub cache: CacheMode,
    pub intervals: Intervals,
    /// Differences between assessors within ± this are equivalent.
    pub margin: f64,
    /// Refuse documents that cannot be read and golden parts that differ from their documents.
    pub strict: bool,
    pub trec_folder: Option<PathBuf>,
    /// The store for the result, the log, model exchanges and parsed documents.
    pub store: StoreLocation,
}

/// Search options; default: the template's.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SearchRequest {
    pub embedding: Option<String>,
    pub reranking: Option<String>,
    pub options: SearchV1,
    pub no_rerank: bool,
}

/// The weight of words beside vectors, if none is stated.
const WEIGHT_BESIDE_VECTORS: f64 = 0.7;

impl SearchRequest {
    fn options(&self, template: &Template) -> SearchOptions {
        let has_embedder = self.embedding.as_deref().is_some_and(|name| name != search_providers::NONE);
        let bm25_weight = if has_embedder { WEIGHT_BESIDE_VECTORS } else { 1.0 };
        let usual = SearchOptions { bm25_weight, rerank: !self.no_rerank, ..SearchOptions::default() };
        usual.with(&template.config.search).with(&self.options)
    }
}

/// Observes an assessment.
pub trait AssessObserver {
    /// Reports something that a person should know.
    fn note(&mut self, text: &str);
    /// Reports that all documents were loaded.
    fn documents_loaded(&mut self, loaded: &DocumentsLoaded);
    /// Reports that everything is ready, and searching begins.
    fn began(&mut self, work: &AssessmentWork);
    /// Reports progress.
    fn event(&mut self, event: &AssessEvent<'_>);
    /// What cancels the assessors; called only if a model is asked.
    fn cancel(&mut self) -> Result<Cancel>;
}

/// What an assessment has to do.
#[expect(missing_docs, reason = "field names say it")]
pub struct AssessmentWork {
    pub templates: String,
    pub bundles: usize,
    pub requirements: usize,
    pub assessors: usize,
}

/// The documents of an assessment.
#[expect(missing_docs, reason = "field names say it")]
pub struct DocumentsLoaded {
    pub session: Option<String>,
    pub reused: usize,
    /// Documents that were read and cached.
    pub cached: usize,
    pub notes: Vec<String>,
    /// Unreadable documents, which are left out, and golden parts that differ from their documents.
    pub problems: Vec<Diagnostic>,
}

/// A finished assessment.
#[expect(missing_docs, reason = "field names say it")]
pub struct AssessmentResult {
    pub report: AssessmentReportV1,
    /// The id of the stored result and of its log.
    pub id: Option<String>,
    /// Why lines of the log are missing.
    pub log_fault: Option<String>,
}

impl AssessmentResult {
    /// Whether an assessor that was asked gave no answer at all.
    pub fn has_silent_assessor(&self) -> bool {
        self.report.assessments.iter().any(|(_, one)| one.answered == 0 && !one.requirements.is_empty())
    }

    /// Whether a document was left out because it cannot be read.
    pub fn lacks_documents(&self) -> bool {
        self.report.bundles.iter().any(|bundle| !bundle.unreadable.is_empty())
    }
}

/// Assesses documents and scores the assessors.
pub fn assess(request: &AssessRequest, observer: &mut dyn AssessObserver) -> Result<AssessmentResult> {
    if let Some(field) = request.intervals.cluster.named().filter(|field| *field != "bundle") {
        return Err(Failure::usage(format!("--cluster {field}: requirements can only be clustered by bundle")));
    }
    if !(request.margin.is_finite() && request.margin >= 0.0) {
        return Err(Failure::usage(format!("--margin {}: expected a number of at least 0", request.margin)));
    }
    if request.stage == StageV1::Retrieve && !request.assessors.is_empty() {
        return Err(Failure::usage("--stage retrieve uses no assessor; omit --evaluation, or use --stage full"));
    }
    let places = discover(&request.paths, request.recursive)?;
    let mut run = AssessRun::begin(request, observer)?;
    run.log.write("run_began", LogLineV1 { detail: Some(request.paths.join(" ")), ..LogLineV1::default() });
    let result = run.assess(&places);
    run.store_result(result.as_ref().ok());
    match result {
        Ok(report) => {
            run.log.write("run_ended", LogLineV1::default());
            let id = run.store.is_some().then(|| run.log.context.batch_run_id.clone());
            Ok(AssessmentResult { report, id, log_fault: run.log.fault })
        }
        Err(failure) => {
            let (stage, error_kind) = (Some("run".to_owned()), Some("stopped".to_owned()));
            let line = LogLineV1 { stage, error_kind, error: Some(failure.text()), ..LogLineV1::default() };
            run.log.write("run_failed", line);
            Err(failure)
        }
    }
}

/// The search providers, by template file.
type Providers = BTreeMap<String, (Option<Box<dyn Embedder>>, Option<Box<dyn Reranker>>)>;

struct AssessRun<'a> {
    request: &'a AssessRequest,
    observer: &'a mut dyn AssessObserver,
    assessors: Vec<String>,
    store: Option<Store>,
    stored: Option<StoredAssessment>,
    log: LogWriter,
    cancel: Cancel,
    measured: MeasuredV1,
}

/// The documents of an assessment: those of the session if unchanged, else read from their files.
///
/// A session has documents under `bundle/name` if an assessment read them, and under their names if `karat ingest` did.
struct AssessedDocuments<'r> {
    session: Option<(&'r str, &'r mut Store)>,
    /// All documents of the session, once a bundle needed them.
    ingested: Option<Vec<SessionDocument>>,
    log: &'r mut LogWriter,
    /// Documents that were read from their files.
    read: usize,
    /// A damaged session must not stop the assessment: the files are read instead.
    fault: Option<StoreError>,
}

impl AssessedDocuments<'_> {
    fn stored(&mut self, names: [&str; 2], hash: &str) -> Option<IngestedV1> {
        let (session, store) = self.session.as_mut()?;
        names.into_iter().find_map(|name| {
            store.session_document(session, name, hash, ingest::VERSION).unwrap_or_else(|error| {
                self.fault.get_or_insert(error);
                None
            })
        })
    }
}

impl DocumentSource for AssessedDocuments<'_> {
    fn read(&mut self, bundle_id: &str, name: &str, bytes: &[u8]) -> Result<Document, DocumentError> {
        let began = Instant::now();
        let own = name_in_session(bundle_id, name);
        let stored =
            self.session.is_some().then(|| content_hash(bytes)).and_then(|hash| self.stored([&own, name], &hash));
        let known = stored.and_then(|stored| stored_document(stored, name));
        let reused = known.is_some();
        let document = known.map_or_else(|| ingest(name, bytes, &IngestLimits::default()), Ok)?;
        self.read += usize::from(!reused);
        let sections = document.sections.len();
        self.log.record(&AssessEvent::Read { document: name, sections, reused, took: began.elapsed() });
        Ok(document)
    }

    fn ingested_before(&mut self, bundle_id: &str, wanted: &BTreeSet<&str>) -> Vec<IngestedBefore> {
        let Some((session, store)) = &mut self.session else { return Vec::new() };
        let all = self.ingested.get_or_insert_with(|| {
            let mut all = store.session_documents(session).unwrap_or_else(|error| {
                self.fault.get_or_insert(error);
                Vec::new()
            });
            all.retain(|one| one.reader == ingest::VERSION);
            all
        });
        let own_name = |name: &str| Some(name.strip_prefix(bundle_id)?.strip_prefix('/')?.to_owned());
        let own: BTreeSet<String> = all.iter().filter_map(|one| own_name(&one.name)).collect();
        let mut documents = BTreeMap::new();
        for SessionDocument { name, hash, document, .. } in all.iter() {
            // Those that no assessment placed are in this bundle if none is, or if it has or wants one of the name.
            let is_unplaced = own.is_empty() || own.contains(name) || wanted.contains(name.as_str());
            let unplaced = (is_unplaced && !name.contains('/')).then(|| name.clone());
            let Some(name) = own_name(name).or(unplaced) else { continue };
            // Later versions replace earlier ones.
            let document = stored_document(document.clone(), &name);
            documents.extend(document.map(|document| (name, IngestedBefore { document, hash: hash.clone() })));
        }
        documents.into_values().collect()
    }
}

/// The name that a document of a bundle has in a session.
fn name_in_session(bundle_id: &str, name: &str) -> String {
    format!("{bundle_id}/{name}")
}

/// Ingests documents into a session, so that assessments no longer need their files; returns how many were new to it.
pub fn ingest_into_session(store: &StoreLocation, session: &str, documents: &[(Document, String)]) -> Result<usize> {
    let mut store = Store::create(store)?;
    let mut fresh: Vec<SessionDocument> = Vec::new();
    let mut hashes: BTreeMap<String, &str> = BTreeMap::new();
    for (document, hash) in documents {
        let path = Path::new(&document.name);
        let name = path.file_name().map_or_else(|| document.name.clone(), |name| name.to_string_lossy().into_owned());
        if hashes.insert(name.clone(), hash).is_some_and(|other| other != hash) {
            // Nothing but a golden record says which bundle a document belongs to.
            return Err(Failure::usage(format!(
                "two documents are named {name}, and files alone do not say which bundle each belongs to; ingest them into two \
                 sessions, or keep them by bundle with `karat assess --session {session}`, which reads golden records"
            )));
        }
        if store.session_document(session, &name, hash, ingest::VERSION).ok().flatten().is_none() {
            let (hash, document) = (hash.clone(), IngestedV1::from(document));
            fresh.push(SessionDocument { name, hash, reader: ingest::VERSION, document });
        }
    }
    store.save_documents(session, &fresh)?;
    Ok(fresh.len())
}

impl<'a> AssessRun<'a> {
    /// If the store cannot be created, only the log and the stored result are lost, unless something must be stored.
    fn begin(request: &'a AssessRequest, observer: &'a mut dyn AssessObserver) -> Result<Self> {
        let assessors = match (request.stage, request.assessors.as_slice()) {
            (StageV1::Retrieve, _) => Vec::new(),
            (_, []) => vec![BASELINE.to_owned()],
            (_, some) => some.to_vec(),
        };
        let asks_models = assessors.iter().any(|name| name != BASELINE);
        let asks_and_records = asks_models && request.cache == CacheMode::ReadWrite;
        let needed = request.session.is_some() || request.name.is_some() || asks_and_records;
        let mut store = match Store::create(&request.store) {
            Ok(store) => Some(store),
            Err(error) if !needed => {
                observer.note(&format!("nothing is stored, and no log is written: {error}"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(store) = &mut store {
            require_free_name(request.name.as_deref(), store)?;
        }
        let context = new_context(request.session.clone(), request.stage.name());
        let measured = MeasuredV1 {
            batch_run_id: Some(context.batch_run_id.clone()),
            session_id: context.session_id.clone(),
            ..MeasuredV1::default()
        };
        let log = LogWriter::begin(store.as_ref().map(Store::local_folder), context);
        // A stage that does not check for cancellation must not offer it.
        let cancel = if asks_models { observer.cancel()? } else { Cancel::default() };
        Ok(Self { request, observer, assessors, store, stored: None, log, cancel, measured })
    }

    fn assess(&mut self, places: &[RecordPlace]) -> Result<AssessmentReportV1> {
        let began = Instant::now();
        let bundles = self.load_bundles(places)?;
        self.took("ingest", began);
        self.check_requirements(&bundles)?;
        let mut seen = BTreeSet::new();
        let all = bundles.iter().map(|bundle| &bundle.template);
        let templates: Vec<&Template> = all.filter(|template| seen.insert(template.display_path())).collect();
        let assessors = self.open_assessors(&templates)?;
        let providers = self.open_providers(&templates)?;
        if let (Some(store), Some(id)) = (&mut self.store, RunId::parse(&self.log.context.batch_run_id)) {
            self.stored = Some(StoredAssessment::begin(store, id, self.request, &bundles, &assessors)?);
        }
        self.observer.began(&AssessmentWork {
            templates: template_names(&bundles),
            bundles: bundles.len(),
            requirements: wanted_requirements(self.request, &bundles),
            assessors: assessors.len(),
        });

        let began = Instant::now();
        let (searched, cost) = self.search(&bundles, &providers)?;
        self.took("search", began);
        if let Some(folder) = &self.request.trec_folder {
            write_trec(folder, &searched)?;
        }
        let began = Instant::now();
        let answers = self.ask(&assessors, &searched)?;
        self.took("assess", began);
        Ok(self.report(&searched, &cost, &answers, &providers))
    }

    /// A result that cannot be stored is still returned.
    fn store_result(&mut self, report: Option<&AssessmentReportV1>) {
        let (Some(stored), Some(store)) = (self.stored.take(), &mut self.store) else { return };
        if let Err(failure) = stored.end(store, report) {
            self.observer.note(&format!("the result is not stored: {}", failure.text()));
        }
    }

    fn took(&mut self, stage: &str, began: Instant) {
        self.measured.seconds.insert(stage.to_owned(), (began.elapsed().as_secs_f64() * 1e3).round() / 1e3);
    }

    /// Loads all records. Documents in the session's cache are not read again; new ones are added to it.
    fn load_bundles(&mut self, places: &[RecordPlace]) -> Result<Vec<Bundle>> {
        let Self { request, store, log, .. } = self;
        let session = request.session.as_deref().zip(store.as_mut());
        let mut documents = AssessedDocuments { session, ingested: None, log, read: 0, fault: None };
        let bundles = load_all(places, &mut documents)?;
        let AssessedDocuments { session, read, fault, .. } = documents;
        let has_session = session.is_some();
        if let Some((session, store)) = session {
            // Those that the session has are kept as they are.
            let mut own = Vec::new();
            for bundle in &bundles {
                own.extend(bundle.documents.iter().zip(&bundle.hashes).map(|(document, hash)| SessionDocument {
                    name: name_in_session(bundle.record.bundle.as_str(), &document.name),
                    hash: hash.clone(),
                    reader: ingest::VERSION,
                    document: IngestedV1::from(document),
                }));
            }
            store.save_documents(session, &own)?;
        }
        let reused = bundles.iter().map(|bundle| bundle.documents.len()).sum::<usize>().saturating_sub(read);
        let problems: Vec<Diagnostic> = bundles.iter().flat_map(|bundle| bundle.problems.iter().cloned()).collect();
        if self.request.strict && !problems.is_empty() {
            let faults = problems.into_iter().map(|problem| problem.with_level(Level::Error));
            return Err(Faults(faults.collect()).into());
        }
        if let Some(fault) = fault {
            self.observer.note(&format!("unreadable session entries were ignored: {fault}"));
        }
        self.measured.documents_reused = reused;
        self.observer.documents_loaded(&DocumentsLoaded {
            session: self.request.session.clone().filter(|_| has_session),
            reused,
            cached: read,
            notes: bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect(),
            problems,
        });
        Ok(bundles)
    }

    fn check_requirements(&self, bundles: &[Bundle]) -> Result<()> {
        let known: BTreeSet<&str> =
            bundles.iter().flat_map(|bundle| &bundle.record.requirements).map(|one| one.id.as_str()).collect();
        let Some(unknown) = self.request.requirements.iter().find(|id| !known.contains(id.as_str())) else {
            return Ok(());
        };
        let hint = did_you_mean(unknown, known.iter().copied())
            .unwrap_or_else(|| format!("available: {}", known.iter().copied().collect::<Vec<_>>().join(", ")));
        Err(Failure::usage(format!("--requirement {unknown}: no record has it; {hint}")))
    }

    fn open_assessors(&self, templates: &[&Template]) -> Result<Vec<Assessor>> {
        let mut seen = BTreeSet::new();
        if let Some(name) = self.assessors.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Failure::usage(format!("`{name}` is given twice")));
        }
        let opened = self.assessors.iter().map(|name| open(name, templates, &variable, self.request.cache));
        Ok(opened.collect::<Result<_, DocumentError>>()?)
    }

    fn open_providers(&self, templates: &[&Template]) -> Result<Providers> {
        let search = &self.request.search;
        let embedding = search.embedding.as_deref().unwrap_or(search_providers::NONE);
        let reranking = search.reranking.as_deref().unwrap_or(search_providers::DEFAULT_RERANKER);
        let mut providers = Providers::new();
        for template in templates {
            let options = search.options(template);
            options.check()?;
            let (mut embedder, mut reranker) = (None, None);
            if options.by_vectors() {
                embedder = search_providers::embedder(embedding, template, &variable)?;
            }
            if options.rerank {
                reranker = search_providers::reranker(reranking, template, &variable)?;
            }
            if embedder.is_none() && options.bm25_weight == 0.0 {
                return Err(no_vectors(0.0).into());
            }
            providers.insert(template.display_path(), (embedder, reranker));
        }
        Ok(providers)
    }

    fn search<'b>(
        &mut self,
        bundles: &'b [Bundle],
        providers: &Providers,
    ) -> Result<(Vec<SearchedBundle<'b>>, SearchCost)> {
        let Self { request, observer, log, .. } = self;
        let wanted = |id: &str| request.requirements.is_empty() || request.requirements.iter().any(|own| own == id);
        let mut providers_of = |template: &Template| {
            let own = providers.get(&template.display_path());
            let embedder = own.and_then(|(embedder, _)| embedder.as_deref());
            let reranker = own.and_then(|(_, reranker)| reranker.as_deref());
            let options = applied(request.search.options(template), embedder.is_some());
            Ok(SearchProviders { options, embedder, reranker })
        };
        Ok(search(bundles, &wanted, &mut providers_of, &mut |event| {
            log.record(&event);
            observer.event(&event);
        })?)
    }

    fn ask<'e>(
        &mut self,
        assessors: &'e [Assessor],
        searched: &[SearchedBundle<'_>],
    ) -> Result<Vec<EvaluationResult<'e>>> {
        let Self { request, observer, store, log, cancel, .. } = self;
        let mut none = MemoryLedger::default();
        let mut answers = Vec::new();
        for evaluation in assessors {
            let ledger: &mut dyn Ledger = match store {
                Some(store) if request.cache.reads() => store,
                _ => &mut none,
            };
            let mut on_event = |event: AssessEvent<'_>| {
                log.record(&event);
                observer.event(&event);
            };
            let mut context = EvaluationContext { ledger, cancel, observer: &mut on_event };
            let place = context.ledger.place().filter(|_| request.cache == CacheMode::ReadWrite);
            let result = evaluation.assess(searched, &mut context)?;
            let unreadable = result.assessed.iter().flatten().filter_map(|one| one.as_ref().err());
            let unreadable = unreadable.filter(|none| none.kind == "unreadable").count();
            if let Some(place) = place.filter(|_| unreadable > 0) {
                let are = plural(unreadable, "answer that could not be read is", "answers that could not be read are");
                let name = &evaluation.name;
                observer.note(&format!("{name}: {are} in the ledger of {place}; the same command asks again"));
            }
            answers.push(result);
            if cancel.is_cancelled() {
                let kept = match request.cache {
                    CacheMode::ReadWrite => "; answers so far are stored and will be reused",
                    _ => "",
                };
                return Err(Failure::failed(format!("stopped{kept}")));
            }
        }
        Ok(answers)
    }

    fn report(
        &mut self,
        searched: &[SearchedBundle<'_>],
        cost: &SearchCost,
        answers: &[EvaluationResult<'_>],
        providers: &Providers,
    ) -> AssessmentReportV1 {
        let search = &self.request.search;
        let first = searched.first().map(|bundle| &bundle.bundle.template);
        let own = first.and_then(|template| providers.get(&template.display_path()));
        let embedding = own.and_then(|(embedder, _)| embedder.as_ref()).map(|embedder| embedder.id());
        let options = first.map_or_else(SearchOptions::default, |template| search.options(template));
        let how = MeasureOptions {
            stage: self.request.stage,
            intervals: &self.request.intervals,
            margin: self.request.margin,
            search: applied(options, embedding.is_some()),
            embedding,
            reranking: own.and_then(|(_, reranker)| reranker.as_ref()).map(|reranker| reranker.id()),
        };
        let mut report = report(searched, cost, answers, &how, std::mem::take(&mut self.measured));
        report.warnings.extend(differing_templates(search, searched));
        report.warnings.extend(self.idle_options(&how));
        report
    }

    /// Options that have no effect in this configuration.
    fn idle_options(&self, how: &MeasureOptions<'_>) -> Vec<String> {
        let AssessRequest { search, margin, cache, .. } = self.request;
        let mut idle = Vec::new();
        let mut report = |option: String, why: &str| idle.push(format!("{option} has no effect: {why}"));
        if let Some(weight) = search.options.bm25_weight.filter(|weight| *weight < 1.0 && how.embedding.is_none()) {
            let why = "there is no embedder, so words are all that is searched for; name one with --embedding";
            report(format!("--bm25-weight {weight}"), why);
        }
        let embedder = search.embedding.as_ref().filter(|name| *name != search_providers::NONE);
        if let Some(name) = embedder.filter(|_| how.embedding.is_none()) {
            report(
                format!("--embedding {name}"),
                "at `bm25_weight` 1 no vectors are computed; set --bm25-weight below 1",
            );
        }
        if let Some(most) = search.options.rerank_top_n.filter(|most| *most as usize > how.search.search_limit) {
            let why = format!("the search gives {} candidates; raise --search-limit", how.search.search_limit);
            if how.reranking.is_some() || how.embedding.is_none() {
                report(format!("--rerank-top-n {most}, beyond {},", how.search.search_limit), &why);
            }
        }
        if *margin != MARGIN && self.assessors.len() < 2 {
            report(format!("--margin {margin}"), "there are no two assessors to compare");
        }
        if *cache != CacheMode::ReadWrite && self.assessors.iter().all(|name| name == BASELINE) {
            report("--judge-cache".to_owned(), "no model is asked");
        }
        idle
    }
}

/// Without vectors, only the word search is used, whatever its weight.
fn applied(options: SearchOptions, has_vectors: bool) -> SearchOptions {
    if has_vectors { options } else { SearchOptions { bm25_weight: 1.0, ..options } }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn write_trec(folder: &Path, searched: &[SearchedBundle<'_>]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::unwritten(folder.display(), error))?;
    for (name, text) in trec(searched) {
        let path = folder.join(name);
        atomic_write::write(&path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
    }
    Ok(())
}

/// Templates may set their own search options and k; the report shows those of the first.
fn differing_templates(search: &SearchRequest, searched: &[SearchedBundle<'_>]) -> Option<String> {
    let settings = |bundle: &SearchedBundle<'_>| {
        let template = &bundle.bundle.template;
        (search.options(template), template.config.scoring.k)
    };
    let first = searched.first()?;
    let other = searched.iter().find(|bundle| settings(bundle) != settings(first))?;
    let [first, other] = [first, other].map(|bundle| bundle.bundle.template.display_path());
    Some(format!("{other} has other search settings than {first}, whose settings are shown"))
}
