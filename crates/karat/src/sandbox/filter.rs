//! A filter on system calls that keeps a process from opening sockets.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The number of `socket`, which each architecture numbers its own way.
#[cfg(target_arch = "x86_64")]
const SOCKET: i64 = 41;
#[cfg(not(target_arch = "x86_64"))]
const SOCKET: i64 = 198;
/// The number of `io_uring_setup`, which opens sockets behind the back of a filter.
const IO_URING_SETUP: i64 = 425;
/// Set in the numbers of the second calling convention that some x86-64 kernels have.
const X32: i64 = 0x4000_0000;
/// The family of sockets on this machine.
const AF_UNIX: u64 = 1;
/// "Permission denied".
const EACCES: u32 = 13;

/// Whether a filter can be made for this machine, or why not.
pub(super) fn probe() -> Result<(), String> {
    program(false).map(|_| ())
}

/// Refuses this process and all it starts every new socket, or all but those on this machine. Connected pairs, which reach
/// nobody else, stay possible.
pub(super) fn cut_sockets(keep_unix: bool) -> Result<(), String> {
    let program = program(keep_unix)?;
    seccompiler::apply_filter(&program).map_err(|error| format!("the filter on sockets was refused: {error}"))
}

fn program(keep_unix: bool) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH;
    let target =
        TargetArch::try_from(architecture).map_err(|_| format!("there is no filter for {architecture} yet"))?;
    let made = || -> seccompiler::Result<BpfProgram> {
        let mut refused = Vec::new();
        if keep_unix {
            let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, AF_UNIX)?;
            refused.push(SeccompRule::new(vec![other])?);
        }
        let calls = [
            (SOCKET, refused.clone()),
            (X32 | SOCKET, refused),
            (IO_URING_SETUP, vec![]),
            (X32 | IO_URING_SETUP, vec![]),
        ];
        let filter = SeccompFilter::new(
            calls.into_iter().collect(),
            SeccompAction::Allow,
            SeccompAction::Errno(EACCES),
            target,
        )?;
        Ok(filter.try_into()?)
    };
    made().map_err(|error| format!("the filter on sockets could not be made: {error}"))
}
