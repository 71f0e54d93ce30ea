//! The Linux kernel's client on a server that is killed, reloaded or restarted under it.

use std::time::Duration;

use super::kernel_client::{BASE, PLAIN, guest};
use crate::scenario::{Action, Disturbance, Fixture, Scenario, When};

const MIB: u64 = 1 << 20;
/// Longer than the three seconds that the client waits before it connects anew: else it would get nothing done.
const RESTARTED: Duration = Duration::from_secs(7);
const LIMIT: Duration = Duration::from_secs(1_200);

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "killed-while-writing",
        about: "SIGKILL in the middle of a 1 GiB write, started again: no error, equal checksums",
        peer: guest("through-kill.sh", PLAIN),
        sizes: &[("SIZE", 1024 * MIB, 128 * MIB)],
        disturbance: Some(Disturbance {
            when: When::FileGrows { file: "large", percent: 40 },
            action: Action::Kill,
        }),
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "reloaded-under-load",
        about: "SIGHUP every half second under load; a new export in the file appears",
        server: &[],
        configured: true,
        peer: guest("under-load.sh", PLAIN),
        fixture: Fixture::Tree,
        sizes: &[("FILES", 500, 200), ("SECONDS_EACH", 30, 8)],
        disturbance: Some(Disturbance {
            when: When::Every(Duration::from_millis(500)),
            action: Action::Reload,
        }),
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "restarted-under-load",
        about: "SIGTERM and a new start every seven seconds under load",
        peer: guest("under-load.sh", PLAIN),
        fixture: Fixture::Tree,
        sizes: &[("FILES", 500, 200), ("SECONDS_EACH", 60, 15)],
        disturbance: Some(Disturbance { when: When::Every(RESTARTED), action: Action::Restart }),
        limit: LIMIT,
        ..BASE
    },
];
