//! Where a store is: a folder of this machine, or a database on a PostgreSQL server.

use super::FOLDER;
use serde::{Serialize, Serializer};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use url::Url;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreLocation {
    /// A folder with a SQLite database in it.
    Folder(PathBuf),
    /// A database on a PostgreSQL server.
    Server(ServerUrl),
}

/// A `postgres://` URL with a host and a database. Nothing but [`Self::with_password`] shows its password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerUrl {
    url: Url,
}

/// Why a text names no store. The text is left out, since it may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LocationError {
    #[error("a {scheme} URL cannot be a store; name a folder, or a database as {EXAMPLE}")]
    Scheme { scheme: String },
    #[error("the URL of the store names no {missing}; write it as {EXAMPLE}")]
    Incomplete { missing: &'static str },
    #[error(
        "the URL of the store cannot be read: {detail}; write it as {EXAMPLE}, and characters such as `/`, `?`, `#` and `%` in a user name or password as %2F, %3F, %23 and %25"
    )]
    Unreadable { detail: String },
}

const EXAMPLE: &str = "postgres://USER@HOST:PORT/DATABASE";

const DEFAULT_PORT: &str = "5432";

impl StoreLocation {
    /// Reads a folder's path or a server's URL, as it was typed.
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, LocationError> {
        let text = text.as_ref();
        // A path need not be Unicode, a URL is.
        let Some(scheme) = text.to_str().and_then(url_scheme) else { return Ok(Self::Folder(text.into())) };
        match scheme.to_ascii_lowercase().as_str() {
            "postgres" | "postgresql" => ServerUrl::parse(&text.to_string_lossy()).map(Self::Server),
            _ => Err(LocationError::Scheme { scheme: scheme.to_owned() }),
        }
    }

    /// The folder on this machine for what belongs to the store but not into its database, such as logs and caches. It need
    /// not exist.
    pub fn local_folder(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.clone(),
            Self::Server(server) => cache_folder().join("servers").join(server.identity()),
        }
    }

    /// The folder, if the store is one.
    pub fn as_folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Server(_) => None,
        }
    }

    /// The server, if the store is on one.
    pub fn as_server(&self) -> Option<&ServerUrl> {
        match self {
            Self::Folder(_) => None,
            Self::Server(server) => Some(server),
        }
    }
}

/// Karat's folder for what can be made again.
pub fn cache_folder() -> PathBuf {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = set.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    // Without a home, the current folder is the only one that is certainly ours.
    cache.map_or_else(|| PathBuf::from(FOLDER), |cache| cache.join("karat"))
}

/// The scheme of a text that reads as `scheme://…`.
pub fn url_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

impl ServerUrl {
    /// Reads a `postgres://` or `postgresql://` URL.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let url = Url::parse(text).map_err(|error| LocationError::Unreadable { detail: error.to_string() })?;
        if has_late_user_name(&url) {
            let detail = "an `@` follows the host; it ends the user name and password".to_owned();
            return Err(LocationError::Unreadable { detail });
        }
        let server = Self { url };
        if server.host().is_empty() {
            return Err(LocationError::Incomplete { missing: "host" });
        }
        if server.database().is_empty() {
            return Err(LocationError::Incomplete { missing: "database" });
        }
        Ok(server)
    }

    /// The whole URL, for connecting only.
    pub fn with_password(&self) -> &str {
        self.url.as_str()
    }

    /// The host's name or address, or the folder of its socket.
    pub fn host(&self) -> String {
        let own = || self.url.host_str().unwrap_or_default().to_owned();
        self.parameter("hostaddr").or_else(|| self.parameter("host")).unwrap_or_else(own)
    }

    /// The port, as text.
    pub fn port(&self) -> String {
        let own = || self.url.port().map_or_else(|| DEFAULT_PORT.to_owned(), |port| port.to_string());
        self.parameter("port").unwrap_or_else(own)
    }

    /// The database's name, percent-encoded if the URL has it so.
    pub fn database(&self) -> String {
        let own = || self.url.path().trim_start_matches('/').to_owned();
        self.parameter("dbname").unwrap_or_else(own)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        self.url.query_pairs().filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned())
    }

    /// A name for files that belong to the database: equal for all users and passwords.
    fn identity(&self) -> String {
        let text = [self.host(), self.port(), self.database()].join("\n");
        karat_io::content_hash(text.as_bytes()).chars().take(32).collect()
    }
}

/// Whether a part of a URL that is shown may hold a password: `u:1/secret@host/d` reads as the host `u`, the port 1 and a path.
fn has_late_user_name(url: &Url) -> bool {
    url.path().contains('@')
        || url.fragment().is_some_and(|fragment| fragment.contains('@'))
        || url.query_pairs().any(|(name, _)| name.contains('@'))
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.url.clone();
        // It fails only for a URL without a host, which has no password.
        let _ = url.set_password(None);
        // Nobody needs it to find the store, and it may be a part of a password with `#` in it.
        url.set_fragment(None);
        if self.parameter("password").is_some() {
            let kept: Vec<_> = self.url.query_pairs().filter(|(key, _)| key != "password").collect();
            url.set_query(None);
            if !kept.is_empty() {
                url.query_pairs_mut().extend_pairs(kept);
            }
        }
        f.write_str(url.as_str())
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}

