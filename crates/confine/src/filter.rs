//! seccomp (seccomp(2)): a filter before every system call of the process.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::system_calls::{ALLOWED, FAMILIES, FATAL, NAMESPACES, QUOTAS};

/// Refuses this thread, and those that it starts, all system calls but [`ALLOWED`]. Of the others, [`FATAL`] end the process.
///
/// # Errors
/// Why that cannot be, for a person.
pub(crate) fn allow_only() -> Result<(), String> {
    let install = || -> Result<(), Error> {
        // Of several answers the sternest holds. The last one refuses to install more.
        for filter in [fatal()?, no_clone3()?, allowed()?] {
            apply_filter(&filter)?;
        }
        Ok(())
    };
    install().map_err(|error| error.to_string())
}

/// A process that makes one of these calls is not howdah: it ends, and the kernel's audit log names the call.
fn fatal() -> Result<BpfProgram, Error> {
    compile(FATAL.iter().map(|call| (*call, Vec::new())), SeccompAction::Allow, SeccompAction::KillProcess)
}

/// Its flags lie in memory, where no filter looks: the C library takes `clone` instead when there is no `clone3`.
fn no_clone3() -> Result<BpfProgram, Error> {
    let rule = [(libc::SYS_clone3, Vec::new())];
    compile(rule.into_iter(), SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))
}

fn allowed() -> Result<BpfProgram, Error> {
    let always = ALLOWED.iter().chain(&[libc::SYS_clone3]).map(|call| (*call, Vec::new()));
    // Threads, but no namespaces of our own: in them, what the kernel guards badly can be tried.
    let threads = masked(0, NAMESPACES, 0)?;
    let sockets = FAMILIES.iter().map(|family| equal(0, *family)).collect::<Result<_, _>>()?;
    let pairs = vec![equal(0, libc::AF_UNIX)?];
    // Threads that become the owner of a quota, and only by the effective id, to read it.
    let owner = rule(vec![compare(0, u32::MAX)?, compare(2, u32::MAX)?])?;
    let quotas = QUOTAS.iter().map(|command| equal(1, *command)).collect::<Result<_, _>>()?;
    let some = [
        (libc::SYS_clone, vec![threads]),
        (libc::SYS_socket, sockets),
        (libc::SYS_socketpair, pairs),
        (libc::SYS_setresuid, vec![owner]),
        (libc::SYS_quotactl_fd, quotas),
    ];
    compile(always.chain(some), SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)
}

fn compile(
    rules: impl Iterator<Item = (i64, Vec<SeccompRule>)>,
    otherwise: SeccompAction,
    then: SeccompAction,
) -> Result<BpfProgram, Error> {
    let rules: BTreeMap<i64, Vec<SeccompRule>> = rules.collect();
    let filter = SeccompFilter::new(rules, otherwise, then, std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}

fn equal(argument: u8, value: i32) -> Result<SeccompRule, Error> {
    rule(vec![compare(argument, value.cast_unsigned())?])
}

fn compare(argument: u8, value: u32) -> Result<SeccompCondition, Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.into())?)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, Error> {
    Ok(SeccompRule::new(conditions)?)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, Error> {
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)?;
    Ok(SeccompRule::new(vec![condition])?)
}
