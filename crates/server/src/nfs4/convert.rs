//! Values of the file system into values of NFSv4, and back. Each is mapped once, here.

use howdah_vfs::{
    Attributes, Change, DeviceNumber, FileKind, FsError, NewAttributes, SetTime, Stability, Timestamp,
};
use howdah_wire::nfs4::attributes::{self as wire, Principal};
use howdah_wire::nfs4::{ChangeInfo, Device, FileType, Stability as Told, StateId, Status, Time};

/// The low 12 bits of a mode: permissions, set-uid, set-gid, sticky (RFC 8881 6.2.4).
const MODE_BITS: u32 = 0o7777;
/// Nanoseconds in a second.
const NANOSECONDS: u32 = 1_000_000_000;
/// The id that means "leave it" to `chown(2)`, and so names nobody.
const NO_ID: u32 = u32::MAX;

/// The status of a refusal.
pub fn status(error: FsError) -> Status {
    match error {
        FsError::NotPermitted => Status::PERM,
        FsError::NotFound => Status::NOENT,
        FsError::Io => Status::IO,
        FsError::NoDevice | FsError::WrongDevice => Status::NXIO,
        FsError::AccessDenied | FsError::KeyExpired => Status::ACCESS,
        FsError::Exists => Status::EXIST,
        FsError::CrossDevice => Status::XDEV,
        FsError::NotDirectory => Status::NOTDIR,
        FsError::IsDirectory => Status::ISDIR,
        FsError::Invalid => Status::INVAL,
        FsError::TooBig => Status::FBIG,
        FsError::NoSpace => Status::NOSPC,
        FsError::ReadOnly => Status::ROFS,
        FsError::TooManyLinks => Status::MLINK,
        FsError::NameTooLong => Status::NAMETOOLONG,
        FsError::NotEmpty => Status::NOTEMPTY,
        FsError::QuotaExceeded => Status::DQUOT,
        FsError::Stale => Status::STALE,
        FsError::BadHandle => Status::BADHANDLE,
        FsError::NotSynchronised => Status::NOT_SAME,
        FsError::BadCookie => Status::BAD_COOKIE,
        FsError::NotSupported => Status::NOTSUPP,
        FsError::TooSmall => Status::TOOSMALL,
        FsError::ServerFault => Status::SERVERFAULT,
        FsError::BadType => Status::BADTYPE,
        FsError::NoXattr => Status::NOXATTR,
        FsError::XattrTooBig => Status::XATTR2BIG,
        // We are a client ourselves, whose server does not answer: ours waits and asks again.
        FsError::TimedOut | FsError::Delay => Status::DELAY,
    }
}

/// A time.
pub fn time(time: Timestamp) -> Time {
    Time { seconds: time.seconds, nanoseconds: time.nanoseconds }
}

/// A directory before and after a change to it. What is not known is sent as not atomic, and the client looks again.
pub fn change_info(change: &Change, now: impl FnOnce() -> Option<Attributes>) -> ChangeInfo {
    let after = change.after.or_else(now);
    match (&change.before, after) {
        (Some(before), Some(after)) => {
            ChangeInfo { atomic: true, before: before.change, after: after.change }
        }
        (_, Some(after)) => ChangeInfo { atomic: false, before: 0, after: after.change },
        (_, None) => ChangeInfo::default(),
    }
}

/// How durable data is.
pub fn told_stability(stability: Stability) -> Told {
    match stability {
        Stability::Unstable => Told::Unstable,
        Stability::DataSync => Told::DataSync,
        Stability::FileSync => Told::FileSync,
    }
}

/// A kind of node.
pub fn file_type(kind: FileKind) -> FileType {
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

/// A device number, as it is sent.
pub fn device(number: DeviceNumber) -> Device {
    Device { major: number.major, minor: number.minor }
}

/// A device number as it is asked for.
pub fn device_number(device: Device) -> DeviceNumber {
    DeviceNumber { major: device.major, minor: device.minor }
}

/// A user or group by its number in decimal, which every client takes that has no map of names (RFC 8881 5.9).
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    bytes: [u8; 10],
    start: usize,
}

impl Decimal {
    /// Of a number.
    pub fn of(mut number: u32) -> Self {
        let (mut bytes, mut start) = ([0; 10], 10);
        while start == 10 || number > 0 {
            start -= 1;
            bytes[start] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        Self { bytes, start }
    }

    /// As it goes into a message.
    pub fn as_wire(&self) -> Principal<'_> {
        Principal(&self.bytes[self.start..])
    }
}

