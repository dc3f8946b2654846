//! Copies everything in a store into another one, each in a folder or on a server.

use crate::failure::Result;
use karat_store::{CopiedStore, CopyProgress, Store, StoreError, StoreLocation};

/// The store to copy, and the one to copy it to, which is created if it does not exist.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CopyRequest {
    pub from: StoreLocation,
    pub to: StoreLocation,
}

/// Copies a store. What the other one has already, with equal content, is left alone.
pub fn copy_store(request: &CopyRequest, progress: &mut dyn FnMut(CopyProgress)) -> Result<CopiedStore> {
    let CopyRequest { from, to } = request;
    let mut opened = Store::open(from)?;
    // Checked before the other store is created.
    if is_same(from, to) {
        return Err(StoreError::CopyToItself { place: from.to_string() }.into());
    }
    Ok(opened.copy_to(&mut Store::create(to)?, progress)?)
}

/// Whether two locations are one store, whatever path, user or password leads to it.
fn is_same(one: &StoreLocation, other: &StoreLocation) -> bool {
    let real = |location: &StoreLocation| {
        let folder = location.local_folder();
        folder.canonicalize().unwrap_or(folder)
    };
    one.as_server().is_some() == other.as_server().is_some() && real(one) == real(other)
}
