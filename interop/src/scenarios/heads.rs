//! The Linux kernel's client on several howdahs that serve one cluster file system.

use std::time::Duration;

use super::kernel_client::{BASE, PLAIN};
use crate::scenario::{Peer, Scenario};

/// 200 moves take half an hour.
const LIMIT: Duration = Duration::from_secs(3_600);

const MIB: u64 = 1 << 20;

/// What all scenarios of heads have in common.
const HEADS: Scenario = Scenario { export: "/data", limit: LIMIT, privileged: true, ..BASE };

/// MooseFS is in Debian's packages moosefs-master, moosefs-chunkserver and moosefs-client.
const fn on_moosefs(job: &'static str, options: &'static str) -> Peer {
    Peer::Heads {
        job,
        options,
        cluster: "heads-moosefs.sh",
        commands: &["mfsmaster", "mfschunkserver", "mfsmount", "nsenter"],
    }
}

/// CephFS is in Debian's packages ceph-mon, ceph-mgr, ceph-osd, ceph-mds and ceph-fuse.
const fn on_cephfs(job: &'static str, options: &'static str) -> Peer {
    Peer::Heads {
        job,
        options,
        cluster: "heads-cephfs.sh",
        commands: &["ceph", "ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph-fuse", "nsenter"],
    }
}

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "heads-moosefs-nfs4",
        about: "the same over 4.1, with a file that is open and locked meanwhile: both are reclaimed at the other head",
        peer: on_moosefs("heads.sh", "vers=4.1,port=2049"),
        sizes: &[("ROUNDS", 6, 3), ("HOSTS", 0, 0), ("SIZE", 16 * MIB, 8 * MIB), ("LEASE", 90, 90)],
        ..HEADS
    },
    Scenario {
        name: "heads-moosefs-locks",
        about: "the same over 3 with a lock of NLM: the client gets a notice of the move, and reclaims the lock at the other head",
        peer: on_moosefs("heads.sh", "vers=3"),
        sizes: &[("ROUNDS", 3, 2), ("HOSTS", 0, 0), ("SIZE", 16 * MIB, 8 * MIB), ("LEASE", 15, 15)],
        ..HEADS
    },
    Scenario {
        name: "heads-moosefs-race",
        about: "two heads on MooseFS: names made, renamed and removed through both at once, each by one; equal sizes and numbers; the conformance suite",
        peer: on_moosefs("heads-race.sh", PLAIN),
        sizes: &[("ROUNDS", 40, 20), ("LEASE", 90, 90)],
        ..HEADS
    },
];

/// What runs only when it is named: it takes half an hour, or needs CephFS.
pub const NAMED: &[Scenario] = &[
    Scenario {
        name: "heads-cephfs",
        about: "two heads on CephFS: each in turn is killed in the middle of a write, its address moves to the other: no error, no byte lost",
        peer: on_cephfs("heads.sh", PLAIN),
        sizes: &[("ROUNDS", 40, 4), ("HOSTS", 4, 2), ("SIZE", 16 * MIB, 8 * MIB), ("LEASE", 90, 90)],
        ..HEADS
    },
    Scenario {
        name: "heads-cephfs-nfs4",
        about: "the same over 4.1, with a file that is open and locked meanwhile: both are reclaimed at the other head",
        peer: on_cephfs("heads.sh", "vers=4.1,port=2049"),
        sizes: &[("ROUNDS", 40, 3), ("HOSTS", 0, 0), ("SIZE", 16 * MIB, 8 * MIB), ("LEASE", 90, 90)],
        ..HEADS
    },
    Scenario {
        name: "heads-cephfs-race",
        about: "two heads on CephFS: names made, renamed and removed through both at once, each by one; equal sizes and numbers; the conformance suite",
        peer: on_cephfs("heads-race.sh", PLAIN),
        sizes: &[("ROUNDS", 40, 10), ("LEASE", 90, 90)],
        ..HEADS
    },
    Scenario {
        name: "heads-moosefs",
        about: "two heads on MooseFS: each in turn is killed in the middle of a write, its address moves to the other: no error, no byte lost",
        peer: on_moosefs("heads.sh", PLAIN),
        sizes: &[("ROUNDS", 200, 4), ("HOSTS", 50, 0), ("SIZE", 16 * MIB, 8 * MIB), ("LEASE", 90, 90)],
        ..HEADS
    },
];
