//! The capabilities (capabilities(7)) that a server keeps, each with its reason; all others are given up for good.

use rustix::io;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// A capability that is kept where the process has it.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// It, alone in a set.
    pub capability: CapabilitySet,
    /// As capabilities(7) calls it.
    pub name: &'static str,
    /// What would not work without it.
    pub why: &'static str,
}

const fn kept(capability: CapabilitySet, name: &'static str, why: &'static str) -> Kept {
    Kept { capability, name, why }
}

/// What every server keeps.
pub const KEPT: &[Kept] = &[
    kept(CapabilitySet::SETUID, "CAP_SETUID", "to act as the user who calls"),
    kept(CapabilitySet::SETGID, "CAP_SETGID", "to act with the groups of who calls"),
    kept(CapabilitySet::CHOWN, "CAP_CHOWN", "chown by clients whose root is not squashed"),
    kept(
        CapabilitySet::DAC_OVERRIDE,
        "CAP_DAC_OVERRIDE",
        "files of others, for clients whose root is not squashed",
    ),
    kept(
        CapabilitySet::DAC_READ_SEARCH,
        "CAP_DAC_READ_SEARCH",
        "file handles of the kernel (open_by_handle_at)",
    ),
    kept(CapabilitySet::FOWNER, "CAP_FOWNER", "chmod and the like by clients whose root is not squashed"),
    kept(
        CapabilitySet::FSETID,
        "CAP_FSETID",
        "set-user-id and set-group-id marks stay as clients' root sets them",
    ),
    kept(CapabilitySet::MKNOD, "CAP_MKNOD", "devices, made by clients whose root is not squashed"),
    kept(CapabilitySet::NET_ADMIN, "CAP_NET_ADMIN", "socket buffers as large as the path needs, and bbr"),
];

/// Kept besides where it may be needed once more: for ports below 1024.
pub const LOW_PORTS: Kept = kept(
    CapabilitySet::NET_BIND_SERVICE,
    "CAP_NET_BIND_SERVICE",
    "sockets below port 1024 for interfaces that come, and taking back what was registered with rpcbind",
);

/// The highest number that a capability may have one day: the sets hold 64.
const NUMBERS: u32 = 64;

/// Gives up everything but [`KEPT`], and [`LOW_PORTS`] if asked for, for this thread and those that it starts: from all sets,
/// and for good. Returns the names of what is left.
///
/// # Errors
/// The kernel refuses to give something up, which it never does.
pub(crate) fn keep_only(low_ports: bool) -> io::Result<Vec<&'static str>> {
    let table = || KEPT.iter().chain(low_ports.then_some(&LOW_PORTS));
    let left = give_up_all_but(table().fold(CapabilitySet::empty(), |all, kept| all | kept.capability))?;
    Ok(table().filter(|kept| left.contains(kept.capability)).map(|kept| kept.name).collect())
}

/// Gives up all capabilities, for this thread and those that it starts, for good: for a process that is no server.
///
/// # Errors
/// The kernel refuses to give something up, which it never does.
pub fn give_up_capabilities() -> io::Result<()> {
    give_up_all_but(CapabilitySet::empty()).map(drop)
}

/// Returns what is left.
fn give_up_all_but(wanted: CapabilitySet) -> io::Result<CapabilitySet> {
    set_no_new_privs(true)?;
    let before = capabilities(None)?;
    if before.effective.contains(CapabilitySet::SETPCAP) {
        shrink_bounding_set(wanted)?;
    }
    let left = before.permitted & wanted;
    set_capabilities(
        None,
        CapabilitySets { effective: left, permitted: left, inheritable: CapabilitySet::empty() },
    )?;
    clear_ambient_capability_set()?;
    Ok(left)
}

/// Nothing outside of the bounding set ever comes back, not even by running another program as root.
fn shrink_bounding_set(wanted: CapabilitySet) -> io::Result<()> {
    for number in 0..NUMBERS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if wanted.contains(capability) {
            continue;
        }
        match capability_is_in_bounding_set(capability) {
            Ok(true) => remove_capability_from_bounding_set(capability)?,
            Ok(false) => {}
            // The kernel knows no more.
            Err(_) => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str) -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("own status");
        let found = status.lines().find_map(|line| line.strip_prefix(key)).expect("a line of status");
        found.trim().to_owned()
    }

    /// In a thread of its own: what is given up does not come back.
    #[test]
    fn a_thread_keeps_what_is_named_and_nothing_else() {
        let check = || {
            let had = capabilities(None).expect("read").permitted;
            let names = keep_only(false).expect("given up");
            let wanted = KEPT.iter().fold(CapabilitySet::empty(), |all, kept| all | kept.capability);
            let mask = format!("{:016x}", (had & wanted).bits());
            assert_eq!((line("CapPrm:"), line("CapEff:")), (mask.clone(), mask.clone()));
            assert_eq!((line("CapInh:"), line("CapAmb:")), ("0".repeat(16), "0".repeat(16)));
            assert_eq!(line("NoNewPrivs:"), "1");
            if had.contains(CapabilitySet::SETPCAP) {
                assert!(!names.is_empty());
                let bounding = u64::from_str_radix(&line("CapBnd:"), 16).expect("a number");
                assert_eq!(bounding & !wanted.bits(), 0, "{bounding:x}");
            }
        };
        std::thread::spawn(check).join().expect("as expected");
    }

    #[test]
    fn a_thread_gives_up_all_and_takes_nothing_back() {
        let check = || {
            give_up_capabilities().expect("given up");
            assert_eq!(keep_only(true).expect("nothing is left"), Vec::<&str>::new());
            let sets = ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].map(line);
            assert_eq!(sets, ["0".repeat(16), "0".repeat(16), "0".repeat(16), "0".repeat(16)]);
        };
        std::thread::spawn(check).join().expect("as expected");
    }
}
