//! Whether an interface is in the way of what passes it.

use howdah_units as units;

use crate::facts::{InterfaceFacts, RingFacts};
use crate::{Figure, Finding, Remedy, Rung, RungReport};

/// Rings with fewer descriptors hold less than a tenth of a millisecond at 1 Gb/s in small packets: a processor that is
/// elsewhere for so long loses packets.
const TINY_RING: u32 = 128;
/// The most that is advised: what the 2010 measurements and the article on products of bandwidth and delay set.
const ADVISED_RING: u32 = 4096;
/// A part of all packets that is damaged for a reason: a cable, a connector, a duplex that does not match.
const DAMAGED: f64 = 1e-4;
/// A part of all packets that is dropped for a reason; fewer are what nobody here wanted.
const DROPPED: f64 = 1e-3;
/// Fewer say nothing.
const LEAST_EVENTS: u64 = 10;
/// Drivers of interfaces without hardware: their speed is made up, and large pieces pass them whole with GRO off, as a veth has it
/// until XDP asks for it (`drivers/net/veth.c`).
const VIRTUAL: [&str; 5] = ["veth", "tun", "bridge", "macvlan", "dummy"];
/// From this speed on, offloads decide.
const FAST: u64 = 10_000_000_000;

/// Judges interfaces; where one leads to the server, only that one.
pub fn interfaces(all: &[InterfaceFacts]) -> RungReport {
    if all.is_empty() {
        return RungReport::absent(Rung::Interfaces, "no interface but loopback is up");
    }
    let leads = all.iter().any(|interface| interface.leads_to_server);
    let meant = || all.iter().filter(|interface| !leads || interface.leads_to_server);
    let figures = meant().flat_map(figures).collect();
    RungReport::seen(Rung::Interfaces, figures, meant().flat_map(findings).collect())
}

fn figures(interface: &InterfaceFacts) -> Vec<Figure> {
    let mut words =
        vec![interface.bits_per_second.map_or("no speed".to_owned(), |bits| units::bits_rate(bits as f64))];
    words.extend(
        interface.is_full_duplex.map(|full| if full { "full duplex" } else { "half duplex" }.to_owned()),
    );
    words.extend(interface.mtu.map(|mtu| format!("MTU {mtu}")));
    let ring = |word: &str, ring: Option<RingFacts>| {
        ring.map(|ring| format!("{word} ring {} of {}", ring.now, ring.most))
    };
    words.extend(ring("rx", interface.receive_ring));
    words.extend(ring("tx", interface.send_ring));
    if !interface.offloads_off.is_empty() {
        words.push(format!("off: {}", interface.offloads_off.join(" ")));
    }
    let events = format!(
        "{} damaged, {} dropped, of {}",
        interface.errors,
        interface.receive_drops + interface.send_drops,
        interface.packets
    );
    vec![
        Figure::told(&interface.name, words.join(", ")),
        Figure::told(format!("{}, packets", interface.name), events),
    ]
}

fn findings(interface: &InterfaceFacts) -> Vec<Finding> {
    let name = &interface.name;
    let mut findings = Vec::new();
    if interface.is_full_duplex == Some(false) {
        findings.push(
            Finding::fault(format!("{name} is half duplex: it cannot send and receive at the same time"))
                .mended_by(Remedy::Advice {
                    what: format!("let {name} and its switch negotiate: ethtool -s {name} autoneg on"),
                    why: "half duplex is the fallback when only one side negotiates".to_owned(),
                    undo: Some(format!("ethtool -s {name} autoneg off")),
                }),
        );
    }
    let packets = interface.packets.max(1) as f64;
    if interface.errors >= LEAST_EVENTS && interface.errors as f64 / packets > DAMAGED {
        let share = units::percent(interface.errors as f64 / packets);
        findings.push(Finding::fault(format!(
            "{name}: {share} of its packets are damaged; check the cable, the connectors and the transceiver"
        )));
    }
    findings.extend(rings(interface));
    findings.extend(offloads(interface));
    findings
}

