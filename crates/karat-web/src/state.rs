//! State shared by all requests: the store folder, authorisation, caches, and limits on concurrent work.

use super::access_log::AccessLog;
use super::auth::Auth;
use super::cache::Cache;
use super::fault::Fault;
use super::label_queue::LabelQueue;
use super::reply::Reply;
use super::run_progress::RunProgress;
use super::summary::Summaries;
use axum::http::StatusCode;
use karat_store::{RunId, Store, StoreError};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// State shared by all requests. Clones are cheap and share it.
#[derive(Clone, Debug)]
pub(crate) struct State(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    auth: Arc<Auth>,
    access_log: Option<AccessLog>,
    readers: Arc<Semaphore>,
    renderers: Arc<Semaphore>,
    lists: Arc<Cache<Reply>>,
    reports: Arc<Cache<Reply>>,
    label_queues: Arc<Cache<Arc<LabelQueue>>>,
    suite_lock: Mutex<()>,
    summaries: Summaries,
    progress: Arc<ProgressCache>,
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
const MOMENT: Duration = Duration::from_secs(2);

/// How long the report of a running run is reused.
const WHILE_IT_GOES: Duration = Duration::from_secs(15);

/// Maximum number of retries if the store changed during a read.
const TIMES: usize = 4;

impl State {
    /// Creates the state for a store folder.
    pub(crate) fn new(folder: PathBuf, auth: Auth, access_log: Option<AccessLog>) -> Self {
        Self(Arc::new(Inner {
            folder,
            auth: Arc::new(auth),
            access_log,
            readers: Arc::new(Semaphore::new(READERS)),
            renderers: Arc::new(Semaphore::new(RENDERERS)),
            lists: Cache::new(32, 16 << 20, Reply::size),
            reports: Cache::new(64, 256 << 20, Reply::size),
            label_queues: Cache::new(12, 4_000_000, |queue| queue.weight()),
            suite_lock: Mutex::default(),
            summaries: Summaries::default(),
            progress: Arc::new(ProgressCache::new(FOLLOWED_RUNS)),
        }))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The authorisation of requests.
    pub(super) fn auth(&self) -> Arc<Auth> {
        Arc::clone(&self.0.auth)
    }

    /// The access log.
    pub(super) fn access_log(&self) -> Option<&AccessLog> {
        self.0.access_log.as_ref()
    }

    /// Whether labelling is enabled.
    pub(crate) fn labels(&self) -> bool {
        self.0.auth.label.is_some()
    }

    /// The cache of lists.
    pub(super) fn lists(&self) -> &Arc<Cache<Reply>> {
        &self.0.lists
    }

    /// The cache of reports and comparisons.
    pub(super) fn reports(&self) -> &Arc<Cache<Reply>> {
        &self.0.reports
    }

    /// The cache of items to label.
    pub(super) fn label_queues(&self) -> &Arc<Cache<Arc<LabelQueue>>> {
        &self.0.label_queues
    }

    /// Lock for changes to a suite, to prevent lost updates.
    pub(super) fn suite_lock(&self) -> MutexGuard<'_, ()> {
        self.0.suite_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache of run summaries.
    pub(super) fn summaries(&self) -> &Summaries {
        &self.0.summaries
    }

    /// The cached progress of a run, so that each request reads only the attempts that are new; none before the first.
    pub(super) fn progress(&self, run: &RunId) -> CachedProgress {
        let made = self.0.progress.get_or_insert_with(run, || Ok::<_, Infallible>(CachedProgress::default()));
        match made {
            Ok(progress) => progress,
            Err(never) => match never {},
        }
    }

    /// A value that changes whenever the store does.
    pub(super) fn stamp(&self) -> Stamp {
        stamp(&self.0.folder)
    }

    /// A value that changes every [`MOMENT`].
    pub(super) fn moment(&self) -> u64 {
        every(MOMENT)
    }

    /// A value that changes as often as the report of a running run is redrawn.
    pub(super) fn while_it_goes(&self) -> u64 {
        every(WHILE_IT_GOES)
    }

    /// The navigation above every page; `here` is the current part of the site.
    pub(crate) fn nav(&self, here: &str) -> String {
        format!("{}<button class=\"theme\" hidden>Theme</button>", self.plain_nav(here))
    }

    /// The same for pages with their own theme switch.
    pub(crate) fn plain_nav(&self, here: &str) -> String {
        let link = |path: &str, name: &str| {
            let current = if here == name { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{path}\"{current}>{name}</a>")
        };
        let label = if self.labels() { link("/label", "Label") } else { String::new() };
        format!("<strong>Karat</strong>{}{label}", link("/", "Runs"))
    }

    /// Runs a closure on the store, opened read-only. It is opened for each request, so that new data is visible and writers
    /// are not blocked. If the store changed during the read, the closure runs again.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let folder = self.0.folder.clone();
        self.blocking(move || {
            let mut tries = 0;
            loop {
                tries += 1;
                let before = stamp(&folder);
                let result = open(&folder).map_err(Fault::from).and_then(|mut store| work(&mut store));
                let torn = matches!(&result, Err(fault) if fault.status.is_server_error());
                if !torn || tries == TIMES || before == stamp(&folder) {
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
        let turn = Arc::clone(&self.0.renderers).acquire_owned().await.map_err(|_| closing())?;
        self.read(move |store| {
            let _turn = &turn;
            work(store)
        })
        .await
    }

    /// Runs a closure on the store, opened for writing.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let folder = self.0.folder.clone();
        self.blocking(move || work(&mut Store::open(&folder)?)).await
    }

    /// Runs a slow closure on a worker thread when a permit is free.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let broken = |_| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error; please report it.");
        let turn = Arc::clone(&self.0.readers).acquire_owned().await.map_err(|_| closing())?;
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

/// Sizes and modification times of the store's files.
type Stamp = [Option<(u64, SystemTime)>; 2];

/// Whether the store was written in between.
fn stamp(folder: &Path) -> Stamp {
    let of = |path: PathBuf| path.metadata().ok().and_then(|there| Some((there.len(), there.modified().ok()?)));
    ["karat.db", "karat.db-wal"].map(|name| of(folder.join(name)))
}

fn every(time: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / time.as_secs().max(1)
}
