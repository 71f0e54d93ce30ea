//! What network interfaces carried, as the kernel counts it in `/sys/class/net`.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

/// Where the kernel shows its interfaces: those of the network namespace in which `/sys` was mounted.
const INTERFACES: &str = "/sys/class/net";

/// Where it shows those of the calling thread's network namespace.
const HERE: &str = "/proc/thread-self/net/dev";

/// An interface and its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// What it is called.
    pub name: String,
    /// Whether it may carry packets (`operstate`); loopback does not know.
    pub is_up: bool,
    /// Bits per second of the link; virtual ones have none.
    pub bits_per_second: Option<u64>,
    /// Whether both ways can be used at a time; virtual ones do not say.
    pub is_full_duplex: Option<bool>,
    /// The longest packet in bytes.
    pub mtu: u64,
    /// What came.
    pub received: InterfaceTraffic,
    /// What left.
    pub sent: InterfaceTraffic,
}

/// One way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InterfaceTraffic {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were damaged.
    pub errors: u64,
    /// Packets thrown away, for want of room or because nobody wanted them.
    pub dropped: u64,
}

/// The counters of all interfaces by name, and when they were read.
///
/// # Errors
/// The kernel does not show them here.
pub fn interface_counters() -> io::Result<(Instant, Vec<InterfaceCounters>)> {
    counters_in(Path::new(INTERFACES))
}

fn counters_in(directory: &Path) -> io::Result<(Instant, Vec<InterfaceCounters>)> {
    let now = Instant::now();
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // One that has gone meanwhile, and files that are no interfaces (bonding_masters), have no counters.
        found.extend(counters(&name, &entry.path()));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((now, found))
}

fn counters(name: &str, place: &Path) -> Option<InterfaceCounters> {
    let text = |file: &str| fs::read_to_string(place.join(file)).ok().map(|text| text.trim().to_owned());
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    let carried = |way: &str| {
        let count = |what: &str| number(&format!("statistics/{way}_{what}"));
        Some(InterfaceTraffic {
            packets: count("packets")?,
            bytes: count("bytes")?,
            errors: count("errors")?,
            dropped: count("dropped")? + count("missed_errors").unwrap_or_default(),
        })
    };
    Some(InterfaceCounters {
        name: name.to_owned(),
        is_up: text("operstate").is_some_and(|state| state != "down"),
        // In Mb/s; -1 where it is not known.
        bits_per_second: number("speed").filter(|speed| *speed > 0).map(|speed| speed * 1_000_000),
        is_full_duplex: text("duplex").and_then(|duplex| match duplex.as_str() {
            "full" => Some(true),
            "half" => Some(false),
            _ => None,
        }),
        mtu: number("mtu")?,
        received: carried("rx")?,
        sent: carried("tx")?,
    })
}

/// What each interface of the calling thread's network namespace received and sent, by name: fewer details than
/// [`interface_counters`] has, whatever namespace `/sys` shows.
///
/// # Errors
/// The kernel does not report it.
pub fn carried_here() -> io::Result<Vec<(String, InterfaceTraffic, InterfaceTraffic)>> {
    Ok(fs::read_to_string(HERE)?.lines().filter_map(carried_line).collect())
}

/// `NAME: ` and sixteen numbers: bytes, packets, errors, drops, and four that do not matter here, each way.
fn carried_line(line: &str) -> Option<(String, InterfaceTraffic, InterfaceTraffic)> {
    let (name, numbers) = line.split_once(':')?;
    let numbers: Vec<u64> = numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let carried = |from: usize| {
        let &[bytes, packets, errors, dropped] = numbers.get(from..from + 4)? else { return None };
        Some(InterfaceTraffic { packets, bytes, errors, dropped })
    };
    Some((name.trim().to_owned(), carried(0)?, carried(8)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_namespace_are_read() {
        let line = "  eth0: 12000 10 1 2 0 0 0 0 4000 4 3 5 0 0 0 0";
        let (name, received, sent) = carried_line(line).expect("an interface");
        assert_eq!(name, "eth0");
        assert_eq!(received, InterfaceTraffic { packets: 10, bytes: 12_000, errors: 1, dropped: 2 });
        assert_eq!(sent, InterfaceTraffic { packets: 4, bytes: 4000, errors: 3, dropped: 5 });
        assert_eq!(carried_line("Inter-|   Receive  |  Transmit"), None);
        assert!(carried_here().expect("an answer").iter().any(|(name, ..)| name == "lo"));
    }

    #[test]
    fn counters_are_read_as_the_kernel_writes_them() {
        let home = tempfile::tempdir().expect("a directory");
        let place = home.path().join("eth0");
        fs::create_dir_all(place.join("statistics")).expect("made");
        let files = [
            ("operstate", "up"),
            ("speed", "1000"),
            ("duplex", "half"),
            ("mtu", "9000"),
            ("statistics/rx_packets", "10"),
            ("statistics/rx_bytes", "12000"),
            ("statistics/rx_errors", "1"),
            ("statistics/rx_dropped", "2"),
            ("statistics/rx_missed_errors", "3"),
            ("statistics/tx_packets", "4"),
            ("statistics/tx_bytes", "18446744073709551615"),
            ("statistics/tx_errors", "0"),
            ("statistics/tx_dropped", "0"),
        ];
        files
            .iter()
            .for_each(|(file, text)| fs::write(place.join(file), format!("{text}\n")).expect("written"));
        fs::write(home.path().join("bonding_masters"), "\n").expect("written");
        let (_, found) = counters_in(home.path()).expect("a list");
        let [eth0] = &found[..] else { panic!("{found:?}") };
        assert_eq!((eth0.bits_per_second, eth0.is_full_duplex), (Some(1_000_000_000), Some(false)));
        assert_eq!(eth0.received, InterfaceTraffic { packets: 10, bytes: 12_000, errors: 1, dropped: 5 });
        assert_eq!((eth0.sent.bytes, eth0.mtu, eth0.is_up), (u64::MAX, 9000, true));
        fs::write(place.join("speed"), "-1\n").expect("written");
        fs::write(place.join("duplex"), "unknown\n").expect("written");
        let (_, found) = counters_in(home.path()).expect("a list");
        assert_eq!((found[0].bits_per_second, found[0].is_full_duplex), (None, None));
    }
}
