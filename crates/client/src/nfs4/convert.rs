//! Values of NFSv4 into values of the file system, and back.

use howdah_vfs::{
    Attributes, DeviceNumber, FileKind, FsError, NewAttributes, Result, SetTime, Stability, Timestamp,
};
use howdah_wire::nfs4::attributes::{self as wire, FileSystemId, Values};
use howdah_wire::nfs4::{self, Bitmap, Device, FileType, Time};

use super::principal::{Decimal, NOBODY, NameKind, id};

/// The low 12 bits of a mode.
const MODE_BITS: u32 = 0o7777;
/// The last nanosecond of a second: a server that says more is taken at this.
const LAST_NANOSECOND: u32 = 999_999_999;

/// The attributes that a node is asked for.
pub(super) const OF_NODE: Bitmap = Bitmap::of(&[
    wire::TYPE,
    wire::CHANGE,
    wire::SIZE,
    wire::FSID,
    wire::FILEID,
    wire::MODE,
    wire::NUMLINKS,
    wire::OWNER,
    wire::OWNER_GROUP,
    wire::RAWDEV,
    wire::SPACE_USED,
    wire::TIME_ACCESS,
    wire::TIME_CREATE,
    wire::TIME_METADATA,
    wire::TIME_MODIFY,
]);

/// A time from the server.
pub(super) fn timestamp(time: Time) -> Timestamp {
    Timestamp { seconds: time.seconds, nanoseconds: time.nanoseconds.min(LAST_NANOSECOND) }
}

/// A time for the server.
pub(super) fn time(time: Timestamp) -> Time {
    Time { seconds: time.seconds, nanoseconds: time.nanoseconds }
}

/// Attributes from the server.
///
/// # Errors
/// One is missing that every server has, or its value makes no sense.
pub(super) fn attributes(received: &Values<'_>) -> Result<Attributes> {
    of(&values(received)?)
}

/// The values of attributes.
///
/// # Errors
/// They make no sense.
pub(super) fn values<'a>(received: &Values<'a>) -> Result<wire::Attributes<'a>> {
    received.decode_all().map_err(|error| missing(&error.to_string()))
}

/// The same of decoded values.
pub(super) fn of(received: &wire::Attributes<'_>) -> Result<Attributes> {
    let wire::Attributes { identity, content, permissions, times, .. } = received;
    let Some(kind) = identity.kind.and_then(kind) else { return Err(missing("type")) };
    let size = content.size.unwrap_or(0);
    let modified = times.modified.map(timestamp).unwrap_or_default();
    let changed = times.changed.map_or(modified, timestamp);
    let device = identity.device.unwrap_or_default();
    Ok(Attributes {
        change: content.change.unwrap_or_else(|| changed.as_change()),
        kind,
        mode: permissions.mode.unwrap_or(0) & MODE_BITS,
        links: content.links.unwrap_or(1),
        user: permissions.owner.map_or(NOBODY, |name| id(name, NameKind::User)),
        group: permissions.group.map_or(NOBODY, |name| id(name, NameKind::Group)),
        size,
        used: content.used.unwrap_or(size),
        device: DeviceNumber { major: device.major, minor: device.minor },
        file_system: identity.file_system.map_or(0, file_system),
        file: identity.file.unwrap_or(0),
        accessed: times.accessed.map_or(modified, timestamp),
        modified,
        changed,
        // A server that does not keep it may say zero.
        created: times.created.filter(|created| *created != Time::default()).map(timestamp),
    })
}

fn missing(what: &str) -> FsError {
    tracing::warn!(what, "the server's attributes make no sense");
    FsError::ServerFault
}

/// Both halves of the name of a file system. Most servers use one.
fn file_system(id: FileSystemId) -> u64 {
    if id.minor == 0 { id.major } else { id.major ^ howdah_random::mix(id.minor) }
}

fn kind(kind: FileType) -> Option<FileKind> {
    Some(match kind {
        FileType::Regular => FileKind::Regular,
        FileType::Directory => FileKind::Directory,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::SymbolicLink => FileKind::SymbolicLink,
        FileType::Socket => FileKind::Socket,
        FileType::Fifo => FileKind::Fifo,
        FileType::AttributeDirectory | FileType::NamedAttribute => return None,
    })
}

