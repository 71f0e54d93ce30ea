//! WRITE (RFC 1813 3.3.7): data into a file.

use super::{DATA_MAX, FileHandle, Refused, WeakCacheConsistency};
use crate::message::{enumeration, message};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 7;

enumeration! {
    /// How durable data must be before it is answered (`stable_how`).
    pub enum Stability, "stability" {
        /// `UNSTABLE`: may be lost until COMMIT.
        Unstable = 0,
        /// `DATA_SYNC`: the data, and what is needed to find it.
        DataSync = 1,
        /// `FILE_SYNC`: data and attributes.
        FileSync = 2,
    }
}

/// Arguments of WRITE up to where the data starts, which may still be in the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// The file.
    pub node: FileHandle<'a>,
    /// Where the data goes, in bytes.
    pub offset: u64,
    /// How many bytes the client wants written.
    pub count: u32,
    /// How durable they must be.
    pub stability: Stability,
    /// How many bytes of data follow, without padding.
    pub length: u32,
}

/// Arguments of WRITE (`WRITE3args`), with the data borrowed from the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// The file.
    pub node: FileHandle<'a>,
    /// Where the data goes, in bytes.
    pub offset: u64,
    /// How many bytes the client wants written: the length of the data.
    pub count: u32,
    /// How durable they must be.
    pub stability: Stability,
    /// The data.
    pub data: &'a [u8],
}

message! {
    /// Answer of a WRITE that went well (`WRITE3resok`).
    pub struct Success {
        /// The file before and after.
        pub file: WeakCacheConsistency,
        /// Bytes written.
        pub count: u32,
        /// How durable they are.
        pub committed: Stability,
        /// Changes when uncommitted data was lost.
        pub verifier: [u8; 8],
    }
}

/// Answer of a WRITE (`WRITE3res`); a refusal has attributes of the file too (`WRITE3resfail`).
pub type Reply = Result<Success, Refused<WeakCacheConsistency>>;

impl<'a> Decode<'a> for Head<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            node: FileHandle::decode(decoder)?,
            offset: decoder.u64("offset")?,
            count: decoder.u32("count")?,
            stability: Stability::decode(decoder)?,
            length: decoder.length(DATA_MAX, "data")? as u32,
        })
    }
}

impl Encode for Head<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.node.encode(encoder);
        encoder.u64(self.offset);
        encoder.u32(self.count);
        self.stability.encode(encoder);
        encoder.u32(self.length);
    }
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            node: FileHandle::decode(decoder)?,
            offset: decoder.u64("offset")?,
            count: decoder.u32("count")?,
            stability: Stability::decode(decoder)?,
            data: decoder.opaque(DATA_MAX, "data")?,
        })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.node.encode(encoder);
        encoder.u64(self.offset);
        encoder.u32(self.count);
        self.stability.encode(encoder);
        encoder.opaque(self.data);
    }
}
