//! What a job may see, with every path resolved: links followed, what is not there left out, what lies in a secret dropped.

use super::job::{Job, SandboxError, ToolFolder};
use std::path::{Path, PathBuf};

/// Masked whatever a job says: homes, sockets of daemons, and the temporary files of others.
pub(super) const ALWAYS_MASKED: [&str; 6] = ["/home", "/root", "/run", "/var/run", "/tmp", "/var/tmp"];

/// The resolved view of a job.
#[derive(Debug)]
pub(super) struct Sight {
    /// The trial's own folder.
    pub(super) root: PathBuf,
    /// The working folder, from `root` on.
    pub(super) dir: PathBuf,
    /// What the tool's set-up prepared.
    pub(super) tool: Option<ToolFolder>,
    /// Masked files and folders, none within another.
    pub(super) masked: Vec<PathBuf>,
    /// Readable though masked.
    pub(super) exposed: Vec<PathBuf>,
    /// Links that lead to something exposed: what they lead to, and where they lie.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Writable beside the trial's own folder.
    pub(super) writable: Vec<PathBuf>,
    /// Masked whatever else is said, none within another.
    pub(super) secret: Vec<PathBuf>,
    /// Whether the network may be used.
    pub(super) network: bool,
}

impl Sight {
    /// The view of a job.
    pub(super) fn of(job: &Job) -> Result<Self, SandboxError> {
        let root = existing(&job.root)?;
        let dir = existing(&job.dir)?;
        let Ok(dir) = dir.strip_prefix(&root).map(Path::to_owned) else {
            return Err(SandboxError::Outside { dir, root });
        };
        let secret = outermost(job.view.secret.iter().filter_map(|path| path.canonicalize().ok()));
        let tool = match &job.tool {
            Some(tool) => Some(ToolFolder { path: existing(&tool.path)?, writable: tool.writable }),
            None => None,
        };
        for given in [Some(&root), tool.as_ref().map(|tool| &tool.path)].into_iter().flatten() {
            if let Some(secret) = secret.iter().find(|secret| secret.starts_with(given)) {
                return Err(SandboxError::SecretInside { secret: secret.clone(), root: given.clone() });
            }
        }
        let masked = masked(&job.view.masked);
        let open = |path: &PathBuf| !within(path, &secret);
        let exposed = job.view.exposed.iter().filter_map(|path| path.canonicalize().ok()).filter(open).collect();
        let links = job.view.exposed.iter().filter_map(|path| link(path)).filter(|(to, at)| open(to) && open(at));
        let links = links.collect();
        let writable: Vec<PathBuf> = job.view.writable.iter().map(|path| existing(path)).collect::<Result<_, _>>()?;
        let writable = writable.into_iter().filter(open).collect();
        Ok(Self { root, dir, tool, masked, exposed, links, writable, secret, network: job.view.network })
    }
}

/// What is masked when `asked` is asked for, none within another.
pub(super) fn masked(asked: &[PathBuf]) -> Vec<PathBuf> {
    let always = ALWAYS_MASKED.iter().map(Path::new);
    let there = asked.iter().map(PathBuf::as_path).chain(always).filter_map(|path| path.canonicalize().ok());
    // Where the home is the root of everything, as in some containers, masking it would leave nothing to run.
    outermost(there.filter(|path| path.parent().is_some()))
}

/// Whether a path is one of `folders` or lies below one.
pub(super) fn within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

fn existing(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| SandboxError::Missing { path: path.to_owned(), source })
}

/// The paths that lie below no other of them.
fn outermost(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
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
