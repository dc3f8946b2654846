//! A filter on system calls: which sockets a process may open, and whose limits it may set.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The family of sockets on this machine.
pub(super) const AF_UNIX: u64 = 1;
/// The families that reach a network: version 4 and 6 of the internet's protocol, and the one by which the kernel is asked for
/// addresses and routes, which looking up names begins with.
pub(super) const NETWORK: &[u64] = &[2, 10, 16];

/// The numbers of `socket` and `prlimit64`, which each architecture numbers its own way.
#[cfg(target_arch = "x86_64")]
const NUMBERS: (i64, i64) = (41, 302);
#[cfg(not(target_arch = "x86_64"))]
const NUMBERS: (i64, i64) = (198, 261);
/// The number of `io_uring_setup`, which opens sockets behind the back of a filter.
const IO_URING_SETUP: i64 = 425;
/// Set in the numbers of the second calling convention that some x86-64 kernels have.
const X32: i64 = 0x4000_0000;
/// "Permission denied".
const EACCES: u32 = 13;

/// Whether a filter can be made for this machine, or why not.
pub(super) fn probe() -> Result<(), String> {
    program(&[]).map(|_| ())
}

/// Refuses this process and all it starts new sockets of all but these families. Connected pairs, which reach nobody else, stay
/// possible.
pub(super) fn apply(families: &[u64]) -> Result<(), String> {
    let program = program(families)?;
    seccompiler::apply_filter(&program).map_err(|error| format!("the filter on system calls was refused: {error}"))
}

/// The same filter as the bytes that the kernel reads, for another program to apply.
pub(super) fn bytes(families: &[u64]) -> Result<Vec<u8>, String> {
    let instruction = |step: &seccompiler::sock_filter| {
        let [code, last] = [step.code.to_ne_bytes(), [step.jt, step.jf]];
        code.into_iter().chain(last).chain(step.k.to_ne_bytes()).collect::<Vec<u8>>()
    };
    Ok(program(families)?.iter().flat_map(instruction).collect())
}

fn program(families: &[u64]) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH;
    let target =
        TargetArch::try_from(architecture).map_err(|_| format!("there is no filter for {architecture} yet"))?;
    let other_than = |value: u64| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value);
    let made = || -> seccompiler::Result<BpfProgram> {
        let mut foreign = Vec::new();
        if !families.is_empty() {
            let conditions = families.iter().map(|family| other_than(*family)).collect::<Result<Vec<_>, _>>()?;
            foreign.push(SeccompRule::new(conditions)?);
        }
        // Whoever can set the limits of the supervisor can end it. Zero is the process itself.
        let others = vec![SeccompRule::new(vec![other_than(0)?])?];
        let (socket, limits) = NUMBERS;
        let calls = [(socket, foreign), (limits, others), (IO_URING_SETUP, vec![])];
        let calls = calls.into_iter().flat_map(|(number, rules)| [(number, rules.clone()), (X32 | number, rules)]);
        let filter = SeccompFilter::new(calls.collect(), SeccompAction::Allow, SeccompAction::Errno(EACCES), target)?;
        Ok(filter.try_into()?)
    };
    made().map_err(|error| format!("the filter on system calls could not be made: {error}"))
}
