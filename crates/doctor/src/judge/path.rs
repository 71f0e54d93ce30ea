//! Whether what is between two hosts is in the way.

use std::net::IpAddr;

use howdah_units as units;

use crate::facts::{HostFacts, InterfaceFacts, PathFacts, RateFacts, TooLargePacket, TrainFacts};
use crate::{Figure, Finding, Need, Remedy, Rung, RungReport};

/// A part of packets that TCP notices: beyond it a congestion control that takes losses for congestion gives most of a long
/// path away (docs/lab: 1 Gb/s and 30 ms with 0.1 % lost carried 4 of 117 MB/s).
const LOST: f64 = 0.002;
/// So many of them are no accident.
const LEAST_LOST: u64 = 3;
/// Loss beyond this that is gone when packets are further apart is somebody's limit on echoes.
const LIMITER: f64 = 0.05;
/// A part of packets that overtake others.
const OVERTAKEN: f64 = 0.01;
/// A path that carries less than this part of what it should has another rate than was thought.
const OF_EXPECTED: f64 = 0.7;
/// A queue that holds packets longer than this, in seconds, makes small calls wait.
const LONG_QUEUE: f64 = 0.2;

/// Headers without options: what a clamp of segments leaves room for.
const TCP_HEADER: u64 = 20;
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;

/// Judges a path. `nfs_reads`: NFS itself was seen to read over it in long packets; `expected`: bits per second that somebody
/// said it carries.
pub fn path(
    facts: &PathFacts,
    interfaces: &[InterfaceFacts],
    host: &HostFacts,
    nfs_reads: bool,
    expected: Option<f64>,
) -> RungReport {
    if !facts.is_measured() && !facts.could_not.is_empty() {
        return RungReport::not_measured(Rung::Path, facts.could_not.join("; "));
    }
    let mut findings = Vec::new();
    findings.extend(black_hole(facts, nfs_reads, host.mtu_probing));
    findings.extend(losses(facts));
    findings.extend(overtaking(facts.train.as_ref()));
    let expected = expectation(interfaces, expected);
    findings.extend(slow(facts, expected.as_ref()));
    findings.extend(queue(facts));
    RungReport {
        could_not: facts.could_not.clone(),
        ..RungReport::seen(Rung::Path, figures(facts, expected.as_ref()), findings)
    }
}

/// Whether it carries less than it should: then it is worth measuring once more before anybody is blamed.
pub fn is_low(facts: &PathFacts, interfaces: &[InterfaceFacts], expected: Option<f64>) -> bool {
    slow(facts, expectation(interfaces, expected).as_ref()).is_some()
}

/// What a connection needs here, if rate and round trip are known.
pub fn need(facts: &PathFacts) -> Option<Need> {
    let rates = facts.there.iter().chain(&facts.back).map(|rate| rate.bytes_per_second);
    let bytes_per_second = rates.fold(0.0, f64::max);
    let round_trip_seconds = facts.round_trip?;
    (bytes_per_second > 0.0).then_some(Need { bytes_per_second, round_trip_seconds })
}

/// What the path should carry, in bytes per second, and who says so.
struct Expectation {
    bytes_per_second: f64,
    who: String,
}

fn expectation(interfaces: &[InterfaceFacts], expected: Option<f64>) -> Option<Expectation> {
    if let Some(bits) = expected {
        return Some(Expectation { bytes_per_second: bits / 8.0, who: "expected".to_owned() });
    }
    let leads = interfaces.iter().filter(|interface| interface.leads_to_server);
    let slowest = leads.filter_map(|interface| Some((interface.bits_per_second?, &interface.name))).min()?;
    Some(Expectation { bytes_per_second: slowest.0 as f64 / 8.0, who: format!("of {}", slowest.1) })
}

fn figures(facts: &PathFacts, expected: Option<&Expectation>) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(
        facts.round_trip.map(|seconds| Figure::told("round trip, the least", units::seconds(seconds))),
    );
    for train in facts.train.iter().chain(&facts.slow_train) {
        let name = format!("{} small packets, by {}", train.sent, train.by);
        let value =
            format!("{} lost, {} reordered", train.sent - train.came.min(train.sent), train.overtaken);
        figures.push(Figure::against(name, value, format!("less than {}", units::percent(LOST))));
    }
    if let Some(mtu) = &facts.mtu {
        let passes = mtu.passes.map_or("none".to_owned(), |bytes| format!("{bytes} bytes"));
        figures.push(Figure::against(
            "longest packet that passes",
            passes,
            format!("{} bytes", mtu.believed),
        ));
    }
    for (name, rate) in [("carries to the server", &facts.there), ("carries from the server", &facts.back)] {
        let Some(rate) = rate else { continue };
        let held_back =
            rate.held_back_by.as_ref().map_or(String::new(), |what| format!(", limited by {what}"));
        let value = format!("{} ({}{held_back})", units::rate(rate.bytes_per_second), rate.by);
        figures.push(Figure {
            limit: expected
                .map(|expected| format!("{} {}", units::rate(expected.bytes_per_second), expected.who)),
            ..Figure::told(name, value)
        });
    }
    if let Some(need) = need(facts).filter(|_| !facts.is_local) {
        let name = "bandwidth-delay product";
        figures.push(Figure::told(name, units::bytes(need.bandwidth_delay_product())));
    }
    figures
}

