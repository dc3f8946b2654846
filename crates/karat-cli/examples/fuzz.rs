//! Fuzzing without a nightly compiler: `scripts/fuzz` runs this where cargo-fuzz is not installed.
//!
//! Inputs are seeds, changed at random places. There is no coverage to follow, so seeds must reach far by themselves. Each
//! target is tried in a child process: one that panics, ends by a signal, takes longer than ten seconds or asks for too much
//! memory is a finding. Its input is kept in `fuzz/artifacts/<target>`, once for each place of a panic, and the next child goes on.

#[path = "../../../fuzz/src/lib.rs"]
#[expect(
    unreachable_pub,
    clippy::panic,
    reason = "in its own place this is a crate of properties, which panic when broken"
)]
mod properties;

use properties::{TARGETS, Target, seeds};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The longest input.
const LONGEST: usize = 1 << 16;
/// One input may take so long, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(10);
/// One child may ask for so much memory.
const MEMORY: u64 = 3 << 30;
/// How a child ends that met a panic or was too slow.
const PANICKED: i32 = 101;
const TOO_SLOW: i32 = 102;

const USAGE: &str = "usage: fuzz SECONDS SEED [TARGET…] | fuzz --repeat TARGET FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--child", target, seconds, seed, current] => child(target, seconds, seed, Path::new(current)),
        ["--repeat", target, file] => match (find(target), std::fs::read(file)) {
            (Some(target), Ok(bytes)) => {
                (target.check)(&bytes);
                told("nothing found")
            }
            _ => usage(),
        },
        [seconds, seed, names @ ..] => match (seconds.parse(), seed.parse()) {
            (Ok(seconds), Ok(seed)) if names.iter().all(|name| find(name).is_some()) => {
                let chosen = TARGETS.iter().filter(|target| names.is_empty() || names.contains(&target.name));
                let found: usize = chosen.map(|target| run(target.name, seconds, seed)).sum();
                if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
            }
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    told(&format!("{USAGE}\ntargets: {}", names.join(", ")));
    ExitCode::from(2)
}

fn told(line: &str) -> ExitCode {
    // Where nobody reads it, nobody misses it.
    let _ = writeln!(std::io::stdout(), "{line}");
    ExitCode::SUCCESS
}

fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Tries a target in children until its time is over, and tells how many findings there were.
fn run(name: &str, seconds: u64, seed: u64) -> usize {
    let (began, limit) = (Instant::now(), Duration::from_secs(seconds));
    let (Ok(program), Ok(folder)) = (std::env::current_exe(), tempfile::tempdir()) else { return 1 };
    let current = folder.path().join("current");
    let (mut executions, mut places) = (0, BTreeSet::new());
    for round in 0.. {
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            break;
        }
        let own_seed = seed.wrapping_add(round * 1_000_003).to_string();
        let left = left.as_millis().to_string();
        let mut command = Command::new(&program);
        // Threads of our own would make what is found depend on the scheduler.
        command
            .args(["--child", name, &left, &own_seed])
            .arg(&current)
            .env("RAYON_NUM_THREADS", "1")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        let Ok(output) = command.output() else { return 1 };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        executions += std::fs::read_to_string(current.with_extension("count"))
            .ok()
            .and_then(|n| n.parse::<u64>().ok())
            .unwrap_or(0);
        if output.status.success() {
            continue;
        }
        let place = match output.status.code() {
            Some(TOO_SLOW) => format!("an input took longer than {} s", PATIENCE.as_secs()),
            Some(PANICKED) => said
                .split_once("panicked at ")
                .map_or("a panic", |(_, place)| place.lines().next().unwrap_or_default())
                .to_owned(),
            _ => format!("the process ended with {}: {}", output.status, said.lines().last().unwrap_or_default()),
        };
        if places.insert(place.clone()) {
            let kept = keep(name, &current);
            let words: Vec<String> = said.lines().take(6).map(|line| line.chars().take(300).collect()).collect();
            told(&format!("{name}: FOUND {place}\n{}\n  input: {kept}", words.join("\n")));
        }
        // What crashes at once would otherwise be all that is done.
        if places.len() > 20 {
            break;
        }
    }
    let found = places.len();
    told(&format!("{name}: {executions} executions in {} s, {found} found", began.elapsed().as_secs()));
    found
}

fn keep(name: &str, current: &Path) -> String {
    let bytes = std::fs::read(current).unwrap_or_default();
    let folder = root().join("fuzz/artifacts").join(name);
    let file = folder.join(&blake3::hash(&bytes).to_hex()[..16]);
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &bytes));
    kept.map_or_else(|error| format!("not kept: {error}"), |()| file.display().to_string())
}

