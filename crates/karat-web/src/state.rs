//! State shared by all requests: the store folder, authorisation, caches, and limits on concurrent work.

use super::access_log::AccessLog;
use super::auth::Auth;
use super::cache::Cache;
use super::reply::{Fault, Reply};
use super::run_progress::RunProgress;
use super::runs::Summaries;
use axum::http::StatusCode;
use karat::label::LabelItems;
use karat_report::page::{Page, THEME};
use karat_store::{RunId, Store, StoreError};
use maud::{Markup, html};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) folder: Arc<Path>,
    pub(crate) auth: Arc<Auth>,
    pub(crate) access_log: Option<Arc<AccessLog>>,
    pub(crate) lists: Arc<Cache<Reply>>,
    pub(crate) reports: Arc<Cache<Reply>>,
    pub(crate) label_queues: Arc<Cache<Arc<LabelItems>>>,
    pub(crate) summaries: Arc<Summaries>,
    /// Held while a suite is changed, to prevent lost updates.
    pub(crate) suite_lock: Arc<Mutex<()>>,
    progress: Arc<ProgressCache>,
    readers: Arc<Semaphore>,
    renderers: Arc<Semaphore>,
}

type CachedProgress = Arc<Mutex<Option<RunProgress>>>;
type ProgressCache = quick_cache::sync::Cache<RunId, CachedProgress>;

/// The number of runs whose progress is cached; others are read from their first attempt each time.
const FOLLOWED_RUNS: usize = 16;

/// Maximum number of concurrent store reads; other requests wait.
const READERS: usize = 8;

/// Maximum number of reports drawn at once, which takes far more memory than reading.
const RENDERERS: usize = 2;

/// How long a drawn list is reused.
pub(super) const LIST_LIFETIME: Duration = Duration::from_secs(2);

/// How long the report of a running run is reused.
pub(super) const UNFINISHED_LIFETIME: Duration = Duration::from_secs(15);

pub(super) const STYLE: &str = include_str!("pages.css");

/// Maximum number of attempts at a read if the store changes meanwhile.
const READ_ATTEMPTS: usize = 4;

impl State {
    pub(crate) fn new(folder: &Path, auth: Auth, access_log: Option<AccessLog>) -> Self {
        Self {
            folder: Arc::from(folder),
            auth: Arc::new(auth),
            access_log: access_log.map(Arc::new),
            lists: Cache::new(32, 16 << 20, Reply::size),
            reports: Cache::new(64, 256 << 20, Reply::size),
            label_queues: Cache::new(12, 4_000_000, |items| items.queue.items.len()),
            summaries: Arc::new(Summaries::new(4_096)),
            suite_lock: Arc::default(),
            progress: Arc::new(ProgressCache::new(FOLLOWED_RUNS)),
            readers: Arc::new(Semaphore::new(READERS)),
            renderers: Arc::new(Semaphore::new(RENDERERS)),
        }
    }

    pub(crate) fn labels(&self) -> bool {
        self.auth.label.is_some()
    }

    /// The cached progress of a run, so that each request reads only the attempts that are new; none before the first.
    pub(super) fn progress(&self, run: &RunId) -> CachedProgress {
        let Ok(progress) = self.progress.get_or_insert_with(run, || Ok::<_, Infallible>(CachedProgress::default()));
        progress
    }

    /// The links above every page; `here` is the current part of the site.
    pub(crate) fn links(&self, here: &str) -> Markup {
        let current = |name: &str| (here == name).then_some("page");
        html! {
            strong { "Karat" }
            a href="/" aria-current=[current("Runs")] { "Runs" }
            @if self.labels() { a href="/label" aria-current=[current("Label")] { "Label" } }
        }
    }

    /// A page of the site, with styles and scripts of its own; `here` is the current part of the site.
    pub(crate) fn page(&self, here: &str, title: &str, body: Markup, styles: &[&str], scripts: &[&str]) -> Reply {
        let nav = html! { (self.links(here)) button.theme hidden { "Theme" } };
        let styles = [&[STYLE], styles].concat();
        let scripts = [&[THEME], scripts].concat();
        Reply::page(&Page { title, nav, body, styles: &styles, scripts: &scripts, connects: true, ..Page::default() })
    }

    /// Runs a closure on the store, opened read-only for each request, and again if the store changed during the read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let folder = Arc::clone(&self.folder);
        self.blocking(move || {
            let mut tries = 0;
            loop {
                tries += 1;
                let before = stamp(&folder);
                let result = open(&folder).map_err(Fault::from).and_then(|mut store| work(&mut store));
                let torn = matches!(&result, Err(fault) if fault.status.is_server_error());
                if !torn || tries == READ_ATTEMPTS || before == stamp(&folder) {
                    return result;
                }
            }
        })
        .await
    }

    /// Like [`Self::read`], for work that takes much time and memory.
    pub(crate) async fn render<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let turn = Arc::clone(&self.renderers).acquire_owned().await.map_err(|_| closing())?;
        self.read(move |store| {
            let _turn = &turn;
            work(store)
        })
        .await
    }

    /// Looks a value up in a cache, and makes it by [`Self::render`] if it is not there.
    pub(crate) async fn render_cached<V: Clone + Send + Sync + 'static>(
        &self,
        cache: &Arc<Cache<V>>,
        key: String,
        mut work: impl FnMut(&Self, &mut Store) -> Result<V, Fault> + Send + 'static,
    ) -> Result<V, Fault> {
        let own = self.clone();
        let made = async move {
            let state = own.clone();
            own.render(move |store| work(&state, store)).await
        };
        cache.get(key, made).await
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let folder = Arc::clone(&self.folder);
        self.blocking(move || work(&mut Store::open(&folder)?)).await
    }

    /// Runs a slow closure on a worker thread when a permit is free.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let broken = |_| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error; please report it.");
        let turn = Arc::clone(&self.readers).acquire_owned().await.map_err(|_| closing())?;
        let work = move || {
            // The permit is held until the work is done, even if the client has disconnected.
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(broken)?
    }
}

fn closing() -> Fault {
    Fault::new(StatusCode::SERVICE_UNAVAILABLE, "The server is shutting down.")
}

/// Opens the store for reading, and first migrates it if it is of an earlier version.
fn open(folder: &Path) -> Result<Store, StoreError> {
    match Store::read_only(folder) {
        Err(StoreError::ReadOnly { .. }) => Store::open(folder),
        other => other,
    }
}

/// Sizes and times of the store's files, which change with its content.
pub(super) fn stamp(folder: &Path) -> [Option<(u64, SystemTime)>; 2] {
    ["karat.db", "karat.db-wal"].map(|name| {
        let metadata = folder.join(name).metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

/// A value that changes once in a period, as part of a cache key.
pub(super) fn current_period(length: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / length.as_secs()
}
