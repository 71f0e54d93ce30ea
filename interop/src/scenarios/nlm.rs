//! Locks of the Linux kernel's client over NFSv3, without `nolock`.

use super::kernel_client::{BASE, guest};
use crate::scenario::{Action, Disturbance, Peer, Rpcbind, Scenario, When};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "locks-own-portmap",
        about: "without `nolock`, with statd: locks exclude each other, and who waits is called back; howdah answers on port 111",
        peer: guest("locks-nlm.sh", "vers=3"),
        export: "/export",
        ..BASE
    },
    Scenario {
        name: "locks-rpcbind",
        about: "the same with the system's rpcbind, where howdah is registered, and without NFSv4",
        peer: guest("locks-nlm.sh", "vers=3"),
        server: &["--squash", "none", "--no-nfs4"],
        export: "/export",
        rpcbind: Rpcbind::System,
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "locks-killed",
        about: "SIGKILL while a lock is held, started again: the client gets a notice and reclaims it, and nobody else gets it",
        peer: guest("locks-reclaim.sh", "vers=3"),
        server: &["--squash", "none", "--lease", "5s"],
        export: "/export",
        disturbance: Some(Disturbance { when: When::Asked { file: "kill-server" }, action: Action::Kill }),
        ..BASE
    },
    Scenario {
        name: "locks-refused",
        about: "a host with a status monitor of its own: every lock is refused at once as ENOLCK",
        peer: guest("locks-refused.sh", "vers=3"),
        export: "/export",
        rpcbind: Rpcbind::System,
        disturbance: Some(Disturbance {
            when: When::Asked { file: "restart-server" },
            action: Action::Restart,
        }),
        privileged: true,
        ..BASE
    },
    Scenario {
        name: "locks-contended",
        about: "two guests, over 4.2 and 3, and processes of the host contend by fcntl, by flock and with sqlite: never two holders",
        peer: Peer::Guest {
            job: "contend.sh",
            options: "vers=4.2,port=2049",
            ipv6: false,
            second: Some("vers=3"),
        },
        export: "/export",
        sizes: CONTENTION,
        ..BASE
    },
];

/// How often each locks the file, and how many transactions each makes in each kind of journal.
pub(super) const CONTENTION: &[(&str, u64, u64)] = &[("ROUNDS", 300, 20), ("TRANSACTIONS", 50, 2)];
