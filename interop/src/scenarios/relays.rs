//! The Linux kernel's client on what howdah serves of other servers, and of memory.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use super::suites::{APPLICATIONS, FSX, PJDFSTEST};
use crate::scenario::{Fixture, Rpcbind, Scenario};

const MIB: u64 = 1 << 20;
const LIMIT: Duration = Duration::from_secs(600);
/// Of programs that make thousands of files or processes, on a machine that is busy.
const LONG: Duration = Duration::from_secs(7_200);

/// The mount of the howdah that the job starts on the host.
const RELAY: &str = "vers=3,proto=tcp,port=2050,mountport=2050,mountproto=tcp,nolock";

const RELAYED: Scenario = Scenario {
    fixture: Fixture::Tree,
    sizes: &[("SIZE", 256 * MIB, 32 * MIB), ("FILES", 2_000, 200)],
    limit: LIMIT,
    ..BASE
};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "memory",
        about: "an export in memory: written, read and compared, a file and a tree",
        peer: guest("relay-memory.sh", RELAY),
        ..RELAYED
    },
    Scenario {
        name: "relay-howdah",
        about: "the same on another howdah's export, relayed through caches",
        peer: guest("relay-howdah.sh", RELAY),
        ..RELAYED
    },
    Scenario {
        name: "relay-passed-through",
        about: "the same server through a relay that passes calls through: 3, 4.1 and 4.2, a lock, the relay killed",
        peer: guest("relay-passed.sh", RELAY),
        sizes: &[("SIZE", 128 * MIB, 8 * MIB), ("ALL", 1, 0)],
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "relay-krb5",
        about: "the Linux kernel's server with Kerberos through a relay that passes calls through, which is killed",
        peer: guest("relay-krb5.sh", RELAY),
        sizes: &[("SIZE", 64 * MIB, 8 * MIB), ("ALL", 1, 0)],
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "krb5-linux-server",
        about: "our client with Kerberos on the Linux kernel's server: 3, 4.1 and 4.2, each with krb5, krb5i and krb5p",
        peer: guest("krb5-client.sh", RELAY),
        sizes: &[("SIZE", 64 * MIB, 8 * MIB), ("FILES", 2_000, 100)],
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "far-linux-server4",
        about: "small files to the Linux kernel's server 100 ms away and back: its few slots do not limit NFSv4.1",
        peer: guest("far-copies.sh", RELAY),
        sizes: &[("FILES", 2_000, 1_000)],
        ..RELAYED
    },
    Scenario {
        name: "relay-linux-server",
        about: "the same on an export of the Linux kernel's server, relayed through caches",
        peer: guest("relay-kernel.sh", RELAY),
        ..RELAYED
    },
    Scenario {
        name: "relay-ganesha",
        about: "the same on an export of NFS-Ganesha, relayed through caches",
        peer: guest("relay-ganesha.sh", RELAY),
        // Ganesha registers there, and does not start without.
        rpcbind: Rpcbind::System,
        server: &["--squash", "none", "--rpcbind", "off"],
        privileged: true,
        ..RELAYED
    },
    Scenario {
        name: "relay-linux-server4",
        about: "the Linux kernel's server that speaks only NFSv4, relayed to clients of 3 and 4.2, the relay killed while they write",
        peer: guest("relay-kernel4.sh", RELAY),
        sizes: &[("SIZE", 64 * MIB, 16 * MIB), ("FILES", 1_000, 100)],
        ..RELAYED
    },
    Scenario {
        name: "relay-ganesha4",
        about: "NFS-Ganesha that speaks only NFSv4, relayed to clients of 3 and 4.2, the relay killed while they write",
        peer: guest("relay-ganesha4.sh", RELAY),
        rpcbind: Rpcbind::System,
        server: &["--squash", "none", "--rpcbind", "off"],
        privileged: true,
        sizes: &[("SIZE", 64 * MIB, 16 * MIB), ("FILES", 1_000, 100)],
        ..RELAYED
    },
];

/// What takes too long to run with all others, or needs suites of other people.
pub const NAMED: &[Scenario] = &[
    Scenario {
        name: "relay-applications",
        about: "git, sqlite with three journals, tar and fio through the caches, each checking what it reads",
        peer: guest("relay-applications.sh", RELAY),
        sizes: APPLICATIONS,
        limit: LONG,
        ..RELAYED
    },
    Scenario {
        name: "relay-connectathon",
        about: "Connectathon's basic, general and special tests through the caches",
        peer: guest("relay-connectathon.sh", RELAY),
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "relay-fsx",
        about: "fsx through the caches",
        peer: guest("relay-fsx.sh", RELAY),
        sizes: FSX,
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "relay-pjdfstest",
        about: "pjdfstest through the caches",
        peer: guest("relay-pjdfstest.sh", RELAY),
        server: &["--squash", "none", "--set-id"],
        sizes: PJDFSTEST,
        limit: LONG,
        privileged: true,
        ..BASE
    },
];
