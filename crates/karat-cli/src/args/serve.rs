//! `karat serve`.

use super::StorePlace;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Address and port to listen on; port 0 selects a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7331")]
    pub(crate) listen: String,
    /// Token that every request must present, at least 16 characters; default: KARAT_SERVE_TOKEN, else a generated one, which
    /// is printed. `auto` always generates one.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Require no token from any program on this computer; only with a loopback address.
    #[arg(long, conflicts_with = "token")]
    pub(crate) no_token: bool,
    /// Expire sessions unused for this long: browsers must present the token again, and a generated token is replaced.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = karat_format::quantity::duration)]
    pub(crate) token_lifetime: Duration,
    /// Host name by which browsers reach the server, such as karat.example or localhost:8080; repeatable.
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    pub(crate) hosts: Vec<String>,
    /// Allow labelling of pairs and extras; without it, the pages are read-only.
    #[arg(long)]
    pub(crate) label: bool,
    /// Append a line for every request to a file; `-` is standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Serve HTTPS with this certificate chain (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Open the address in a browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print the address as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
