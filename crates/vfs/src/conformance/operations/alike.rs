//! Which differences between the model and a subject are none: refusals that POSIX systems give for the same reason.

use super::operation::{Act, Setting};
use crate::FsError;

/// What is said of a node of the wrong kind for data.
const NOT_A_FILE: &[FsError] =
    &[FsError::Invalid, FsError::IsDirectory, FsError::NoDevice, FsError::BadType, FsError::NotSupported];

/// What is said of a name that CREATE cannot take.
const TAKEN: &[FsError] = &[FsError::Exists, FsError::IsDirectory, FsError::Invalid];

/// What is said of a directory that cannot go.
const FULL: &[FsError] = &[FsError::NotEmpty, FsError::Exists];

/// What is said of a name of the wrong kind, or before that is seen, to a caller who may not remove it.
const NO_DIRECTORY: &[FsError] = &[FsError::NotDirectory, FsError::NotPermitted, FsError::AccessDenied];
const A_DIRECTORY: &[FsError] = &[FsError::IsDirectory, FsError::NotPermitted, FsError::AccessDenied];

/// What is said of the second name of a directory; or, before that is seen, of the place for the name.
const NO_LINK: &[FsError] = &[
    FsError::NotPermitted,
    FsError::IsDirectory,
    FsError::Exists,
    FsError::AccessDenied,
    FsError::NotDirectory,
    FsError::Stale,
];

/// What is said of a name that RENAME cannot replace: POSIX and RFC 1813 differ.
const NOT_BY_DIRECTORY: &[FsError] = &[FsError::NotDirectory, FsError::Exists];
const NOT_BY_FILE: &[FsError] = &[FsError::IsDirectory, FsError::Exists];

/// With two handles, either may be looked at first.
const EITHER_HANDLE: &[FsError] = &[FsError::Stale, FsError::NotDirectory, FsError::AccessDenied];

/// Whether two refusals of the same call say the same.
pub(super) fn refusals_alike(act: &Act, model: FsError, subject: FsError) -> bool {
    let groups: &[&[FsError]] = match act {
        Act::Read { .. } | Act::Write { .. } | Act::Commit | Act::Set(Setting::Size(_)) => &[NOT_A_FILE],
        Act::Create { .. } => &[TAKEN],
        Act::Remove => &[A_DIRECTORY],
        Act::RemoveDirectory => &[FULL, NO_DIRECTORY],
        Act::Rename { .. } => &[FULL, NOT_BY_DIRECTORY, NOT_BY_FILE, EITHER_HANDLE],
        Act::Link { .. } => &[NO_LINK],
        _ => &[],
    };
    model == subject || in_one_of(groups, model, subject)
}

fn in_one_of(groups: &[&[FsError]], one: FsError, other: FsError) -> bool {
    groups.iter().any(|group| group.contains(&one) && group.contains(&other))
}
