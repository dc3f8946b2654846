//! Many at once, and some who are slow.

use super::{Answer, Server, ids, two_runs};
use std::io::Write;
use std::sync::Barrier;
use std::time::{Duration, Instant};

#[test]
fn two_hundred_at_once_are_all_answered() {
    let project = two_runs();
    let runs = ids(&project);
    let server = Server::start(&project, &[]);
    let paths = [
        "/".to_owned(),
        format!("/runs/{}", runs[0]),
        format!("/runs/{}", runs[1]),
        format!("/compare?a={}&b={}", runs[1], runs[0]),
        format!("/runs/{}/progress.json", runs[0]),
    ];
    let together = Barrier::new(200);
    std::thread::scope(|scope| {
        for n in 0..200 {
            let (server, path, together) = (&server, &paths[n % paths.len()], &together);
            scope.spawn(move || {
                together.wait();
                assert_eq!(server.get(path).status, 200, "{path}");
            });
        }
    });
}

#[test]
fn slow_clients_keep_nobody_waiting() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    // Half a head, and half a body that nobody may send.
    let mut slow: Vec<_> = (0..150).map(|_| server.connect()).collect();
    for (n, stream) in slow.iter_mut().enumerate() {
        let head = if n % 2 == 0 {
            "GET / HTTP/1.1\r\nhost: 127"
        } else {
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\na"
        };
        stream.write_all(head.as_bytes()).unwrap();
    }
    let began = Instant::now();
    assert_eq!(server.get("/").status, 200);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // And they are sent away after a while.
    let stream = &mut slow[0];
    let mut left = Vec::new();
    let _ = std::io::Read::read_to_end(stream, &mut left);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn what_is_too_large_is_refused() {
    let project = two_runs();
    let server = Server::start(&project, &["--label"]);
    let long = "x".repeat(200_000);
    let mut stream = server.connect();
    // The server may close while this is still being sent.
    let _ =
        stream.write_all(format!("GET / HTTP/1.1\r\nhost: {}\r\nx-long: {long}\r\n\r\n", server.address).as_bytes());
    let mut answer = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"));
    let mut stream = server.connect();
    stream
        .write_all(format!("GET / HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address).as_bytes())
        .unwrap();
    assert_eq!(Answer::read(&mut stream).status, 200, "others are served");
}
