//! What a job may see, with every path resolved: links followed, what is not there left out, what lies in a secret dropped.

use super::job::{Job, SandboxError, ToolFolder, View};
use super::system::is_system;
use std::path::{Path, PathBuf};

/// The resolved view of a job. What neither the system nor this names is absent.
#[derive(Debug)]
pub(super) struct Sight {
    /// The trial's own folder.
    pub(super) root: PathBuf,
    /// The working folder, from `root` on.
    pub(super) dir: PathBuf,
    /// What the tool's set-up prepared.
    pub(super) tool: Option<ToolFolder>,
    /// Readable beside the system.
    pub(super) readable: Vec<PathBuf>,
    /// Links that lead to something readable: what they lead to, and where they lie.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Writable beside the trial's own folder.
    pub(super) writable: Vec<PathBuf>,
    /// Absent whatever else is said, none within another.
    pub(super) secret: Vec<PathBuf>,
    /// What may be reached.
    pub(super) reach: Reach,
}

/// What of the network may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing.
    Nothing,
    /// Everything but this machine, where the isolation can tell.
    Elsewhere,
    /// Everything.
    Everything,
}

impl Reach {
    fn new(view: &View) -> Self {
        match (view.network, view.loopback) {
            (false, _) => Self::Nothing,
            (true, false) => Self::Elsewhere,
            (true, true) => Self::Everything,
        }
    }
}

impl Sight {
    /// The view of a job.
    pub(super) fn of(job: &Job) -> Result<Self, SandboxError> {
        let root = existing(&job.root)?;
        let dir = existing(&job.dir)?;
        let Ok(dir) = dir.strip_prefix(&root).map(Path::to_owned) else {
            return Err(SandboxError::Outside { dir, root });
        };
        let secret = job.view.secret.iter().chain(&copies_of_karat(&job.view.readable)).cloned().collect::<Vec<_>>();
        let secret = outermost(secret.iter().filter_map(|path| path.canonicalize().ok()));
        let tool = match &job.tool {
            Some(tool) => Some(ToolFolder { path: existing(&tool.path)?, writable: tool.writable }),
            None => None,
        };
        for given in [Some(&root), tool.as_ref().map(|tool| &tool.path)].into_iter().flatten() {
            if let Some(secret) = secret.iter().find(|secret| secret.starts_with(given)) {
                return Err(SandboxError::SecretInside { secret: secret.clone(), root: given.clone() });
            }
        }
        let open = |path: &PathBuf| !within(path, &secret);
        // Names are looked up through a file that often leads elsewhere.
        let resolver = job.view.network.then(|| PathBuf::from("/etc/resolv.conf"));
        let asked = || job.view.readable.iter().chain(&resolver);
        let readable = asked().filter_map(|path| path.canonicalize().ok());
        let readable = outermost(readable.filter(|path| open(path) && !is_system(path)));
        let links = asked().filter_map(|path| link(path)).filter(|(to, at)| open(to) && open(at));
        let links = links.filter(|(_, at)| !is_system(at) && !within(at, &readable)).collect();
        let writable: Vec<PathBuf> = job.view.writable.iter().map(|path| existing(path)).collect::<Result<_, _>>()?;
        let writable = writable.into_iter().filter(open).collect();
        Ok(Self { root, dir, tool, readable, links, writable, secret, reach: Reach::new(&job.view) })
    }
}

/// Programs of Karat's name in what a tool sees. They carry the suites that come with Karat, goldens included.
fn copies_of_karat(readable: &[PathBuf]) -> Vec<PathBuf> {
    let of_system = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/local/sbin", "/bin", "/sbin"].map(PathBuf::from);
    let beside = readable.iter().chain(&of_system).flat_map(|folder| [folder.join("karat"), folder.join("bin/karat")]);
    beside.filter(|copy| copy.is_file()).collect()
}

/// Whether a path is one of `folders` or lies below one.
pub(super) fn within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn existing(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| SandboxError::Missing { path: path.to_owned(), source })
}

/// The paths that lie below no other of them.
pub(super) fn outermost(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<_> = paths.collect();
    // A folder comes before all that lies in it.
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !within(&path, &kept) {
            kept.push(path);
        }
    }
    kept
}

/// What a link leads to and where it lies, where the path is a link.
fn link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let at = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    at.is_symlink().then_some(())?;
    Some((path.canonicalize().ok()?, at))
}
