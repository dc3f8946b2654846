//! A connection that was made only to see whether a server has a store, for whoever opens that store next: commands look first, and
//! a connection with a password takes longer than most of what they ask.

use super::postgres::Postgres;
use crate::ServerUrl;
use std::sync::{Mutex, MutexGuard, PoisonError};

static SPARE: Mutex<Option<(ServerUrl, Box<Postgres>)>> = Mutex::new(None);

/// Keeps a connection in place of the one that was kept before.
pub(super) fn keep(server: &ServerUrl, postgres: Box<Postgres>) {
    let before = spare().replace((server.clone(), postgres));
    // Closing it takes time, and nobody should wait for it.
    drop(before);
}

/// Takes the connection that was kept, if it is one to this server.
pub(super) fn take(server: &ServerUrl) -> Option<Box<Postgres>> {
    spare().take_if(|(own, _)| own == server).map(|(_, postgres)| postgres)
}

fn spare() -> MutexGuard<'static, Option<(ServerUrl, Box<Postgres>)>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}
