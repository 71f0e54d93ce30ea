//! Whether a kernel's settings hold a path, and whether anything in it is full.

use howdah_units as units;

use crate::facts::{DatagramCounts, HostFacts, Table};
use crate::{Figure, Finding, Need, Remedy, Rung, RungReport};

/// What buffers may grow to where nobody changed anything: the least of what Linux had of late (`tcp_init`: 4 MiB for
/// sending; 6 MiB for receiving until 6.18), and on small hosts a part of the memory.
const USUAL_SEND: u64 = 4 << 20;
const USUAL_RECEIVE: u64 = 6 << 20;
const PART_OF_MEMORY: u64 = 128;
/// A table that is fuller will be full.
const FULL: f64 = 0.9;
/// A host that drops a larger part of all datagrams than this has too little room for them; and so much room is advised.
const DROPPED: f64 = 0.001;
const DATAGRAM_ROOM: u64 = 8 << 20;
/// With less memory to spare than this part, files have no room in it.
const MEMORY_SPARE: f64 = 0.03;
/// The most that is advised for one buffer: what 10 Gb/s need at 100 ms, twice.
const ADVISED_MOST: u64 = 256 << 20;

/// Judges a host; with a need, against a path, and without one against what is usual.
pub fn host(facts: &HostFacts, need: Option<&Need>) -> RungReport {
    let mut findings = Vec::new();
    findings.extend(switches(facts));
    findings.extend(send_buffer(facts, need));
    findings.extend(receive_buffer(facts, need));
    findings.extend(datagram_buffer(facts));
    findings.extend(memory(facts));
    findings.extend(tables(facts));
    findings.extend(facts.unwritable.iter().map(|server| unwritable(server)));
    RungReport::seen(Rung::Host, figures(facts, need), findings)
}

fn figures(facts: &HostFacts, need: Option<&Need>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let (send, receive) = wanted(facts, need);
    let mut buffer = |name: &str, sizes: Option<[u64; 3]>, wanted: u64| {
        figures.extend(sizes.map(|sizes| {
            let limit = format!("at least {}", units::bytes(wanted as f64));
            Figure::against(name, units::bytes(sizes[2] as f64), limit)
        }));
    };
    buffer("send buffer, at most", facts.tcp_send, send);
    buffer("receive buffer, at most", facts.tcp_receive, receive);
    if let Some(most) = facts.receive_most {
        figures
            .push(Figure::told("UDP receive buffer without privilege, at most", units::bytes(most as f64)));
    }
    if let Some(name) = &facts.congestion_control {
        figures.push(Figure::told(
            "congestion control",
            format!("{name}, of {}", facts.congestion_controls.join(" ")),
        ));
    }
    if let (Some(memory), Some(available)) = (facts.memory, facts.memory_available) {
        let value = format!("{} of {}", units::bytes(available as f64), units::bytes(memory as f64));
        figures.push(Figure::told("memory to spare", value));
    }
    for (name, table) in [("open files", facts.files), ("connections tracked", facts.conntrack)] {
        figures.extend(
            table.filter(|table| table.most < 1 << 40).map(|table| {
                Figure::against(name, table.used.to_string(), format!("at most {}", table.most))
            }),
        );
    }
    figures
}

/// Bytes that send and receive buffers should be able to have.
fn wanted(facts: &HostFacts, need: Option<&Need>) -> (u64, u64) {
    match need {
        Some(need) => (need.send_buffer(), need.receive_buffer()),
        None => {
            let most = facts.memory.unwrap_or(u64::MAX) / PART_OF_MEMORY;
            (USUAL_SEND.min(most), USUAL_RECEIVE.min(most))
        }
    }
}

