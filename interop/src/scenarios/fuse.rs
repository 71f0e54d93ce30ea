//! Programs and suites of other people on a `howdah mount`.

use std::time::Duration;

use super::host_tools::BASE;
use super::nlm::CONTENTION;
use super::suites::{APPLICATIONS, FSX, PJDFSTEST};
use crate::scenario::{Fixture, Peer, Scenario, ServerKind};

/// Of programs that make thousands of files, on a machine that is busy.
const LONG: Duration = Duration::from_secs(3_600);

const MOUNTED: Scenario = Scenario { server: &["--squash", "none"], limit: LONG, privileged: true, ..BASE };

/// Names are written behind.
const BEHIND: (&str, u64, u64) = ("BEHIND", 1, 1);

/// The mount speaks NFSv4.2.
const NFS42: (&str, u64, u64) = ("NFS42", 1, 1);

const LINUX: ServerKind = ServerKind::LinuxKernel("ext4");
const GANESHA: ServerKind = ServerKind::Ganesha("VFS");

const fn mounted(kind: ServerKind, job: &'static str, commands: &'static [&'static str]) -> Peer {
    Peer::Mounted { kind, job, commands }
}

const fn job(job: &'static str, commands: &'static [&'static str]) -> Peer {
    Peer::Host { job, commands, isolated: true }
}

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "fuse-applications",
        about: "git, sqlite with three journals, tar and fio on a mount by FUSE, each checking what it reads",
        peer: job("fuse-applications.sh", &["git", "sqlite3", "fio"]),
        fixture: Fixture::Tree,
        sizes: APPLICATIONS,
        ..MOUNTED
    },
    Scenario {
        name: "fuse-acls",
        about: "POSIX ACLs by setfacl and getfacl on a mount by FUSE, with defaults that are handed down",
        peer: job("fuse-acls.sh", &["setfacl", "getfacl", "getfattr", "setpriv"]),
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-acls",
        about: "the same on a mount of the Linux kernel's server",
        peer: mounted(LINUX, "fuse-acls.sh", &["setfacl", "getfacl", "getfattr", "setpriv"]),
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-locks",
        about: "programs on two mounts of the Linux kernel's server over NFSv4.2, and on the kernel's own client, contend for files",
        peer: mounted(LINUX, "fuse-locks-kernel.sh", &["perl"]),
        sizes: CONTENTION,
        ..MOUNTED
    },
    Scenario {
        name: "fuse-locks",
        about: "programs on two mounts by FUSE over NFSv4.2, and on the host, contend for files and for an sqlite database",
        peer: job("fuse-locks.sh", &["perl", "sqlite3", "flock"]),
        sizes: CONTENTION,
        ..MOUNTED
    },
];

