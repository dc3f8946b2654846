//! Pages over the store.

use super::StorePlace;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Where to listen: an address and a port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7331")]
    pub(crate) listen: String,
    /// What every request must show, 16 characters at least; `auto` makes one; else KARAT_SERVE_TOKEN.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// A name by which browsers reach the server, such as karat.example or localhost:8080; may be given again.
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    pub(crate) hosts: Vec<String>,
    /// Let those with the printed address label pairs and extras; nothing can be changed without.
    #[arg(long)]
    pub(crate) label: bool,
    /// Open a browser on it.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print where it is served as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
