//! A later Linux kernel's client over RPC-with-TLS (RFC 9289): Linux speaks it from 6.5 on.

use std::time::Duration;

use super::kernel_client::{BASE, guest};
use crate::scenario::Scenario;

const MIB: u64 = 1 << 20;
/// A handshake that nobody answers takes the kernel many seconds; this is for machines that are busy.
const LIMIT: Duration = Duration::from_secs(1_800);

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "tls",
        about: "3, 4.1 and 4.2 with `xprtsec=tls` and `mtls`: checksums, a server killed and ended under load, a new certificate",
        peer: guest("tls.sh", ""),
        sizes: &[("SIZE", 1024 * MIB, 48 * MIB), ("RENEWED", 4096 * MIB, 48 * MIB), ("ALL", 1, 0)],
        limit: LIMIT,
        newer_guest: true,
        ..BASE
    },
    Scenario {
        name: "tls-refused",
        about: "wrong authority, wrong name, expired, no certificate, plaintext: refused at once, and the server logs why",
        peer: guest("tls-refused.sh", ""),
        sizes: &[("ALL", 1, 0)],
        limit: LIMIT,
        newer_guest: true,
        ..BASE
    },
    Scenario {
        name: "tls-linux-server",
        about: "`howdah cp` to the Linux kernel's server and back, with `xprtsec=tls` and `mtls`; strangers are refused",
        peer: guest("tls-server.sh", ""),
        sizes: &[("SIZE", 150 * MIB, 24 * MIB)],
        limit: LIMIT,
        newer_guest: true,
        ..BASE
    },
];
