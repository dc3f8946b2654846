//! How near the judge engine comes to what latency and connections allow, and how much memory it needs:
//! `cargo bench -p karat-cli --bench judge_engine`.
//!
//! The server lives in this process and the engine in a child of its own, so that its peak of memory is its own. Exchanges go
//! to a store on the disk, as they do in earnest.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop at the first fault")]

#[path = "../tests/it/judge_engine/server.rs"]
#[expect(dead_code, reason = "the tests use all of the server, a benchmark only its good behaviour")]
mod server;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_format::judge::JudgeConfigV1;
use karat_io::cancel::Cancel;
use karat_llm::engine::{Engine, EngineEvent, EngineOptions};
use karat_llm::ledger::CacheMode;
use karat_llm::prompt::Question;
use karat_llm::provider::ProviderEnv;
use karat_llm::providers;
use karat_store::Store;
use server::{Behaviour, Server};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How many questions are under way at once.
const CONNECTIONS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [word, port, count] = &arguments[..]
        && word == "--child"
    {
        return child(port.parse().unwrap(), count.parse().unwrap());
    }
    println!("| questions | latency | connections | seconds | ideal | ratio | peak MB |");
    println!("|---|---|---|---|---|---|---|");
    for (count, latency) in [(5_000, 50), (10_000, 0), (100_000, 0)] {
        let server = Server::start(Behaviour { latency: Duration::from_millis(latency), ..Behaviour::GOOD });
        let own = std::env::current_exe().unwrap();
        let output =
            Command::new(own).args(["--child", &server.port.to_string(), &count.to_string()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        let ideal = latency as f64 / 1e3 * f64::from(count) / CONNECTIONS as f64;
        let ratio = if latency == 0 { "-".to_owned() } else { format!("{:.3}", figures[0] / ideal) };
        println!(
            "| {count} | {latency} ms | {CONNECTIONS} | {:.2} | {ideal:.2} | {ratio} | {:.0} |",
            figures[0], figures[1]
        );
    }
}

/// Asks so many questions, and prints the seconds and the peak of memory.
fn child(port: u16, count: usize) {
    let config = JudgeConfigV1 {
        provider: "anthropic".to_owned(),
        base_url: Some(format!("http://127.0.0.1:{port}")),
        concurrency: Some(CONNECTIONS as u32),
        ..JudgeConfigV1::default()
    };
    let around = ProviderEnv { variable: &|_| None, folder: Path::new(".") };
    let options = EngineOptions::from_config(&config, CacheMode::ReadWrite).unwrap();
    let engine = Engine::new(providers::open(&config, &around).unwrap(), options);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(folder.path()).unwrap();
    let mut decided = 0;
    let mut count_decided = |event: EngineEvent<'_>| {
        if let EngineEvent::Settled { exchange, .. } = event {
            decided += usize::from(exchange.answer.value().is_some());
        }
    };
    let began = Instant::now();
    engine.ask((0..count).map(question), &mut store, &Cancel::default(), &mut count_decided).unwrap();
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(decided, count);
    println!("{seconds} {}", peak_mb());
}

fn question(number: usize) -> Question {
    let finding =
        Finding { message: Some(format!("The length of item {number} is not checked.")), ..Finding::new("f") };
    karat::judge::template::pair_question(number.to_string(), &Golden::new("g"), &finding, None)
}

/// The most memory this process has held; 0 where the system does not tell.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