fn black_hole(facts: &PathFacts, nfs_reads: bool, probing: Option<u64>) -> Option<Finding> {
    let mtu = facts.mtu.as_ref().filter(|mtu| mtu.too_large == TooLargePacket::Vanishes)?;
    let passes = mtu.passes?;
    let carried = |rate: &Option<RateFacts>| rate.as_ref().and_then(|rate| rate.packet) > Some(passes);
    let (there, back) = (carried(&facts.there), carried(&facts.back) || nfs_reads);
    if there && back {
        return Some(Finding::note(format!(
            "pings larger than {passes} bytes are lost, but TCP packets of that size are not: something drops large pings"
        )));
    }
    let way = match mtu.arrives_there.unwrap_or(there) {
        true => " on the way back",
        false if back || mtu.arrives_there.is_some() => " on the way there",
        false => "",
    };
    let says = format!(
        "packets larger than {passes} bytes are lost{way} without an ICMP error (a black hole); the kernel assumes an MTU of {} bytes",
        mtu.believed
    );
    let is_ipv6 = facts.address.parse().is_ok_and(|address: IpAddr| address.is_ipv6());
    let mss = passes.saturating_sub(TCP_HEADER + if is_ipv6 { IPV6_HEADER } else { IPV4_HEADER });
    let remedy = Remedy::Sysctl {
        name: "net.ipv4.tcp_mtu_probing".to_owned(),
        now: "0".to_owned(),
        wanted: "1".to_owned(),
        why: "TCP of this host tries smaller packets when large ones are lost; the server needs the same setting"
            .to_owned(),
    };
    let mut finding = Finding::fault(says);
    finding.remedies.extend((probing == Some(0)).then_some(remedy));
    Some(finding.mended_by(Remedy::Advice {
        what: format!(
            "let the router in between send ICMP \"too large\", or clamp the TCP MSS there to {mss} bytes"
        ),
        why: "then both ends learn the path MTU".to_owned(),
        undo: None,
    }))
}

fn lost(train: &TrainFacts) -> (u64, f64) {
    let lost = train.sent - train.came.min(train.sent);
    (lost, lost as f64 / train.sent.max(1) as f64)
}

fn losses(facts: &PathFacts) -> Option<Finding> {
    let train = facts.train.as_ref()?;
    let (count, share) = lost(train);
    if count < LEAST_LOST || share < LOST {
        return None;
    }
    let is_limiter = share > LIMITER && facts.slow_train.as_ref().is_some_and(|slow| slow.came == slow.sent);
    if is_limiter {
        return Some(Finding::note(format!(
            "{count} of {} small packets sent fast were lost, but none of those sent slowly: something limits the rate of pings",
            train.sent
        )));
    }
    let where_lost = train.arrived.map_or(String::new(), |arrived| {
        format!(
            " ({} on the way there, {} on the way back)",
            train.sent - arrived.min(train.sent),
            arrived.saturating_sub(train.came)
        )
    });
    let says = format!(
        "the path loses {} of small packets, {count} of {}{where_lost}, without other traffic",
        units::percent(share),
        train.sent
    );
    Some(Finding::fault(says).mended_by(Remedy::Advice {
        what: "find where they are lost: interface counters (howdah nics), cables, a radio link, a policer; until then use bbr on the sender (sysctl net.ipv4.tcp_congestion_control=bbr)".to_owned(),
        why: "other congestion controls mistake each loss for a full path".to_owned(),
        undo: Some("sysctl net.ipv4.tcp_congestion_control=cubic, or what it was".to_owned()),
    }))
}

fn overtaking(train: Option<&TrainFacts>) -> Option<Finding> {
    let train = train?;
    let share = train.overtaken as f64 / train.came.max(1) as f64;
    (share > OVERTAKEN).then(|| {
        let says = format!("{} of packets arrive after later ones: TCP mistakes that for loss", units::percent(share));
        Finding::fault(says).mended_by(Remedy::Advice {
            what: "find what spreads one connection over several links: a bond in balance-rr, a router that balances by packet".to_owned(),
            why: "packets of one connection should take one path".to_owned(),
            undo: None,
        })
    })
}

