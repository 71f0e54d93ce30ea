//! What a case comes to: nothing wrong, or what and where.

use std::panic::Location;

use crate::FsError;

/// What the subject did wrong, and where the case expected what.
#[derive(Debug)]
pub(super) struct Problem(pub(super) String);

/// What a case returns.
pub(super) type Verdict<T = ()> = Result<T, Problem>;

impl From<FsError> for Problem {
    /// A refusal where the case expects success.
    #[track_caller]
    fn from(error: FsError) -> Self {
        Self(format!("{}: refused: {error}", Location::caller()))
    }
}
