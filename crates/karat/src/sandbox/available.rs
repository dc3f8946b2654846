//! Which ways to keep a tool apart this system has.

use super::bubblewrap::{self, Bubblewrap};
use super::isolation::Isolation;
use super::job::SandboxError;
#[cfg(target_os = "linux")]
use super::{confine, filter};
use std::sync::OnceLock;

/// What this system offers beside [`Isolation::Process`], which is there always.
#[derive(Clone, Debug)]
pub struct Availability {
    /// Bubblewrap, or why it cannot be used.
    pub bubblewrap: Result<Bubblewrap, String>,
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
    FOUND.get_or_init(|| Availability { bubblewrap: probe_bubblewrap(), landlock: probe_landlock() })
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
fn probe_bubblewrap() -> Result<Bubblewrap, String> {
    filter::probe()?;
    bubblewrap::probe()
}

#[cfg(not(target_os = "linux"))]
fn probe_bubblewrap() -> Result<Bubblewrap, String> {
    Err("bubblewrap is for Linux, and this is another system".to_owned())
}

#[cfg(target_os = "linux")]
fn probe_landlock() -> Result<(), String> {
    confine::probe()
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
        let none = Availability { bubblewrap: Err("no bwrap".into()), landlock: Err("no landlock".into()) };
        assert_eq!(none.strongest(), Isolation::Process);
        assert_eq!(none.why_not(Isolation::Bubblewrap), Some("no bwrap"));
        let some = Availability { landlock: Ok(()), ..none };
        assert_eq!(some.strongest(), Isolation::Landlock);
        assert_eq!(strongest(Some(Isolation::Process)).unwrap(), available().strongest());
    }
}
