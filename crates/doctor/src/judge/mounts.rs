//! Whether this host's kernel mounts as it should: part of the rung of NFS.

use howdah_units as units;

use crate::facts::{HostFacts, MountFacts};
use crate::{Figure, Finding, Remedy};

/// Transfers that are smaller cost a round trip where a larger one would not; 1 MiB is what Linux takes where it may.
const SMALL_TRANSFER: u64 = 256 << 10;
const WANTED_TRANSFER: u64 = 1 << 20;
/// Calls sent again beyond this part are no accident.
const SENT_AGAIN: f64 = 0.01;
/// Fewer say nothing.
const LEAST_EVENTS: u64 = 10;
/// What a single reader should get from read-ahead, in bytes per second: most of 1 Gb/s.
const READER: f64 = 100e6;
/// Fewer READs are no average.
const LEAST_READS: u64 = 100;
/// The most KiB of read-ahead that are advised.
const READ_AHEAD_MOST: u64 = 64 << 10;
/// On shorter paths read-ahead is no matter.
const SHORT: f64 = 2e-3;
/// A mount that may have no more calls in flight waits for each.
const FEW_SLOTS: u64 = 8;
/// Linux' own.
const USUAL_SLOTS: u64 = 65_536;

/// What is said of each mount.
pub fn figures(mounts: &[MountFacts]) -> Vec<Figure> {
    mounts.iter().map(figure).collect()
}

fn figure(mount: &MountFacts) -> Figure {
    let mut words = Vec::new();
    words.extend(mount.version.as_ref().map(|version| format!("v{version}")));
    words.extend(mount.protocol.clone());
    words.extend(mount.read_size.map(|size| format!("rsize {}", units::power_of_two(size))));
    words.extend(mount.write_size.map(|size| format!("wsize {}", units::power_of_two(size))));
    words.extend(mount.connections.map(|count| format!("nconnect {count}")));
    words
        .extend(mount.read_ahead_kib.map(|count| format!("read-ahead {}", units::power_of_two(count << 10))));
    words.extend(mount.read_seconds.map(|seconds| format!("READ {}", units::seconds(seconds))));
    words.push(format!("{} of {} calls retransmitted", mount.retransmissions, mount.calls));
    Figure::told(format!("mount {}", mount.on), words.join(", "))
}

/// What is found of mounts, and of what holds for all of them.
pub fn findings(mounts: &[MountFacts], host: &HostFacts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = mounts.iter().flat_map(of_one).collect();
    if !mounts.is_empty() && host.slots_most.is_some_and(|slots| slots < FEW_SLOTS) {
        let slots = host.slots_most.unwrap_or_default();
        let says = format!(
            "mounts of this host have at most {slots} calls in flight (sunrpc.tcp_max_slot_table_entries)"
        );
        findings.push(Finding::fault(says).mended_by(Remedy::Sysctl {
            name: "sunrpc.tcp_max_slot_table_entries".to_owned(),
            now: slots.to_string(),
            wanted: USUAL_SLOTS.to_string(),
            why: "more calls in flight; it applies to new mounts".to_owned(),
        }));
    }
    findings
}

fn of_one(mount: &MountFacts) -> Vec<Finding> {
    [transfers(mount), slots(mount), sent_again(mount), read_ahead(mount)].into_iter().flatten().collect()
}

fn transfers(mount: &MountFacts) -> Option<Finding> {
    let is_datagram = mount.protocol.as_ref().is_some_and(|protocol| protocol.starts_with("udp"));
    let size = mount.read_size.into_iter().chain(mount.write_size).min()?;
    if size >= SMALL_TRANSFER || is_datagram {
        return None;
    }
    let says = format!(
        "{} transfers {} per call; {} is usual",
        mount.on,
        units::power_of_two(size),
        units::power_of_two(WANTED_TRANSFER)
    );
    Some(Finding::fault(says).mended_by(Remedy::Advice {
        what: format!(
            "unmount {} and mount it with rsize={WANTED_TRANSFER},wsize={WANTED_TRANSFER}, or without either",
            mount.on
        ),
        why: "fewer calls, fewer round trips; the server may allow less".to_owned(),
        undo: Some("mount it with the old options".to_owned()),
    }))
}

fn slots(mount: &MountFacts) -> Option<Finding> {
    let slots = mount.slots_used.filter(|slots| *slots > 0 && *slots < FEW_SLOTS)?;
    let waited = mount.waited_for_slot.filter(|waited| *waited >= 0.5)?;
    let word = if slots == 1 { "call" } else { "calls" };
    Some(Finding::fault(format!(
        "{} had at most {slots} {word} in flight, while {waited:.1} waited on average",
        mount.on
    )))
}