/// Rings that are tiny, or lose packets and could be larger.
fn rings(interface: &InterfaceFacts) -> Option<Finding> {
    let drops = interface.receive_drops;
    let loses = drops >= LEAST_EVENTS && drops as f64 / interface.packets.max(1) as f64 > DROPPED;
    let larger = |ring: Option<RingFacts>, loses: bool| {
        let ring = ring.filter(|ring| loses || ring.now < TINY_RING)?;
        let wanted = ring.most.min(ADVISED_RING);
        (ring.now < wanted).then_some((ring.now, wanted))
    };
    let (receive, send) = (larger(interface.receive_ring, loses), larger(interface.send_ring, false));
    let name = &interface.name;
    let tiny = [("rx", receive), ("tx", send)].into_iter().filter_map(|(word, ring)| {
        let (now, _) = ring.filter(|(now, _)| *now < TINY_RING)?;
        Some(format!("{word} {now}"))
    });
    let tiny: Vec<String> = tiny.collect();
    let finding = if tiny.is_empty() {
        // All that was dropped since it began says nothing of today, and stays when the ring is larger.
        let share = units::percent(drops as f64 / interface.packets.max(1) as f64);
        loses.then(|| {
            Finding::note(format!(
                "{name} dropped {drops} packets since it came up, {share} of all; they may be packets for no program of this host"
            ))
        })?
    } else {
        let why = if loses { format!(", and it dropped {drops} packets") } else { String::new() };
        Finding::fault(format!("{name} has tiny rings: {} descriptors{why}", tiny.join(", ")))
    };
    if receive.is_none() && send.is_none() {
        return Some(finding);
    }
    Some(
        finding.mended_by(Remedy::Rings {
            interface: name.clone(),
            receive,
            send,
            why: "room for packets until a CPU takes them; the change may interrupt the link for a moment"
                .to_owned(),
        }),
    )
}

fn offloads(interface: &InterfaceFacts) -> Option<Finding> {
    if interface.driver.as_deref().is_some_and(|driver| VIRTUAL.contains(&driver)) {
        return None;
    }
    let off: Vec<&str> = interface
        .offloads_off
        .iter()
        .map(String::as_str)
        .filter(|name| ["gro", "gso", "tso"].contains(name))
        .collect();
    if off.is_empty() {
        return None;
    }
    let (name, words) = (&interface.name, off.join(" "));
    let remedy = Remedy::Advice {
        what: format!("ethtool -K {name} {}", each(&off, "on")),
        why: "the kernel handles large segments instead of single packets".to_owned(),
        undo: Some(format!("ethtool -K {name} {}", each(&off, "off"))),
    };
    let is_fast = interface.bits_per_second.is_some_and(|bits| bits >= FAST);
    let says = format!("{name} has {words} off: the CPU handles every packet separately");
    Some(if is_fast { Finding::fault(says).mended_by(remedy) } else { Finding::note(says).mended_by(remedy) })
}

