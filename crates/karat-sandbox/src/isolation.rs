//! The kinds of isolation, what each does and does not do, and which of them this system supports.

use super::bubblewrap::{self, Bubblewrap};
#[cfg(target_os = "linux")]
use super::{landlock_rules, seccomp};
use std::io;
use std::sync::OnceLock;

/// How a tool is isolated, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Limits alone.
    Process,
    /// Linux kernel rules on files and sockets.
    Landlock,
    /// Linux namespaces, set up by bubblewrap.
    Bubblewrap,
}

impl Isolation {
    /// Every kind, the strongest first.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::Process];

    /// The name used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Process => "process",
        }
    }

    /// What it leaves open, in a few words, if anything.
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Self::Bubblewrap => None,
            Self::Landlock => Some("names of files and processes stay visible"),
            Self::Process => Some("files, network and processes stay open"),
        }
    }

    /// What it does and does not do, in one sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "Namespaces of its own: it sees no other process, of files the system's programs, its installation and its \
                 own folder alone, changes nothing outside that folder, connects to no daemon on this machine by a socket file, \
                 and without the network allowed it reaches nothing but itself."
            }
            Self::Landlock => {
                "Kernel rules on files and sockets: it opens the system's programs, its installation and its own folder alone, writes only to that folder, \
                 connects to no daemon on this machine by a socket file, and without the network allowed it opens no socket; \
                 names of files and of other processes stay visible, modes and times of files that the user owns can be \
                 changed, and before Linux 6.12 processes of the user can be signalled."
            }
            Self::Process => {
                "Limits, an environment and a process tree of its own, but nothing is kept from it: it reads and writes whatever \
                 the user can, and uses the network."
            }
        }
    }
}

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
    fn order_is_by_strength() {
        assert!(Isolation::Bubblewrap > Isolation::Landlock && Isolation::Landlock > Isolation::Process);
        assert!(Isolation::ALL.is_sorted_by(|a, b| a > b));
    }

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
