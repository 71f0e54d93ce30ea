//! DUMP (RFC 1813 5.2.2): who has mounted what, as far as the server remembers.

use super::{DirectoryPath, HostName};
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure; it has no arguments.
pub const PROCEDURE: u32 = 2;
/// The most mounts that are taken from an answer. The protocol sets no limit.
const MOUNTS_MAX: u32 = 65_536;

message! {
    /// One mount (`mountbody`).
    pub struct Mount<'a> {
        /// The client.
        pub host: HostName<'a>,
        /// What it mounted.
        pub path: DirectoryPath<'a>,
    }
}

/// Answer of DUMP (`mountlist`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// The mounts.
    pub mounts: Vec<Mount<'a>>,
}

impl<'a> Decode<'a> for Reply<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { mounts: decoder.list(MOUNTS_MAX, "mounts")? })
    }
}

impl Encode for Reply<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.list(&self.mounts);
    }
}