/// Each name with a word behind it.
fn each(names: &[&str], word: &str) -> String {
    names.iter().map(|name| format!("{name} {word}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn usual() -> InterfaceFacts {
        let ring = Some(RingFacts { now: 256, most: 4096 });
        InterfaceFacts {
            name: "eth0".to_owned(),
            bits_per_second: Some(1_000_000_000),
            is_full_duplex: Some(true),
            mtu: Some(1500),
            receive_ring: ring,
            send_ring: ring,
            packets: 1_000_000,
            receive_drops: 20,
            errors: 1,
            ..InterfaceFacts::default()
        }
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let with = |change: fn(&mut InterfaceFacts)| {
            let mut facts = usual();
            change(&mut facts);
            facts
        };
        let cases: [(InterfaceFacts, Option<&str>); 8] = [
            (usual(), None),
            (InterfaceFacts { name: "wg0".to_owned(), ..InterfaceFacts::default() }, None),
            (with(|one| one.is_full_duplex = Some(false)), Some("half duplex")),
            (with(|one| one.errors = 5000), Some("0.5 % of its packets are damaged")),
            (
                with(|one| one.receive_ring = Some(RingFacts { now: 64, most: 4096 })),
                Some("tiny rings: rx 64"),
            ),
            (with(|one| one.receive_ring = Some(RingFacts { now: 64, most: 64 })), None),
            (with(|one| one.offloads_off = vec!["lro".to_owned()]), None),
            (
                with(|one| {
                    one.bits_per_second = Some(10_000_000_000);
                    one.offloads_off = vec!["gro".to_owned()];
                }),
                Some("gro off"),
            ),
        ];
        let veth = InterfaceFacts { driver: Some("veth".to_owned()), ..cases[cases.len() - 1].0.clone() };
        for (facts, wanted) in cases.into_iter().chain([(veth, None)]) {
            let report = interfaces(std::slice::from_ref(&facts));
            match wanted {
                None => assert_eq!(
                    (report.verdict, &report.findings[..]),
                    (Verdict::Healthy, &[][..]),
                    "{facts:?}"
                ),
                Some(says) => {
                    assert_eq!((report.verdict, report.findings.len()), (Verdict::Limits, 1), "{report:?}");
                    assert!(report.findings[0].says.contains(says), "{report:?}");
                }
            }
        }
    }

    #[test]
    fn only_the_one_that_leads_to_the_server_counts() {
        let bad = InterfaceFacts { is_full_duplex: Some(false), ..usual() };
        let good = InterfaceFacts { leads_to_server: true, ..usual() };
        assert_eq!(interfaces(&[bad.clone(), good]).verdict, Verdict::Healthy);
        assert_eq!(interfaces(&[bad]).verdict, Verdict::Limits);
        assert_eq!(interfaces(&[]).verdict, Verdict::Absent);
    }

    #[test]
    fn drops_since_the_beginning_are_a_note_and_a_ring_that_is_large_enough_stays() {
        for (now, most, wanted) in [
            (256, 4096, Some("ethtool -G eth0 rx 4096")),
            (4096, 8192, None),
            (8192, 8192, None),
            (64, 64, None),
        ] {
            let receive_ring = Some(RingFacts { now, most });
            let report = interfaces(&[InterfaceFacts { receive_ring, receive_drops: 20_000, ..usual() }]);
            assert_eq!((report.verdict, report.findings.len()), (Verdict::Healthy, 1), "{report:?}");
            assert!(report.findings[0].says.contains("dropped 20000 packets"), "{report:?}");
            let commands: Vec<String> = report.findings[0].remedies.iter().map(Remedy::command).collect();
            assert_eq!(commands, wanted.into_iter().collect::<Vec<_>>(), "{now} of {most}");
        }
        let tiny = Some(RingFacts { now: 64, most: 4096 });
        let report = interfaces(&[InterfaceFacts { send_ring: tiny, receive_drops: 20_000, ..usual() }]);
        assert_eq!(
            report.findings[0].says,
            "eth0 has tiny rings: tx 64 descriptors, and it dropped 20000 packets"
        );
        assert_eq!(report.findings[0].remedies[0].command(), "ethtool -G eth0 rx 4096 tx 4096");
    }

    #[test]
    fn rings_are_set_and_set_back() {
        let facts = InterfaceFacts { receive_ring: Some(RingFacts { now: 64, most: 8192 }), ..usual() };
        let remedy = &interfaces(&[facts]).findings[0].remedies[0];
        assert_eq!(remedy.command(), "ethtool -G eth0 rx 4096");
        assert_eq!(remedy.undo().as_deref(), Some("ethtool -G eth0 rx 64"));
    }
}
