//! The folder of one trial, and reading its result.

use rustix::fs::{Mode, OFlags, openat};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

pub(super) const CHECKOUT: &str = "checkout";
pub(super) const HOME: &str = "home";
pub(super) const TMP: &str = "tmp";
pub(super) const RESULTS: &str = "results";
pub(super) const RESULT: &str = "result";
const REQUEST: &str = "request";
pub(super) const TITLE: &str = "request/title.txt";
pub(super) const DESCRIPTION: &str = "request/description.md";
pub(super) const DIFF: &str = "request/change.diff";

/// Makes the folders of a trial, and opens the one for the result.
pub(super) fn make(root: &Path) -> io::Result<ResultFolder> {
    fs::create_dir_all(root)?;
    for folder in [HOME, TMP, RESULTS, REQUEST] {
        fs::create_dir(root.join(folder))?;
    }
    Ok(ResultFolder(fs::File::open(root.join(RESULTS))?))
}

/// The open folder of the result: a tool may put a link in its place, which must not be followed.
pub(super) struct ResultFolder(fs::File);

impl ResultFolder {
    /// The result; `None` if there is none. Anything but a regular file of at most this size is an error.
    pub(super) fn read(&self, most: usize) -> Result<Option<Vec<u8>>, String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.0, RESULT, flags, Mode::empty()) {
            Ok(file) => fs::File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => return Err("its result is a link, which is not followed".to_owned()),
            Err(error) => return Err(format!("its result could not be read: {error}")),
        };
        if !file.metadata().is_ok_and(|meta| meta.is_file()) {
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
