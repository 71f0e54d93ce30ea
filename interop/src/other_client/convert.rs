//! Values of the trait as those of the protocol, and back.

use howdah_vfs::{
    Attributes, Before, Change, DeviceNumber, FileKind, FsError, NewAttributes, Result, SetTime, Stability,
    Timestamp,
};
use nfs3_types::nfs3::{
    Nfs3Option, fattr3, ftype3, nfstime3, post_op_attr, sattr3, set_atime, set_mtime, stable_how, wcc_data,
};
use nfs3_types::xdr_codec::{Pack, Unpack};

pub(super) fn attributes(seen: &fattr3) -> Attributes {
    let changed = timestamp(seen.ctime);
    Attributes {
        change: changed.as_change(),
        kind: kind(seen.type_),
        mode: seen.mode,
        links: seen.nlink,
        user: seen.uid,
        group: seen.gid,
        size: seen.size,
        used: seen.used,
        device: DeviceNumber { major: seen.rdev.specdata1, minor: seen.rdev.specdata2 },
        file_system: seen.fsid,
        file: seen.fileid,
        accessed: timestamp(seen.atime),
        modified: timestamp(seen.mtime),
        changed,
        created: None,
    }
}

fn kind(kind: ftype3) -> FileKind {
    match kind {
        ftype3::NF3REG => FileKind::Regular,
        ftype3::NF3DIR => FileKind::Directory,
        ftype3::NF3BLK => FileKind::BlockDevice,
        ftype3::NF3CHR => FileKind::CharacterDevice,
        ftype3::NF3LNK => FileKind::SymbolicLink,
        ftype3::NF3SOCK => FileKind::Socket,
        ftype3::NF3FIFO => FileKind::Fifo,
    }
}

pub(super) fn timestamp(time: nfstime3) -> Timestamp {
    assert!(time.nseconds < 1_000_000_000, "{} nanoseconds within a second", time.nseconds);
    Timestamp { seconds: i64::from(time.seconds), nanoseconds: time.nseconds }
}

/// The protocol has no time before 1970 and none after 2106.
pub(super) fn nfs_time(time: Timestamp) -> Result<nfstime3> {
    let seconds = u32::try_from(time.seconds).map_err(|_| FsError::Invalid)?;
    Ok(nfstime3 { seconds, nseconds: time.nanoseconds })
}

pub(super) fn option<T: Pack + Unpack>(value: Option<T>) -> Nfs3Option<T> {
    value.map_or(Nfs3Option::None, Nfs3Option::Some)
}

pub(super) fn post_attributes(seen: &post_op_attr) -> Option<Attributes> {
    match seen {
        Nfs3Option::Some(seen) => Some(attributes(seen)),
        Nfs3Option::None => None,
    }
}

/// Takes what a reply says of a node that the call changed.
pub(super) fn note(change: &mut Change, seen: &wcc_data) {
    change.before = match &seen.before {
        Nfs3Option::Some(before) => Some(Before {
            change: timestamp(before.ctime).as_change(),
            size: before.size,
            modified: timestamp(before.mtime),
            changed: timestamp(before.ctime),
        }),
        Nfs3Option::None => None,
    };
    change.after = post_attributes(&seen.after);
}

pub(super) fn settings(new: &NewAttributes) -> Result<sattr3> {
    let atime = match new.accessed {
        SetTime::Keep => set_atime::DONT_CHANGE,
        SetTime::Now => set_atime::SET_TO_SERVER_TIME,
        SetTime::To(time) => set_atime::SET_TO_CLIENT_TIME(nfs_time(time)?),
    };
    let mtime = match new.modified {
        SetTime::Keep => set_mtime::DONT_CHANGE,
        SetTime::Now => set_mtime::SET_TO_SERVER_TIME,
        SetTime::To(time) => set_mtime::SET_TO_CLIENT_TIME(nfs_time(time)?),
    };
    let (mode, size) = (option(new.mode), option(new.size));
    Ok(sattr3 { mode, uid: option(new.user), gid: option(new.group), size, atime, mtime })
}

pub(super) fn stable_how(stability: Stability) -> stable_how {
    match stability {
        Stability::Unstable => stable_how::UNSTABLE,
        Stability::DataSync => stable_how::DATA_SYNC,
        Stability::FileSync => stable_how::FILE_SYNC,
    }
}

pub(super) fn stability(how: stable_how) -> Stability {
    match how {
        stable_how::UNSTABLE => Stability::Unstable,
        stable_how::DATA_SYNC => Stability::DataSync,
        stable_how::FILE_SYNC => Stability::FileSync,
    }
}
