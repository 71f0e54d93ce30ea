//! The Linux kernel's client over NFSv4.1 and NFSv4.2.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use crate::scenario::{Action, Disturbance, Fixture, Scenario, When};

const MIB: u64 = 1 << 20;

const V4_2: &str = "vers=4.2,port=2049";
const V4_1: &str = "vers=4.1,port=2049";

const LONG: Duration = Duration::from_secs(1_200);

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "container",
        about: "the container image as user 1000, with a read-only root and no capabilities, mounted as 4.2 and 4.1",
        peer: guest("mount-nfs4.sh", ""),
        server: &[],
        container: true,
        ..BASE
    },
    Scenario {
        name: "nfs4-mount",
        about: "`mount -t nfs HOST:/` and nothing else gets version 4.2; 4.1 if asked, 4.0 not",
        peer: guest("mount-nfs4.sh", ""),
        ..BASE
    },
    Scenario {
        name: "nfs4-exports",
        about: "an export under a path is reached from the root of all, by its path, and listed",
        peer: guest("exports-nfs4.sh", V4_2),
        export: "/srv/data",
        ..BASE
    },
    Scenario {
        name: "nfs4-file-systems",
        about: "howdah in the guest beside the kernel's server, on tmpfs, ext4, XFS, Btrfs and FAT: changes within one tick, file systems below, open files without a name, exclusive files",
        peer: guest("file-systems.sh", V4_2),
        sizes: &[("ROUNDS", 100, 8)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-checksum",
        about: "1 GiB written and read back over 4.2 with equal checksums, two connections",
        peer: guest("checksum.sh", "vers=4.2,port=2049,nconnect=2"),
        sizes: &[("SIZE", 1024 * MIB, 128 * MIB)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-tree",
        about: "over 4.2: 10,000 files unpacked, compared by content, mode, owner, time and link, copied, removed",
        peer: guest("tree.sh", V4_2),
        fixture: Fixture::Tree,
        sizes: &[("FILES", 10_000, 1_000)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-open-files",
        about: "over 4.1: files renamed, replaced and removed while they are open",
        peer: guest("open-files.sh", V4_1),
        disturbance: Some(Disturbance {
            when: When::Asked { file: "remove-e" },
            action: Action::Remove("e"),
        }),
        ..BASE
    },
    Scenario {
        name: "nfs4-attributes",
        about: "over 4.2: modes, times, links, special files, holes, long and odd names, df",
        peer: guest("attributes.sh", V4_2),
        ..BASE
    },
    Scenario {
        name: "nfs4-users",
        about: "over 4.2: permissions as several users see them",
        peer: guest("users.sh", V4_2),
        server: &["--squash", "none", "--set-id"],
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "nfs4-directory",
        about: "over 4.2: a directory of 100,000 files listed in every order, and removed",
        peer: guest("directory.sh", V4_2),
        fixture: Fixture::ManyEntries,
        sizes: &[("ENTRIES", 100_000, 5_000)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-ranges",
        about: "over 4.2: files copied by the server, space reserved and given back, holes found, extended attributes",
        peer: guest("ranges-nfs4.sh", V4_2),
        sizes: &[("SIZE", 1024 * MIB, 96 * MIB)],
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-locks",
        about: "over 4.2, without `nolock`: locks of ranges and whole files exclude each other, and end with their owner",
        peer: guest("locks-nfs4.sh", V4_2),
        ..BASE
    },
    Scenario {
        name: "nfs4-delegations",
        about: "over 4.2: a file is opened again without a call, until another client changes it",
        peer: guest("delegations-nfs4.sh", V4_2),
        server: &["--delegations", "auto"],
        ..BASE
    },
    Scenario {
        name: "nfs4-capture",
        about: "over 4.2: what programs do is recorded, and the record is played against howdah with equal results",
        peer: guest("capture-nfs4.sh", V4_2),
        ..BASE
    },
    Scenario {
        name: "nfs4-killed-while-writing",
        about: "over 4.2: SIGKILL in the middle of a write, started again: no error, equal checksums",
        peer: guest("through-kill.sh", V4_2),
        server: &["--squash", "none", "--lease", "5s"],
        sizes: &[("SIZE", 1024 * MIB, 128 * MIB)],
        disturbance: Some(Disturbance {
            when: When::FileGrows { file: "large", percent: 40 },
            action: Action::Kill,
        }),
        limit: LONG,
        ..BASE
    },
    Scenario {
        name: "nfs4-exercise",
        about: "over 4.2: the exerciser on one file and on a directory",
        peer: guest("exercise.sh", V4_2),
        sizes: &[("SECONDS_EACH", 300, 8)],
        limit: LONG,
        ..BASE
    },
];
