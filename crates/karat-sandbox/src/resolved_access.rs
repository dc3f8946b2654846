//! A job's access with every path resolved: links followed, missing paths left out, paths inside a secret dropped.

use super::job::{Job, NetworkAccess, ToolFolder};
use super::system_paths::is_resolved_system_path;
use std::io;
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

impl ResolvedAccess {
    pub(super) fn new(job: &Job) -> io::Result<Self> {
        let root = existing(&job.root)?;
        let dir = existing(&job.dir)?;
        let Ok(dir) = dir.strip_prefix(&root).map(Path::to_owned) else {
            let (dir, root) = (dir.display(), root.display());
            let message = format!("{dir} lies outside {root}, which is all the tool is given; choose a folder within");
            return Err(io::Error::other(message));
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
                return Err(io::Error::other(format!(
                    "{} must stay hidden but lies in {}, which the tool is given; give it a folder that holds neither suite nor store",
                    secret.display(),
                    given.display()
                )));
            }
        }
        let open = |path: &PathBuf| !within(path, &secret);
        let network = job.access.network;
        // Looking up names needs this file, which is often a link.
        let resolver = (network != NetworkAccess::None).then(|| PathBuf::from("/etc/resolv.conf"));
        let requested = || job.access.readable.iter().chain(&resolver);
        let readable = requested().filter_map(|path| path.canonicalize().ok());
        let readable = outermost(readable.filter(|path| open(path) && !is_resolved_system_path(path)));
        let links = requested().filter_map(|path| resolve_link(path)).filter(|(to, at)| open(to) && open(at));
        let links = links.filter(|(_, at)| !is_resolved_system_path(at) && !within(at, &readable)).collect();
        let writable: Vec<PathBuf> = job.access.writable.iter().map(|path| existing(path)).collect::<Result<_, _>>()?;
        let writable = writable.into_iter().filter(open).collect();
        Ok(Self { root, dir, tool, readable, links, writable, secret, network })
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

fn existing(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map_err(|error| {
        io::Error::other(format!("{}: {error}; it must exist before a tool can be given it", path.display()))
    })
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
