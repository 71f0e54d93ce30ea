//! How a file is made (`createhow4`).

use crate::nfs4::Verifier;
use crate::nfs4::attributes::Values;
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// How a name that exists is treated, and which attributes a new file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How<'a> {
    /// `UNCHECKED4`: the file that is there will do; its size is set if it is among the attributes and 0.
    Unchecked(Values<'a>),
    /// `GUARDED4`: refused.
    Guarded(Values<'a>),
    /// `EXCLUSIVE4`: refused, unless a call with the same verifier made it.
    Exclusive(Verifier),
    /// `EXCLUSIVE4_1`: the same, with attributes.
    ExclusiveWith(Verifier, Values<'a>),
}

impl<'a> Decode<'a> for How<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("how to create")? {
            0 => Self::Unchecked(Values::decode(decoder)?),
            1 => Self::Guarded(Values::decode(decoder)?),
            2 => Self::Exclusive(Verifier::decode(decoder)?),
            3 => Self::ExclusiveWith(Verifier::decode(decoder)?, Values::decode(decoder)?),
            other => return Err(decoder.refuse("how to create", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for How<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Unchecked(attributes) => {
                encoder.u32(0);
                attributes.encode(encoder);
            }
            Self::Guarded(attributes) => {
                encoder.u32(1);
                attributes.encode(encoder);
            }
            Self::Exclusive(verifier) => {
                encoder.u32(2);
                verifier.encode(encoder);
            }
            Self::ExclusiveWith(verifier, attributes) => {
                encoder.u32(3);
                verifier.encode(encoder);
                attributes.encode(encoder);
            }
        }
    }
}
