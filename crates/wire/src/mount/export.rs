//! EXPORT (RFC 1813 5.2.5): what is exported, and to which clients.

use super::{DirectoryPath, HostName};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure; it has no arguments.
pub const PROCEDURE: u32 = 5;
/// The most exports that are taken from an answer. The protocol sets no limit.
const EXPORTS_MAX: u32 = 65_536;
/// The most groups of one export that are taken from an answer. The protocol sets no limit.
const GROUPS_MAX: u32 = 65_536;

/// One export (`exportnode`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export<'a> {
    /// Its name.
    pub path: DirectoryPath<'a>,
    /// Who may mount it; nobody named means everybody.
    pub groups: Vec<HostName<'a>>,
}

/// Answer of EXPORT (`exports`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// The exports.
    pub exports: Vec<Export<'a>>,
}

impl<'a> Decode<'a> for Export<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { path: DirectoryPath::decode(decoder)?, groups: decoder.list(GROUPS_MAX, "groups")? })
    }
}

impl Encode for Export<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.path.encode(encoder);
        encoder.list(&self.groups);
    }
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { exports: decoder.list(EXPORTS_MAX, "exports")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.list(&self.exports);
    }
}
