use std::io::{self, Write};

/// Accepts seven bytes at a time, as a writer may.
#[derive(Default)]
struct Narrow(Vec<u8>);

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(7);
        self.0.extend_from_slice(&bytes[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() {
    let mut journal = journal::Journal::new(Narrow::default(), 0);
    let payloads: [&[u8]; 3] = [b"first payload", b"second", b"third payload"];
    let positions = journal.append_all(payloads).unwrap();
    let read = journal::read_all(&journal.into_inner().0);
    let expected: Vec<(u64, Vec<u8>)> = positions.into_iter().zip(payloads.map(<[u8]>::to_vec)).collect();
    if read != expected {
        eprintln!("{} of 3 records can be read", read.len());
        std::process::exit(1);
    }
}
