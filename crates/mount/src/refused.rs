//! A refusal as the kernel takes it.

use fuser::Errno;
use howdah_vfs::{FsError, NameError};

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub Errno);

/// The answer to a request.
pub type Answer<T> = Result<T, Refused>;

impl From<FsError> for Refused {
    fn from(error: FsError) -> Self {
        Self(match error {
            FsError::NotPermitted => Errno::EPERM,
            FsError::NotFound => Errno::ENOENT,
            // A soft mount gave up, or the server speaks wrongly: what mount(8) promises is EIO.
            FsError::Io | FsError::TimedOut | FsError::TooSmall | FsError::BadCookie => Errno::EIO,
            FsError::NoDevice => Errno::ENXIO,
            FsError::AccessDenied => Errno::EACCES,
            FsError::Exists => Errno::EEXIST,
            FsError::CrossDevice => Errno::EXDEV,
            FsError::WrongDevice => Errno::ENODEV,
            FsError::NotDirectory => Errno::ENOTDIR,
            FsError::IsDirectory => Errno::EISDIR,
            FsError::Invalid | FsError::BadType => Errno::EINVAL,
            FsError::TooBig => Errno::EFBIG,
            FsError::NoSpace => Errno::ENOSPC,
            FsError::ReadOnly => Errno::EROFS,
            FsError::TooManyLinks => Errno::EMLINK,
            FsError::NameTooLong => Errno::ENAMETOOLONG,
            FsError::NotEmpty => Errno::ENOTEMPTY,
            FsError::QuotaExceeded => Errno::EDQUOT,
            FsError::Stale | FsError::BadHandle => Errno::ESTALE,
            FsError::NotSynchronised | FsError::Delay => Errno::EAGAIN,
            FsError::NotSupported => Errno::EOPNOTSUPP,
            FsError::KeyExpired => Errno::from_i32(libc::EKEYEXPIRED),
            FsError::NoXattr => Errno::ENODATA,
            FsError::XattrTooBig => Errno::E2BIG,
            FsError::ServerFault => Errno::from_i32(libc::EREMOTEIO),
        })
    }
}

impl From<NameError> for Refused {
    fn from(error: NameError) -> Self {
        error.refusal().into()
    }
}
