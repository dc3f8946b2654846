//! A local server of a few static pages.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Pages by path. The server lives as long as the process.
pub(super) struct StaticServer {
    address: SocketAddr,
}

impl StaticServer {
    pub(super) fn new(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), (*page).to_owned())).collect();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = pages.clone();
                // The client may have disconnected.
                std::thread::spawn(move || answer(stream, &pages).ok());
            }
        });
        Self { address }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn answer(mut stream: TcpStream, pages: &BTreeMap<String, String>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (status, page) = pages.get(path).map_or(("404 Not Found", "nothing here"), |page| ("200 OK", page));
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    )
}
