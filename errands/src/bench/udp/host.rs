//! A host of its own: a thread in a network namespace that has one interface, and vanishes with the thread and its sockets.
//!
//! Its address is one of loopback's, though it is on the line: so that the server takes its peer for one on its own host,
//! and lets it have transfers of 32 KiB.

use std::fs::File;
use std::process::Command;

use anyhow::{Context, ensure};
use nix::sched::{CloneFlags, unshare};

use super::tun;

/// The interface of every host.
const INTERFACE: &str = "line0";

/// Moves the calling thread to a new host with that address; gives the other end of its line. Threads and processes that it
/// starts from now on are on that host too.
pub fn enter(address: &str) -> anyhow::Result<File> {
    unshare(CloneFlags::CLONE_NEWNET).context("making a network namespace, which takes root")?;
    let line = tun::open(INTERFACE).context("making an interface")?;
    let prefix = format!("{address}/24");
    let route_localnet = format!("/proc/sys/net/ipv4/conf/{INTERFACE}/route_localnet");
    std::fs::write(&route_localnet, "1").context("allowing loopback's addresses on a line")?;
    for arguments in [
        &["address", "add", &prefix, "dev", INTERFACE][..],
        &["link", "set", INTERFACE, "mtu", "1500", "txqueuelen", "10000", "up"],
    ] {
        let status = Command::new("ip").args(arguments).status().context("running ip")?;
        ensure!(status.success(), "ip {} failed", arguments.join(" "));
    }
    Ok(line)
}
