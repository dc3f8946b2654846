//! A job's access with every path resolved: links followed, missing paths left out, paths inside a secret dropped.

use super::job::{Access, Job, SandboxError, ToolFolder};
use super::system_paths::is_resolved_system_path;
use std::path::{Path, PathBuf};

/// Paths that are neither here nor among the system paths are hidden from the tool.
#[derive(Debug)]
pub(super) struct ResolvedAccess {
    pub(super) root: PathBuf,
    /// The working folder, relative to `root`.
    pub(super) dir: PathBuf,
    pub(super) tool: Option<ToolFolder>,
    /// Without system paths; none lies below another.
    pub(super) readable: Vec<PathBuf>,
    /// Links to readable paths: target and location.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) writable: Vec<PathBuf>,
    /// Hidden whatever the other lists say; none lies below another.
    pub(super) secret: Vec<PathBuf>,
    pub(super) network: NetworkAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkAccess {
    None,
    /// All but services on this machine, where the isolation can enforce it.
    External,
    Full,
}

impl NetworkAccess {
    fn new(access: &Access) -> Self {
        match (access.network, access.loopback) {
            (false, _) => Self::None,
            (true, false) => Self::External,
            (true, true) => Self::Full,
        }
    }
}

impl ResolvedAccess {
    pub(super) fn new(job: &Job) -> Result<Self, SandboxError> {
        let root = existing(&job.root)?;
        let dir = existing(&job.dir)?;
        let Ok(dir) = dir.strip_prefix(&root).map(Path::to_owned) else {
            return Err(SandboxError::Outside { dir, root });
        };
        let secret =
            job.access.secret.iter().chain(&copies_of_karat(&job.access.readable)).cloned().collect::<Vec<_>>();
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
        // Looking up names needs this file, which is often a link.
        let resolver = job.access.network.then(|| PathBuf::from("/etc/resolv.conf"));
        let requested = || job.access.readable.iter().chain(&resolver);
        let readable = requested().filter_map(|path| path.canonicalize().ok());
        let readable = outermost(readable.filter(|path| open(path) && !is_resolved_system_path(path)));
        let links = requested().filter_map(|path| resolve_link(path)).filter(|(to, at)| open(to) && open(at));
        let links = links.filter(|(_, at)| !is_resolved_system_path(at) && !within(at, &readable)).collect();
        let writable: Vec<PathBuf> = job.access.writable.iter().map(|path| existing(path)).collect::<Result<_, _>>()?;
        let writable = writable.into_iter().filter(open).collect();
        Ok(Self { root, dir, tool, readable, links, writable, secret, network: NetworkAccess::new(&job.access) })
    }
}

/// Karat executables visible to a tool. They contain the suites that ship with Karat, goldens included.
fn copies_of_karat(readable: &[PathBuf]) -> Vec<PathBuf> {
    let of_system = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/local/sbin", "/bin", "/sbin"].map(PathBuf::from);
    let beside = readable.iter().chain(&of_system).flat_map(|folder| [folder.join("karat"), folder.join("bin/karat")]);
    beside.filter(|copy| copy.is_file()).collect()
}

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
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !within(&path, &outer) {
            outer.push(path);
        }
    }
    outer
}

/// Target and location of a link; `None` where the path is no link.
fn resolve_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let at = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    at.is_symlink().then_some(())?;
    Some((path.canonicalize().ok()?, at))
}
