//! NFS mounts of this host's kernel: `/proc/self/mountstats`, and how far each reads ahead.

use std::fs;
use std::path::Path;

use howdah_workload::counters::{MOUNT_STATISTICS, MountedOperations, mount_statistics};

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
    let calls = |operation: &howdah_workload::counters::Operation| operation.calls;
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

    /// Of a host with three mounts of version 3, as the kernel writes it (`fs/nfs/super.c`, `net/sunrpc/stats.c`), numbers made plain: one as it should
    /// be, one over UDP that loses calls, one of small transfers with one slot.
    const THREE: &str = "device /dev/root mounted on / with fstype ext4
device good:/data mounted on /good with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,acregmax=60,acdirmin=30,acdirmax=60,hard,proto=tcp,nconnect=4,timeo=600,retrans=2,sec=sys,local_lock=none
\tage:\t1000
\tcaps:\tcaps=0x3fc7,wtmult=512,dtsize=32768,bsize=0,namlen=255
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
\tbytes:\t1000 2000 0 0 1000 2000 10 20
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\ttcp 0 1 1 0 0 1000 1000 0 20000 0 64 100 200
\txprt:\ttcp 0 1 1 0 0 1000 1000 0 20000 0 64 100 200
\tper-op statistics
\t        NULL: 1 1 0 40 24 0 0 0 0
\t     GETATTR: 1000 1000 0 100000 112000 10 400 420 0
\t        READ: 1000 1000 0 130000 1048704000 10 1200 1300 0
\t       WRITE: 0 0 0 0 0 0 0 0 0
device lossy:/data mounted on /lossy with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=32768,wsize=32768,namlen=255,hard,proto=udp,timeo=11,retrans=3,sec=sys
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\tudp 800 1 10304 10000 0 40000 0 2 100 200
\tper-op statistics
\t        READ: 10000 10304 12 1300000 327680000 10 9000 9100 0
device small:/data mounted on /small with fstype nfs statvers=1.1
\topts:\trw,vers=3,rsize=65536,wsize=65536,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\ttcp 0 1 1 0 0 5000 5000 0 90000 10000 1 100 200
\tper-op statistics
\t        READ: 5000 5000 0 650000 327680000 10000 7000 17000 0
";

    #[test]
    fn recorded_mounts_are_judged_each_by_itself() {
        let mounts: Vec<MountFacts> = mount_statistics(THREE).iter().map(|mount| facts(mount, "")).collect();
        let places: Vec<&str> = mounts.iter().map(|mount| mount.on.as_str()).collect();
        assert_eq!(places, ["/good", "/lossy", "/small"]);
        assert_eq!((mounts[0].connections, mounts[0].retransmissions), (Some(4), 0));
        assert_eq!((mounts[1].protocol.as_deref(), mounts[1].retransmissions), (Some("udp"), 304));
        let report = crate::judge::judge(&crate::facts::Facts { mounts, ..crate::facts::Facts::default() });
        let nfs = report.rungs.iter().find(|rung| rung.rung == crate::Rung::Nfs).expect("it is there");
        let says: Vec<&str> = nfs.findings.iter().map(|finding| finding.says.as_str()).collect();
        assert_eq!(says.len(), 3, "{says:?}");
        assert!(says[0].starts_with("/lossy: 304 of 10000 calls were retransmitted"), "{says:?}");
        assert!(says[1].starts_with("/small transfers 64 KiB per call"), "{says:?}");
        assert!(says[2].starts_with("/small had at most 1 call in flight"), "{says:?}");
        let figures: Vec<&str> = nfs.figures.iter().map(|figure| figure.value.as_str()).collect();
        assert!(figures[0].starts_with("v3, tcp, rsize 1 MiB, wsize 1 MiB, nconnect 4"), "{figures:?}");
    }

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
