//! Many at once, and some who are slow.

use super::pages::{begun, record};
use super::{Server, ids, two_runs};
use karat_store::Store;
use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
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
    let head = "x".repeat(80 * 1024);
    assert_eq!(server.ask("GET", "/", &[("x-long", &head)], "").status, 431);
    let token = server.told["label_url"].as_str().unwrap().split_once("#token=").unwrap().1.to_owned();
    let headers = [("content-type", "application/json"), ("x-karat-token", token.as_str())];
    let sent = |length: usize| format!("{{\"as\":\"{}\"}}", "x".repeat(length));
    let small = server.ask("POST", "/api/label/latest/pairs/undo", &headers, &sent(60 * 1024));
    assert_eq!(small.status, 400, "what fits is read, and the name is too long: {}", small.body);
    let large = server.ask("POST", "/api/label/latest/pairs/undo", &headers, &sent(65 * 1024));
    assert_eq!(large.status, 413, "{}", large.body);
    assert_eq!(server.get("/").status, 200, "others are served");
}

#[test]
fn readers_and_a_writer_do_not_disturb_each_other() {
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let folder = project.path(".karat");
    let run = begun(&mut Store::open(&folder).unwrap(), "busy");
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
        // Whoever closes a store last folds its log into it, which is when a reader is disturbed most easily.
        for attempt in 1..=60 {
            let mut store = Store::open(&folder).unwrap();
            store.save(&run, &[record("one", attempt, "reported", None)]).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    let told = server.json("/runs/busy/progress.json");
    assert_eq!((&told["done"], &told["spent"]["attempts"]), (&1.into(), &60.into()));
}
