//! Test suites of other people, in the guest: run only when named, from where `--suites` says they were built.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use crate::scenario::Scenario;

const LIMIT: Duration = Duration::from_secs(900);

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
];
