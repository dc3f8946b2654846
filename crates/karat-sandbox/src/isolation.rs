//! The kinds of isolation, and what each does and does not do.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_strength() {
        assert!(Isolation::Bubblewrap > Isolation::Landlock && Isolation::Landlock > Isolation::Process);
        assert!(Isolation::ALL.is_sorted_by(|a, b| a > b));
    }
}
