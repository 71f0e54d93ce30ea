//! How calls end, as far as it is counted: by a place in a row of counters, and its name.

use howdah_wire::nfs3::Status;
use howdah_wire::rpc::{Accepted, Denied};

/// Ways of ending that are no status of NFS: GARBAGE_ARGS, SYSTEM_ERR, an authentication error.
const OF_RPC: [&str; 3] = ["GARBAGE_ARGS", "SYSTEM_ERR", "AUTH_ERROR"];
/// A status that NFSv3 does not have.
const UNKNOWN: &str = "OTHER";
/// How many errors are counted one by one.
pub const ERRORS: usize = Status::ALL.len() + OF_RPC.len() + 1;

/// How a call ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It went well, or its answer has no status.
    #[default]
    Well,
    /// With this status of NFS or MOUNT.
    Status(u32),
    /// Its arguments made no sense.
    Garbage,
    /// Something broke here.
    System,
    /// Its credentials did not do.
    Authentication,
    /// It came before, and was answered as it was then.
    Replayed,
}

/// Messages that come to no procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unheard {
    /// They are no calls, or have a header that makes no sense.
    Malformed,
    /// Their credentials do not do.
    Authentication,
    /// There is no such program, version or procedure.
    Unavailable,
}

impl Outcome {
    /// From the first word of a result.
    #[inline]
    pub fn of_status(status: u32) -> Self {
        if status == 0 { Self::Well } else { Self::Status(status) }
    }

    /// Which counter of errors it has.
    pub fn error(self) -> Option<usize> {
        let known = Status::ALL.len();
        match self {
            Self::Well | Self::Replayed => None,
            Self::Status(number) => {
                let place = Status::ALL.binary_search_by_key(&number, |status| *status as u32);
                Some(place.unwrap_or(ERRORS - 1))
            }
            Self::Garbage => Some(known),
            Self::System => Some(known + 1),
            Self::Authentication => Some(known + 2),
        }
    }
}

impl Unheard {
    /// How a call was refused before its procedure was known.
    pub fn of(outcome: &Result<Accepted, Denied>) -> Self {
        match outcome {
            Err(Denied::Authentication(_)) => Self::Authentication,
            Ok(Accepted::GarbageArguments) => Self::Malformed,
            _ => Self::Unavailable,
        }
    }
}

/// The name of a counter of errors: that of the RFC, without its prefix.
pub fn error_name(error: usize) -> &'static str {
    let status = Status::ALL.get(error).map(|status| status.rfc_name());
    let short = status.map(|name| name.strip_prefix("NFS3ERR_").unwrap_or(name));
    let of_rpc = || error.checked_sub(Status::ALL.len()).and_then(|error| OF_RPC.get(error).copied());
    short.or_else(of_rpc).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_a_counter_of_its_own() {
        assert!(Status::ALL.is_sorted_by_key(|status| *status as u32), "they are searched for");
        for (place, status) in Status::ALL.iter().enumerate() {
            assert_eq!(Outcome::of_status(*status as u32).error(), Some(place));
        }
        let name = |outcome: Outcome| error_name(outcome.error().expect("an error"));
        assert_eq!(name(Outcome::Status(Status::NotFound as u32)), "NOENT");
        assert_eq!(name(Outcome::Garbage), "GARBAGE_ARGS");
        assert_eq!(name(Outcome::System), "SYSTEM_ERR");
        assert_eq!(name(Outcome::Authentication), "AUTH_ERROR");
        assert_eq!(name(Outcome::Status(4711)), "OTHER");
        assert_eq!(Outcome::of_status(0).error(), None);
    }
}
