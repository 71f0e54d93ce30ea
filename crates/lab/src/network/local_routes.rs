//! Waits until a host takes packets for its own IPv6 addresses. The kernel adds an address at once, but the route that
//! delivers packets for it later, on a work queue. Until then it drops what arrives. IPv4 adds both together.

use std::fs;
use std::net::Ipv6Addr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The routes of the calling thread's network namespace.
const ROUTES: &str = "/proc/thread-self/net/ipv6_route";

/// Set on routes that deliver to this host (`RTF_LOCAL` in Linux's `ipv6_route.h`).
const LOCAL: u32 = 0x8000_0000;

/// A work queue that takes longer is a fault of the machine.
const LIMIT: Duration = Duration::from_secs(60);

/// How often to look.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits, in the network namespace of the calling thread.
pub fn wait(addresses: &[Ipv6Addr]) -> Result<()> {
    let start = Instant::now();
    while !addresses.is_empty() {
        let routes = fs::read_to_string(ROUTES).with_context(|| format!("reading {ROUTES}"))?;
        let Some(missing) = addresses.iter().find(|address| !delivers(&routes, **address)) else { break };
        if start.elapsed() > LIMIT {
            bail!("the kernel added {missing} but no local route to it within {} s", LIMIT.as_secs());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Whether one of the routes delivers packets for this address. A line holds: destination, its prefix, source, its prefix,
/// next hop, metric, two counts, flags, device; numbers in hexadecimal.
fn delivers(routes: &str, address: Ipv6Addr) -> bool {
    let address = format!("{:032x}", u128::from(address));
    routes.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let flags = fields.get(8).and_then(|flags| u32::from_str_radix(flags, 16).ok()).unwrap_or(0);
        fields.first() == Some(&address.as_str()) && fields[1] == "80" && flags & LOCAL != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT_HOP: &str = "00000000000000000000000000000000";

    #[test]
    fn only_a_local_route_to_the_address_itself_delivers() {
        let address = Ipv6Addr::new(0xfd77, 1, 0, 0, 0, 0, 0, 2);
        let route = |destination: &str, prefix: &str, flags: &str| {
            format!(
                "{destination} {prefix} {NEXT_HOP} 00 {NEXT_HOP} 00000000 00000001 00000000 {flags} path1\n"
            )
        };
        let own = "fd770001000000000000000000000002";
        let network = route("fd770001000000000000000000000000", "40", "00000001");
        assert!(!delivers(&network, address));
        assert!(!delivers(&(network.clone() + &route(own, "80", "00000001")), address));
        assert!(!delivers(&route("fd770001000000000000000000000001", "80", "80200001"), address));
        assert!(delivers(&(network + &route(own, "80", "80200001")), address));
        assert!(!delivers("", address));
    }
}
