//! Refusals of the protocol as those of the trait.

use howdah_vfs::FsError;
use nfs3_types::nfs3::nfsstat3;

pub(super) fn refusal(status: nfsstat3) -> FsError {
    match status {
        nfsstat3::NFS3_OK => unreachable!("success is no refusal"),
        nfsstat3::NFS3ERR_PERM => FsError::NotPermitted,
        nfsstat3::NFS3ERR_NOENT => FsError::NotFound,
        nfsstat3::NFS3ERR_IO => FsError::Io,
        nfsstat3::NFS3ERR_NXIO => FsError::NoDevice,
        nfsstat3::NFS3ERR_ACCES => FsError::AccessDenied,
        nfsstat3::NFS3ERR_EXIST => FsError::Exists,
        nfsstat3::NFS3ERR_XDEV => FsError::CrossDevice,
        nfsstat3::NFS3ERR_NODEV => FsError::WrongDevice,
        nfsstat3::NFS3ERR_NOTDIR => FsError::NotDirectory,
        nfsstat3::NFS3ERR_ISDIR => FsError::IsDirectory,
        nfsstat3::NFS3ERR_INVAL => FsError::Invalid,
        nfsstat3::NFS3ERR_FBIG => FsError::TooBig,
        nfsstat3::NFS3ERR_NOSPC => FsError::NoSpace,
        nfsstat3::NFS3ERR_ROFS => FsError::ReadOnly,
        nfsstat3::NFS3ERR_MLINK => FsError::TooManyLinks,
        nfsstat3::NFS3ERR_NAMETOOLONG => FsError::NameTooLong,
        nfsstat3::NFS3ERR_NOTEMPTY => FsError::NotEmpty,
        nfsstat3::NFS3ERR_DQUOT => FsError::QuotaExceeded,
        nfsstat3::NFS3ERR_STALE => FsError::Stale,
        nfsstat3::NFS3ERR_REMOTE => FsError::ServerFault,
        nfsstat3::NFS3ERR_BADHANDLE => FsError::BadHandle,
        nfsstat3::NFS3ERR_NOT_SYNC => FsError::NotSynchronised,
        nfsstat3::NFS3ERR_BAD_COOKIE => FsError::BadCookie,
        nfsstat3::NFS3ERR_NOTSUPP => FsError::NotSupported,
        nfsstat3::NFS3ERR_TOOSMALL => FsError::TooSmall,
        nfsstat3::NFS3ERR_SERVERFAULT => FsError::ServerFault,
        nfsstat3::NFS3ERR_BADTYPE => FsError::BadType,
        nfsstat3::NFS3ERR_JUKEBOX => FsError::Delay,
    }
}
