//! Drives headless Chromium over two pipes in its DevTools protocol.
//!
//! Host names resolve to this machine only, so nothing reaches the network.
//!
//! Why not a library: those for Rust decode every event into types generated from one version of the protocol, and fail when a
//! newer browser adds or changes one; WebDriver reports neither requests nor policy violations. This driver decodes JSON, reads
//! the few events it needs and ignores the others.

mod axe;
mod input;
mod page_log;
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

/// Upper bound of every wait. Generous, since the machine may be building at the same time; a passing test never waits this long.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// A browser shared by tests: each page has its own cookies and storage. It ends when the last handle is dropped.
#[derive(Clone)]
pub(crate) struct Browser {
    own: Arc<Running>,
}

impl Browser {
    /// Returns the browser of this process, starting it if needed.
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

    /// Starts a browser that is not shared.
    pub(crate) fn start_private() -> Result<Self, String> {
        Ok(Self { own: Arc::new(Running::start(&program().ok_or("no chromium")?)?) })
    }

    /// Its profile and temporary files.
    pub(crate) fn folder(&self) -> &Path {
        self.own.folder.path()
    }

    /// Opens a page in a new tab with its own storage and waits until it is loaded.
    #[track_caller]
    pub(crate) fn page(&self, url: &str) -> Tab {
        let tab = self.tab();
        tab.go(url);
        tab
    }

    /// Like `page`, with the screen set before the page loads.
    #[track_caller]
    pub(crate) fn page_on(&self, screen: Screen, url: &str) -> Tab {
        let tab = self.tab();
        tab.emulate(screen);
        tab.go(url);
        tab
    }

    #[track_caller]
    pub(crate) fn tab(&self) -> Tab {
        let context = self.own.pipe.call(None, "Target.createBrowserContext", json!({ "disposeOnDetach": true }));
        let context = context["browserContextId"].as_str().expect("a context has an id").to_owned();
        Tab::open(self.clone(), &context, true)
    }
}

fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("KARAT_TEST_CHROMIUM").filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The process. It ends by itself when its pipes close.
struct Running {
    pipe: Pipe,
    child: Mutex<Child>,
    folder: TempDir,
}

impl Running {
    fn start(program: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for Chromium: {error}"))?;
        let stderr = std::fs::File::create(folder.path().join("stderr")).map_err(|error| error.to_string())?;
        // Chromium uses descriptors 3 and 4, which only a shell can set without unsafe code.
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
            .stderr(stderr)
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
                let stderr = std::fs::read_to_string(running.folder.path().join("stderr")).unwrap_or_default();
                Err(format!("{} does not start: {why}\n{stderr}", program.display()))
            }
        }
    }
}

impl Drop for Running {
    /// Lets it end by itself first, so that no child process still writes to its folder.
    fn drop(&mut self) {
        self.pipe.close();
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + Duration::from_secs(30);
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Fails if it has ended by now.
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
    // A window that a page opens by itself must be reported, not blocked.
    "--disable-popup-blocking",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    // Several tabs are tested side by side; tabs in the background must not be throttled.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // Frames of other sites stay in the process of their page, so that their requests are in its log.
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,InterestFeedContentSuggestions",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    "--force-color-profile=srgb",
    "--window-size=1366,768",
];
