//! CREATE (RFC 1813 3.3.8): makes a regular file.

use super::{DirectoryName, Made, NewAttributes, Refused, WeakCacheConsistency, message::message};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 8;

/// How a name that exists is treated (`createhow3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// `UNCHECKED`: the file that is there will do.
    Unchecked(NewAttributes),
    /// `GUARDED`: refused.
    Guarded(NewAttributes),
    /// `EXCLUSIVE`: refused, unless a call with the same verifier made it.
    Exclusive([u8; 8]),
}

message! {
    /// Arguments of CREATE (`CREATE3args`).
    pub struct Arguments<'a> {
        /// What to make, and where.
        pub object: DirectoryName<'a>,
        /// How.
        pub how: How,
    }
}

/// Answer of a CREATE (`CREATE3res`); a refusal has attributes of the directory too (`CREATE3resfail`).
pub type Reply<'a> = Result<Made<'a>, Refused<WeakCacheConsistency>>;

impl Decode<'_> for How {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("how to create")? {
            0 => Self::Unchecked(NewAttributes::decode(decoder)?),
            1 => Self::Guarded(NewAttributes::decode(decoder)?),
            2 => Self::Exclusive(decoder.fixed("verifier")?),
            other => return Err(decoder.refuse("how to create", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for How {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let (number, new) = match self {
            Self::Unchecked(new) => (0, new),
            Self::Guarded(new) => (1, new),
            Self::Exclusive(verifier) => {
                encoder.u32(2);
                return encoder.fixed(verifier);
            }
        };
        encoder.u32(number);
        new.encode(encoder);
    }
}
