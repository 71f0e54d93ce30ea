//! The network of a cell, and what is known of it before it is built.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use howdah_link::{DirectionSpec, FRAME_OVERHEAD, PathSpec};

use super::routes::wires_between;
use crate::network::{HostSpec, Topology, WireSpec, are_punctual};
use crate::plan::{Cell, CellSpec, ClientSpec};

/// Headers of a full segment: IPv4 without options (RFC 791) and TCP with timestamps (RFC 9293, RFC 7323).
const HEADERS: usize = 20 + 32;
/// What an interface takes if a path does not say.
const USUAL_MTU: usize = 1500;

/// The network that a cell needs. Every wire's chance follows from the cell's seed.
pub fn topology(cell: &Cell, seed: u64) -> Topology {
    let mut hosts: BTreeMap<String, HostSpec> = BTreeMap::new();
    for host in ["client", "server"].map(str::to_owned).iter().chain(cell.spec.hosts.keys()) {
        hosts.entry(host.clone()).or_default();
    }
    for (name, spec) in &cell.spec.hosts {
        let sysctls = spec.sysctls.iter().map(|(key, value)| (key.clone(), value.text()));
        hosts.insert(name.clone(), HostSpec { sysctls: sysctls.collect() });
    }
    let is_perfect = cell.spec.netem.as_ref().is_some_and(|netem| netem.instead);
    let mut all = cell.spec.all_wires();
    if is_perfect {
        all.values_mut().for_each(|wire| wire.path = PathSpec::default());
    }
    let usual = are_punctual(all.values().map(|wire| &wire.path));
    let mut wires = BTreeMap::new();
    for (number, (name, wire)) in all.into_iter().enumerate() {
        let between = [wire.between.0, wire.between.1];
        for host in &between {
            hosts.entry(host.clone()).or_default();
        }
        let (seed, punctual) = (seed.wrapping_add(number as u64), wire.punctual.unwrap_or(usual));
        wires.insert(name, WireSpec { between, path: wire.path, seed, punctual });
    }
    Topology { hosts, wires }
}

/// The addresses that hosts will have, by host and wire: those that [`Topology`] gives.
pub fn addresses(spec: &CellSpec) -> BTreeMap<(String, String), IpAddr> {
    let mut addresses = BTreeMap::new();
    for (number, (name, wire)) in spec.all_wires().into_iter().enumerate() {
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        for (host, end) in [(wire.between.0, 2), (wire.between.1, 1)] {
            addresses.insert((host, name.clone()), IpAddr::from([10, 77, number, end]));
        }
    }
    addresses
}

/// The payload that TCP can carry between clients and server, in bytes per second: of all wires together over which clients
/// reach it, each as fast as its slowest part. None if one of them has no rate.
pub fn line_rate(spec: &CellSpec) -> Option<f64> {
    let all = spec.all_wires();
    let mut last = BTreeMap::new();
    for client in spec.clients.values() {
        let server = spec.servers_of(client).next()?;
        let wires = wires_between(spec, &client.host, server, client.wire.as_deref())?;
        let reads = client.workload.as_deref().is_some_and(|workload| workload.contains("read"));
        let rates = wires.iter().filter_map(|(wire, forwards)| {
            let path = &all.get(wire)?.path;
            payload_rate(if *forwards == reads { &path.back } else { &path.there })
        });
        let slowest = rates.reduce(f64::min)?;
        last.insert(wires.last()?.0.clone(), slowest);
    }
    let together: f64 = last.values().sum();
    (together > 0.0).then_some(together)
}

/// The longest round trip of an empty path between a client and the server.
pub fn round_trip(spec: &CellSpec) -> Duration {
    let all = spec.all_wires();
    let of = |client: &ClientSpec| -> Option<Duration> {
        let server = spec.servers_of(client).next()?;
        let wires = wires_between(spec, &client.host, server, client.wire.as_deref())?;
        Some(wires.iter().filter_map(|(wire, _)| all.get(wire)).map(|wire| wire.path.round_trip()).sum())
    };
    spec.clients.values().filter_map(of).max().unwrap_or_default()
}

fn payload_rate(direction: &DirectionSpec) -> Option<f64> {
    let rate = direction.line_rate()?.0 as f64 / 8.0;
    let mtu = direction.mtu.map_or(USUAL_MTU, |mtu| mtu.size);
    // A plan may say less than the headers take: nothing passes then, and its cell fails.
    Some(rate * mtu.saturating_sub(HEADERS) as f64 / mtu.saturating_add(FRAME_OVERHEAD) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> CellSpec {
        toml::from_str(text).expect("a cell")
    }

    #[test]
    fn a_gigabit_carries_117_megabytes() {
        for (text, rate, milliseconds) in [
            ("[path]\nrtt = '30ms'\nrate = '1Gbit'\n[clients.a]\nkind = 'howdah'", Some(117_685_306), 30),
            ("[path]\nrtt = '30ms'\n[clients.a]\nkind = 'howdah'", None, 30),
            (
                "[path]\nrate = '1Gbit'\nback.rate = '100Mbit'\n[clients.a]\nkind = 'howdah'\nworkload = 'read'",
                Some(11_768_530),
                0,
            ),
            (
                "[wires.a]\nbetween = ['client', 'server']\npath.rate = '1Gbit'\n\
                 [wires.b]\nbetween = ['client', 'server']\npath = { rate = '1Gbit', rtt = '2ms' }\n\
                 [clients.a]\nkind = 'howdah'\nwire = 'a'\n[clients.b]\nkind = 'howdah'\nwire = 'b'",
                Some(235_370_611),
                2,
            ),
            (
                "[wires.near]\nbetween = ['near', 'router']\npath.rtt = '5ms'\n\
                 [wires.far]\nbetween = ['far', 'router']\npath.rtt = '50ms'\n\
                 [wires.shared]\nbetween = ['router', 'server']\npath = { rate = '1Gbit', rtt = '10ms' }\n\
                 [clients.a]\nkind = 'howdah'\nhost = 'near'\n[clients.b]\nkind = 'howdah'\nhost = 'far'",
                Some(117_685_305),
                60,
            ),
        ] {
            let spec = spec(text);
            let found = line_rate(&spec).map(|rate| rate as i64);
            assert!(found.unwrap_or(0).abs_diff(rate.unwrap_or(0)) <= 1, "{text}: {found:?}");
            assert_eq!(found.is_some(), rate.is_some(), "{text}");
            assert_eq!(round_trip(&spec), Duration::from_millis(milliseconds), "{text}");
        }
    }
}
