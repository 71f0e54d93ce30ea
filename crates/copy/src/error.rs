//! Why something could not be copied: the step, the file and the cause.

use std::fmt;

use howdah_vfs::{FileKind, FsError, Shown};

/// Which side a step was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// Where the copy is from.
    Source,
    /// Where the copy goes.
    Destination,
}

/// What could not be copied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyError {
    /// What could not be done to the path, as in "read".
    pub step: &'static str,
    /// On which side.
    pub on: On,
    /// The path on that side, as people know it.
    pub path: Vec<u8>,
    /// Why it failed.
    pub cause: Cause,
    /// What it leaves at the destination.
    pub left: Option<LeftFiles>,
}

/// Files of an unfinished copy at the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFiles {
    /// Their paths as people know them.
    pub paths: Vec<Vec<u8>>,
    /// Whether the same copy, started again, resumes from them.
    pub is_resumable: bool,
}

/// Why a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The file system refused.
    Refused(FsError),
    /// The source is not what it was when its copy began.
    Changed,
    /// Both sides were read back, and differ from this byte on.
    Differs(u64),
    /// Source and destination are one file.
    SameFile,
    /// What is to be deleted is a source of the copy.
    IsSource,
    /// The source is empty, and all at the destination would be deleted.
    EmptySource,
    /// As many names as may be are deleted.
    DeletedEnough,
    /// A directory would be copied into itself.
    IntoItself,
    /// A directory that its source shows within itself.
    Circle,
    /// A listing that never ends: the same place in it comes again.
    EndlessListing,
    /// More names than are held in memory.
    TooMany,
    /// A directory deeper than paths can name it.
    TooDeep,
    /// A directory, and directories were not asked for.
    NotRecursive,
    /// A directory that something is mounted on.
    MountPoint,
    /// Something else has the name.
    InTheWay(FileKind),
    /// The partial file is another one by now: the same copy was started once more, and runs.
    TakenOver,
    /// The copy is to stop.
    Stopped,
}

/// A failed step before it is known to which path it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) step: &'static str,
    pub(super) on: On,
    pub(super) cause: Cause,
}

/// What a step of a copy answers.
pub(super) type Step<T> = Result<T, Trouble>;

/// Names the step that a refusal belongs to.
pub(super) trait Doing<T> {
    fn at_source(self, step: &'static str) -> Step<T>;
    fn at_destination(self, step: &'static str) -> Step<T>;
}

impl<T> Doing<T> for howdah_vfs::Result<T> {
    fn at_source(self, step: &'static str) -> Step<T> {
        self.map_err(|refused| Trouble { step, on: On::Source, cause: Cause::Refused(refused) })
    }

    fn at_destination(self, step: &'static str) -> Step<T> {
        self.map_err(|refused| Trouble { step, on: On::Destination, cause: Cause::Refused(refused) })
    }
}

impl Trouble {
    pub(super) fn source(step: &'static str, cause: Cause) -> Self {
        Self { step, on: On::Source, cause }
    }

    pub(super) fn destination(step: &'static str, cause: Cause) -> Self {
        Self { step, on: On::Destination, cause }
    }

    /// Whether the source has no such file any more.
    pub(super) fn is_gone(self) -> bool {
        let is_gone = matches!(self.cause, Cause::Refused(FsError::Stale | FsError::NotFound));
        self.on == On::Source && is_gone
    }

    pub(super) fn of(self, path: Vec<u8>) -> CopyError {
        CopyError { step: self.step, on: self.on, path, cause: self.cause, left: None }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Of a file that was there a moment ago.
            Self::Refused(FsError::Stale) => formatter.write_str("it was removed or replaced meanwhile"),
            Self::Refused(refused) => refused.fmt(formatter),
            Self::Changed => formatter.write_str("it was changed while it was copied; copy it again"),
            Self::Differs(at) => write!(formatter, "the two sides differ at byte {at}"),
            Self::SameFile => formatter.write_str("source and destination are the same file"),
            Self::IsSource => formatter.write_str("it is the source of this copy"),
            Self::EmptySource => formatter.write_str(
                "the source is empty, and this would delete everything; add --delete=all if you mean that",
            ),
            Self::DeletedEnough => {
                formatter.write_str("--max-delete is reached; this and all that follows stays")
            }
            Self::IntoItself => formatter.write_str("a directory cannot be copied into itself"),
            Self::Circle => {
                formatter.write_str("the server shows it within itself: it is a directory above, once more")
            }
            Self::EndlessListing => formatter.write_str("the server lists the same entries again and again"),
            Self::TooMany => {
                formatter.write_str("too many names for one run; delete a part of the tree by hand")
            }
            Self::TooDeep => formatter.write_str("it is too deep: no path can name it"),
            Self::MountPoint => {
                formatter.write_str("something is mounted there; unmount it, or copy with -x")
            }
            Self::NotRecursive => formatter.write_str("it is a directory; add -r to copy directories"),
            Self::InTheWay(FileKind::Directory) => formatter.write_str("a directory is in the way"),
            Self::InTheWay(FileKind::BlockDevice | FileKind::CharacterDevice) => {
                formatter.write_str("a device is in the way")
            }
            Self::InTheWay(FileKind::Fifo) => formatter.write_str("a pipe is in the way"),
            Self::InTheWay(FileKind::Socket) => formatter.write_str("a socket is in the way"),
            Self::InTheWay(FileKind::Regular | FileKind::SymbolicLink) => {
                formatter.write_str("something that is no directory is in the way")
            }
            Self::TakenOver => {
                formatter.write_str("the same copy was started a second time, and has taken over")
            }
            Self::Stopped => formatter.write_str("the copy was stopped"),
        }
    }
}

impl fmt::Display for CopyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot {} {}: {}", self.step, Shown(&self.path), self.cause)?;
        match &self.left {
            Some(left) => write!(formatter, "\n{}", left.advice(self.cause)),
            None => match room(self.cause) {
                Some(room) => write!(formatter, "; {room} and run the same command again"),
                None => Ok(()),
            },
        }
    }
}

impl LeftFiles {
    /// Names the files, and says what to do with them.
    fn advice(&self, cause: Cause) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| Shown(path).to_string()).collect();
        let paths = paths.join(" and ");
        match (self.is_resumable, room(cause)) {
            (false, _) => format!("  cannot remove {paths}: delete by hand"),
            (true, Some(room)) => {
                format!("  left {paths}: {room} and run the same command again to resume, or delete them")
            }
            (true, None) => format!("  left {paths}: run the same command again to resume, or delete them"),
        }
    }
}

/// What makes room for what did not fit.
fn room(cause: Cause) -> Option<&'static str> {
    match cause {
        Cause::Refused(FsError::NoSpace) => Some("free space there"),
        Cause::Refused(FsError::QuotaExceeded) => {
            Some("delete files of yours there or have your quota raised,")
        }
        _ => None,
    }
}

pub(super) fn is_full(cause: Cause) -> bool {
    room(cause).is_some()
}

impl std::error::Error for CopyError {}