fn child(name: &str, milliseconds: &str, seed: &str, current: &Path) -> ExitCode {
    let (Some(target), Ok(time), Ok(seed)) = (find(name), milliseconds.parse(), seed.parse()) else { return usage() };
    let limit = rustix::process::Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    // Where there is no such limit, the system's own has to do.
    let _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
    let corpus: Vec<Vec<u8>> = seeds::of(&root(), name).into_values().collect();
    let count = Arc::new(AtomicU64::new(0));
    let written = current.with_extension("count");
    watch(Arc::clone(&count), written.clone());
    let (began, time) = (Instant::now(), Duration::from_millis(time));
    let random = Random(Cell::new(seed));
    while began.elapsed() < time {
        let input = mutated(&corpus, &random);
        if std::fs::write(current, &input).is_err() {
            break;
        }
        if std::panic::catch_unwind(|| (target.check)(&input)).is_err() {
            let _ = std::fs::write(&written, count.load(Ordering::Relaxed).to_string());
            // Not by the destructors of what panicked.
            std::process::exit(PANICKED);
        }
        count.fetch_add(1, Ordering::Relaxed);
    }
    let _ = std::fs::write(&written, count.load(Ordering::Relaxed).to_string());
    ExitCode::SUCCESS
}

/// Ends the process when one input takes too long.
fn watch(count: Arc<AtomicU64>, written: PathBuf) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = count.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > PATIENCE {
                let _ = std::fs::write(&written, now.to_string());
                std::process::exit(TOO_SLOW);
            }
            let _ = std::fs::write(&written, now.to_string());
        }
    });
}

/// SplitMix64, by which a finding is found again with the same seed.
struct Random(Cell<u64>);

impl Random {
    fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another.
    fn below(&self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// What breaks readers of text, numbers and markup more often than random bytes do.
const NASTY: &[&[u8]] = &[
    b"",
    b"0",
    b"-1",
    b"1e309",
    b"-0.0",
    b"NaN",
    b"18446744073709551616",
    b"9223372036854775807",
    b"4294967296",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xcc\x81",
    b"\xf0\x9f\x98\x80",
    b"\x1b[31m",
    b"../",
    b"/",
    b"//",
    b"C:\\",
    b"|",
    b"#",
    b"---\n",
    b"&a",
    b"*a",
    b"!!",
    b"<<: *a\n",
    b"${x}",
    b"{x}",
    b"{{",
    b"=cmd()",
    b"</script>",
    b"<!--",
    b"]]>",
    b"%",
    b"%00",
    b":",
    b",",
    b";",
    b"\xe2\x80\xa8",
];

fn mutated(corpus: &[Vec<u8>], random: &Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    // A seed as it is has been tried by a test.
    for _ in 0..1 + random.below(6) {
        let at = random.below(input.len() + 1);
        let end = (at + random.below(1 << random.below(9))).min(input.len());
        match random.below(9) {
            0 if !input.is_empty() => {
                let at = random.below(input.len());
                input[at] ^= 1 << random.below(8);
            }
            1 => drop(input.splice(at..at, random.pick(NASTY).iter().copied())),
            2 => drop(input.splice(at..end, random.pick(NASTY).iter().copied())),
            3 => drop(input.drain(at..end)),
            4 => {
                let part = input[at..end].to_vec();
                for _ in 0..1 << random.below(8) {
                    if input.len() + part.len() < LONGEST {
                        input.splice(at..at, part.iter().copied());
                    }
                }
            }
            5 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(1 << random.below(11))).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            6 => replace_token(&mut input, corpus, random),
            7 => replace_token(&mut input, corpus, random),
            _ => {
                let to = random.below(input.len() + 1);
                let part = input[at..end].to_vec();
                input.splice(to..to, part);
            }
        }
    }
    input.truncate(LONGEST);
    input
}

/// Puts another word, number or string in the place of one: one of a seed, or a nasty one.
fn replace_token(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &Random) {
    let Some((start, end)) = token(input, random) else { return };
    let other = &corpus[random.below(corpus.len())];
    let new = match token(other, random) {
        Some((from, to)) if random.below(2) == 0 => other[from..to].to_vec(),
        _ => random.pick(NASTY).to_vec(),
    };
    input.splice(start..end, new);
}

fn token(text: &[u8], random: &Random) -> Option<(usize, usize)> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+._".contains(byte) || *byte >= 0x80;
    let from = random.below(text.len());
    let start = from + text[from..].iter().position(is_word)?;
    let start = start - text[..start].iter().rev().take_while(|byte| is_word(byte)).count();
    let end = start + text[start..].iter().take_while(|byte| is_word(byte)).count();
    Some((start, end))
}
