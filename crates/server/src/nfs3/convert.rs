//! Values of the file system into values of the protocol, and back. Each is mapped once, here.

use howdah_vfs::{Attributes, Before, DeviceNumber, FileKind, FsError, NewAttributes, SetTime, Timestamp};
use howdah_wire::nfs3::{self, BeforeAttributes, Device, FileType, Status, Time};

/// The low 12 bits of a mode: permissions, set-uid, set-gid, sticky (RFC 1813 2.6, `mode3`).
const MODE_BITS: u32 = 0o7777;
/// Nanoseconds in a second.
const NANOSECONDS: u32 = 1_000_000_000;
/// The id that means "leave it" to `chown(2)`, and so names nobody.
const NO_ID: u32 = u32::MAX;

/// The status of a refusal.
pub fn status(error: FsError) -> Status {
    match error {
        FsError::NotPermitted => Status::NotPermitted,
        FsError::NotFound => Status::NotFound,
        FsError::Io => Status::Io,
        FsError::NoDevice => Status::NoDevice,
        // A relay whose own ticket has ended cannot ask for what its clients want.
        FsError::AccessDenied | FsError::KeyExpired => Status::AccessDenied,
        FsError::Exists => Status::Exists,
        FsError::CrossDevice => Status::CrossDevice,
        FsError::WrongDevice => Status::WrongDevice,
        FsError::NotDirectory => Status::NotDirectory,
        FsError::IsDirectory => Status::IsDirectory,
        FsError::Invalid => Status::Invalid,
        FsError::TooBig => Status::TooBig,
        FsError::NoSpace => Status::NoSpace,
        FsError::ReadOnly => Status::ReadOnly,
        FsError::TooManyLinks => Status::TooManyLinks,
        FsError::NameTooLong => Status::NameTooLong,
        FsError::NotEmpty => Status::NotEmpty,
        FsError::QuotaExceeded => Status::QuotaExceeded,
        FsError::Stale => Status::Stale,
        FsError::BadHandle => Status::BadHandle,
        FsError::NotSynchronised => Status::NotSynchronised,
        FsError::BadCookie => Status::BadCookie,
        FsError::NotSupported => Status::NotSupported,
        FsError::TooSmall => Status::TooSmall,
        FsError::ServerFault => Status::ServerFault,
        // We are a client ourselves, whose server does not answer: ours waits and asks again.
        FsError::TimedOut => Status::Jukebox,
        FsError::BadType => Status::BadType,
        // Of calls that this protocol does not have.
        FsError::NoXattr | FsError::XattrTooBig => Status::ServerFault,
        FsError::Delay => Status::Jukebox,
    }
}

/// A time as the protocol can say it: before 1970 is 1970, and after 2106 is the last second of it. So caches stay
/// coherent, where a time cut to its low 32 bits could go backwards.
pub fn time(time: Timestamp) -> Time {
    let Timestamp { seconds, nanoseconds } = time.in_32_bits();
    Time { seconds: u32::try_from(seconds).unwrap_or(u32::MAX), nanoseconds }
}

/// A time as a client says it.
pub fn timestamp(time: Time) -> Timestamp {
    Timestamp { seconds: time.seconds.into(), nanoseconds: time.nanoseconds }
}

/// Attributes; `file_system` is the `fsid` that clients see.
pub fn attributes(attributes: &Attributes, file_system: u64) -> nfs3::Attributes {
    nfs3::Attributes {
        kind: file_type(attributes.kind),
        mode: attributes.mode & MODE_BITS,
        links: attributes.links,
        user: attributes.user,
        group: attributes.group,
        size: attributes.size,
        used: attributes.used,
        device: Device { major: attributes.device.major, minor: attributes.device.minor },
        file_system,
        file: attributes.file,
        accessed: time(attributes.accessed),
        modified: time(attributes.modified),
        changed: time(attributes.changed),
    }
}

/// What a client compares its cache with.
pub fn before(before: &Before) -> BeforeAttributes {
    BeforeAttributes { size: before.size, modified: time(before.modified), changed: time(before.changed) }
}

/// Attributes to set. Ids that name nobody and nanoseconds beyond a second make no sense.
pub fn new_attributes(new: &nfs3::NewAttributes) -> Result<NewAttributes, Status> {
    if new.user == Some(NO_ID) || new.group == Some(NO_ID) {
        return Err(Status::Invalid);
    }
    Ok(NewAttributes {
        mode: new.mode.map(|mode| mode & MODE_BITS),
        user: new.user,
        group: new.group,
        size: new.size,
        accessed: set_time(new.accessed)?,
        modified: set_time(new.modified)?,
    })
}

/// A device number.
pub fn device_number(device: Device) -> DeviceNumber {
    DeviceNumber { major: device.major, minor: device.minor }
}

fn set_time(time: nfs3::SetTime) -> Result<SetTime, Status> {
    Ok(match time {
        nfs3::SetTime::Keep => SetTime::Keep,
        nfs3::SetTime::ServerTime => SetTime::Now,
        nfs3::SetTime::ClientTime(time) if time.nanoseconds < NANOSECONDS => SetTime::To(timestamp(time)),
        nfs3::SetTime::ClientTime(_) => return Err(Status::Invalid),
    })
}

fn file_type(kind: FileKind) -> FileType {
    match kind {
        FileKind::Regular => FileType::Regular,
        FileKind::Directory => FileType::Directory,
        FileKind::SymbolicLink => FileType::SymbolicLink,
        FileKind::BlockDevice => FileType::BlockDevice,
        FileKind::CharacterDevice => FileType::CharacterDevice,
        FileKind::Socket => FileType::Socket,
        FileKind::Fifo => FileType::Fifo,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_refusals_of_storage_have_one_status() {
        let others = [FsError::TimedOut, FsError::KeyExpired, FsError::NoXattr, FsError::XattrTooBig];
        let of_storage = || FsError::ALL.iter().filter(|error| !others.contains(error));
        let statuses: std::collections::HashSet<_> = of_storage().map(|&error| status(error)).collect();
        assert_eq!(statuses.len(), of_storage().count());
    }

    #[test]
    fn times_beyond_the_protocol_are_clamped() {
        for (seconds, expected) in [
            (0, (0, 7)),
            (-1, (0, 0)),
            (i64::MIN, (0, 0)),
            (1 << 31, (1 << 31, 7)),
            (u32::MAX.into(), (u32::MAX, 7)),
            (1 << 32, (u32::MAX, 999_999_999)),
            (i64::MAX, (u32::MAX, 999_999_999)),
        ] {
            let Time { seconds, nanoseconds } = time(Timestamp { seconds, nanoseconds: 7 });
            assert_eq!((seconds, nanoseconds), expected);
        }
    }

    #[test]
    fn attributes_that_make_no_sense_are_refused() {
        let late = nfs3::SetTime::ClientTime(Time { seconds: 1, nanoseconds: NANOSECONDS });
        let keep = nfs3::NewAttributes::default();
        for new in [
            nfs3::NewAttributes { user: Some(u32::MAX), ..keep },
            nfs3::NewAttributes { group: Some(u32::MAX), ..keep },
            nfs3::NewAttributes { accessed: late, ..keep },
            nfs3::NewAttributes { modified: late, ..keep },
        ] {
            assert_eq!(new_attributes(&new), Err(Status::Invalid));
        }
        let new = nfs3::NewAttributes { mode: Some(0o100_644), ..keep };
        assert_eq!(new_attributes(&new), Ok(NewAttributes::with_mode(0o644)));
    }
}
