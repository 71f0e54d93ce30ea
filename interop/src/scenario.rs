//! What a scenario is: values only. The tables are in `scenarios/`, what runs them in `runner` and `inside`.

use std::time::Duration;

/// One thing a real client does to howdah, or howdah's client to a real server, and everything it takes.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What a pass proves, in a line.
    pub about: &'static str,
    /// The other side.
    pub peer: Peer,
    /// Flags of `howdah serve` besides address, state and directory.
    pub server: &'static [&'static str],
    /// Whether the export stands in a configuration file instead (no squash), which every reload finds changed.
    pub configured: bool,
    /// The name under which the directory is exported.
    pub export: &'static str,
    /// Who answers on port 111.
    pub rpcbind: Rpcbind,
    /// What happens to the server meanwhile.
    pub disturbance: Option<Disturbance>,
    /// What the host puts into the work directory before the peer starts.
    pub fixture: Fixture,
    /// Values the job needs, as `NAME`, full, quick.
    pub sizes: &'static [(&'static str, u64, u64)],
    /// Longer than this and it has failed.
    pub limit: Duration,
    /// Whether the server is the container image in place of the binary.
    pub container: bool,
    /// Whether its guest's client must speak TLS (Linux 6.5 and later).
    pub newer_guest: bool,
    /// Whether it needs a server that is root (other users, device files, port 111 with the system's rpcbind).
    pub privileged: bool,
    /// Why it is known to fail; it then must.
    pub expected_failure: Option<&'static str>,
}

/// Who is at the other end: a client that drives our server, or a server that our client drives.
#[derive(Debug, Clone, Copy)]
pub enum Peer {
    /// A Linux kernel in User Mode Linux: the job runs in the guest.
    Guest {
        /// A file of `guest/`.
        job: &'static str,
        /// Words for `mount -o`.
        options: &'static str,
        /// Whether the mount goes to the server's IPv6 address.
        ipv6: bool,
        /// Words for `mount -o` of a second guest, which runs the same job at the same time.
        second: Option<&'static str>,
    },
    /// The same on several howdahs (heads) that serve one cluster file system, to whichever of them has the address.
    Heads {
        /// A file of `guest/`.
        job: &'static str,
        /// Words for `mount -o`.
        options: &'static str,
        /// A file of `host/`, which starts the cluster file system and the heads, makes the file `ready`, and does what the job asks.
        cluster: &'static str,
        /// Commands it cannot do without.
        commands: &'static [&'static str],
    },
    /// Programs on the host, beside the server.
    Host {
        /// A file of `host/`.
        job: &'static str,
        /// Commands it cannot do without.
        commands: &'static [&'static str],
        /// Whether it needs a namespace of its own; without one the server takes a free port of loopback.
        isolated: bool,
    },
    /// Programs on a `howdah mount` of a server of other people, over NFSv4.2.
    Mounted {
        /// Which server.
        kind: ServerKind,
        /// A file of `host/`.
        job: &'static str,
        /// Commands it cannot do without.
        commands: &'static [&'static str],
    },
    /// A server of other people, which our client drives through the conformance suite.
    Server {
        /// Which.
        kind: ServerKind,
        /// How our client drives it.
        drive: Drive,
    },
}

/// A server of other people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// The Linux kernel's, in User Mode Linux, with a file system of this type behind it.
    LinuxKernel(&'static str),
    /// NFS-Ganesha, with the storage module of this name behind it.
    Ganesha(&'static str),
}

/// How our client drives a server of other people, and what is known of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drive {
    /// The version of NFS, as URLs have it.
    pub version: &'static str,
    /// How calls travel.
    pub transport: Transport,
    /// Connections to the server: all is done once with each of these numbers.
    pub lanes: &'static [usize],
    /// Cases of the conformance suite that the server does not pass.
    pub differences: &'static [Difference],
}

/// How calls travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Over connections.
    Tcp,
    /// In datagrams.
    Udp,
}

/// A case of the conformance suite that a server does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The case, as `topic: name`.
    pub case: &'static str,
    /// What the server does instead.
    pub why: &'static str,
    /// Whether it must fail; else it may, because it depends on what happens first.
    pub always: bool,
}

/// Who answers on port 111.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rpcbind {
    /// Nobody but howdah.
    Absent,
    /// The system's rpcbind, started before howdah.
    System,
}

/// What happens to the server while the peer works.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance {
    /// When.
    pub when: When,
    /// What.
    pub action: Action,
}

/// When a disturbance happens.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// Once, when this file of the export has grown past this share (in percent) of `SIZE`.
    FileGrows {
        /// The file's name in the export.
        file: &'static str,
        /// Percent of `SIZE`.
        percent: u64,
    },
    /// Again and again after this long, while the job keeps the file `under-load` in the work directory.
    Every(Duration),
    /// Once, when the job makes this file in the work directory.
    Asked {
        /// The file's name in the work directory.
        file: &'static str,
    },
}

/// What happens to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// SIGKILL, and started again.
    Kill,
    /// SIGTERM, and started again when it has ended well.
    Restart,
    /// SIGHUP, after the configuration file has got another export, `/reloaded`.
    Reload,
    /// SIGTERM, and not started again.
    End,
    /// No signal: a file of the export is removed on the host.
    Remove(&'static str),
}

/// What the host prepares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixture {
    /// Nothing.
    Empty,
    /// A tree of `FILES` files as `tree/` and `tree.tar` in the work directory.
    Tree,
    /// A directory `many` of `ENTRIES` files in the export.
    ManyEntries,
}

impl Scenario {
    /// A value for the job, of the full or the quick run.
    pub fn size(&self, name: &str, quick: bool) -> Option<u64> {
        let (_, full, short) = self.sizes.iter().find(|(key, ..)| *key == name)?;
        Some(if quick { *short } else { *full })
    }

    /// What a guest does in it, as a file of `guest/`.
    pub fn guest_job(&self) -> Option<&'static str> {
        match self.peer {
            Peer::Guest { job, .. } | Peer::Heads { job, .. } => Some(job),
            Peer::Server { .. } | Peer::Mounted { .. } | Peer::Host { .. } => {
                matches!(self.foreign_server(), Some(ServerKind::LinuxKernel(_))).then_some("serve.sh")
            }
        }
    }

    /// The server, if it is one of other people.
    pub fn foreign_server(&self) -> Option<ServerKind> {
        match self.peer {
            Peer::Server { kind, .. } | Peer::Mounted { kind, .. } => Some(kind),
            Peer::Guest { .. } | Peer::Heads { .. } | Peer::Host { .. } => None,
        }
    }

    /// Whether it runs in namespaces of its own.
    pub fn isolated(&self) -> bool {
        !matches!(self.peer, Peer::Host { isolated: false, .. })
    }
}
