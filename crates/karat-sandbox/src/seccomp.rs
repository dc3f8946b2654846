//! Seccomp filters: which sockets a process may open, whose limits it may set, and system calls no tool needs.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

pub(super) const AF_UNIX: u64 = 1;
/// AF_INET, AF_INET6, and AF_NETLINK, which looking up names needs.
pub(super) const NETWORK_FAMILIES: &[u64] = &[2, 10, 16];

#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const SOCKET: i64 = 41;
    pub(super) const PRLIMIT: i64 = 302;
    pub(super) const CLONE: i64 = 56;
    pub(super) const UNSHARE: i64 = 272;
    /// ptrace, process_vm_readv, process_vm_writev, bpf, open_by_handle_at.
    pub(super) const PRIVILEGED: [i64; 5] = [101, 310, 311, 321, 304];
    pub(super) const PERF_EVENT_OPEN: i64 = 298;
    /// shmget, semget, msgget, add_key, request_key, keyctl, userfaultfd.
    pub(super) const OPTIONAL: [i64; 7] = [29, 64, 68, 248, 249, 250, 323];
}
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub(super) const SOCKET: i64 = 198;
    pub(super) const PRLIMIT: i64 = 261;
    pub(super) const CLONE: i64 = 220;
    pub(super) const UNSHARE: i64 = 97;
    pub(super) const PRIVILEGED: [i64; 5] = [117, 270, 271, 280, 265];
    pub(super) const PERF_EVENT_OPEN: i64 = 241;
    pub(super) const OPTIONAL: [i64; 7] = [194, 190, 186, 217, 218, 219, 282];
}
/// io_uring_setup, io_uring_enter, io_uring_register, which bypass filters. The same numbers on every architecture, as the
/// following ones.
const IO_URING: [i64; 3] = [425, 426, 427];
/// clone3, whose arguments a filter cannot see; without it programs fall back to `clone`.
const CLONE3: i64 = 435;
/// Takes open files from another process.
const PIDFD_GETFD: i64 = 438;
/// Set in system call numbers of the x32 ABI, which some x86-64 kernels have.
const X32: i64 = 0x4000_0000;
/// The flag of `clone` and `unshare` for a new user namespace, in which a process has every capability.
const CLONE_NEWUSER: u64 = 0x1000_0000;
// The answer to a refused call is one that programs know from ordinary systems, as in container runtimes. EPERM is the kernel's
// own answer to a process without the privilege, and EACCES that to sockets and performance counters that an administrator
// closed. What a kernel can be built without gets ENOSYS, the only answer on which many programs use something else: a runtime
// that is refused `io_uring_setup` with another error gives up.
const EPERM: u32 = 1;
const EACCES: u32 = 13;
const ENOSYS: u32 = 38;

/// The families of sockets that may be opened; `None` for any. Socket pairs, which reach nobody else, stay possible.
pub(super) type Families<'a> = Option<&'a [u64]>;

pub(super) fn probe() -> Result<(), String> {
    programs(None).map(|_| ())
}

pub(super) fn apply(families: Families<'_>) -> Result<(), String> {
    for program in programs(families)? {
        seccompiler::apply_filter(&program)
            .map_err(|error| format!("the filter on system calls was refused: {error}"))?;
    }
    Ok(())
}

/// The filters in the kernel's format, for another program to apply.
pub(super) fn filter_bytes(families: Families<'_>) -> Result<[Vec<u8>; 3], String> {
    let instruction = |step: &seccompiler::sock_filter| {
        let [code, last] = [step.code.to_ne_bytes(), [step.jt, step.jf]];
        code.into_iter().chain(last).chain(step.k.to_ne_bytes()).collect::<Vec<u8>>()
    };
    Ok(programs(families)?.map(|program| program.iter().flat_map(instruction).collect()))
}

/// System call numbers with alternative rules; an empty list always matches.
type CallRules = Vec<(i64, Vec<SeccompRule>)>;

/// One filter for each error code.
fn programs(families: Families<'_>) -> Result<[BpfProgram; 3], String> {
    let always = |calls: &[i64]| calls.iter().map(|call| (*call, vec![])).collect::<CallRules>();
    let made = || -> seccompiler::Result<[CallRules; 2]> {
        let mut privileged = always(&[&number::PRIVILEGED[..], &[PIDFD_GETFD]].concat());
        // Setting the supervisor's limits could kill it. Zero is the process itself.
        privileged.push((number::PRLIMIT, vec![SeccompRule::new(vec![compare(SeccompCmpOp::Ne, 0)?])?]));
        for call in [number::CLONE, number::UNSHARE] {
            let new_user = compare(SeccompCmpOp::MaskedEq(CLONE_NEWUSER), CLONE_NEWUSER)?;
            privileged.push((call, vec![SeccompRule::new(vec![new_user])?]));
        }
        let mut closed = always(&[number::PERF_EVENT_OPEN]);
        if let Some(families) = families {
            let others = families.iter().map(|family| compare(SeccompCmpOp::Ne, *family));
            let others = others.collect::<Result<Vec<_>, _>>()?;
            closed.push((number::SOCKET, if others.is_empty() { vec![] } else { vec![SeccompRule::new(others)?] }));
        }
        Ok([privileged, closed])
    };
    let [privileged, closed] = made().map_err(|error| not_made(&error))?;
    let optional = always(&[&IO_URING[..], &[CLONE3], &number::OPTIONAL].concat());
    Ok([program(privileged, EPERM)?, program(closed, EACCES)?, program(optional, ENOSYS)?])
}

fn compare(operation: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(0, SeccompCmpArgLen::Dword, operation, value)
}

fn program(calls: Vec<(i64, Vec<SeccompRule>)>, errno: u32) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH;
    let target =
        TargetArch::try_from(architecture).map_err(|_| format!("there is no filter for {architecture} yet"))?;
    let calls = calls.into_iter().flat_map(|(number, rules)| [(number, rules.clone()), (X32 | number, rules)]);
    let filter = SeccompFilter::new(calls.collect(), SeccompAction::Allow, SeccompAction::Errno(errno), target);
    filter.and_then(TryInto::try_into).map_err(|error| not_made(&error))
}

fn not_made(error: &dyn std::fmt::Display) -> String {
    format!("the filter on system calls could not be made: {error}")
}