impl Serialize for StoreLocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The usual folder, below the current one.
impl Default for StoreLocation {
    fn default() -> Self {
        Self::Folder(FOLDER.into())
    }
}

impl From<PathBuf> for StoreLocation {
    fn from(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }
}

impl From<&PathBuf> for StoreLocation {
    fn from(folder: &PathBuf) -> Self {
        Self::Folder(folder.clone())
    }
}

impl From<&Path> for StoreLocation {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.to_owned())
    }
}

impl From<&StoreLocation> for StoreLocation {
    fn from(location: &StoreLocation) -> Self {
        location.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> ServerUrl {
        ServerUrl::parse(text).unwrap()
    }

    #[test]
    fn paths_are_folders_and_postgres_urls_are_servers() {
        for path in [".karat", "/srv/karat", "C:\\karat", "a:b", "./postgres://x/y", "://x", "4://x", "postgres:/x"] {
            assert_eq!(StoreLocation::parse(path).unwrap(), StoreLocation::Folder(path.into()), "{path}");
        }
        for url in ["postgres://db.example.org/karat", "postgresql://db.example.org/karat", "POSTGRES://h/d"] {
            assert!(StoreLocation::parse(url).unwrap().as_server().is_some(), "{url}");
        }
    }

    #[test]
    fn what_names_no_store_is_refused_with_help_and_without_the_password() {
        for (url, said) in [
            ("mysql://u:hidden@h/d", "a mysql URL cannot be a store; name a folder, or a database as postgres://"),
            ("s3://hidden/d", "a s3 URL"),
            ("postgres://", "names no host"),
            ("postgres:///karat", "names no host"),
            ("postgres://u:hidden@h", "names no database"),
            ("postgres://u:hidden@h/", "names no database"),
            ("postgres://u:hid/den@h/d", "cannot be read: invalid port number"),
            ("postgres://u:hidden@h:99999/d", "cannot be read: invalid port number"),
            ("postgres://u:1/hidden@h/d", "an `@` follows the host"),
            ("postgres://u:1/hidden@h/d", "in a user name or password as %2F"),
            ("postgres://u:1?hidden@h/d", "an `@` follows the host"),
            ("postgres://u:1?hid=den@h/d", "names no database"),
            ("postgres://u:1/d#hidden@h/d", "an `@` follows the host"),
        ] {
            let error = StoreLocation::parse(url).unwrap_err().to_string();
            assert!(error.contains(said), "{url}: {error}");
            assert!(!error.contains("hid"), "{url}: {error}");
        }
    }

    #[test]
    fn password_is_shown_nowhere() {
        for (url, shown) in [
            ("postgres://u:hidden@h:5433/d?sslmode=require", "postgres://u@h:5433/d?sslmode=require"),
            ("postgres://u:hid@den@h/d", "postgres://u@h/d"),
            ("postgres://:hidden@h/d", "postgres://h/d"),
            ("postgres://u@h/d?password=hidden", "postgres://u@h/d"),
            ("postgres://u@h/d?password=hidden&sslmode=disable", "postgres://u@h/d?sslmode=disable"),
            ("postgres://u@h/d?%70assword=hidden", "postgres://u@h/d"),
            ("postgres://u@h/d#hidden", "postgres://u@h/d"),
            ("postgres://h/d", "postgres://h/d"),
        ] {
            let location = StoreLocation::parse(url).unwrap();
            assert_eq!(location.to_string(), shown);
            assert_eq!(serde_json::to_string(&location).unwrap(), format!("\"{shown}\""));
            assert!(!format!("{location:?}").contains("hid"), "{location:?}");
            assert_eq!(server(url).with_password(), url.replace("hid@den", "hid%40den"));
        }
    }

    #[test]
    fn local_folder_depends_on_host_port_and_database_only() {
        let folder = |url: &str| StoreLocation::Server(server(url)).local_folder();
        let same = folder("postgres://u:p@h/d");
        for url in ["postgresql://other@h:5432/d?sslmode=require", "postgres://x/d?host=h", "postgres://h?dbname=d"] {
            assert_eq!(folder(url), same, "{url}");
        }
        for url in ["postgres://h2/d", "postgres://h:5433/d", "postgres://h/d2", "postgres://h/d?port=1"] {
            assert_ne!(folder(url), same, "{url}");
        }
        assert_eq!(StoreLocation::from(Path::new("x/.karat")).local_folder(), Path::new("x/.karat"));
    }
}
