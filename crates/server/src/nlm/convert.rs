//! Values of the state and the file system into values of NLM, and back.

use howdah_state::{ByteRange, LockConflict, LockKind, LockOwner, StateError};
use howdah_vfs::FsError;
use howdah_wire::nlm::{self, Holder, Status};

/// The last byte that a client can lock: offsets are signed to its system.
const LAST: u64 = i64::MAX as u64;

/// The kind of a lock.
pub fn kind(exclusive: bool) -> LockKind {
    if exclusive { LockKind::Write } else { LockKind::Read }
}

/// The bytes of a lock. A length of 0 or of all ones is "to the end"; so is what ends with the last byte that there can be.
///
/// # Errors
/// Some of it lies beyond that byte.
pub fn range(offset: u64, length: u64) -> Result<ByteRange, Status> {
    let last = match length {
        0 | u64::MAX => u64::MAX,
        _ => match offset.checked_add(length - 1) {
            Some(LAST) => u64::MAX,
            Some(last) if last < LAST => last,
            _ => return Err(Status::TooBig),
        },
    };
    if offset > LAST { Err(Status::TooBig) } else { Ok(ByteRange { first: offset, last }) }
}

/// Where a range starts, and its length, 0 for "to the end".
pub fn offset_and_length(range: ByteRange) -> (u64, u64) {
    let first = range.first.min(LAST);
    // A lock of NFSv4 may end beyond what this protocol's clients can lock.
    let length = if range.last >= LAST { 0 } else { range.last - first + 1 };
    (first, length)
}

/// The lock that is in the way.
pub fn holder(conflict: &LockConflict) -> Holder<'_> {
    let (offset, length) = offset_and_length(conflict.range);
    let (process, owner) = match &conflict.owner {
        LockOwner::Nlm(owner) => (owner.svid, &*owner.oh),
        LockOwner::V4 { owner, .. } => (0, &**owner),
        LockOwner::Local => (0, &b""[..]),
    };
    Holder {
        exclusive: conflict.kind == LockKind::Write,
        process,
        owner: nlm::LockOwner(owner),
        offset,
        length,
    }
}

/// The status of a refusal by the state. What has no word here is ENOLCK to applications.
pub fn status(error: &StateError) -> Status {
    match error {
        StateError::Denied(conflict) if conflict.is_waiting => Status::Blocked,
        StateError::Deadlock => Status::Deadlock,
        StateError::Denied(_) | StateError::ShareDenied => Status::Denied,
        StateError::ReclaimBad | StateError::ReclaimConflict => Status::Denied,
        // A reclaim that comes too late is answered as Linux's server does.
        // A host asks again after either: while delegations are asked for back, too.
        StateError::Grace | StateError::NoGrace | StateError::Delay => Status::Grace,
        _ => Status::NoLocks,
    }
}

/// The status of a refusal by the exports or the file system.
pub fn refusal(error: FsError) -> Status {
    match error {
        FsError::Stale | FsError::BadHandle | FsError::NotFound => Status::Stale,
        FsError::TimedOut | FsError::Delay => Status::Grace,
        _ => Status::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_at_the_last_byte_that_a_client_can_lock() {
        let to_the_end = |first| Ok(ByteRange { first, last: u64::MAX });
        assert_eq!(range(0, 0), to_the_end(0));
        assert_eq!(range(5, u64::MAX), to_the_end(5));
        assert_eq!(range(5, 2), Ok(ByteRange { first: 5, last: 6 }));
        assert_eq!(range(1, LAST), to_the_end(1));
        assert_eq!(range(LAST, 1), to_the_end(LAST));
        assert_eq!(range(1, LAST - 1), Ok(ByteRange { first: 1, last: LAST - 1 }));
        for (offset, length) in [(LAST + 1, 0), (LAST, 2), (2, LAST), (u64::MAX, u64::MAX), (9, u64::MAX - 1)]
        {
            assert_eq!(range(offset, length), Err(Status::TooBig), "{offset} {length}");
        }
    }

    #[test]
    fn ranges_of_nfs4_are_told_as_far_as_clients_can_read_them() {
        let on_wire = |first, last| offset_and_length(ByteRange { first, last });
        assert_eq!(on_wire(3, 4), (3, 2));
        assert_eq!(on_wire(3, u64::MAX), (3, 0));
        assert_eq!(on_wire(3, LAST), (3, 0));
        assert_eq!(on_wire(LAST + 5, LAST + 6), (LAST, 0));
    }
}
