//! LOCK (RFC 8881 18.10): locks a range of the current file. A result with NFS4ERR_DENIED holds [`Denied`].

use super::{LockKind, Owner, StateId};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

pub use super::locks::Denied;

/// Number of the operation.
pub const OPERATION: u32 = 12;

message! {
    /// The first lock of an owner on a file (`open_to_lock_owner4`).
    pub struct FirstLock<'a> {
        /// Not used since minor version 1 (`open_seqid`).
        pub open_sequence: u32,
        /// The open that it goes by.
        pub open: StateId,
        /// Not used since minor version 1 (`lock_seqid`).
        pub lock_sequence: u32,
        /// Who locks.
        pub owner: Owner<'a>,
    }
}

message! {
    /// A further lock (`exist_lock_owner4`).
    pub struct FurtherLock {
        /// The locks of the owner on the file.
        pub state: StateId,
        /// Not used since minor version 1 (`lock_seqid`).
        pub sequence: u32,
    }
}

/// Who locks (`locker4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockingOwner<'a> {
    /// An owner that has no locks on the file yet.
    First(FirstLock<'a>),
    /// One that has.
    Further(FurtherLock),
}

message! {
    /// Arguments of LOCK (`LOCK4args`).
    pub struct Arguments<'a> {
        /// Which kind of lock.
        pub kind: LockKind,
        /// Whether it was held before the server restarted.
        pub reclaim: bool,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; all ones means to the end of the file.
        pub length: u64,
        /// Who locks.
        pub locker: LockingOwner<'a>,
    }
}

message! {
    /// Result of a LOCK that went well (`LOCK4resok`).
    pub struct Success {
        /// The locks of the owner on the file.
        pub state: StateId,
    }
}

impl<'a> Decode<'a> for LockingOwner<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(if decoder.bool("new lock owner")? {
            Self::First(FirstLock::decode(decoder)?)
        } else {
            Self::Further(FurtherLock::decode(decoder)?)
        })
    }
}

impl Encode for LockingOwner<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.bool(matches!(self, Self::First(_)));
        match self {
            Self::First(lock) => lock.encode(encoder),
            Self::Further(lock) => lock.encode(encoder),
        }
    }
}
