//! The Linux kernel's client on a server that nothing happens to.

use std::time::Duration;

use crate::scenario::{Action, Disturbance, Fixture, Peer, Rpcbind, Scenario, When};

const MIB: u64 = 1 << 20;

/// The mount of most scenarios: one port, no rpcbind asked.
pub(super) const PLAIN: &str = "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock";
const NCONNECT_4: &str = "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock,nconnect=4";

/// A guest boots in three seconds; these are many times what a scenario takes, for machines that are busy.
const SHORT: Duration = Duration::from_secs(240);
const LONG: Duration = Duration::from_secs(1_200);

pub(super) const BASE: Scenario = Scenario {
    name: "",
    about: "",
    peer: guest("", PLAIN),
    server: &["--squash", "none"],
    configured: false,
    export: "/",
    rpcbind: Rpcbind::Absent,
    disturbance: None,
    fixture: Fixture::Empty,
    sizes: &[],
    limit: SHORT,
    container: false,
    newer_guest: false,
    privileged: false,
    expected_failure: None,
};

pub(super) const fn guest(job: &'static str, options: &'static str) -> Peer {
    Peer::Guest { job, options, ipv6: false, second: None }
}

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "mount-own-portmap",
        about: "`mount -t nfs -o nolock HOST:/export` and nothing else; howdah answers on port 111",
        peer: guest("mount.sh", "vers=3,nolock"),
        export: "/export",
        ..BASE
    },
    Scenario {
        name: "mount-rpcbind",
        about: "the same with the system's rpcbind, where howdah is registered",
        peer: guest("mount.sh", "vers=3,nolock"),
        export: "/export",
        rpcbind: Rpcbind::System,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "mount-falls-back",
        about: "with --no-nfs4, a client that asks for 4.2 gets the versions there are; one that asks for none falls back to 3",
        peer: guest("falls-back.sh", "nolock,port=2049"),
        server: &["--squash", "none", "--no-nfs4"],
        ..BASE
    },
    Scenario {
        name: "mount-mountproto-udp",
        about: "the MOUNT protocol over UDP, NFS over TCP",
        peer: guest("mount.sh", "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=udp,nolock"),
        ..BASE
    },
    Scenario {
        name: "quotas",
        about: "howdah in the guest on ext4 and XFS with quotas: `quota` shows what `repquota` shows, below deep paths and mounts, and EDQUOT ends writes",
        peer: guest("quotas.sh", PLAIN),
        ..BASE
    },
    Scenario {
        name: "mount-ipv6",
        about: "everything over IPv6",
        peer: Peer::Guest {
            job: "mount.sh",
            options: "vers=3,proto=tcp6,port=2049,mountport=2049,mountproto=tcp6,nolock",
            ipv6: true,
            second: None,
        },
        ..BASE
    },
    Scenario {
        name: "mount-udp",
        about: "NFS over UDP, where the guest's kernel can",
        peer: guest("udp.sh", "vers=3,proto=udp,port=2049,mountport=2049,mountproto=udp,nolock"),
        ..BASE
    },
    Scenario {
        name: "checksum-nconnect-1",
        about: "1 GiB written and read back with equal checksums, one connection",
        peer: guest("checksum.sh", PLAIN),
        sizes: &[("SIZE", 1024 * MIB, 128 * MIB)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "checksum-nconnect-4",
        about: "1 GiB written and read back with equal checksums, four connections",
        peer: guest("checksum.sh", NCONNECT_4),
        sizes: &[("SIZE", 1024 * MIB, 128 * MIB)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "tree",
        about: "10,000 files unpacked, compared by content, mode, owner, time and link, copied, removed",
        peer: guest("tree.sh", PLAIN),
        fixture: Fixture::Tree,
        sizes: &[("FILES", 10_000, 1_000)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "open-files",
        about: "files renamed, replaced and removed while they are open",
        peer: guest("open-files.sh", PLAIN),
        disturbance: Some(Disturbance {
            when: When::Asked { file: "remove-e" },
            action: Action::Remove("e"),
        }),
        ..BASE
    },
    Scenario {
        name: "attributes",
        about: "modes, times, links, special files, holes, long and odd names, df",
        peer: guest("attributes.sh", PLAIN),
        server: &["--squash", "none"],
        ..BASE
    },
    Scenario {
        name: "users",
        about: "permissions as several users see them",
        peer: guest("users.sh", PLAIN),
        server: &["--squash", "none", "--set-id"],
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "acls",
        about: "POSIX ACLs by setfacl and getfacl: masks, defaults that are handed down, who may do what",
        peer: guest("acls.sh", PLAIN),
        server: &["--squash", "none"],
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "squash",
        about: "the client's root is the anonymous user by default",
        peer: guest("squash.sh", PLAIN),
        server: &[],
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "directory",
        about: "a directory of 100,000 files listed in every order, and removed",
        peer: guest("directory.sh", PLAIN),
        fixture: Fixture::ManyEntries,
        sizes: &[("ENTRIES", 100_000, 20_000)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "exercise-nconnect-1",
        about: "the exerciser (five minutes and more) on one file and on a directory, one connection",
        peer: guest("exercise.sh", PLAIN),
        sizes: &[("SECONDS_EACH", 300, 32)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "exercise-nconnect-4",
        about: "the exerciser on four connections, small transfers",
        peer: guest(
            "exercise.sh",
            "vers=3,proto=tcp,port=2049,mountport=2049,mountproto=tcp,nolock,nconnect=4,rsize=16384,wsize=16384",
        ),
        sizes: &[("SECONDS_EACH", 60, 16)],
        limit: LONG,
        ..BASE
    },
];
