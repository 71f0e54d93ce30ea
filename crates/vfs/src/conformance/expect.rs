//! What cases check with: each helper says where in the suite it stood, what it looked at and what it saw.

use std::fmt::Debug;
use std::panic::Location;

use super::verdict::{Problem, Verdict};
use crate::{FsError, Result};

/// Fails with these words.
#[track_caller]
pub(super) fn failed(what: impl Into<String>) -> Problem {
    Problem(format!("{}: {}", Location::caller(), what.into()))
}

/// `what` must hold.
#[track_caller]
pub(super) fn holds(what: &str, holds: bool) -> Verdict {
    if holds { Ok(()) } else { Err(failed(format!("not so: {what}"))) }
}

/// `what` must be `wanted`.
#[track_caller]
pub(super) fn equal<T: PartialEq + Debug>(what: &str, seen: T, wanted: T) -> Verdict {
    if seen == wanted { Ok(()) } else { Err(failed(format!("{what} is {seen:?} instead of {wanted:?}"))) }
}

/// Bytes must be the `wanted` ones; shows the first difference instead of printing them all.
#[track_caller]
pub(super) fn equal_bytes(what: &str, seen: &[u8], wanted: &[u8]) -> Verdict {
    if seen.len() != wanted.len() {
        return Err(failed(format!("{what}: {} bytes instead of {}", seen.len(), wanted.len())));
    }
    match seen.iter().zip(wanted).position(|(seen, wanted)| seen != wanted) {
        None => Ok(()),
        Some(at) => Err(failed(format!("{what}: byte {at} is {:#x} instead of {:#x}", seen[at], wanted[at]))),
    }
}

/// The call must be refused, for one of these reasons.
#[track_caller]
pub(super) fn refused<T>(what: &str, outcome: Result<T>, reasons: &[FsError]) -> Verdict {
    match outcome {
        Err(error) if reasons.contains(&error) => Ok(()),
        Err(error) => Err(failed(format!("{what}: refused with {error:?} instead of {reasons:?}"))),
        Ok(_) => Err(failed(format!("{what}: succeeded instead of being refused with {reasons:?}"))),
    }
}
