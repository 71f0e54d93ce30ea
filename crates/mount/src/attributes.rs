//! Attributes, as the kernel takes and gives them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use howdah_vfs::{Attributes, DeviceNumber, FileKind, SetTime, SpecialKind, Timestamp};

/// How much programs should read and write at a time (`st_blksize`).
const PREFERRED: u32 = 128 << 10;
/// The unit of `st_blocks`.
const BLOCK: u64 = 512;

/// What stat(2) shows of a node with this number.
pub fn shown(number: u64, attributes: &Attributes) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: attributes.size,
        blocks: attributes.used.div_ceil(BLOCK),
        atime: time(attributes.accessed),
        mtime: time(attributes.modified),
        ctime: time(attributes.changed),
        crtime: UNIX_EPOCH,
        kind: kind(attributes.kind),
        perm: (attributes.mode & 0o7777) as u16,
        nlink: attributes.links,
        uid: attributes.user,
        gid: attributes.group,
        rdev: device(attributes.device),
        blksize: PREFERRED,
        flags: 0,
    }
}

/// Attributes of no node.
pub fn nothing(kind: FileKind) -> Attributes {
    let (time, device) = (Timestamp::default(), DeviceNumber::default());
    Attributes {
        change: 0,
        kind,
        mode: 0,
        links: 0,
        user: 0,
        group: 0,
        size: u64::MAX,
        used: 0,
        device,
        file_system: 0,
        file: 0,
        accessed: time,
        modified: time,
        changed: time,
        created: None,
    }
}

/// The kernel's name of a kind.
pub fn kind(kind: FileKind) -> FileType {
    match kind {
        FileKind::Regular => FileType::RegularFile,
        FileKind::Directory => FileType::Directory,
        FileKind::SymbolicLink => FileType::Symlink,
        FileKind::BlockDevice => FileType::BlockDevice,
        FileKind::CharacterDevice => FileType::CharDevice,
        FileKind::Socket => FileType::Socket,
        FileKind::Fifo => FileType::NamedPipe,
    }
}

/// What mknod(2) asks for; `None` for a regular file.
pub fn special(mode: u32, number: u32) -> Option<SpecialKind> {
    match mode & libc::S_IFMT {
        libc::S_IFBLK => Some(SpecialKind::BlockDevice(device_number(number))),
        libc::S_IFCHR => Some(SpecialKind::CharacterDevice(device_number(number))),
        libc::S_IFSOCK => Some(SpecialKind::Socket),
        libc::S_IFIFO => Some(SpecialKind::Fifo),
        _ => None,
    }
}

/// A device number in the kernel's 32 bits: 8 of the minor number, 12 of the major, 12 of the minor.
fn device(DeviceNumber { major, minor }: DeviceNumber) -> u32 {
    (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & !0xff) << 12)
}

fn device_number(number: u32) -> DeviceNumber {
    DeviceNumber { major: (number >> 8) & 0xfff, minor: (number & 0xff) | ((number >> 12) & 0xfff00) }
}

fn time(time: Timestamp) -> SystemTime {
    let seconds = Duration::from_secs(time.seconds.unsigned_abs());
    let whole =
        if time.seconds < 0 { UNIX_EPOCH.checked_sub(seconds) } else { UNIX_EPOCH.checked_add(seconds) };
    whole.unwrap_or(UNIX_EPOCH) + Duration::from_nanos(time.nanoseconds.into())
}

/// What utimensat(2) sets.
pub fn set_time(time: Option<TimeOrNow>) -> SetTime {
    match time {
        None => SetTime::Keep,
        Some(TimeOrNow::Now) => SetTime::Now,
        Some(TimeOrNow::SpecificTime(time)) => SetTime::To(timestamp(time).in_32_bits()),
    }
}

pub fn timestamp(time: SystemTime) -> Timestamp {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => Timestamp { seconds: seconds(after), nanoseconds: after.subsec_nanos() },
        // fuser takes seconds and nanoseconds both from 1970 downwards, though the nanoseconds count upwards.
        Err(before) => {
            let before = before.duration();
            Timestamp { seconds: -seconds(before), nanoseconds: before.subsec_nanos() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_come_back() {
        for (major, minor) in [(0, 0), (8, 1), (0xfff, 0xff), (259, 0xfffff)] {
            let number = DeviceNumber { major, minor };
            assert_eq!(device_number(device(number)), number);
        }
    }

    #[test]
    fn a_time_that_the_server_cannot_keep_becomes_the_nearest() {
        let set = |time| set_time(Some(TimeOrNow::SpecificTime(time)));
        let far = UNIX_EPOCH + Duration::from_secs(5_000_000_000);
        let last = Timestamp { seconds: u32::MAX.into(), nanoseconds: 999_999_999 };
        assert_eq!(set(UNIX_EPOCH - Duration::from_secs(1)), SetTime::To(Timestamp::default()));
        assert_eq!(set(far), SetTime::To(last));
    }

    #[test]
    fn times_before_1970_are_shown() {
        let shown = time(Timestamp { seconds: -2, nanoseconds: 800_000_000 });
        assert_eq!(UNIX_EPOCH.duration_since(shown).expect("before"), Duration::from_millis(1200));
    }
}
