//! The account that servers run as: PostgreSQL and PgBouncer refuse to run as root.

use std::path::Path;

/// Who a server runs as.
pub(crate) struct Account {
    /// User and group to change to; nothing where the tests do not run as root.
    other: Option<(u32, u32)>,
}

impl Account {
    /// Whoever runs the tests.
    pub(crate) fn current() -> Account {
        Account { other: None }
    }

    /// The current user, or for root `postgres`, or else `nobody`.
    pub(crate) fn for_servers() -> Result<Account, String> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Account::current());
        }
        let users = std::fs::read_to_string("/etc/passwd").map_err(|e| format!("cannot read /etc/passwd: {e}"))?;
        let find = |name: &str| {
            let fields: Vec<&str> =
                users.lines().map(|line| line.split(':').collect()).find(|f: &Vec<&str>| f[0] == name)?;
            Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
        };
        let other = find("postgres").or_else(|| find("nobody"));
        let missing = "servers do not run as root, and there is neither a user postgres nor nobody";
        Ok(Account { other: Some(other.ok_or(missing)?) })
    }

    /// User and group, where they are not those of the tests.
    pub(crate) fn ids(&self) -> Option<(u32, u32)> {
        self.other
    }

    /// The start of a command line that continues as this account, in the same process.
    pub(crate) fn prefix(&self) -> Vec<String> {
        let Some((user, group)) = self.other else { return Vec::new() };
        ["setpriv".to_owned(), format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()]
            .into()
    }

    /// Gives a file or a folder to this account.
    pub(crate) fn give(&self, path: &Path) -> Result<(), String> {
        let Some((user, group)) = self.other else { return Ok(()) };
        std::os::unix::fs::chown(path, Some(user), Some(group))
            .map_err(|e| format!("cannot change the owner of {}: {e}", path.display()))
    }
}
