//! What all requests share: the store's folder, the door, and a bounded number of readers.

use super::access_log::AccessLog;
use super::door::Door;
use super::fault::Fault;
use super::followed::Followed;
use super::kept::Kept;
use super::reply::Reply;
use super::sheet::Sheet;
use super::summary::Summaries;
use axum::http::StatusCode;
use karat_store::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// What all requests share. Copies are cheap and the same.
#[derive(Clone, Debug)]
pub(crate) struct State(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    door: Arc<Door>,
    access_log: Option<AccessLog>,
    readers: Arc<Semaphore>,
    drawers: Arc<Semaphore>,
    lists: Arc<Kept<Reply>>,
    reports: Arc<Kept<Reply>>,
    sheets: Arc<Kept<Arc<Sheet>>>,
    adopting: Mutex<()>,
    summaries: Summaries,
    followed: Followed,
}

/// So many requests read the store at once; the others wait for their turn.
const READERS: usize = 8;

/// So many reports are drawn at once, which takes far more memory than reading does.
const DRAWERS: usize = 2;

/// Lists are drawn once in this time, and whoever asks meanwhile gets the same.
const MOMENT: Duration = Duration::from_secs(2);

/// The report of a run that goes on is drawn once in this time.
const WHILE_IT_GOES: Duration = Duration::from_secs(15);

/// So often a store is read again that somebody changed meanwhile.
const TIMES: usize = 4;

impl State {
    /// Pages over the store in a folder, behind a door.
    pub(crate) fn new(folder: PathBuf, door: Door, access_log: Option<AccessLog>) -> Self {
        Self(Arc::new(Inner {
            folder,
            door: Arc::new(door),
            access_log,
            readers: Arc::new(Semaphore::new(READERS)),
            drawers: Arc::new(Semaphore::new(DRAWERS)),
            lists: Kept::new(32, 16 << 20, Reply::size),
            reports: Kept::new(64, 256 << 20, Reply::size),
            sheets: Kept::new(12, 4_000_000, |sheet| sheet.weight()),
            adopting: Mutex::default(),
            summaries: Summaries::default(),
            followed: Followed::default(),
        }))
    }

    /// The store's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// What is asked of everyone who comes in.
    pub(super) fn door(&self) -> Arc<Door> {
        Arc::clone(&self.0.door)
    }

    /// Where requests are written down.
    pub(super) fn access_log(&self) -> Option<&AccessLog> {
        self.0.access_log.as_ref()
    }

    /// Whether labels can be given here.
    pub(crate) fn labels(&self) -> bool {
        self.0.door.label.is_some()
    }

    /// Lists that were drawn.
    pub(super) fn lists(&self) -> &Arc<Kept<Reply>> {
        &self.0.lists
    }

    /// Reports and comparisons that were drawn.
    pub(super) fn reports(&self) -> &Arc<Kept<Reply>> {
        &self.0.reports
    }

    /// What can be labelled.
    pub(super) fn sheets(&self) -> &Arc<Kept<Arc<Sheet>>> {
        &self.0.sheets
    }

    /// Held by whoever changes a suite, so that nobody writes over what another has just written.
    pub(super) fn adopting(&self) -> MutexGuard<'_, ()> {
        self.0.adopting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs at a glance.
    pub(super) fn summaries(&self) -> &Summaries {
        &self.0.summaries
    }

    /// Runs that somebody follows.
    pub(super) fn followed(&self) -> &Followed {
        &self.0.followed
    }

    /// Changes whenever the store does.
    pub(super) fn stamp(&self) -> Stamp {
        stamp(&self.0.folder)
    }

    /// Changes every few moments.
    pub(super) fn moment(&self) -> u64 {
        every(MOMENT)
    }

    /// Changes as often as the report of a run that goes on is drawn.
    pub(super) fn while_it_goes(&self) -> u64 {
        every(WHILE_IT_GOES)
    }

    /// What stands above every page; `here` is the part of the site that the page belongs to.
    pub(crate) fn nav(&self, here: &str) -> String {
        format!("{}<button class=\"theme\" hidden>Theme</button>", self.plain_nav(here))
    }

    /// The same for pages that have a switch of themes elsewhere.
    pub(crate) fn plain_nav(&self, here: &str) -> String {
        let link = |path: &str, name: &str| {
            let current = if here == name { " aria-current=\"page\"" } else { "" };
            format!("<a href=\"{path}\"{current}>{name}</a>")
        };
        let label = if self.labels() { link("/label", "Label") } else { String::new() };
        format!("<strong>Karat</strong>{}{label}", link("/", "Runs"))
    }

    /// Does something with the store, opened for reading alone. It is opened anew each time, so that what others stored
    /// meanwhile is seen, and nobody who writes is kept waiting. Where somebody wrote just then, it is done again.
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

    /// Does as [`Self::read`] does, for what takes much time and memory.
    pub(crate) async fn draw<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let turn = Arc::clone(&self.0.drawers).acquire_owned().await.map_err(|_| closing())?;
        self.read(move |store| {
            let _turn = &turn;
            work(store)
        })
        .await
    }

    /// Does something with the store, opened for writing.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let folder = self.0.folder.clone();
        self.blocking(move || work(&mut Store::open(&folder)?)).await
    }

    /// Does something that takes a while, when its turn comes.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let broken =
            |_| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "Karat made a mistake of its own; please report it.");
        let turn = Arc::clone(&self.0.readers).acquire_owned().await.map_err(|_| closing())?;
        let work = move || {
            // Given back when the work is done, though whoever asked for it may have gone before.
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(broken)?
    }
}

fn closing() -> Fault {
    Fault::new(StatusCode::SERVICE_UNAVAILABLE, "The server is ending.")
}

/// Opens for reading, and where the store is of an earlier version, brings it up to date first as every command does.
fn open(folder: &Path) -> Result<Store, StoreError> {
    match Store::read_only(folder) {
        Err(StoreError::ReadOnly { .. }) => Store::open(folder),
        other => other,
    }
}

/// Size and age of the store's files.
type Stamp = [Option<(u64, SystemTime)>; 2];

/// Tells whether the store was written in between.
fn stamp(folder: &Path) -> Stamp {
    let of = |path: PathBuf| path.metadata().ok().and_then(|there| Some((there.len(), there.modified().ok()?)));
    ["karat.db", "karat.db-wal"].map(|name| of(folder.join(name)))
}

fn every(time: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / time.as_secs().max(1)
}
