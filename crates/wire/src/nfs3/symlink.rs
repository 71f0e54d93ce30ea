//! SYMLINK (RFC 1813 3.3.10): makes a symbolic link.

use super::{DirectoryName, Made, NewAttributes, Refused, TARGET_MAX, WeakCacheConsistency};
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder};

/// Number of the procedure.
pub const PROCEDURE: u32 = 10;

/// Arguments of SYMLINK (`SYMLINK3args`, `symlinkdata3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// What to make, and where.
    pub object: DirectoryName<'a>,
    /// Its attributes.
    pub new: NewAttributes,
    /// Where it points (`nfspath3`): as the client sent it, not checked yet.
    pub target: &'a [u8],
}

/// Answer of a SYMLINK (`SYMLINK3res`); a refusal has attributes of the directory too (`SYMLINK3resfail`).
pub type Reply<'a> = Result<Made<'a>, Refused<WeakCacheConsistency>>;

impl<'a> Decode<'a> for Arguments<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            object: DirectoryName::decode(decoder)?,
            new: NewAttributes::decode(decoder)?,
            target: decoder.opaque(TARGET_MAX, "link target")?,
        })
    }
}

impl Encode for Arguments<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.object.encode(encoder);
        self.new.encode(encoder);
        encoder.opaque(self.target);
    }
}
