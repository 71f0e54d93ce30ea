//! Why a file system could not be mounted.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file system could not be mounted, with what to do about it.
#[derive(Debug)]
pub enum FuseError {
    /// The directory cannot be used.
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel has no FUSE, or this process may not use it.
    Device(io::Error),
    /// Mounting was refused.
    Refused {
        /// The directory.
        directory: PathBuf,
        /// What the kernel or fusermount3 said.
        cause: io::Error,
        /// Whether this process has the rights of a superuser where it runs.
        is_root: bool,
    },
}

impl fmt::Display for FuseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { directory, why } => {
                write!(formatter, "cannot mount on {}: {why}", directory.display())
            }
            Self::Device(cause) if cause.kind() == io::ErrorKind::NotFound => formatter.write_str(
                "cannot mount: there is no /dev/fuse (load the kernel module: modprobe fuse; for a container, start it with \
                 --device /dev/fuse)",
            ),
            Self::Device(cause) => write!(
                formatter,
                "cannot mount: opening /dev/fuse failed: {cause} (as root: chmod 666 /dev/fuse, or mount as root)"
            ),
            Self::Refused { directory, cause, is_root: true } => write!(
                formatter,
                "cannot mount on {}: {} (in a container, mounting needs the capability SYS_ADMIN)",
                directory.display(),
                text(cause)
            ),
            Self::Refused { directory, cause, is_root: false } => write!(
                formatter,
                "cannot mount on {} as an ordinary user: {}. Install fusermount3 (package fuse3), mount as root, or mount in a \
                 namespace of your own, which only programs started in it see: unshare -Urm",
                directory.display(),
                text(cause)
            ),
        }
    }
}

/// Without line breaks, which fusermount3 ends with.
fn text(cause: &io::Error) -> String {
    cause.to_string().trim_end().to_owned()
}

impl std::error::Error for FuseError {}
