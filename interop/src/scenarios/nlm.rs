//! Locks of the Linux kernel's client over NFSv3, without `nolock`.

use super::kernel_client::{BASE, guest};
use crate::scenario::{Action, Disturbance, Rpcbind, Scenario, When};

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
        about: "SIGKILL while a lock is held, started again: the client is told and reclaims it, and nobody else gets it",
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
];
