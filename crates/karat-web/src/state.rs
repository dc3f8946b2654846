//! State shared by all requests: where the store is, authorisation, caches, and limits on concurrent work.

use super::access_log::AccessLog;
use super::auth::Auth;
use super::cache::Cache;
use super::reply::{Fault, Reply};
use super::run_lookup::{Summaries, ToolNames};
use super::run_progress::RunProgress;
use axum::http::StatusCode;
use karat::label::LabelItems;
use karat_report::page::{Frame, FrameLink, Page};
use karat_store::{RunId, Store, StoreError, StoreLocation};
use maud::Markup;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) store: Arc<StoreLocation>,
    pub(crate) auth: Arc<Auth>,
    pub(crate) access_log: Option<Arc<AccessLog>>,
    pub(crate) lists: Arc<Cache<Reply>>,
    pub(crate) reports: Arc<Cache<Reply>>,
    pub(crate) label_queues: Arc<Cache<Arc<LabelItems>>>,
    pub(crate) summaries: Arc<Summaries>,
    pub(crate) tool_names: Arc<ToolNames>,
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
    pub(crate) fn new(store: &StoreLocation, auth: Auth, access_log: Option<AccessLog>) -> Self {
        Self {
            store: Arc::new(store.clone()),
            auth: Arc::new(auth),
            access_log: access_log.map(Arc::new),
            lists: Cache::new(32, 16 << 20, Reply::size),
            reports: Cache::new(64, 256 << 20, Reply::size),
            label_queues: Cache::new(12, 4_000_000, |items| items.queue.items.len()),
            summaries: Arc::new(Summaries::new(4_096)),
            tool_names: Arc::new(ToolNames::new(16_384)),
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

    /// The header of a page below the list of runs, whose name comes last in the breadcrumb.
    pub(crate) fn frame(&self, breadcrumb: Vec<(String, Option<String>)>) -> Frame {
        let runs = ("Runs".to_owned(), Some("/".to_owned()));
        let label = self.labels().then(|| FrameLink::new("Label", "/label"));
        Frame {
            home: Some("/".to_owned()),
            breadcrumb: [vec![runs], breadcrumb].concat(),
            links: label.into_iter().collect(),
            ..Frame::default()
        }
    }

    /// A page of the site, with styles and scripts of its own; `here` is the current part of the site.
    pub(crate) fn page(&self, here: &str, title: &str, body: Markup, styles: &[&str], scripts: &[&str]) -> Reply {
        self.page_in(self.part_frame(here, title), title, body, styles, scripts)
    }

    /// The header of a page of a part of the site, or of a page outside of them.
    pub(crate) fn part_frame(&self, here: &str, title: &str) -> Frame {
        let part = |name: &str, href: &str| FrameLink { is_current: here == name, ..FrameLink::new(name, href) };
        match here {
            "" => self.frame(vec![(title.trim_start_matches("Karat: ").to_owned(), None)]),
            _ => {
                let tabs = if self.labels() { vec![part("Runs", "/"), part("Label", "/label")] } else { Vec::new() };
                Frame { home: Some("/".to_owned()), tabs, ..Frame::default() }
            }
        }
    }

    /// A page with a header of its own.
    pub(crate) fn page_in(&self, frame: Frame, title: &str, body: Markup, styles: &[&str], scripts: &[&str]) -> Reply {
        Reply::page(&own_page(frame, title, body, &[&[STYLE], styles].concat(), scripts))
    }

    /// A page with a header of its own that loads again when its content changes.
    pub(crate) fn reloading_page(
        &self,
        frame: Frame,
        title: &str,
        body: Markup,
        styles: &[&str],
        scripts: &[&str],
    ) -> Reply {
        Reply::reloading_page(own_page(frame, title, body, &[&[STYLE], styles].concat(), scripts))
    }

    /// Runs a closure on the store, opened read-only for each request, and again if the store changed during the read.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let location = Arc::clone(&self.store);
        self.blocking(move || {
            let mut tries = 0;
            loop {
                tries += 1;
                let before = stamp(&location);
                let result = open(&location).map_err(Fault::from).and_then(|mut store| work(&mut store));
                let torn = matches!(&result, Err(fault) if fault.status.is_server_error());
                if !torn || tries == READ_ATTEMPTS || before == stamp(&location) {
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
        let location = Arc::clone(&self.store);
        self.blocking(move || work(&mut Store::open(&*location)?)).await
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

fn own_page<'a>(frame: Frame, title: &'a str, body: Markup, styles: &'a [&'a str], scripts: &'a [&'a str]) -> Page<'a> {
    Page { title, frame: Some(frame), body, styles, scripts, connects: true, ..Page::default() }
}

fn closing() -> Fault {
    Fault::new(StatusCode::SERVICE_UNAVAILABLE, "The server is shutting down.")
}

/// Opens the store for reading, and first migrates it if it is of an earlier version.
fn open(location: &StoreLocation) -> Result<Store, StoreError> {
    match Store::read_only(location) {
        Err(StoreError::ReadOnly { .. }) => Store::open(location),
        other => other,
    }
}

/// Sizes and times of the store's files, which change with its content. A server has no such thing, and needs none: its reads
/// are never torn.
pub(super) fn stamp(location: &StoreLocation) -> [Option<(u64, SystemTime)>; 2] {
    ["karat.db", "karat.db-wal"].map(|name| {
        let metadata = location.as_folder()?.join(name).metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

/// A value that changes once in a period, as part of a cache key.
pub(super) fn current_period(length: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / length.as_secs()
}
