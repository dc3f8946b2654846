//! Which kinds of isolation this system supports.

use super::bubblewrap::{self, Bubblewrap};
use super::isolation::Isolation;
#[cfg(target_os = "linux")]
use super::{landlock_rules, seccomp};
use std::io;
use std::sync::OnceLock;

/// The isolation this system supports besides [`Isolation::Process`], which always works.
#[derive(Clone, Debug)]
pub struct Availability {
    /// Bubblewrap, or why it cannot be used.
    pub bubblewrap: Result<Bubblewrap, String>,
    /// Why Landlock cannot be used, if it cannot.
    pub landlock: Result<(), String>,
}

impl Availability {
    /// Why an isolation cannot be used; `None` where it can.
    pub fn unavailable_reason(&self, isolation: Isolation) -> Option<&str> {
        match isolation {
            Isolation::Bubblewrap => self.bubblewrap.as_ref().err().map(String::as_str),
            Isolation::Landlock => self.landlock.as_ref().err().map(String::as_str),
            Isolation::Process => None,
        }
    }

    /// The strongest isolation that can be used.
    pub fn strongest(&self) -> Isolation {
        let usable = Isolation::ALL.into_iter().find(|isolation| self.unavailable_reason(*isolation).is_none());
        usable.unwrap_or(Isolation::Process)
    }
}

/// What this system supports, determined once by trying.
pub fn available() -> &'static Availability {
    static FOUND: OnceLock<Availability> = OnceLock::new();
    FOUND.get_or_init(probe)
}

/// The strongest isolation this system supports, or an error where that is weaker than required.
pub fn strongest(required: Option<Isolation>) -> io::Result<Isolation> {
    let found = available();
    let best = found.strongest();
    match required.filter(|required| *required > best) {
        None => Ok(best),
        Some(required) => Err(unavailable(required, found.unavailable_reason(required).unwrap_or_default())),
    }
}

pub(super) fn unavailable(required: Isolation, why: &str) -> io::Error {
    io::Error::other(format!("isolation by {} was requested, but {why}", required.as_str()))
}

#[cfg(target_os = "linux")]
fn probe() -> Availability {
    Availability { bubblewrap: seccomp::probe().and_then(|()| bubblewrap::probe()), landlock: landlock_rules::probe() }
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Availability {
    Availability {
        bubblewrap: Err("bubblewrap is for Linux, and this is another system".to_owned()),
        landlock: Err("Landlock is a part of Linux, and this is another system".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_isolation_is_reported_with_its_reason() {
        let none = Availability { bubblewrap: Err("no bwrap".into()), landlock: Err("no landlock".into()) };
        assert_eq!(none.strongest(), Isolation::Process);
        assert_eq!(none.unavailable_reason(Isolation::Bubblewrap), Some("no bwrap"));
        let some = Availability { landlock: Ok(()), ..none };
        assert_eq!(some.strongest(), Isolation::Landlock);
        assert_eq!(strongest(Some(Isolation::Process)).unwrap(), available().strongest());
    }
}