fn sent_again(mount: &MountFacts) -> Option<Finding> {
    let share = mount.retransmissions as f64 / mount.calls.max(1) as f64;
    (mount.retransmissions >= LEAST_EVENTS && share > SENT_AGAIN).then(|| {
        let says = format!(
            "{}: {} of {} calls were retransmitted: the server or the path loses them",
            mount.on, mount.retransmissions, mount.calls
        );
        Finding::fault(says)
    })
}

/// A reader gets at most what is read ahead in the time of a READ.
fn read_ahead(mount: &MountFacts) -> Option<Finding> {
    let (kibibytes, seconds) =
        (mount.read_ahead_kib?, mount.read_seconds.filter(|seconds| *seconds > SHORT)?);
    let rate = (kibibytes << 10) as f64 / seconds;
    if mount.reads < LEAST_READS || rate >= READER {
        return None;
    }
    let wanted = ((READER * seconds / 1024.0).ceil() as u64).next_power_of_two().min(READ_AHEAD_MOST);
    if wanted <= kibibytes {
        return None;
    }
    let says = format!(
        "{} reads {} ahead and a READ takes {}: one reader gets {} at most",
        mount.on,
        units::power_of_two(kibibytes << 10),
        units::seconds(seconds),
        units::rate(rate)
    );
    let why = "read-ahead limits how much a sequential reader has in flight; the setting lasts until unmount"
        .to_owned();
    let finding = Finding::fault(says);
    Some(match &mount.device {
        None => finding,
        Some(device) => finding.mended_by(Remedy::ReadAhead {
            device: device.clone(),
            mount: mount.on.clone(),
            now: kibibytes,
            wanted,
            why,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> MountFacts {
        MountFacts {
            on: "/mnt".to_owned(),
            protocol: Some("tcp".to_owned()),
            read_size: Some(1 << 20),
            write_size: Some(1 << 20),
            device: Some("0:47".to_owned()),
            read_ahead_kib: Some(128),
            calls: 10_000,
            retransmissions: 3,
            reads: 1000,
            read_seconds: Some(0.0012),
            slots_used: Some(64),
            waited_for_slot: Some(2.0),
            ..MountFacts::default()
        }
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let with = |change: fn(&mut MountFacts)| {
            let mut facts = usual();
            change(&mut facts);
            facts
        };
        for (mount, wanted) in [
            (usual(), None),
            (MountFacts::default(), None),
            (with(|mount| mount.read_size = Some(65_536)), Some("transfers 64 KiB per call")),
            (with(|mount| (mount.read_size, mount.protocol) = (Some(8192), Some("udp".to_owned()))), None),
            (with(|mount| mount.slots_used = Some(1)), Some("at most 1 call in flight")),
            (with(|mount| (mount.slots_used, mount.waited_for_slot) = (Some(1), Some(0.0))), None),
            (with(|mount| mount.retransmissions = 304), Some("304 of 10000 calls were retransmitted")),
            (with(|mount| mount.read_seconds = Some(0.1)), Some("one reader gets 1.3 MB/s")),
            (with(|mount| (mount.read_seconds, mount.reads) = (Some(0.1), 3)), None),
        ] {
            let found = findings(std::slice::from_ref(&mount), &HostFacts::default());
            match wanted {
                None => assert_eq!(found, [], "{mount:?}"),
                Some(says) => assert!(
                    found.len() == 1 && found[0].is_fault && found[0].says.contains(says),
                    "{found:?}"
                ),
            }
        }
    }

    #[test]
    fn slots_of_all_mounts_are_a_setting() {
        let host = HostFacts { slots_most: Some(1), ..HostFacts::default() };
        assert_eq!(findings(&[], &host), []);
        let found = findings(&[usual()], &host);
        assert_eq!(found[0].remedies[0].command(), "sysctl -w sunrpc.tcp_max_slot_table_entries=65536");
    }

    #[test]
    fn read_ahead_is_set_to_what_a_reader_needs() {
        let found = findings(&[MountFacts { read_seconds: Some(0.1), ..usual() }], &HostFacts::default());
        assert_eq!(found[0].remedies[0].command(), "echo 16384 > /sys/class/bdi/0:47/read_ahead_kb");
        assert_eq!(
            found[0].remedies[0].undo().as_deref(),
            Some("echo 128 > /sys/class/bdi/0:47/read_ahead_kb")
        );
    }
}