/// A rate that is less than it should be, unless something at an end held it back.
fn slow(facts: &PathFacts, expected: Option<&Expectation>) -> Option<Finding> {
    let expected = expected.filter(|_| !facts.is_local)?;
    let twice = if facts.measured_twice { ", the better of two tries" } else { "" };
    let below = |rate: &Option<RateFacts>, way: &str| {
        let rate = rate.as_ref().filter(|rate| rate.held_back_by.is_none())?;
        let share = rate.bytes_per_second / expected.bytes_per_second;
        let says = format!(
            "the path carries {} {way} the server, {} of the {} {}{twice}",
            units::rate(rate.bytes_per_second),
            units::percent(share),
            units::rate(expected.bytes_per_second),
            expected.who
        );
        (share < OF_EXPECTED).then(|| Finding::fault(says))
    };
    below(&facts.there, "to").or_else(|| below(&facts.back, "from"))
}

fn queue(facts: &PathFacts) -> Option<Finding> {
    let base = facts.round_trip?;
    let loaded = facts.there.iter().chain(&facts.back).filter_map(|rate| rate.round_trip).fold(0.0, f64::max);
    (loaded - base > LONG_QUEUE).then(|| {
        let (queue, base) = (units::seconds(loaded - base), units::seconds(base));
        Finding::note(format!("while the path is full, a queue of {queue} builds up ({base} without): small calls wait that long"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::facts::MtuFacts;

    fn rate(bytes_per_second: f64) -> Option<RateFacts> {
        Some(RateFacts { by: "NULL".to_owned(), bytes_per_second, ..RateFacts::default() })
    }

    /// 100 Mb/s and 30 ms.
    fn usual() -> PathFacts {
        PathFacts {
            round_trip: Some(0.03),
            train: Some(TrainFacts {
                by: "icmp".to_owned(),
                sent: 1000,
                came: 1000,
                ..TrainFacts::default()
            }),
            mtu: Some(MtuFacts { believed: 1500, passes: Some(1500), ..MtuFacts::default() }),
            there: rate(11.7e6),
            back: rate(11.7e6),
            ..PathFacts::default()
        }
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let with = |change: fn(&mut PathFacts)| {
            let mut facts = usual();
            change(&mut facts);
            facts
        };
        let train =
            |came, overtaken| Some(TrainFacts { sent: 1000, came, overtaken, ..TrainFacts::default() });
        let vanishing = MtuFacts {
            believed: 1500,
            passes: Some(1400),
            too_large: TooLargePacket::Vanishes,
            arrives_there: Some(true),
        };
        let cases = [
            (usual(), None, None),
            (PathFacts::default(), Some(1e9), None),
            (usual(), Some(100e6), None),
            (usual(), Some(200e6), Some("47 % of the 25.0 MB/s expected")),
            (
                PathFacts { mtu: Some(vanishing), ..usual() },
                None,
                Some("larger than 1400 bytes are lost on the way back"),
            ),
            (
                with(|path| {
                    path.mtu = Some(MtuFacts {
                        believed: 1500,
                        passes: Some(1400),
                        too_large: TooLargePacket::Told,
                        arrives_there: None,
                    })
                }),
                None,
                None,
            ),
            (
                PathFacts { train: train(990, 0), ..usual() },
                None,
                Some("the path loses 1.0 % of small packets"),
            ),
            (PathFacts { train: train(998, 0), ..usual() }, None, None),
            (
                PathFacts { train: train(1000, 30), ..usual() },
                None,
                Some("3.0 % of packets arrive after later ones"),
            ),
            (with(|path| path.back = rate(4e6)), Some(100e6), Some("4.0 MB/s from the server")),
            (
                with(|path| {
                    path.there = Some(RateFacts {
                        held_back_by: Some("a window".to_owned()),
                        bytes_per_second: 1e6,
                        ..RateFacts::default()
                    })
                }),
                Some(100e6),
                None,
            ),
        ];
        for (facts, expected, wanted) in cases {
            let report = path(&facts, &[], &HostFacts::default(), false, expected);
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
    fn a_path_to_a_host_that_is_away_is_not_measured() {
        let could_not = vec!["no route to host".to_owned()];
        let facts = PathFacts { could_not: could_not.clone(), ..PathFacts::default() };
        let report = path(&facts, &[], &HostFacts::default(), false, None);
        assert_eq!((report.verdict, report.could_not), (Verdict::NotMeasured, could_not));
    }

    #[test]
    fn a_link_that_carries_half_of_its_interfaces_speed_is_found() {
        let eth0 = |bits: u64, leads_to_server| InterfaceFacts {
            name: "eth0".to_owned(),
            bits_per_second: Some(bits),
            leads_to_server,
            ..InterfaceFacts::default()
        };
        let judge = |facts: &PathFacts, bits, leads| {
            let interfaces = [eth0(bits, leads)];
            assert_eq!(
                is_low(facts, &interfaces, None),
                path(facts, &interfaces, &HostFacts::default(), false, None).fault().is_some()
            );
            path(facts, &interfaces, &HostFacts::default(), false, None)
        };
        assert_eq!(judge(&usual(), 100_000_000, true).verdict, Verdict::Healthy);
        assert_eq!(judge(&usual(), 1_000_000_000, false).verdict, Verdict::Healthy, "it leads elsewhere");
        let twice = PathFacts { measured_twice: true, ..usual() };
        let report = judge(&twice, 200_000_000, true);
        let says = "11.7 MB/s to the server, 47 % of the 25.0 MB/s of eth0, the better of two tries";
        assert!(report.fault().is_some_and(|fault| fault.says.ends_with(says)), "{report:?}");
    }

    #[test]
    fn what_tcp_carries_is_no_black_hole() {
        let mtu = MtuFacts {
            believed: 1500,
            passes: Some(1400),
            too_large: TooLargePacket::Vanishes,
            arrives_there: None,
        };
        let carried = |packet| Some(RateFacts { packet: Some(packet), ..RateFacts::default() });
        let judge = |there, back, nfs_reads| {
            let facts = PathFacts { mtu: Some(mtu.clone()), there, back, ..PathFacts::default() };
            path(&facts, &[], &HostFacts::default(), nfs_reads, None)
        };
        let (long, short) = (carried(1500), carried(1300));
        assert_eq!(judge(long.clone(), long.clone(), false).verdict, Verdict::Healthy);
        assert_eq!(judge(long.clone(), None, true).verdict, Verdict::Healthy);
        for (there, back, nfs_reads, way) in [
            (long.clone(), short.clone(), false, "are lost on the way back without"),
            (long, None, false, "are lost on the way back without"),
            (None, None, true, "are lost on the way there without"),
            (short.clone(), short, false, "are lost without"),
            (None, None, false, "are lost without"),
        ] {
            let report = judge(there, back, nfs_reads);
            assert!(report.fault().is_some_and(|fault| fault.says.contains(way)), "{report:?}");
        }
    }

    #[test]
    fn segments_are_clamped_to_what_the_headers_leave() {
        for (address, segment) in [("10.0.0.1", "1360 bytes"), ("fd00::1", "1340 bytes")] {
            let mtu = MtuFacts {
                believed: 1500,
                passes: Some(1400),
                too_large: TooLargePacket::Vanishes,
                arrives_there: None,
            };
            let facts = PathFacts { address: address.to_owned(), mtu: Some(mtu), ..PathFacts::default() };
            let report = path(&facts, &[], &HostFacts::default(), false, None);
            let clamp = report.findings[0].remedies.last().expect("one").command();
            assert!(clamp.ends_with(segment), "{address}: {clamp}");
        }
    }

    #[test]
    fn a_limit_on_echoes_is_no_loss() {
        let train = |sent, came| Some(TrainFacts { sent, came, ..TrainFacts::default() });
        let facts = PathFacts { train: train(1000, 200), slow_train: train(100, 100), ..usual() };
        let report = path(&facts, &[], &HostFacts::default(), false, None);
        assert_eq!(report.verdict, Verdict::Healthy);
        assert!(report.findings[0].says.contains("limits the rate of pings"), "{report:?}");
        let facts = PathFacts { train: train(1000, 200), slow_train: train(100, 21), ..usual() };
        assert_eq!(path(&facts, &[], &HostFacts::default(), false, None).verdict, Verdict::Limits);
    }

    #[test]
    fn the_interface_says_what_is_expected_if_nobody_does() {
        let interface = InterfaceFacts {
            name: "eth0".to_owned(),
            leads_to_server: true,
            bits_per_second: Some(1_000_000_000),
            ..InterfaceFacts::default()
        };
        let report = path(&usual(), std::slice::from_ref(&interface), &HostFacts::default(), false, None);
        assert!(report.findings[0].says.contains("of the 125.0 MB/s of eth0"), "{report:?}");
        let elsewhere = InterfaceFacts { leads_to_server: false, ..interface };
        assert_eq!(
            path(&usual(), &[elsewhere], &HostFacts::default(), false, None).verdict,
            Verdict::Healthy
        );
    }

    #[test]
    fn a_long_queue_is_worth_knowing() {
        let there = Some(RateFacts { round_trip: Some(0.5), ..rate(11.7e6).expect("one") });
        let report = path(&PathFacts { there, ..usual() }, &[], &HostFacts::default(), false, None);
        assert_eq!((report.verdict, report.findings.len()), (Verdict::Healthy, 1));
        assert!(report.findings[0].says.contains("a queue of 470 ms"), "{report:?}");
    }
}
