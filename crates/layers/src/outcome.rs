//! What the outcome of a change of names says about what was done.

use howdah_vfs::{FsError, Result};

/// Whether a change of names was made, or may have been: not if it was refused for what it asked.
pub fn may_have_run(outcome: &Result<()>) -> bool {
    let refused = matches!(
        outcome,
        Err(FsError::NotFound
            | FsError::AccessDenied
            | FsError::NotPermitted
            | FsError::NotDirectory
            | FsError::IsDirectory
            | FsError::NotEmpty
            | FsError::Exists
            | FsError::ReadOnly)
    );
    !refused
}
