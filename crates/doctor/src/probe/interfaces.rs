//! Interfaces of the calling thread's network namespace that are up; loopback and parts of others left out.

use std::io;
use std::net::IpAddr;

use howdah_net::{Hardware, Interface, InterfaceTraffic, Ring};

use crate::facts::{InterfaceFacts, RingFacts};

/// Looks. `local`: our address on the way to a server.
///
/// # Errors
/// The kernel does not list them.
pub fn interfaces(local: Option<IpAddr>) -> io::Result<Vec<InterfaceFacts>> {
    let carried = howdah_net::carried_here().unwrap_or_default();
    let all = howdah_net::interfaces()?;
    let meant = all.iter().filter(|one| one.is_up && !one.is_part && !is_loopback(one));
    let facts = meant.map(|one| {
        let hardware = howdah_net::hardware(&one.name).unwrap_or_default();
        let count = carried.iter().find(|(name, ..)| *name == one.name);
        let (received, sent) = count.map_or_else(Default::default, |(_, received, sent)| (*received, *sent));
        InterfaceFacts {
            leads_to_server: local.is_some_and(|local| one.addresses.contains(&local)),
            ..facts(&one.name, hardware, received, sent)
        }
    });
    // One without an address and without a packet carries nothing of anybody's.
    Ok(facts.filter(|one| one.packets > 0 || one.leads_to_server).collect())
}

fn is_loopback(interface: &Interface) -> bool {
    interface.addresses.iter().any(IpAddr::is_loopback)
}

fn facts(
    name: &str,
    hardware: Hardware,
    received: InterfaceTraffic,
    sent: InterfaceTraffic,
) -> InterfaceFacts {
    let ring = |ring: Option<Ring>| ring.map(|Ring { now, most }| RingFacts { now, most });
    InterfaceFacts {
        name: name.to_owned(),
        driver: hardware.driver,
        leads_to_server: false,
        bits_per_second: hardware.bits_per_second,
        is_full_duplex: hardware.is_full_duplex,
        mtu: hardware.mtu,
        receive_ring: ring(hardware.receive_ring),
        send_ring: ring(hardware.send_ring),
        offloads_off: hardware.offloads.into_iter().filter(|(_, on)| !on).map(|(name, _)| name).collect(),
        packets: received.packets + sent.packets,
        errors: received.errors + sent.errors,
        receive_drops: received.dropped,
        send_drops: sent.dropped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_and_counters_come_together() {
        let hardware = Hardware {
            receive_ring: Some(Ring { now: 64, most: 4096 }),
            offloads: vec![("gro".to_owned(), true), ("tso".to_owned(), false)],
            ..Hardware::default()
        };
        let received = InterfaceTraffic { packets: 10, bytes: 100, errors: 1, dropped: 2 };
        let one = facts(
            "eth0",
            hardware,
            received,
            InterfaceTraffic { packets: 5, errors: 1, dropped: 3, bytes: 9 },
        );
        assert_eq!((one.packets, one.errors, one.receive_drops, one.send_drops), (15, 2, 2, 3));
        assert_eq!(one.offloads_off, ["tso"]);
        assert_eq!(one.receive_ring, Some(RingFacts { now: 64, most: 4096 }));
        assert!(interfaces(None).expect("a list").iter().all(|one| one.name != "lo"));
    }
}
