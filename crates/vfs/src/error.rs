//! Why an operation is refused: a closed set, mapped once to each protocol's status and to errno.

use std::fmt;

macro_rules! fs_errors {
    ($($(#[doc = $doc:literal])* $name:ident = $errno:ident, $text:literal;)*) => {
        /// An operation is refused. The set is that of NFSv3 (RFC 1813 2.6, `nfsstat3`), what keeps a
        /// client from an answer, and what is wrong with extended attributes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FsError {
            $($(#[doc = $doc])* $name,)*
        }

        impl FsError {
            /// Every refusal there is.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name of the errno that stands for it.
            pub fn errno_name(self) -> &'static str {
                match self { $(Self::$name => stringify!($errno),)* }
            }
        }

        impl fmt::Display for FsError {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

fs_errors! {
    /// Only the owner or the superuser may.
    NotPermitted = EPERM, "not permitted";
    /// No node of that name.
    NotFound = ENOENT, "no such file or directory";
    /// The storage failed.
    Io = EIO, "input/output error";
    /// The device is not there.
    NoDevice = ENXIO, "no such device or address";
    /// The permission bits (or the export) forbid it.
    AccessDenied = EACCES, "permission denied";
    /// A node of that name exists.
    Exists = EEXIST, "file exists";
    /// A link or rename between two file systems.
    CrossDevice = EXDEV, "cross-device link";
    /// The device does not do this.
    WrongDevice = ENODEV, "operation not supported by device";
    /// A directory was needed.
    NotDirectory = ENOTDIR, "not a directory";
    /// A directory was not wanted.
    IsDirectory = EISDIR, "is a directory";
    /// An argument makes no sense here.
    Invalid = EINVAL, "invalid argument";
    /// Beyond the largest file.
    TooBig = EFBIG, "file too large";
    /// The storage is full.
    NoSpace = ENOSPC, "no space left on device";
    /// Read-only export or file system.
    ReadOnly = EROFS, "read-only file system";
    /// The node has all the hard links it can have.
    TooManyLinks = EMLINK, "too many links";
    /// Longer than a name may be.
    NameTooLong = ENAMETOOLONG, "file name too long";
    /// A directory with entries cannot go.
    NotEmpty = ENOTEMPTY, "directory not empty";
    /// The user's quota is used up.
    QuotaExceeded = EDQUOT, "disk quota exceeded";
    /// The node that the handle named is gone.
    Stale = ESTALE, "stale file handle";
    /// The bytes are no handle of ours.
    BadHandle = EBADF, "bad file handle";
    /// A SETATTR guard did not match.
    NotSynchronised = ECANCELED, "attributes changed meanwhile";
    /// The cookie does not belong to this directory any more.
    BadCookie = EILSEQ, "stale directory cookie";
    /// Not done by this file system.
    NotSupported = EOPNOTSUPP, "operation not supported";
    /// The answer does not fit the size asked for.
    TooSmall = EOVERFLOW, "buffer too small";
    /// Something is wrong on this side.
    ServerFault = EREMOTEIO, "server fault";
    /// A node of that kind cannot be made here.
    BadType = EPROTOTYPE, "type not supported";
    /// The server that has the file system does not answer, and the caller chose not to wait for ever.
    TimedOut = ETIMEDOUT, "the server does not answer";
    /// Not now: ask again later (NFS3ERR_JUKEBOX).
    Delay = EAGAIN, "temporarily unavailable, try again later";
    /// The Kerberos ticket of the caller has ended.
    KeyExpired = EKEYEXPIRED, "the Kerberos ticket has expired: get a new one with kinit";
    /// The node has no extended attribute of that name.
    NoXattr = ENODATA, "no such attribute";
    /// The value of an extended attribute is longer than one can be.
    XattrTooBig = E2BIG, "attribute too large";
}

impl std::error::Error for FsError {}

/// What a call answers: its result, or why it is refused.
pub type Result<T> = std::result::Result<T, FsError>;
