//! A trial's output, imported under the trial's own limits: in a worker, where it is not small.

use crate::tool::output::{Caps, Output, Read, read};
use karat_core::ids::{CaseId, ToolName};
use karat_core::path::RepoPath;
use karat_core::trial::{Outcome, Trial};
use karat_format::submission::TrialV1;
use karat_io::cancel::Cancel;
use karat_sandbox::{Connection, ExitReason, Resource, Supervisor, WorkerLimits, run_worker};
use serde::{Deserialize, Serialize};
use std::io;

/// Output up to this size is imported in this process, which saves starting another. What comes of an import can grow with
/// the square of its size, since each finding may repeat a text that the output states once: of 64 KiB that is 100 MB at worst.
const SMALL: usize = 64 << 10;
/// How compressed output begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What the findings of one trial come to, as a multiple of what their output may be.
const MOST_REPEATED: u64 = 4;

/// What a worker is to import. The bytes of the output follow it.
#[derive(Serialize, Deserialize)]
struct RequestV1 {
    format: String,
    case: CaseId,
    tool: ToolName,
    number: u32,
    roots: Vec<String>,
    caps: Caps,
}

#[derive(Serialize, Deserialize)]
enum MessageV1 {
    /// It needs the code at this path, which is to be answered.
    Source(String),
    Done {
        trial: Box<TrialV1>,
        problem: Option<String>,
        notes: Vec<String>,
    },
}

/// Imports what a tool wrote in what is left of its time; `None` when cancelled. An error is never the tool's.
pub(super) fn import(
    output: &Output<'_>,
    limits: WorkerLimits,
    supervisor: &Supervisor,
    cancel: &Cancel,
) -> io::Result<Option<Read>> {
    let Some(bytes) = output.bytes.filter(|bytes| bytes.len() > SMALL || bytes.starts_with(&GZIP)) else {
        return Ok(Some(read(output)));
    };
    let done = run_worker(limits, supervisor, cancel, |worker| ask(worker, output, bytes))?;
    let ended = match done {
        Ok(mut read) => {
            if let Some(rules) = output.rules {
                for finding in &mut read.trial.findings {
                    rules.apply(finding);
                }
            }
            return Ok(Some(read));
        }
        Err(ExitReason::Cancelled) => return Ok(None),
        Err(ended) => ended,
    };
    let (outcome, problem) = match ended {
        ExitReason::TimedOut => {
            (Outcome::TimedOut, "its output could not be imported in what was left of its time".to_owned())
        }
        ExitReason::LimitExceeded(Resource::Memory) => {
            let most = limits.memory;
            (Outcome::Crashed, format!("importing its output took more than {most} bytes of memory (limits.memory)"))
        }
        other => (Outcome::Unparsable, format!("its output could not be imported: the importer {other}")),
    };
    let trial = Trial { outcome, ..output.trial.clone() };
    Ok(Some(Read { trial, problem: Some(problem), notes: Vec::new() }))
}

/// Karat's side: hands the output over, and the code that the importer asks for.
fn ask(worker: &Connection, output: &Output<'_>, bytes: &[u8]) -> io::Result<Read> {
    worker.send(&RequestV1 {
        format: output.format.to_owned(),
        case: output.trial.case.clone(),
        tool: output.trial.tool.clone(),
        number: output.trial.number,
        roots: output.roots.to_vec(),
        caps: output.caps,
    })?;
    worker.send_bytes(bytes)?;
    loop {
        match worker.receive()? {
            MessageV1::Source(path) => {
                worker.send(&RepoPath::new(&path).and_then(|path| (output.sources)(&path)))?;
            }
            MessageV1::Done { trial, problem, notes } => {
                return Ok(Read { trial: trial.into_trial().0, problem, notes });
            }
        }
    }
}

/// The whole work of a worker: one import.
pub fn serve(karat: &Connection) -> io::Result<()> {
    let request: RequestV1 = karat.receive()?;
    let bytes = karat.receive_bytes()?;
    let source = |path: &RepoPath| {
        karat.send(&MessageV1::Source(path.to_string())).ok()?;
        karat.receive().ok()?
    };
    let empty = Trial::reported(request.case, request.tool, request.number);
    let Read { trial, problem, notes } = read(&Output {
        trial: &empty,
        format: &request.format,
        bytes: Some(&bytes),
        caps: request.caps,
        roots: &request.roots,
        rules: None,
        sources: &source,
    });
    let done = serde_json::to_vec(&MessageV1::Done { trial: Box::new(TrialV1::from(&trial)), problem, notes })?;
    let most = request.caps.unpacked.saturating_mul(MOST_REPEATED);
    if done.len() as u64 <= most {
        return karat.send_bytes(&done);
    }
    let trial = Trial { outcome: Outcome::Unparsable, ..empty };
    let problem = format!("its findings come to {} bytes, and {most} are the most (limits.output)", done.len());
    karat.send(&MessageV1::Done { trial: Box::new(TrialV1::from(&trial)), problem: Some(problem), notes: Vec::new() })
}
