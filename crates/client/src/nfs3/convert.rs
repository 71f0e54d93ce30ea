//! Values of the protocol into values of the file system, and back. Each is mapped once, here.

use howdah_vfs::{
    Attributes, Before, Change, DeviceNumber, FileKind, FsError, Handle, NewAttributes, Result, SetTime,
    Stability, Timestamp,
};
use howdah_wire::nfs3::{self, Device, FileHandle, FileType, Status, Time, WeakCacheConsistency, write};

/// The low 12 bits of a mode: some servers send the file's kind above them, as in `st_mode`.
const MODE_BITS: u32 = 0o7777;
/// The last nanosecond of a second: a server that says more is taken at this.
const LAST_NANOSECOND: u32 = 999_999_999;

/// Why a server refuses.
pub(super) fn refusal(status: Status) -> FsError {
    match status {
        Status::NotPermitted => FsError::NotPermitted,
        Status::NotFound => FsError::NotFound,
        Status::Io => FsError::Io,
        Status::NoDevice => FsError::NoDevice,
        Status::AccessDenied => FsError::AccessDenied,
        Status::Exists => FsError::Exists,
        Status::CrossDevice => FsError::CrossDevice,
        Status::WrongDevice => FsError::WrongDevice,
        Status::NotDirectory => FsError::NotDirectory,
        Status::IsDirectory => FsError::IsDirectory,
        Status::Invalid => FsError::Invalid,
        Status::TooBig => FsError::TooBig,
        Status::NoSpace => FsError::NoSpace,
        Status::ReadOnly => FsError::ReadOnly,
        Status::TooManyLinks => FsError::TooManyLinks,
        Status::NameTooLong => FsError::NameTooLong,
        Status::NotEmpty => FsError::NotEmpty,
        Status::QuotaExceeded => FsError::QuotaExceeded,
        Status::Stale => FsError::Stale,
        Status::BadHandle => FsError::BadHandle,
        Status::NotSynchronised => FsError::NotSynchronised,
        Status::BadCookie => FsError::BadCookie,
        Status::NotSupported => FsError::NotSupported,
        Status::TooSmall => FsError::TooSmall,
        // Its file system is remote to the server, which does not pass calls on.
        Status::Remote | Status::ServerFault => FsError::ServerFault,
        Status::BadType => FsError::BadType,
        Status::Jukebox => FsError::Delay,
    }
}

/// A handle as the server made it.
pub(super) fn handle(handle: FileHandle<'_>) -> Result<Handle> {
    Handle::new(handle.0).map_err(|_| FsError::BadHandle)
}

/// A handle for the server.
pub(super) fn file_handle(handle: &Handle) -> FileHandle<'_> {
    FileHandle(handle.as_bytes())
}

/// A time from the server.
pub(super) fn timestamp(time: Time) -> Timestamp {
    Timestamp { seconds: time.seconds.into(), nanoseconds: time.nanoseconds.min(LAST_NANOSECOND) }
}

/// A time for the server. The protocol knows none before 1970 and none after 2106: better refused than another time set.
pub(super) fn time(time: Timestamp) -> Result<Time> {
    let seconds = u32::try_from(time.seconds).map_err(|_| FsError::Invalid)?;
    Ok(Time { seconds, nanoseconds: time.nanoseconds })
}

/// Attributes from the server.
pub(super) fn attributes(wire: &nfs3::Attributes) -> Attributes {
    let changed = timestamp(wire.changed);
    Attributes {
        change: changed.as_change(),
        kind: kind(wire.kind),
        mode: wire.mode & MODE_BITS,
        links: wire.links,
        user: wire.user,
        group: wire.group,
        size: wire.size,
        used: wire.used,
        device: DeviceNumber { major: wire.device.major, minor: wire.device.minor },
        file_system: wire.file_system,
        file: wire.file,
        accessed: timestamp(wire.accessed),
        modified: timestamp(wire.modified),
        changed,
        created: None,
    }
}

fn kind(kind: FileType) -> FileKind {
    match kind {
        FileType::Regular => FileKind::Regular,
        FileType::Directory => FileKind::Directory,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::SymbolicLink => FileKind::SymbolicLink,
        FileType::Socket => FileKind::Socket,
        FileType::Fifo => FileKind::Fifo,
    }
}

/// Takes what the server says of a node that a call changed, or failed to.
pub(super) fn note(change: &mut Change, wire: &WeakCacheConsistency) {
    change.before = wire.before.map(|before| {
        let changed = timestamp(before.changed);
        let (size, modified) = (before.size, timestamp(before.modified));
        Before { change: changed.as_change(), size, modified, changed }
    });
    change.after = wire.after.as_ref().map(attributes);
}

/// Attributes to set.
pub(super) fn new_attributes(new: &NewAttributes) -> Result<nfs3::NewAttributes> {
    Ok(nfs3::NewAttributes {
        mode: new.mode,
        user: new.user,
        group: new.group,
        size: new.size,
        accessed: set_time(new.accessed)?,
        modified: set_time(new.modified)?,
    })
}

fn set_time(how: SetTime) -> Result<nfs3::SetTime> {
    Ok(match how {
        SetTime::Keep => nfs3::SetTime::Keep,
        SetTime::Now => nfs3::SetTime::ServerTime,
        SetTime::To(to) => nfs3::SetTime::ClientTime(time(to)?),
    })
}

/// A device number.
pub(super) fn device(number: DeviceNumber) -> Device {
    Device { major: number.major, minor: number.minor }
}

/// How durable a WRITE must be.
pub(super) fn how_durable(stability: Stability) -> write::Stability {
    match stability {
        Stability::Unstable => write::Stability::Unstable,
        Stability::DataSync => write::Stability::DataSync,
        Stability::FileSync => write::Stability::FileSync,
    }
}

/// How durable a WRITE was.
pub(super) fn stability(wire: write::Stability) -> Stability {
    match wire {
        write::Stability::Unstable => Stability::Unstable,
        write::Stability::DataSync => Stability::DataSync,
        write::Stability::FileSync => Stability::FileSync,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_refusal() {
        let refusals: std::collections::HashSet<_> =
            Status::ALL.iter().map(|&status| refusal(status)).collect();
        // REMOTE and SERVERFAULT are one.
        assert_eq!(refusals.len(), Status::ALL.len() - 1);
        // A server never says that it does not answer, nor that a ticket has ended, and has no extended attributes.
        assert_eq!(refusals.len(), FsError::ALL.len() - 4);
    }

    #[test]
    fn a_time_that_the_protocol_cannot_say_is_refused() {
        for (seconds, fits) in [(0, true), (u32::MAX.into(), true), (-1, false), (1 << 32, false)] {
            let asked = Timestamp { seconds, nanoseconds: 7 };
            assert_eq!(time(asked).map(timestamp), if fits { Ok(asked) } else { Err(FsError::Invalid) });
        }
    }

    #[test]
    fn a_server_that_tells_too_much_is_taken_at_what_makes_sense() {
        let odd = Time { seconds: 5, nanoseconds: u32::MAX };
        assert_eq!(timestamp(odd), Timestamp { seconds: 5, nanoseconds: LAST_NANOSECOND });
    }
}