/// The values of attributes to set, with the buffers that they lie in.
#[derive(Default)]
pub(super) struct ToSet {
    values: Vec<u8>,
    set: Bitmap,
}

impl ToSet {
    /// Those of `new` that are in `may`.
    pub(super) fn new(new: &NewAttributes, may: Bitmap) -> Self {
        let [owner, group] = [new.user, new.group].map(|id| id.map(Decimal::of));
        let mut settable = wire::Attributes::default();
        settable.content.size = new.size;
        settable.permissions.mode = new.mode;
        settable.permissions.owner = owner.as_ref().map(Decimal::as_wire);
        settable.permissions.group = group.as_ref().map(Decimal::as_wire);
        settable.times.set_accessed = set_time(new.accessed);
        settable.times.set_modified = set_time(new.modified);
        let set = settable.present() & may;
        let mut values = Vec::new();
        let mut encoder = howdah_wire::xdr::Encoder::new(&mut values);
        for number in set.numbers() {
            settable.put(number, &mut encoder);
        }
        Self { values, set }
    }

    /// As they go into an operation.
    pub(super) fn as_wire(&self) -> Values<'_> {
        Values { attributes: self.set, has_unknown: false, bytes: &self.values }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

fn set_time(how: SetTime) -> Option<wire::SetTime> {
    match how {
        SetTime::Keep => None,
        SetTime::Now => Some(wire::SetTime::ServerTime),
        SetTime::To(to) => Some(wire::SetTime::ClientTime(time(to))),
    }
}

/// A device number.
pub(super) fn device(number: DeviceNumber) -> Device {
    Device { major: number.major, minor: number.minor }
}

/// How durable a WRITE must be.
pub(super) fn how_durable(stability: Stability) -> nfs4::Stability {
    match stability {
        Stability::Unstable => nfs4::Stability::Unstable,
        Stability::DataSync => nfs4::Stability::DataSync,
        Stability::FileSync => nfs4::Stability::FileSync,
    }
}

/// How durable a WRITE was.
pub(super) fn stability(received: nfs4::Stability) -> Stability {
    match received {
        nfs4::Stability::Unstable => Stability::Unstable,
        nfs4::Stability::DataSync => Stability::DataSync,
        nfs4::Stability::FileSync => Stability::FileSync,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_comes_back_as_it_was() {
        let moment = Timestamp { seconds: -7, nanoseconds: 5 };
        let new = NewAttributes {
            mode: Some(0o640),
            user: Some(0),
            group: Some(u32::MAX - 1),
            size: Some(9),
            accessed: SetTime::Now,
            modified: SetTime::To(moment),
        };
        let set = ToSet::new(&new, wire::Attributes::ALL);
        let back = set.as_wire().decode_all().expect("values");
        assert_eq!((back.content.size, back.permissions.mode), (Some(9), Some(0o640)));
        assert_eq!(back.permissions.owner.map(|name| id(name, NameKind::User)), Some(0));
        assert_eq!(back.permissions.group.map(|name| id(name, NameKind::Group)), Some(u32::MAX - 1));
        assert_eq!(back.times.set_accessed, Some(wire::SetTime::ServerTime));
        assert_eq!(back.times.set_modified, Some(wire::SetTime::ClientTime(time(moment))));
        let few = ToSet::new(&new, Bitmap::of(&[wire::MODE]));
        assert_eq!(few.as_wire().attributes, Bitmap::of(&[wire::MODE]));
    }

    #[test]
    fn a_node_without_a_kind_is_refused_and_other_attributes_may_be_missing() {
        let mut answer = wire::Attributes::default();
        assert_eq!(of(&answer), Err(FsError::ServerFault));
        answer.identity.kind = Some(FileType::Regular);
        answer.content.size = Some(5);
        answer.times.modified = Some(Time { seconds: 3, nanoseconds: u32::MAX });
        let node = of(&answer).expect("enough");
        assert_eq!((node.used, node.links, node.user), (5, 1, NOBODY));
        assert_eq!(node.changed, Timestamp { seconds: 3, nanoseconds: LAST_NANOSECOND });
        assert_eq!(node.change, node.changed.as_change());
    }
}
