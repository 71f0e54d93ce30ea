//! Makes a network of a topology. What exists already when a step fails is gone again when it is dropped.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};
use howdah_link::{DirectionSpec, MtuSpec, TooLarge};
use howdah_net::{Namespace, Offloads, Tun};

use super::interfaces::{LabInterface, configure};
use super::{Addresses, LabHost, LabNetwork, Topology, Wire, WireSpec, local_routes, sysctls};

/// What an interface's packets are long at most, if a path says nothing: an Ethernet's.
const USUAL_MTU: usize = 1500;
/// What IPv6 (RFC 8200 5) and the kernel's tun allow.
const MTUS: RangeInclusive<usize> = 1280..=65_535;

impl LabNetwork {
    /// Makes hosts, then wires. Takes the right to make network namespaces and interfaces: in a sandbox everybody has it.
    pub fn build(topology: &Topology) -> Result<Self> {
        topology.check()?;
        let ipv6 = sysctls::has_ipv6();
        let mut ends = Ends::new();
        let mut hosts = BTreeMap::new();
        for name in topology.hosts.keys() {
            let host = make_host(name, topology, ipv6, &mut ends).with_context(|| format!("host {name}"))?;
            hosts.insert(name.clone(), host);
        }
        let mut wires = BTreeMap::new();
        for (name, spec) in &topology.wires {
            let [Some(first), Some(second)] = [0, 1].map(|end| ends.remove(&(name.as_str(), end))) else {
                unreachable!(
                    "the topology was checked: both hosts of a wire were made, with their interfaces"
                )
            };
            let wire = Wire::start(name, spec, first, second).with_context(|| format!("wire {name}"))?;
            wires.insert(name.clone(), wire);
        }
        Ok(Self { wires, hosts, names: None })
    }
}

/// Interfaces, by their wire and its end.
type Ends<'t> = BTreeMap<(&'t str, usize), Tun>;

fn make_host<'t>(name: &str, topology: &'t Topology, ipv6: bool, ends: &mut Ends<'t>) -> Result<LabHost> {
    let namespace = Namespace::new().context(
        "making a network namespace; without root that takes a user namespace, which `howdah lab` makes",
    )?;
    let mut mine = Vec::new();
    for (number, (wire, spec)) in topology.wires.iter().enumerate() {
        if let Some(end) = spec.between.iter().position(|host| host == name) {
            // The topology was checked: numbers of wires are bytes.
            let addresses = Addresses::new(number as u8, end, ipv6);
            let mtu = mtu(spec, end);
            ensure!(
                !ipv6 || MTUS.contains(&mtu),
                "mtu = {mtu}: IPv6 takes 1280 to 65535 bytes; mtu = {{ size = {mtu}, too_large = \"dropped\" }} loses longer packets"
            );
            mine.push((wire.as_str(), end, LabInterface { name: wire, mtu, addresses }));
        }
    }
    let interfaces: Vec<_> = mine.iter().map(|(_, _, interface)| *interface).collect();
    let tuns = namespace.run_in(|| furnish(&interfaces, topology, name))??;
    ends.extend(mine.iter().zip(tuns).map(|((wire, end, _), tun)| ((*wire, *end), tun)));
    let addresses = mine.iter().map(|(wire, _, interface)| ((*wire).to_owned(), interface.addresses));
    Ok(LabHost { name: name.to_owned(), addresses: addresses.collect(), namespace })
}

/// Inside the host's namespace.
fn furnish(interfaces: &[LabInterface<'_>], topology: &Topology, host: &str) -> Result<Vec<Tun>> {
    sysctls::begin();
    let open = |interface: &LabInterface<'_>| {
        Tun::open(interface.name, Offloads::TcpAndUdp)
            .with_context(|| format!("making interface {} with /dev/net/tun", interface.name))
    };
    let tuns = interfaces.iter().map(open).collect::<Result<_>>()?;
    configure(interfaces)?;
    let v6: Vec<_> = interfaces.iter().filter_map(|interface| interface.addresses.v6).collect();
    local_routes::wait(&v6)?;
    sysctls::apply(&topology.hosts[host])?;
    Ok(tuns)
}

/// The MTU of a wire's end: that of the direction in which it sends. So a sender gets the MTU from its own interface, and a
/// sender behind a host gets it from that host's kernel, with ICMP. A black hole is reported to nobody: there the interface
/// takes what the path will drop.
fn mtu(spec: &WireSpec, end: usize) -> usize {
    let direction: &DirectionSpec = if end == 0 { &spec.path.there } else { &spec.path.back };
    match direction.mtu {
        None => USUAL_MTU,
        Some(MtuSpec { size, too_large: TooLarge::Reported }) => size,
        Some(MtuSpec { size, too_large: TooLarge::Dropped }) => size.max(USUAL_MTU),
    }
}
