//! How much a tool can be kept apart, and how much of it this system offers.

use super::bubblewrap;
use super::job::SandboxError;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A way to keep a tool apart, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Limits alone.
    Process,
    /// Rules of the Linux kernel on files and sockets.
    Landlock,
    /// Namespaces of the Linux kernel, set up by bubblewrap.
    Bubblewrap,
}

impl Isolation {
    /// Every way, the strongest first.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::Process];

    /// The word for it, used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Process => "process",
        }
    }

    /// The way with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isolation| isolation.as_str() == name)
    }

    /// What it does and does not do, in one sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Bubblewrap => {
                "Namespaces of its own: it sees no other process, finds masked folders empty, writes only to its own folder, \
                 and without the network allowed it reaches nothing but itself."
            }
            Self::Landlock => {
                "Kernel rules on files and sockets: it cannot open what lies in masked folders, writes only to its own folder, \
                 and without the network allowed it opens no socket; names of files and of other processes stay visible."
            }
            Self::Process => {
                "Limits, an environment and a process tree of its own, but nothing is kept from it: it reads and writes whatever \
                 the user can, and uses the network."
            }
        }
    }
}

/// What this system offers beside [`Isolation::Process`], which is there always.
#[derive(Clone, Debug)]
pub struct Availability {
    /// Where bubblewrap is, or why it cannot be used.
    pub bubblewrap: Result<PathBuf, String>,
    /// Whether the kernel's rules can be used, or why not.
    pub landlock: Result<(), String>,
}

impl Availability {
    /// Why a way is not there; `None` where it is.
    pub fn why_not(&self, isolation: Isolation) -> Option<&str> {
        match isolation {
            Isolation::Bubblewrap => self.bubblewrap.as_ref().err().map(String::as_str),
            Isolation::Landlock => self.landlock.as_ref().err().map(String::as_str),
            Isolation::Process => None,
        }
    }

    /// The strongest way there is.
    pub fn strongest(&self) -> Isolation {
        let there = Isolation::ALL.into_iter().find(|isolation| self.why_not(*isolation).is_none());
        there.unwrap_or(Isolation::Process)
    }
}

/// What this system offers, found out by trying, once.
pub fn available() -> &'static Availability {
    static FOUND: OnceLock<Availability> = OnceLock::new();
    FOUND.get_or_init(|| Availability { bubblewrap: bubblewrap::probe(), landlock: probe_landlock() })
}

/// The strongest way this system offers, or an error where that is weaker than what is required.
pub fn strongest(required: Option<Isolation>) -> Result<Isolation, SandboxError> {
    let found = available();
    let best = found.strongest();
    match required.filter(|required| *required > best) {
        None => Ok(best),
        Some(required) => {
            Err(SandboxError::Unavailable { required, why: found.why_not(required).unwrap_or_default().to_owned() })
        }
    }
}

#[cfg(target_os = "linux")]
fn probe_landlock() -> Result<(), String> {
    super::confine::probe()
}

#[cfg(not(target_os = "linux"))]
fn probe_landlock() -> Result<(), String> {
    Err("Landlock is a part of Linux, and this is another system".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused_with_its_reason() {
        assert!(Isolation::Bubblewrap > Isolation::Landlock && Isolation::Landlock > Isolation::Process);
        let none = Availability { bubblewrap: Err("no bwrap".into()), landlock: Err("no landlock".into()) };
        assert_eq!(none.strongest(), Isolation::Process);
        assert_eq!(none.why_not(Isolation::Bubblewrap), Some("no bwrap"));
        let some = Availability { landlock: Ok(()), ..none };
        assert_eq!(some.strongest(), Isolation::Landlock);
        assert_eq!(strongest(Some(Isolation::Process)).unwrap(), available().strongest());
        for isolation in Isolation::ALL {
            assert_eq!(Isolation::from_name(isolation.as_str()), Some(isolation));
        }
    }
}
