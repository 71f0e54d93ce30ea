//! The delegation that comes with an open (`open_delegation4`).

use crate::message::{enumeration, message};
use crate::nfs4::StateId;
use crate::nfs4::attributes::Principal;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

enumeration! {
    /// What kind of delegation (`open_delegation_type4`).
    pub enum DelegationKind, "kind of delegation" {
        /// `OPEN_DELEGATE_NONE`
        None = 0,
        /// `OPEN_DELEGATE_READ`
        Read = 1,
        /// `OPEN_DELEGATE_WRITE`
        Write = 2,
        /// `OPEN_DELEGATE_NONE_EXT`: none, and why.
        NoneWithReason = 3,
        /// `OPEN_DELEGATE_READ_ATTRS_DELEG` (RFC 9754)
        ReadWithTimes = 4,
        /// `OPEN_DELEGATE_WRITE_ATTRS_DELEG` (RFC 9754)
        WriteWithTimes = 5,
    }
}

message! {
    /// An entry of an ACL (`nfsace4`).
    pub struct AccessEntry<'a> {
        /// Whether it allows or denies (`acetype4`).
        pub kind: u32,
        /// Where it applies (`aceflag4`).
        pub flags: u32,
        /// What (`acemask4`).
        pub mask: u32,
        /// The user or group.
        pub who: Principal<'a>,
    }
}

message! {
    /// A delegation for reading (`open_read_delegation4`).
    pub struct Given<'a> {
        /// The delegation.
        pub state: StateId,
        /// Whether it is recalled already.
        pub recalled: bool,
        /// Who opens the file without asking the server.
        pub permissions: AccessEntry<'a>,
    }
}

message! {
    /// A delegation for writing (`open_write_delegation4`).
    pub struct WriteGiven<'a> {
        /// The delegation.
        pub state: StateId,
        /// Whether it is recalled already.
        pub recalled: bool,
        /// How far the file may grow before data is to be written at its close.
        pub limit: SpaceLimit,
        /// Who opens the file without asking the server.
        pub permissions: AccessEntry<'a>,
    }
}

/// How far a file may grow (`nfs_space_limit4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceLimit {
    /// `NFS_LIMIT_SIZE`: to this size in bytes.
    Size(u64),
    /// `NFS_LIMIT_BLOCKS`: by this many blocks.
    Blocks {
        /// How many.
        count: u32,
        /// Size of each in bytes.
        size: u32,
    },
}

/// Why there is no delegation (`why_no_delegation4`, `open_none_delegation4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNone {
    /// `WND4_CONTENTION`: others are in the way. Whether the server will give one later.
    Contention(bool),
    /// `WND4_RESOURCE`: the server has no room. Whether it will say when it has.
    Resource(bool),
    /// Another number: see the constants.
    Other(u32),
}

impl WhyNone {
    /// `WND4_NOT_WANTED`
    pub const NOT_WANTED: Self = Self::Other(0);
    /// `WND4_CANCELLED`
    pub const CANCELLED: Self = Self::Other(7);
}

/// The delegation that comes with an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delegation<'a> {
    /// `OPEN_DELEGATE_NONE`
    None,
    /// `OPEN_DELEGATE_NONE_EXT`: for clients that said what they want.
    NoneBecause(WhyNone),
    /// `OPEN_DELEGATE_READ`; with times if the flag is set (`OPEN_DELEGATE_READ_ATTRS_DELEG`).
    Read(Given<'a>, bool),
    /// `OPEN_DELEGATE_WRITE`; with times if the flag is set (`OPEN_DELEGATE_WRITE_ATTRS_DELEG`).
    Write(WriteGiven<'a>, bool),
}

impl<'a> Decode<'a> for Delegation<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match DelegationKind::decode(decoder)? {
            DelegationKind::None => Self::None,
            DelegationKind::NoneWithReason => Self::NoneBecause(WhyNone::decode(decoder)?),
            DelegationKind::Read => Self::Read(Given::decode(decoder)?, false),
            DelegationKind::ReadWithTimes => Self::Read(Given::decode(decoder)?, true),
            DelegationKind::Write => Self::Write(WriteGiven::decode(decoder)?, false),
            DelegationKind::WriteWithTimes => Self::Write(WriteGiven::decode(decoder)?, true),
        })
    }
}

impl Encode for Delegation<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let kind = match self {
            Self::None => DelegationKind::None,
            Self::NoneBecause(_) => DelegationKind::NoneWithReason,
            Self::Read(_, false) => DelegationKind::Read,
            Self::Read(_, true) => DelegationKind::ReadWithTimes,
            Self::Write(_, false) => DelegationKind::Write,
            Self::Write(_, true) => DelegationKind::WriteWithTimes,
        };
        kind.encode(encoder);
        match self {
            Self::None => {}
            Self::NoneBecause(why) => why.encode(encoder),
            Self::Read(given, _) => given.encode(encoder),
            Self::Write(given, _) => given.encode(encoder),
        }
    }
}

impl Decode<'_> for WhyNone {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("why there is no delegation")? {
            1 => Self::Contention(decoder.bool("push")?),
            2 => Self::Resource(decoder.bool("signal")?),
            other => Self::Other(other),
        })
    }
}

impl Encode for WhyNone {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match *self {
            Self::Contention(push) => {
                encoder.u32(1);
                encoder.bool(push);
            }
            Self::Resource(signal) => {
                encoder.u32(2);
                encoder.bool(signal);
            }
            Self::Other(number) => encoder.u32(number),
        }
    }
}

impl Decode<'_> for SpaceLimit {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("kind of limit")? {
            1 => Self::Size(decoder.u64("size")?),
            2 => Self::Blocks { count: decoder.u32("blocks")?, size: decoder.u32("block size")? },
            other => return Err(decoder.refuse("kind of limit", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for SpaceLimit {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match *self {
            Self::Size(size) => {
                encoder.u32(1);
                encoder.u64(size);
            }
            Self::Blocks { count, size } => {
                encoder.u32(2);
                encoder.u32(count);
                encoder.u32(size);
            }
        }
    }
}
