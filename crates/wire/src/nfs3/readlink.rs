//! READLINK (RFC 1813 3.3.5): where a symbolic link points.

use super::{Attributes, FileHandle, Refused, TARGET_MAX, message::message};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 5;

message! {
    /// Arguments of READLINK (`READLINK3args`).
    pub struct Arguments<'a> {
        /// The symbolic link.
        pub link: FileHandle<'a>,
    }
}

/// Answer of a READLINK that went well (`READLINK3resok`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Success<'a> {
    /// The link's own attributes.
    pub attributes: Option<Attributes>,
    /// Where it points (`nfspath3`).
    pub target: &'a [u8],
}

/// Answer of a READLINK (`READLINK3res`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;

impl<'a> Decode<'a> for Success<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { attributes: Option::decode(decoder)?, target: decoder.opaque(TARGET_MAX, "link target")? })
    }
}

impl Encode for Success<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.attributes.encode(encoder);
        encoder.opaque(self.target);
    }
}