/// Finds the user or group of a name with a domain, such as `alice@example.org`. The flag: a group.
pub type FindOwner<'f> = &'f dyn Fn(&str, bool) -> Result<u32, Status>;

/// The id that a client names: a number in decimal, or a name with its domain. The superuser has the same name in each domain.
fn id(name: Principal<'_>, is_group: bool, find: FindOwner<'_>) -> Result<u32, Status> {
    let text = std::str::from_utf8(name.0).map_err(|_| Status::BADOWNER)?;
    if text.is_empty() {
        return Err(Status::INVAL);
    }
    let user = text.split('@').next().unwrap_or_default();
    if user == "root" && user.len() < text.len() {
        return Ok(0);
    }
    if user.len() < text.len() {
        return find(text, is_group);
    }
    let is_number = !text.starts_with('+') && (text == "0" || !text.starts_with('0'));
    match text.parse() {
        Ok(NO_ID) | Err(_) => Err(Status::BADOWNER),
        Ok(id) if is_number => Ok(id),
        Ok(_) => Err(Status::BADOWNER),
    }
}

/// Attributes to set. Ids that name nobody and nanoseconds beyond a second make no sense.
///
/// # Errors
/// INVAL, BADOWNER, or DELAY while it cannot be found out.
pub fn new_attributes(new: &wire::Attributes<'_>, find: FindOwner<'_>) -> Result<NewAttributes, Status> {
    if new.permissions.mode.is_some_and(|mode| mode & !MODE_BITS != 0) {
        return Err(Status::INVAL);
    }
    Ok(NewAttributes {
        mode: new.permissions.mode,
        user: new.permissions.owner.map(|name| id(name, false, find)).transpose()?,
        group: new.permissions.group.map(|name| id(name, true, find)).transpose()?,
        size: new.content.size,
        accessed: set_time(new.times.set_accessed)?,
        modified: set_time(new.times.set_modified)?,
    })
}

fn set_time(time: Option<wire::SetTime>) -> Result<SetTime, Status> {
    Ok(match time {
        None => SetTime::Keep,
        Some(wire::SetTime::ServerTime) => SetTime::Now,
        Some(wire::SetTime::ClientTime(Time { seconds, nanoseconds })) if nanoseconds < NANOSECONDS => {
            SetTime::To(Timestamp { seconds, nanoseconds })
        }
        Some(wire::SetTime::ClientTime(_)) => return Err(Status::INVAL),
    })
}

/// A stateid as the state knows it.
pub fn asked(stateid: StateId) -> howdah_state::StateId {
    howdah_state::StateId { seqid: stateid.sequence, other: stateid.other }
}

/// A stateid, as clients get it.
pub fn told(stateid: howdah_state::StateId) -> StateId {
    StateId { sequence: stateid.seqid, other: stateid.other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_numbers_or_names_with_a_domain() {
        let find = |name: &str, _: bool| -> Result<u32, Status> {
            if name == "alice@example.net" { Ok(7) } else { Err(Status::BADOWNER) }
        };
        let of = |name: &[u8]| id(Principal(name), false, &find);
        for number in [0, 7, 10, 1000, u32::MAX - 1] {
            let decimal = Decimal::of(number);
            assert_eq!(decimal.as_wire().0, number.to_string().as_bytes());
            assert_eq!(of(decimal.as_wire().0), Ok(number));
        }
        assert_eq!(of(b"root@example.net"), Ok(0));
        assert_eq!(of(b"alice@example.net"), Ok(7));
        for unknown in ["4294967295", "4294967296", "-1", "+1", "01", "bob@example.net", "@", "root", "1 "] {
            assert_eq!(of(unknown.as_bytes()), Err(Status::BADOWNER), "{unknown}");
        }
        assert_eq!(of(b""), Err(Status::INVAL));
    }

    #[test]
    fn attributes_that_make_no_sense_are_refused() {
        let nobody = |_: &str, _: bool| -> Result<u32, Status> { Err(Status::BADOWNER) };
        let late = wire::SetTime::ClientTime(Time { seconds: 1, nanoseconds: NANOSECONDS });
        let times = wire::Times { set_modified: Some(late), ..wire::Times::default() };
        let new = wire::Attributes { times, ..wire::Attributes::default() };
        assert_eq!(new_attributes(&new, &nobody), Err(Status::INVAL));
        let permissions = wire::Permissions { mode: Some(0o10_000), ..wire::Permissions::default() };
        let new = wire::Attributes { permissions, ..wire::Attributes::default() };
        assert_eq!(new_attributes(&new, &nobody), Err(Status::INVAL));
    }
}
