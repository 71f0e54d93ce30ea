//! UMNT (RFC 1813 5.2.3): forgets a mount of the caller. It has no result.

use super::DirectoryPath;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 3;

/// Arguments of UMNT (`dirpath`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// What was mounted.
    pub path: DirectoryPath<'a>,
}

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { path: DirectoryPath::decode(decoder)? })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.path.encode(encoder);
    }
}
