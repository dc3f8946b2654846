//! Concurrent, slow and oversized requests.

use super::pages::{begin_run, record};
use super::{Server, run_ids, two_runs};
use karat_store::Store;
use std::io::{Read, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn two_hundred_parallel_requests_are_answered() {
    let project = two_runs();
    let runs = run_ids(&project);
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
fn slow_clients_do_not_block_others() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    // Half a request head, and half a body that is not allowed anyway.
    let mut slow: Vec<_> = (0..150).map(|_| server.connect()).collect();
    for (n, stream) in slow.iter_mut().enumerate() {
        let head = if n % 2 == 0 {
            "GET / HTTP/1.1\r\nhost: 127"
        } else {
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\na"
        };
        stream.write_all(head.as_bytes()).unwrap();
    }
    assert_eq!(server.get("/").status, 200);
    // Answered while the slow clients are connected; they are disconnected later. Reads have a timeout.
    let stream = &mut slow[148];
    stream.set_nonblocking(true).unwrap();
    let waiting = stream.read(&mut [0]).expect_err("the slow client was disconnected first");
    assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    stream.set_nonblocking(false).unwrap();
    if let Err(error) = stream.read_to_end(&mut Vec::new()) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

#[test]
fn oversized_requests_are_refused() {
    let project = two_runs();
    let server = Server::start(&project, &["--label"]);
    let head = "x".repeat(80 * 1024);
    assert_eq!(server.ask("GET", "/", &[("x-long", &head)], "").status, 431);
    let token = server.printed["label_url"].as_str().unwrap().split_once("#token=").unwrap().1.to_owned();
    let headers = [("content-type", "application/json"), ("x-karat-token", token.as_str())];
    let sent = |length: usize| format!("{{\"as\":\"{}\"}}", "x".repeat(length));
    let small = server.ask("POST", "/api/label/latest/pairs/undo", &headers, &sent(60 * 1024));
    assert_eq!(small.status, 400, "a body within the limit is read, and its name is too long: {}", small.body);
    let large = server.ask("POST", "/api/label/latest/pairs/undo", &headers, &sent(65 * 1024));
    assert_eq!(large.status, 413, "{}", large.body);
    assert_eq!(server.get("/").status, 200, "other requests are still served");
}

#[test]
fn readers_and_a_writer_work_in_parallel() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let folder = project.path(".karat");
    let run = begin_run(&mut Store::open(&folder).unwrap(), "busy");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for path in ["/", "/runs/busy/progress.json", "/runs/second/report.json", "/runs/busy/live"] {
            let (server, over) = (&server, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let answer = server.get(path);
                    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
                }
            });
        }
        // The last connection to close checkpoints the log, which is when readers are most likely to be disturbed.
        for attempt in 1..=60 {
            let mut store = Store::open(&folder).unwrap();
            store.save(&run, &[record("one", attempt, "reported", None)]).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    let progress = server.json("/runs/busy/progress.json");
    assert_eq!((&progress["done"], &progress["spent"]["attempts"]), (&1.into(), &60.into()));
}
