//! Why a journal cannot be opened, or takes no more.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

/// Why a journal does not do what was asked.
#[derive(Debug, Clone)]
pub enum JournalError {
    /// Another process has it open.
    InUse {
        /// The journal's directory.
        directory: PathBuf,
        /// The process, if it could be read.
        holder: Option<u32>,
        /// Its command line.
        command: String,
    },
    /// A newer version of howdah wrote it.
    Newer {
        /// The file that says so.
        path: PathBuf,
    },
    /// It belongs to another host, and was not to be adopted.
    OtherHost {
        /// The file that says so.
        path: PathBuf,
        /// The host that wrote it.
        found: String,
    },
    /// It belongs to another server, export or user.
    OtherOwner {
        /// The file that says so.
        path: PathBuf,
        /// What differs.
        field: &'static str,
        /// What the journal says.
        found: String,
    },
    /// It has changes whose files are named by handles of another version of NFS, which the server may not know by this one.
    OtherVersion {
        /// The file that says so.
        path: PathBuf,
        /// The version of the changes.
        found: u32,
    },
    /// Its identity cannot be read, so nobody knows whose records these are.
    Unidentified {
        /// The file that should say it.
        path: PathBuf,
    },
    /// It holds as much as it may: wait until changes are finished.
    Full,
    /// The disk is full: nothing was appended. Appends may succeed later.
    NoSpace,
    /// The records of one append are longer than a segment.
    TooLarge {
        /// Their bytes.
        length: u64,
        /// The most that there may be.
        most: u64,
    },
    /// A disk error happened before. The journal takes no more records.
    Failed(Arc<str>),
    /// The disk failed.
    Disk {
        /// What was being done.
        step: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: Arc<io::Error>,
    },
}

impl JournalError {
    /// A disk error; a full disk is an error of its own.
    pub(super) fn disk(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| match Errno::from_io_error(&cause) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::NoSpace,
            _ => Self::Disk { step, path, cause: Arc::new(cause) },
        }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { directory, holder: Some(process), command } => {
                write!(
                    formatter,
                    "journal {} is in use by process {process} ({command})",
                    directory.display()
                )
            }
            Self::InUse { directory, holder: None, .. } => {
                write!(formatter, "journal {} is in use by another process", directory.display())
            }
            Self::Newer { path } => {
                write!(
                    formatter,
                    "{}: a newer version of howdah wrote this journal; use that one",
                    path.display()
                )
            }
            Self::OtherHost { path, found } => write!(
                formatter,
                "{}: host {found} wrote this journal; if that host does not use it any more, adopt it",
                path.display()
            ),
            Self::OtherOwner { path, field, found } => {
                write!(formatter, "{}: this journal is of another {field} ({found})", path.display())
            }
            Self::OtherVersion { path, found } => write!(
                formatter,
                "{}: the changes in this journal were made over NFSv{found}; send them by that version first (vers={found})",
                path.display()
            ),
            Self::Unidentified { path } => write!(
                formatter,
                "{}: cannot be read, so the owner of this journal is unknown; move the directory away or restore the file",
                path.display()
            ),
            Self::Full => {
                formatter.write_str("the journal is full until the server has taken some of its changes")
            }
            Self::NoSpace => formatter.write_str("the disk of the journal is full"),
            Self::TooLarge { length, most } => {
                write!(formatter, "{length} bytes do not fit into a segment of the journal ({most} bytes)")
            }
            Self::Failed(cause) => {
                write!(formatter, "the journal takes no more records since its disk failed: {cause}")
            }
            Self::Disk { step, path, cause } => write!(formatter, "{step} {}: {cause}", path.display()),
        }
    }
}

impl std::error::Error for JournalError {}
