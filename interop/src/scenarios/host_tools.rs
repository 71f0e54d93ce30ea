//! Clients of other people that run beside the server: libnfs, rpcinfo, showmount.

use std::time::Duration;

use crate::scenario::{Action, Disturbance, Fixture, Peer, Rpcbind, Scenario, When};

const LIMIT: Duration = Duration::from_secs(60);

pub(super) const BASE: Scenario = Scenario {
    name: "",
    about: "",
    peer: Peer::Host { job: "", commands: &[], isolated: true },
    server: &[],
    configured: false,
    export: "/",
    rpcbind: Rpcbind::Absent,
    disturbance: None,
    fixture: Fixture::Empty,
    sizes: &[],
    limit: LIMIT,
    container: false,
    newer_guest: false,
    privileged: false,
    expected_failure: None,
};

const LIBNFS: &[&str] = &["nfs-ls", "nfs-cat", "nfs-cp"];
const RPC_TOOLS: &[&str] = &["rpcinfo", "showmount", "ip"];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "libnfs",
        about: "nfs-ls, nfs-cat, nfs-cp on a free port of loopback, without namespaces or privileges",
        peer: Peer::Host { job: "libnfs.sh", commands: LIBNFS, isolated: false },
        ..BASE
    },
    Scenario {
        name: "libnfs-named-export",
        about: "the same on an export with a name of its own",
        peer: Peer::Host { job: "libnfs.sh", commands: LIBNFS, isolated: false },
        export: "/named/export",
        ..BASE
    },
    Scenario {
        name: "rpcinfo-own-portmap",
        about: "rpcinfo and showmount where howdah itself answers on port 111",
        peer: Peer::Host { job: "own-portmap.sh", commands: RPC_TOOLS, isolated: true },
        ..BASE
    },
    Scenario {
        name: "rpcinfo-rpcbind",
        about: "rpcinfo and showmount through the system's rpcbind; the registration is undone at exit",
        peer: Peer::Host { job: "rpcbind.sh", commands: RPC_TOOLS, isolated: true },
        rpcbind: Rpcbind::System,
        disturbance: Some(Disturbance { when: When::Asked { file: "end-server" }, action: Action::End }),
        privileged: true,
        ..BASE
    },
];
