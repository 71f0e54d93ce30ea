//! WRITE (RFC 8881 18.32): data into the current file.

use super::{Stability, StateId, Verifier};
use crate::limits::DATA_MAX;
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 38;

/// Arguments of WRITE up to where the data starts, which may still be in the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The open, lock or delegation that it goes by.
    pub state: StateId,
    /// Where the data goes, in bytes.
    pub offset: u64,
    /// How durable it must be.
    pub stability: Stability,
    /// How many bytes of data follow, without padding.
    pub length: u32,
}

/// Arguments of WRITE (`WRITE4args`), with the data borrowed from the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// The open, lock or delegation that it goes by.
    pub state: StateId,
    /// Where the data goes, in bytes.
    pub offset: u64,
    /// How durable it must be.
    pub stability: Stability,
    /// The data.
    pub data: &'a [u8],
}

message! {
    /// Result of a WRITE that went well (`WRITE4resok`).
    pub struct Success {
        /// Bytes written.
        pub count: u32,
        /// How durable they are.
        pub committed: Stability,
        /// Changes when uncommitted data was lost.
        pub verifier: Verifier,
    }
}

impl Head {
    /// Length in bytes.
    pub const SIZE: usize = StateId::SIZE + 8 + 4 + 4;
}

impl Decode<'_> for Head {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            state: StateId::decode(decoder)?,
            offset: decoder.u64("offset")?,
            stability: Stability::decode(decoder)?,
            length: decoder.length(DATA_MAX, "data")? as u32,
        })
    }
}

impl Encode for Head {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.state.encode(encoder);
        encoder.u64(self.offset);
        self.stability.encode(encoder);
        encoder.u32(self.length);
    }
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            state: StateId::decode(decoder)?,
            offset: decoder.u64("offset")?,
            stability: Stability::decode(decoder)?,
            data: decoder.opaque(DATA_MAX, "data")?,
        })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.state.encode(encoder);
        encoder.u64(self.offset);
        self.stability.encode(encoder);
        encoder.opaque(self.data);
    }
}
