//! What network interfaces carried, as the kernel counts it in `/sys/class/net`.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

/// Where the kernel shows its interfaces: those of the network namespace in which `/sys` was mounted.
const INTERFACES: &str = "/sys/class/net";

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
    pub received: Carried,
    /// What left.
    pub sent: Carried,
}

/// One way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
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
        Some(Carried {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(eth0.received, Carried { packets: 10, bytes: 12_000, errors: 1, dropped: 5 });
        assert_eq!((eth0.sent.bytes, eth0.mtu, eth0.is_up), (u64::MAX, 9000, true));
        fs::write(place.join("speed"), "-1\n").expect("written");
        fs::write(place.join("duplex"), "unknown\n").expect("written");
        let (_, found) = counters_in(home.path()).expect("a list");
        assert_eq!((found[0].bits_per_second, found[0].is_full_duplex), (None, None));
    }
}
