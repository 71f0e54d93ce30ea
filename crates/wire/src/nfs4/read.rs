//! READ (RFC 8881 18.22): data of the current file.

use super::StateId;
use crate::limits::DATA_MAX;
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the operation.
pub const OPERATION: u32 = 25;

message! {
    /// Arguments of READ (`READ4args`).
    pub struct Arguments {
        /// The open, lock or delegation that it goes by.
        pub state: StateId,
        /// Where to start, in bytes.
        pub offset: u64,
        /// How many bytes.
        pub count: u32,
    }
}

/// Result of a READ that went well (`READ4resok`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Success<'a> {
    /// Whether the data reaches the end of the file.
    pub end: bool,
    /// The data.
    pub data: &'a [u8],
}

message! {
    /// A result that went well, up to where its data starts: for a server whose data goes beside the reply. It has
    /// always the same
    /// length, so that room can be left for it while the data, or its length, is not known yet.
    pub struct Head {
        /// Whether the data reaches the end of the file.
        pub end: bool,
        /// Length of the data in bytes, without the padding that follows it.
        pub length: u32,
    }
}

impl Head {
    /// Length in bytes.
    pub const SIZE: usize = 4 + 4;

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        (u64::from(self.end) << 32 | u64::from(self.length)).to_be_bytes()
    }
}

impl<'a> Decode<'a> for Success<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { end: decoder.bool("end of file")?, data: decoder.opaque(DATA_MAX, "data")? })
    }
}

impl Encode for Success<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.bool(self.end);
        encoder.opaque(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_the_result_without_its_data() {
        for end in [false, true] {
            let head = Head { end, length: 5 };
            let whole = Encoder::to_vec(&Success { end, data: b"howdy" });
            assert_eq!(whole, [&head.to_bytes()[..], b"howdy\0\0\0"].concat());
            assert_eq!(Encoder::to_vec(&head), head.to_bytes());
        }
    }
}