/// What needs suites of other people.
pub const NAMED: &[Scenario] = &[
    Scenario {
        name: "fuse-connectathon",
        about: "Connectathon's basic, general, special and lock tests on a mount by FUSE",
        peer: job("fuse-connectathon.sh", &[]),
        ..MOUNTED
    },
    Scenario {
        name: "fuse-fsx",
        about: "fsx on a mount by FUSE",
        peer: job("fuse-fsx.sh", &[]),
        sizes: FSX,
        ..MOUNTED
    },
    Scenario {
        name: "fuse-pjdfstest",
        about: "pjdfstest on a mount by FUSE",
        peer: job("fuse-pjdfstest.sh", &["prove"]),
        server: &["--squash", "none", "--set-id"],
        sizes: PJDFSTEST,
        ..MOUNTED
    },
    Scenario {
        name: "behind-applications",
        about: "git, sqlite with three journals, tar and fio on a mount by FUSE that writes names behind",
        peer: job("fuse-applications.sh", &["git", "sqlite3", "fio"]),
        fixture: Fixture::Tree,
        sizes: &[APPLICATIONS[0], APPLICATIONS[1], APPLICATIONS[2], BEHIND],
        ..MOUNTED
    },
    Scenario {
        name: "behind-connectathon",
        about: "Connectathon's basic, general, special and lock tests on a mount that writes names behind",
        peer: job("fuse-connectathon.sh", &[]),
        sizes: &[BEHIND],
        ..MOUNTED
    },
    Scenario {
        name: "behind-fsx",
        about: "fsx on a mount by FUSE that writes names behind",
        peer: job("fuse-fsx.sh", &[]),
        sizes: &[FSX[0], BEHIND],
        ..MOUNTED
    },
    Scenario {
        name: "behind-pjdfstest",
        about: "pjdfstest on a mount by FUSE that writes names behind",
        peer: job("fuse-pjdfstest.sh", &["prove"]),
        server: &["--squash", "none", "--set-id"],
        sizes: &[PJDFSTEST[0], PJDFSTEST[1], BEHIND],
        ..MOUNTED
    },
    Scenario {
        name: "fuse-nfs42-applications",
        about: "git, sqlite with three journals, tar and fio on a mount by FUSE over NFSv4.2",
        peer: job("fuse-applications.sh", &["git", "sqlite3", "fio"]),
        fixture: Fixture::Tree,
        sizes: &[APPLICATIONS[0], APPLICATIONS[1], APPLICATIONS[2], NFS42],
        ..MOUNTED
    },
    Scenario {
        name: "fuse-nfs42-connectathon",
        about: "Connectathon's basic, general, special and lock tests on a mount by FUSE over NFSv4.2",
        peer: job("fuse-connectathon.sh", &[]),
        sizes: &[NFS42],
        ..MOUNTED
    },
    Scenario {
        name: "fuse-nfs42-fsx",
        about: "fsx on a mount by FUSE over NFSv4.2",
        peer: job("fuse-fsx.sh", &[]),
        sizes: &[FSX[0], NFS42],
        ..MOUNTED
    },
    Scenario {
        name: "fuse-nfs42-pjdfstest",
        about: "pjdfstest on a mount by FUSE over NFSv4.2",
        peer: job("fuse-pjdfstest.sh", &["prove"]),
        server: &["--squash", "none", "--set-id"],
        sizes: &[PJDFSTEST[0], PJDFSTEST[1], NFS42],
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-applications",
        about: "git, sqlite with three journals, tar and fio on a mount of the Linux kernel's server over NFSv4.2",
        peer: mounted(LINUX, "fuse-applications.sh", &["git", "sqlite3", "fio"]),
        fixture: Fixture::Tree,
        sizes: APPLICATIONS,
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-connectathon",
        about: "Connectathon's basic, general, special and lock tests on a mount of the Linux kernel's server over NFSv4.2",
        peer: mounted(LINUX, "fuse-connectathon.sh", &[]),
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-fsx",
        about: "fsx on a mount of the Linux kernel's server over NFSv4.2",
        peer: mounted(LINUX, "fuse-fsx.sh", &[]),
        sizes: FSX,
        ..MOUNTED
    },
    Scenario {
        name: "linux-server-mounted-pjdfstest",
        about: "pjdfstest on a mount of the Linux kernel's server over NFSv4.2",
        peer: mounted(LINUX, "fuse-pjdfstest.sh", &["prove"]),
        sizes: PJDFSTEST,
        ..MOUNTED
    },
    Scenario {
        name: "ganesha-mounted-applications",
        about: "git, sqlite with three journals, tar and fio on a mount of NFS-Ganesha over NFSv4.2",
        peer: mounted(GANESHA, "fuse-applications.sh", &["git", "sqlite3", "fio"]),
        fixture: Fixture::Tree,
        sizes: APPLICATIONS,
        ..MOUNTED
    },
    Scenario {
        name: "ganesha-mounted-connectathon",
        about: "Connectathon's basic, general, special and lock tests on a mount of NFS-Ganesha over NFSv4.2",
        peer: mounted(GANESHA, "fuse-connectathon.sh", &[]),
        ..MOUNTED
    },
    Scenario {
        name: "ganesha-mounted-fsx",
        about: "fsx on a mount of NFS-Ganesha over NFSv4.2",
        peer: mounted(GANESHA, "fuse-fsx.sh", &[]),
        sizes: FSX,
        ..MOUNTED
    },
];