fn switches(facts: &HostFacts) -> Vec<Finding> {
    let off = |is_on: Option<bool>, name: &str, says: &str| {
        let finding = Finding::fault(format!("net.ipv4.{name} is 0: {says}")).mended_by(Remedy::Sysctl {
            name: format!("net.ipv4.{name}"),
            now: "0".to_owned(),
            wanted: "1".to_owned(),
            why: says.to_owned(),
        });
        (is_on == Some(false)).then_some(finding)
    };
    [
        off(facts.window_scaling, "tcp_window_scaling", "no connection has more than 64 KiB in flight"),
        off(
            facts.moderates_receive,
            "tcp_moderate_rcvbuf",
            "receive buffers do not grow to what a path needs",
        ),
        off(
            facts.selective_acknowledgements,
            "tcp_sack",
            "after a loss, data that has arrived is retransmitted",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn send_buffer(facts: &HostFacts, need: Option<&Need>) -> Option<Finding> {
    // Two thirds of it are in flight.
    too_small(("tcp_wmem", "send", "to"), facts.tcp_send?, wanted(facts, need).0, need, 2.0 / 3.0)
}

fn receive_buffer(facts: &HostFacts, need: Option<&Need>) -> Option<Finding> {
    // Half of it is window.
    too_small(("tcp_rmem", "receive", "from"), facts.tcp_receive?, wanted(facts, need).1, need, 0.5)
}

/// What QUIC and NFS over UDP lose in this host.
fn datagram_buffer(facts: &HostFacts) -> Option<Finding> {
    let DatagramCounts { received, dropped } = facts.datagrams?;
    let share = dropped as f64 / (received + dropped).max(1) as f64;
    let most = facts.receive_most.filter(|_| share > DROPPED)?;
    let says = format!(
        "{dropped} of {} UDP packets ({:.1} %) were dropped since this host started: a socket's receive buffer was full (net.core.rmem_max allows {} without CAP_NET_ADMIN)",
        received + dropped,
        100.0 * share,
        units::bytes(most as f64)
    );
    if most >= DATAGRAM_ROOM {
        return Some(Finding::note(says));
    }
    Some(Finding::note(says).mended_by(Remedy::Sysctl {
        name: "net.core.rmem_max".to_owned(),
        now: most.to_string(),
        wanted: DATAGRAM_ROOM.to_string(),
        why: "room for packets that arrive while the program is busy: QUIC and UDP ask for it when they start".to_owned(),
    }))
}

/// `used`: the part of a buffer that can be on the way.
fn too_small(
    (name, verb, way): (&str, &str, &str),
    sizes: [u64; 3],
    wanted: u64,
    need: Option<&Need>,
    used: f64,
) -> Option<Finding> {
    let [least, first, most] = sizes;
    if most >= wanted {
        return None;
    }
    let says = match need {
        Some(need) => format!(
            "a connection of this host may {verb} with {} of buffer (net.ipv4.{name}), which is {} at {}; the path carries {} {way} the server and needs {}",
            units::bytes(most as f64),
            units::rate(most as f64 * used / need.round_trip_seconds),
            units::seconds(need.round_trip_seconds),
            units::rate(need.bytes_per_second),
            units::bytes(wanted as f64),
        ),
        None => format!(
            "a connection of this host may {verb} with {} of buffer (net.ipv4.{name}); Linux itself allows {}",
            units::bytes(most as f64),
            units::bytes(wanted as f64),
        ),
    };
    let larger = wanted.next_power_of_two().min(ADVISED_MOST).max(most);
    let finding = Finding::fault(says);
    if larger == most {
        return Some(finding);
    }
    Some(finding.mended_by(Remedy::Sysctl {
        name: format!("net.ipv4.{name}"),
        now: format!("{least} {first} {most}"),
        wanted: format!("{least} {first} {larger}"),
        why: format!("room for data in flight; only connections that need it use it ({verb} buffers)"),
    }))
}

fn memory(facts: &HostFacts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let (Some(memory), Some(available)) = (facts.memory, facts.memory_available)
        && (available as f64) < memory as f64 * MEMORY_SPARE
    {
        let (available, memory) = (units::bytes(available as f64), units::bytes(memory as f64));
        findings.push(Finding::fault(format!(
            "only {available} of {memory} of memory are available: too little for file caches and buffers"
        )));
    }
    if let (Some(used), Some(pressure)) = (facts.tcp_memory, facts.tcp_memory_pressure)
        && used >= pressure
    {
        let (used, pressure) = (units::bytes(used as f64), units::bytes(pressure as f64));
        findings.push(Finding::fault(format!(
            "TCP uses {used} of memory; above {pressure} (net.ipv4.tcp_mem) the kernel shrinks windows"
        )));
    }
    findings
}

fn tables(facts: &HostFacts) -> Vec<Finding> {
    let full = |table: Option<Table>, what: &str, name: &str| {
        let table = table.filter(|table| table.share() > FULL)?;
        let says = format!("{} {what} of at most {} ({name})", table.used, table.most);
        Some(Finding::fault(says).mended_by(Remedy::Sysctl {
            name: name.to_owned(),
            now: table.most.to_string(),
            wanted: (table.most * 2).to_string(),
            why: "a full table refuses new entries".to_owned(),
        }))
    };
    [
        full(facts.files, "files are open", "fs.file-max"),
        full(facts.conntrack, "connections are tracked by the firewall", "net.netfilter.nf_conntrack_max"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn unwritable(server: &str) -> Finding {
    let says = format!("howdah cannot write its state directory, and new NFSv4 clients wait: {server}");
    Finding::fault(says).mended_by(Remedy::Advice {
        what: "make room in the state directory, or mount its file system read-write".to_owned(),
        why: "a client without a record gets no opens and no locks".to_owned(),
        undo: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// A host as Linux 6.18 sets one up.
    fn usual() -> HostFacts {
        HostFacts {
            tcp_receive: Some([4096, 131_072, 33_554_432]),
            tcp_send: Some([4096, 16_384, 4_194_304]),
            receive_most: Some(212_992),
            window_scaling: Some(true),
            moderates_receive: Some(true),
            selective_acknowledgements: Some(true),
            memory: Some(8 << 30),
            memory_available: Some(4 << 30),
            tcp_memory: Some(1 << 20),
            tcp_memory_pressure: Some(1 << 30),
            files: Some(Table { used: 1000, most: 800_000 }),
            conntrack: Some(Table { used: 10, most: 65_536 }),
            ..HostFacts::default()
        }
    }

    fn need(megabits: f64, milliseconds: f64) -> Need {
        Need { bytes_per_second: megabits * 1e6 / 8.0, round_trip_seconds: milliseconds / 1e3 }
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let with = |change: fn(&mut HostFacts)| {
            let mut facts = usual();
            change(&mut facts);
            facts
        };
        let cases: [(HostFacts, Option<Need>, Option<&str>); 17] = [
            (usual(), None, None),
            (HostFacts::default(), None, None),
            (usual(), Some(need(100.0, 30.0)), None),
            (usual(), Some(need(1000.0, 30.0)), Some("may send with 4.2 MB")),
            (
                with(|host| host.tcp_send = Some([4096, 16_384, 212_992])),
                None,
                Some("may send with 213.0 kB"),
            ),
            (with(|host| host.tcp_send = Some([4096, 16_384, 212_992])), Some(need(10.0, 1.0)), None),
            (
                with(|host| host.tcp_receive = Some([4096, 65_536, 212_992])),
                Some(need(100.0, 30.0)),
                Some("net.ipv4.tcp_rmem"),
            ),
            (
                with(|host| host.datagrams = Some(DatagramCounts { received: 99_000, dropped: 1_000 })),
                None,
                Some("1000 of 100000 UDP packets (1.0 %) were dropped"),
            ),
            (
                with(|host| host.datagrams = Some(DatagramCounts { received: 1 << 20, dropped: 9 })),
                None,
                None,
            ),
            (with(|host| host.window_scaling = Some(false)), None, Some("tcp_window_scaling is 0")),
            (with(|host| host.moderates_receive = Some(false)), None, Some("tcp_moderate_rcvbuf is 0")),
            (with(|host| host.selective_acknowledgements = Some(false)), None, Some("tcp_sack is 0")),
            (with(|host| host.memory_available = Some(100 << 20)), None, Some("of memory are available")),
            (with(|host| host.tcp_memory = Some(2 << 30)), None, Some("tcp_mem")),
            (
                with(|host| host.conntrack = Some(Table { used: 65_000, most: 65_536 })),
                None,
                Some("nf_conntrack_max"),
            ),
            (
                with(|host| host.files = Some(Table { used: 799_000, most: 800_000 })),
                None,
                Some("fs.file-max"),
            ),
            (
                with(|host| host.unwritable = vec!["process 7: no space".to_owned()]),
                None,
                Some("new NFSv4 clients wait: process 7: no space"),
            ),
        ];
        for (facts, need, wanted) in cases {
            let report = host(&facts, need.as_ref());
            match wanted {
                None => assert_eq!(
                    (report.verdict, &report.findings[..]),
                    (Verdict::Healthy, &[][..]),
                    "{facts:?}"
                ),
                Some(says) => {
                    assert_eq!(report.findings.len(), 1, "{report:?}");
                    assert!(report.findings[0].says.contains(says), "{report:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_advised_is_enough_and_can_be_undone() {
        let mut facts = usual();
        facts.tcp_send = Some([4096, 16_384, 212_992]);
        let path = need(1000.0, 30.0);
        let report = host(&facts, Some(&path));
        let remedy = &report.findings[0].remedies[0];
        assert_eq!(remedy.command(), "sysctl -w net.ipv4.tcp_wmem='4096 16384 8388608'");
        assert_eq!(remedy.undo().as_deref(), Some("sysctl -w net.ipv4.tcp_wmem='4096 16384 212992'"));
        facts.tcp_send = Some([4096, 16_384, 8_388_608]);
        assert_eq!(host(&facts, Some(&path)).verdict, Verdict::Healthy);
    }

    #[test]
    fn nothing_is_advised_to_be_set_to_what_it_is() {
        let mut facts = usual();
        facts.tcp_send = Some([4096, 16_384, ADVISED_MOST]);
        let report = host(&facts, Some(&need(10_000.0, 250.0)));
        let send = &report.findings[0];
        assert!(send.says.contains("may send with") && send.remedies.is_empty(), "{report:?}");
    }

    #[test]
    fn a_small_host_has_small_buffers_by_nature() {
        let facts = HostFacts {
            memory: Some(256 << 20),
            tcp_send: Some([4096, 16_384, 2 << 20]),
            ..HostFacts::default()
        };
        assert_eq!(host(&facts, None).verdict, Verdict::Healthy);
    }
}
