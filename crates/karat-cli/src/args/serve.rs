//! Pages over the store.

use super::StorePlace;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Where to listen: an address and a port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7331")]
    pub(crate) listen: String,
    /// What every request must show, 16 characters at least; else KARAT_SERVE_TOKEN; else, or with `auto`, one is made
    /// and printed.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Let every program on this computer in without a token; only with an address that others cannot reach.
    #[arg(long, conflicts_with = "token")]
    pub(crate) no_token: bool,
    /// End what was not used for so long: browsers must show the token again, and one that was made is replaced.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = karat_format::quantity::duration)]
    pub(crate) token_lifetime: Duration,
    /// A name by which browsers reach the server, such as karat.example or localhost:8080; may be given again.
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    pub(crate) hosts: Vec<String>,
    /// Let those with the printed address label pairs and extras; nothing can be changed without.
    #[arg(long)]
    pub(crate) label: bool,
    /// Append a line for every request to a file; `-` is standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Serve HTTPS with this certificate and those above it, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Open a browser on it.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print where it is served as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
