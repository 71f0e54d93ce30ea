//! The one place where the kernel's error numbers become refusals. Knows no operation.

use howdah_vfs::FsError;
use rustix::io::Errno;

/// The refusal that says what the kernel said, as close as the closed set allows.
pub(super) fn refusal(errno: Errno) -> FsError {
    match errno {
        Errno::PERM => FsError::NotPermitted,
        Errno::NOENT => FsError::NotFound,
        Errno::NXIO => FsError::NoDevice,
        // Busy: a mount point or a running program, and no status says so; the kernel's server answers the same.
        Errno::ACCESS | Errno::BUSY | Errno::TXTBSY => FsError::AccessDenied,
        Errno::EXIST => FsError::Exists,
        Errno::XDEV => FsError::CrossDevice,
        Errno::NODEV => FsError::WrongDevice,
        Errno::NOTDIR => FsError::NotDirectory,
        Errno::ISDIR => FsError::IsDirectory,
        Errno::INVAL | Errno::LOOP => FsError::Invalid,
        Errno::FBIG => FsError::TooBig,
        Errno::NOSPC => FsError::NoSpace,
        Errno::ROFS => FsError::ReadOnly,
        Errno::MLINK => FsError::TooManyLinks,
        Errno::NAMETOOLONG => FsError::NameTooLong,
        Errno::NOTEMPTY => FsError::NotEmpty,
        Errno::DQUOT => FsError::QuotaExceeded,
        Errno::STALE => FsError::Stale,
        Errno::OPNOTSUPP | Errno::NOSYS => FsError::NotSupported,
        Errno::NODATA => FsError::NoXattr,
        Errno::TOOBIG => FsError::XattrTooBig,
        // Short of something that comes back: descriptors, memory, time.
        Errno::AGAIN | Errno::INTR | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::TIMEDOUT => {
            FsError::Delay
        }
        // A descriptor or address of ours was wrong: our mistake, not the client's.
        Errno::BADF | Errno::FAULT => FsError::ServerFault,
        _ => FsError::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_reaches_the_client() {
        for (errno, expected) in [
            (Errno::DQUOT, FsError::QuotaExceeded),
            (Errno::FBIG, FsError::TooBig),
            (Errno::NOSPC, FsError::NoSpace),
            (Errno::ROFS, FsError::ReadOnly),
            (Errno::MLINK, FsError::TooManyLinks),
            (Errno::STALE, FsError::Stale),
            (Errno::BUSY, FsError::AccessDenied),
            (Errno::MFILE, FsError::Delay),
            (Errno::NOTTY, FsError::Io),
        ] {
            assert_eq!(refusal(errno), expected, "{errno:?}");
        }
    }
}
