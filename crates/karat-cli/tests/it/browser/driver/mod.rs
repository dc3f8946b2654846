//! A real browser, driven from tests: Chromium without a window, spoken to over two pipes in its DevTools protocol.
//!
//! Nothing here knows what the pages are about, and nothing reaches the network: names resolve to nothing but this machine.

mod axe;
mod heard;
mod input;
mod pipe;
mod screen;
mod tab;

pub(crate) use axe::axe_core;
pub(crate) use screen::Screen;
pub(crate) use tab::Tab;

use pipe::Pipe;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything is waited for. It is generous, as a machine that builds and tests at once is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A browser that several tests may share: every page has cookies and storage of its own. It ends with the last who holds it.
#[derive(Clone)]
pub(crate) struct Browser {
    own: Arc<Running>,
}

impl Browser {
    /// The browser of this process, started where none is running; or why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        static SHARED: Mutex<Weak<Running>> = Mutex::new(Weak::new());
        let program = program().ok_or("no chromium")?;
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = shared.upgrade().filter(|own| own.pipe.is_open()) {
            return Ok(Self { own });
        }
        let own = Arc::new(Running::start(&program)?);
        *shared = Arc::downgrade(&own);
        Ok(Self { own })
    }

    /// One that nobody else has.
    pub(crate) fn alone() -> Result<Self, String> {
        Ok(Self { own: Arc::new(Running::start(&program().ok_or("no chromium")?)?) })
    }

    /// Where it keeps everything, until it ends.
    pub(crate) fn folder(&self) -> &Path {
        self.own.folder.path()
    }

    /// A page in a tab of its own, which shares nothing with any other, as soon as it is loaded.
    #[track_caller]
    pub(crate) fn page(&self, url: &str) -> Tab {
        let tab = self.tab();
        tab.go(url);
        tab
    }

    /// A page on a screen that is there before the page is.
    #[track_caller]
    pub(crate) fn page_on(&self, screen: Screen, url: &str) -> Tab {
        let tab = self.tab();
        tab.emulate(screen);
        tab.go(url);
        tab
    }

    /// An empty tab.
    #[track_caller]
    pub(crate) fn tab(&self) -> Tab {
        let context = self.own.pipe.call(None, "Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = context["browserContextId"].as_str().expect("a context has an id").to_owned();
        Tab::open(self.clone(), &context, true)
    }
}

/// Where Chromium is.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("KARAT_TEST_CHROMIUM").filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The process. Its two pipes are its only way to be spoken to, and it ends by itself when they close.
struct Running {
    pipe: Pipe,
    child: Mutex<Child>,
    folder: TempDir,
}

impl Running {
    fn start(program: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for Chromium: {error}"))?;
        let said = std::fs::File::create(folder.path().join("said")).map_err(|error| error.to_string())?;
        // Chromium speaks through descriptors 3 and 4, which only a shell can give it without unsafe code.
        let script = r#"program=$1; shift; exec "$program" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("DISPLAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .map_err(|error| format!("sh cannot be started: {error}"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("there are no pipes to Chromium".to_owned());
        };
        let running = Self { pipe: Pipe::new(to, from), child: Mutex::new(child), folder };
        let alive = running.pipe.try_call(None, "Browser.getVersion", json!({}));
        match alive {
            Ok(_) => Ok(running),
            Err(why) => {
                let said = std::fs::read_to_string(running.folder.path().join("said")).unwrap_or_default();
                Err(format!("{} does not start: {why}\n{said}", program.display()))
            }
        }
    }
}

impl Drop for Running {
    /// Asked first, as one that ends by itself leaves nothing behind that still writes to its folder.
    fn drop(&mut self) {
        self.pipe.close();
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + Duration::from_secs(5);
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        // It may have ended by now, and then there is nobody to kill.
        let _ = child.kill();
        let _ = child.wait();
        while std::fs::remove_dir_all(self.folder.path())
            .is_err_and(|error| error.kind() != std::io::ErrorKind::NotFound)
            && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    // A window that a page opens by itself is to be heard of, not held back.
    "--disable-popup-blocking",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    // Several tabs are looked at side by side; none is to be slowed down for standing behind another.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Frames of other sites stay in the process of their page, so that what they ask for is heard with the rest.
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,InterestFeedContentSuggestions",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    "--force-color-profile=srgb",
    "--window-size=1366,768",
];
