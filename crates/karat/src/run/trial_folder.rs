//! The folder of one trial: what lies where in it, and how its result is taken out again.

use rustix::fs::{Mode, OFlags, openat};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// The code.
pub(super) const CHECKOUT: &str = "checkout";
/// What the tool takes for its home.
pub(super) const HOME: &str = "home";
/// Temporary files.
pub(super) const TMP: &str = "tmp";
/// Where the result is written.
pub(super) const RESULTS: &str = "results";
/// The result itself.
pub(super) const RESULT: &str = "result";
const REQUEST: &str = "request";
/// The pull request's title.
pub(super) const TITLE: &str = "request/title.txt";
/// Its description.
pub(super) const DESCRIPTION: &str = "request/description.md";
/// The change as a unified diff.
pub(super) const DIFF: &str = "request/change.diff";

/// Makes the folders of a trial, and opens the one for the result.
pub(super) fn make(root: &Path) -> io::Result<ResultFolder> {
    fs::create_dir_all(root)?;
    for folder in [HOME, TMP, RESULTS, REQUEST] {
        fs::create_dir(root.join(folder))?;
    }
    ResultFolder::open(&root.join(RESULTS))
}

/// The folder for the result, held open: a tool may put a link in its place, and that must not lead us anywhere.
pub(super) struct ResultFolder {
    folder: fs::File,
}

impl ResultFolder {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { folder: fs::File::open(path)? })
    }

    /// The result; `None` if there is none. What is no plain file, or too large, is told.
    pub(super) fn read(&self, most: usize) -> Result<Option<Vec<u8>>, String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.folder, RESULT, flags, Mode::empty()) {
            Ok(file) => fs::File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => return Err("its result is a link, which is not followed".to_owned()),
            Err(error) => return Err(format!("its result could not be read: {error}")),
        };
        let plain = file.metadata().is_ok_and(|meta| meta.is_file());
        if !plain {
            return Err("its result is not a regular file".to_owned());
        }
        let mut bytes = Vec::new();
        let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("its result could not be read: {error}"))?;
        if bytes.len() > most {
            return Err(format!("its result is larger than {most} bytes (limits.output)"));
        }
        Ok(Some(bytes))
    }
}
