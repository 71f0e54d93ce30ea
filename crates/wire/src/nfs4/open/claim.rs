//! Which file is opened, and by which right (`open_claim4`).

use super::delegation::DelegationKind;
use crate::nfs4::{Name, StateId};
use crate::xdr::{Decode, DecodeError, DecodeProblem, Decoder, Encode, Encoder};

/// Which file, and by which right. A name is one in the current directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'a> {
    /// `CLAIM_NULL`: the file of a name.
    Name(Name<'a>),
    /// `CLAIM_PREVIOUS`: the current file, which was open when the server restarted, with this delegation.
    Reclaim(DelegationKind),
    /// `CLAIM_DELEGATE_CUR`: the file of a name, by a delegation.
    Delegated(StateId, Name<'a>),
    /// `CLAIM_DELEGATE_PREV`: the file of a name, by a delegation from before the client restarted.
    DelegatedBefore(Name<'a>),
    /// `CLAIM_FH`: the current file.
    Current,
    /// `CLAIM_DELEG_CUR_FH`: the current file, by a delegation.
    CurrentDelegated(StateId),
    /// `CLAIM_DELEG_PREV_FH`: the current file, by a delegation from before the client restarted.
    CurrentDelegatedBefore,
}

impl<'a> Decode<'a> for Claim<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(match decoder.u32("claim")? {
            0 => Self::Name(Name::decode(decoder)?),
            1 => Self::Reclaim(DelegationKind::decode(decoder)?),
            2 => Self::Delegated(StateId::decode(decoder)?, Name::decode(decoder)?),
            3 => Self::DelegatedBefore(Name::decode(decoder)?),
            4 => Self::Current,
            5 => Self::CurrentDelegated(StateId::decode(decoder)?),
            6 => Self::CurrentDelegatedBefore,
            other => return Err(decoder.refuse("claim", 4, DecodeProblem::UnknownValue(other))),
        })
    }
}

impl Encode for Claim<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::Name(name) => {
                encoder.u32(0);
                name.encode(encoder);
            }
            Self::Reclaim(kind) => {
                encoder.u32(1);
                kind.encode(encoder);
            }
            Self::Delegated(state, name) => {
                encoder.u32(2);
                state.encode(encoder);
                name.encode(encoder);
            }
            Self::DelegatedBefore(name) => {
                encoder.u32(3);
                name.encode(encoder);
            }
            Self::Current => encoder.u32(4),
            Self::CurrentDelegated(state) => {
                encoder.u32(5);
                state.encode(encoder);
            }
            Self::CurrentDelegatedBefore => encoder.u32(6),
        }
    }
}
