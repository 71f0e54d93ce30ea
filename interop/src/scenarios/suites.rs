//! What runs only when it is named: test suites of other people, from where `--suites` says they were built, and contention in more
//! combinations.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use super::nlm::CONTENTION;
use crate::scenario::{Peer, Scenario};

const LIMIT: Duration = Duration::from_secs(900);

const HOUR: Duration = Duration::from_secs(3_600);
/// 1: the guest's own kernel serves in howdah's place, to compare.
const KERNEL: (&str, u64, u64) = ("KERNEL", 0, 0);
/// Which of the generic tests, by number.
const XFSTESTS: &[(&str, u64, u64)] = &[KERNEL, ("FROM", 1, 1), ("TO", 999, 99)];

/// How much programs do that check what they read: bytes of fio, files of tar and git, rows of sqlite.
pub(super) const APPLICATIONS: &[(&str, u64, u64)] =
    &[("SIZE", 256 << 20, 8 << 20), ("FILES", 10_000, 100), ("ROWS", 20_000, 1_000)];
/// How long fsx runs, in seconds.
pub(super) const FSX: &[(&str, u64, u64)] = &[("DURATION", 600, 10)];
/// How many shares the files of pjdfstest are divided into, and which one runs.
const SHARES: (&str, u64, u64) = ("SHARES", 1, 24);
const SHARE: (&str, u64, u64) = ("SHARE", 0, 0);
pub(super) const PJDFSTEST: &[(&str, u64, u64)] = &[SHARES, SHARE];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "connectathon-nfs3",
        about: "Connectathon's basic, general, special and lock tests over version 3, with NLM",
        peer: guest("connectathon.sh", "vers=3"),
        export: "/export",
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "connectathon-nfs41",
        about: "the same over 4.1",
        peer: guest("connectathon.sh", "vers=4.1,port=2049"),
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "connectathon-nfs42",
        about: "the same over 4.2",
        peer: guest("connectathon.sh", "vers=4.2,port=2049"),
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "nfs-conformance-nfs42",
        about: "nfs-conformance over 4.2",
        peer: guest("nfs-conformance.sh", "vers=4.2,port=2049"),
        sizes: &[KERNEL],
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "pjdfstest-nfs42",
        about: "pjdfstest over 4.2",
        peer: guest("pjdfstest.sh", "vers=4.2,port=2049"),
        server: &["--squash", "none", "--set-id"],
        sizes: &[KERNEL, SHARES, SHARE],
        limit: HOUR,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "xfstests-nfs42",
        about: "the quick ones of xfstests' generic tests over 4.2",
        peer: guest("xfstests.sh", "vers=4.2,port=2049"),
        server: &["--squash", "none", "--set-id"],
        sizes: XFSTESTS,
        limit: HOUR,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "nfstest-nfs42",
        about: "NFStest's posix, lock, sparse, alloc and xattr over 4.2",
        peer: guest("nfstest.sh", "vers=4.2,port=2049"),
        server: &["--squash", "none", "--set-id"],
        sizes: &[KERNEL, ("PROGRAM", 0, 0)],
        limit: HOUR,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "pjdfstest-nfs3",
        about: "pjdfstest over 3",
        peer: guest("pjdfstest.sh", "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock"),
        server: &["--squash", "none", "--set-id"],
        sizes: &[KERNEL, SHARES, SHARE],
        limit: HOUR,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "xfstests-nfs3",
        about: "the quick ones of xfstests' generic tests over 3",
        peer: guest("xfstests.sh", "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock"),
        server: &["--squash", "none", "--set-id"],
        sizes: XFSTESTS,
        limit: HOUR,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "locks-contended-nfs42",
        about: "as locks-contended, both guests over 4.2",
        peer: Peer::Guest {
            job: "contend.sh",
            options: "vers=4.2,port=2049",
            ipv6: false,
            second: Some("vers=4.2,port=2049"),
        },
        sizes: CONTENTION,
        ..BASE
    },
    Scenario {
        name: "locks-contended-nfs3",
        about: "the same, both over 3",
        peer: Peer::Guest { job: "contend.sh", options: "vers=3", ipv6: false, second: Some("vers=3") },
        export: "/export",
        sizes: CONTENTION,
        ..BASE
    },
];
