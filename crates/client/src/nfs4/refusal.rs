//! Why a server refuses an operation, as a refusal of the file system.

use howdah_vfs::FsError;
use howdah_wire::nfs4::{
    Status, access, allocate, clone, commit, copy, deallocate, getattr, open, operation, read, readdir, seek,
    setattr, write,
};

/// Whether a status says that a stateid is not, or no longer, one of the server's.
pub(super) fn is_of_state(status: Status) -> bool {
    // STALE_STATEID is of minor version 0, and some servers give it all the same.
    matches!(
        status,
        Status::BAD_STATEID
            | Status::OLD_STATEID
            | Status::STALE_STATEID
            | Status::EXPIRED
            | Status::ADMIN_REVOKED
            | Status::DELEG_REVOKED
    )
}

/// The refusal that a status of an operation is.
pub(super) fn refusal(operation: u32, status: Status) -> FsError {
    match status {
        Status::PERM => FsError::NotPermitted,
        Status::NOENT => FsError::NotFound,
        Status::IO => FsError::Io,
        Status::NXIO => FsError::NoDevice,
        Status::ACCESS | Status::SHARE_DENIED | Status::LOCKED | Status::OPENMODE | Status::WRONGSEC => {
            FsError::AccessDenied
        }
        Status::EXIST => FsError::Exists,
        Status::XDEV => FsError::CrossDevice,
        Status::NOTDIR => FsError::NotDirectory,
        Status::SYMLINK | Status::WRONG_TYPE | Status::ISDIR => of_another_kind(operation, status),
        Status::INVAL | Status::BADCHAR | Status::BADNAME | Status::BADOWNER | Status::BAD_RANGE => {
            FsError::Invalid
        }
        Status::FBIG => FsError::TooBig,
        Status::NOSPC => FsError::NoSpace,
        Status::ROFS => FsError::ReadOnly,
        Status::MLINK => FsError::TooManyLinks,
        Status::NAMETOOLONG => FsError::NameTooLong,
        Status::NOTEMPTY => FsError::NotEmpty,
        Status::DQUOT => FsError::QuotaExceeded,
        Status::STALE | Status::FHEXPIRED => FsError::Stale,
        Status::BADHANDLE => FsError::BadHandle,
        Status::NOT_SAME if operation == readdir::OPERATION => FsError::BadCookie,
        Status::NOT_SAME => FsError::NotSynchronised,
        Status::BAD_COOKIE => FsError::BadCookie,
        Status::NOTSUPP | Status::OP_ILLEGAL | Status::ATTRNOTSUPP => FsError::NotSupported,
        Status::TOOSMALL => FsError::TooSmall,
        Status::BADTYPE => FsError::BadType,
        Status::DELAY | Status::GRACE | Status::FILE_OPEN => FsError::Delay,
        // Locks of the file were lost.
        status if is_of_state(status) => FsError::Io,
        Status::LOCK_RANGE => FsError::Invalid,
        Status::LOCK_NOTSUPP => FsError::NotSupported,
        Status::NOXATTR => FsError::NoXattr,
        Status::XATTR2BIG => FsError::XattrTooBig,
        Status::MOVED => {
            tracing::warn!("the server has moved this file system to another one: mount it from there");
            FsError::Io
        }
        status => {
            let operation = operation::name(operation).unwrap_or("?");
            tracing::warn!(operation, %status, "the server refuses an operation");
            FsError::ServerFault
        }
    }
}

/// The node is of another kind than the operation is for. NFSv3 has fewer words for that, and callers know those.
fn of_another_kind(operation: u32, status: Status) -> FsError {
    match (operation, status) {
        (open::OPERATION, _) => FsError::Exists,
        (_, Status::ISDIR) => FsError::IsDirectory,
        (
            read::OPERATION
            | write::OPERATION
            | commit::OPERATION
            | seek::OPERATION
            | allocate::OPERATION
            | deallocate::OPERATION
            | copy::OPERATION
            | clone::OPERATION
            | setattr::OPERATION
            | access::OPERATION
            | getattr::OPERATION,
            _,
        ) => FsError::Invalid,
        (_, Status::SYMLINK) => FsError::NotDirectory,
        _ => FsError::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::lookup;

    use super::*;

    #[test]
    fn a_status_means_what_it_is_an_answer_to() {
        for (operation, status, refused) in [
            (lookup::OPERATION, Status::SYMLINK, FsError::NotDirectory),
            (read::OPERATION, Status::SYMLINK, FsError::Invalid),
            (read::OPERATION, Status::ISDIR, FsError::IsDirectory),
            (open::OPERATION, Status::ISDIR, FsError::Exists),
            (readdir::OPERATION, Status::NOT_SAME, FsError::BadCookie),
            (setattr::OPERATION, Status::NOT_SAME, FsError::NotSynchronised),
            (lookup::OPERATION, Status(20_000), FsError::ServerFault),
        ] {
            assert_eq!(refusal(operation, status), refused, "{operation} {status}");
        }
    }
}
