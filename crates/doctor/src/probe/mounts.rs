//! NFS mounts of this host's kernel: `/proc/self/mountstats`, and how far each reads ahead.

use std::fs;
use std::path::Path;

use howdah_lab::counters::{MOUNT_STATISTICS, MountedOperations, mount_statistics};

use crate::facts::MountFacts;

/// Where the kernel shows how far a mount reads ahead, by the number of its device.
const BACKING: &str = "/sys/class/bdi";

/// Looks; none where the kernel has no client of NFS.
pub fn mounts() -> Vec<MountFacts> {
    let statistics = fs::read_to_string(MOUNT_STATISTICS).unwrap_or_default();
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let seen = mount_statistics(&statistics);
    seen.iter().map(|mount| with_read_ahead(facts(mount, &table))).collect()
}

fn with_read_ahead(mut mount: MountFacts) -> MountFacts {
    let read =
        |device: &String| fs::read_to_string(Path::new(BACKING).join(device).join("read_ahead_kb")).ok();
    mount.read_ahead_kib = mount.device.as_ref().and_then(read).and_then(|text| text.trim().parse().ok());
    mount
}

fn facts(mount: &MountedOperations, table: &str) -> MountFacts {
    let option = |name: &str| {
        let mut options = mount.options.split(',').filter_map(|option| option.split_once('='));
        options.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    };
    let number = |name: &str| option(name)?.parse().ok();
    let reads = mount.operations.iter().find(|operation| operation.name == "read");
    let calls = |operation: &howdah_lab::counters::Operation| operation.calls;
    let sent: u64 = mount.transports.iter().map(|transport| transport.sent).sum();
    let waited: u64 = mount.transports.iter().map(|transport| transport.waited).sum();
    MountFacts {
        server: mount.device.clone(),
        on: mount.on.clone(),
        protocol: option("proto"),
        version: option("vers"),
        read_size: number("rsize"),
        write_size: number("wsize"),
        connections: number("nconnect"),
        device: device(&mount.on, table),
        read_ahead_kib: None,
        calls: mount.operations.iter().map(calls).sum(),
        retransmissions: mount.operations.iter().map(|operation| operation.retransmissions).sum(),
        reads: reads.map_or(0, calls),
        read_seconds: reads
            .filter(|reads| reads.calls > 0)
            .map(|reads| reads.round_trips_ms as f64 / 1e3 / reads.calls as f64),
        slots_used: mount.transports.iter().filter_map(|transport| transport.slots_most).max(),
        waited_for_slot: (sent > 0).then(|| waited as f64 / sent as f64),
    }
}

/// The number of the device that is mounted there, in the text of `mountinfo` (proc(5)): the third word of the line whose
/// fifth is the place. The last one wins: it hides those below.
fn device(on: &str, table: &str) -> Option<String> {
    let mut lines = table.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let found = lines.rfind(|words| words.get(4) == Some(&on))?;
    Some((*found.get(2)?).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: &str = "device server:/data mounted on /mnt with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=65536,wsize=65536,proto=tcp,nconnect=4
\txprt:\ttcp 0 1 1 0 12 5000 4990 0 90000 2500 64 100 200
\tper-op statistics
\t     GETATTR: 100 101 0 0 0 0 10 9 0
\t        READ: 400 400 0 0 0 80 40000 41000 0
";

    #[test]
    fn a_mount_is_read_as_the_kernel_tells_it() {
        let table = "22 1 0:20 / /proc rw - proc proc rw\n90 1 0:47 / /mnt rw - nfs server:/data rw\n";
        let mount = facts(&mount_statistics(STATISTICS)[0], table);
        assert_eq!(
            (mount.read_size, mount.write_size, mount.connections),
            (Some(65_536), Some(65_536), Some(4))
        );
        assert_eq!((mount.protocol.as_deref(), mount.version.as_deref()), (Some("tcp"), Some("3")));
        assert_eq!((mount.calls, mount.retransmissions, mount.reads), (500, 1, 400));
        assert_eq!((mount.read_seconds, mount.device.as_deref()), (Some(0.1), Some("0:47")));
        assert_eq!((mount.slots_used, mount.waited_for_slot), (Some(64), Some(0.5)));
    }
}
