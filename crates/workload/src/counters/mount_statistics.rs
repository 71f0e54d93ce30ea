//! The counters of each mount of the kernel's client, as `/proc/self/mountstats` gives them: per operation, with
//! retransmissions.

use serde::Serialize;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountedOperations {
    /// What is mounted: `HOST:/PATH`.
    pub device: String,
    /// Where.
    pub on: String,
    /// `nfs` or `nfs4`.
    pub kind: String,
    /// The mount's options.
    pub options: String,
    /// Every operation that was called at all.
    pub operations: Vec<Operation>,
    /// Each connection to the server.
    #[serde(skip)]
    pub transports: Vec<MountTransport>,
}

/// What the kernel counts of one connection of a mount (`xprt:`, net/sunrpc/xprtsock.c).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountTransport {
    /// `tcp`, `udp`, `rdma` or `local`.
    pub kind: String,
    /// Calls sent.
    pub sent: u64,
    /// Calls that waited for a slot, summed up whenever one was sent.
    pub waited: u64,
    /// The most slots that were ever in use; newer kernels report it.
    pub slots_most: Option<u64>,
}

/// One operation of a mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// Its name, small.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Sent again.
    pub retransmissions: u64,
    /// Gave up (soft mounts).
    pub timeouts: u64,
    /// Answers that were errors; none where the kernel does not count them.
    pub errors: Option<u64>,
    /// From sending a call to its answer, all of them together, in milliseconds.
    #[serde(skip)]
    pub round_trips_ms: u64,
}

/// The kernel's file of mount statistics.
pub const FILE: &str = "/proc/self/mountstats";

/// Reads the text of [`FILE`]: the NFS mounts in it.
pub fn mount_statistics(text: &str) -> Vec<MountedOperations> {
    let mut mounts: Vec<MountedOperations> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("device ") {
            let mount = device(line);
            inside = mount.is_some();
            mounts.extend(mount);
        } else if let (true, Some(mount)) = (inside, mounts.last_mut()) {
            let line = line.trim();
            match (line.strip_prefix("opts:"), line.strip_prefix("xprt:")) {
                (Some(options), _) => options.trim().clone_into(&mut mount.options),
                (_, Some(fields)) => mount.transports.extend(transport(fields)),
                _ => mount.operations.extend(operation(line)),
            }
        }
    }
    mounts
}

/// `device server:/path mounted on /mnt with fstype nfs statvers=1.1`; the path may hold escaped spaces only.
fn device(line: &str) -> Option<MountedOperations> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["device", device, "mounted", "on", on, "with", "fstype", kind @ ("nfs" | "nfs4"), ..] = words[..]
    else {
        return None;
    };
    Some(MountedOperations {
        device: device.to_owned(),
        on: on.to_owned(),
        kind: kind.to_owned(),
        options: String::new(),
        operations: Vec::new(),
        transports: Vec::new(),
    })
}

/// `tcp PORT BINDS CONNECTS TIME IDLE SENT RECEIVED BAD REQUESTS WAITED [SLOTS SENDING PENDING]`; of `udp` without CONNECTS,
/// TIME and IDLE.
fn transport(fields: &str) -> Option<MountTransport> {
    let words: Vec<&str> = fields.split_whitespace().collect();
    let (kind, numbers) = words.split_first()?;
    let before_sent = if *kind == "udp" { 2 } else { 5 };
    let number = |at: usize| numbers.get(before_sent + at)?.parse().ok();
    let slots_most = number(5);
    Some(MountTransport { kind: (*kind).to_owned(), sent: number(0)?, waited: number(4)?, slots_most })
}

/// `READ: operations transmissions timeouts sent received queue rtt execute [errors]`.
fn operation(line: &str) -> Option<Operation> {
    let (name, numbers) = line.split_once(':')?;
    if !name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
        return None;
    }
    let numbers: Vec<u64> = numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let &[calls, transmissions, timeouts, _sent, _received, _queue, round_trips_ms, _execute, ref more @ ..] =
        numbers.as_slice()
    else {
        return None;
    };
    (calls + transmissions > 0).then(|| Operation {
        name: name.to_ascii_lowercase(),
        calls,
        retransmissions: transmissions.saturating_sub(calls),
        timeouts,
        errors: more.first().copied(),
        round_trips_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "device proc mounted on /proc with fstype proc
device server:/data mounted on /mnt with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=8192,proto=udp
\tage:\t123
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\tudp 700 0 6412 6412 0 1 2 3 4
\tper-op statistics
\t        NULL: 1 1 0 40 24 0 0 0 0
\t     GETATTR: 0 0 0 0 0 0 0 0 0
\t        READ: 6412 6716 0 897680 53500000 80 9000 9100 0
device tmpfs mounted on /run with fstype tmpfs
\t        READ: 9 9 0 0 0 0 0 0 0
";

    #[test]
    fn connections_are_read_whatever_their_kind() {
        let tcp = transport("\ttcp 0 1 2 0 12 5000 4990 0 90000 700 64 100 200").expect("one");
        assert_eq!((tcp.kind.as_str(), tcp.sent, tcp.waited, tcp.slots_most), ("tcp", 5000, 700, Some(64)));
        let udp = transport("udp 700 0 6412 6412 0 1 2 3 4").expect("one");
        assert_eq!((udp.sent, udp.waited, udp.slots_most), (6412, 2, Some(3)));
        assert_eq!(transport("tcp 0 1"), None);
    }

    #[test]
    fn reads_nfs_mounts_and_what_they_sent_again() {
        let mounts = mount_statistics(TEXT);
        let [mount] = mounts.as_slice() else { panic!("one mount: {mounts:?}") };
        assert_eq!((mount.device.as_str(), mount.on.as_str()), ("server:/data", "/mnt"));
        assert_eq!(mount.options, "rw,vers=3,rsize=8192,proto=udp");
        let seen: Vec<_> = mount
            .operations
            .iter()
            .map(|operation| (operation.name.as_str(), operation.calls, operation.retransmissions))
            .collect();
        assert_eq!(seen, [("null", 1, 0), ("read", 6412, 304)]);
    }
}
