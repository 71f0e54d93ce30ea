//! A MIC token (RFC 4121 4.2.6.1): a header, and a checksum over the message and it.

use crate::enctype::Enctype;
use crate::error::TokenError;
use crate::header::{HEADER, Sender};
use crate::integrity::IntegrityKey;

/// The longest MIC token: that of enctype 20.
pub const MIC_MAX: usize = 40;

/// A MIC token. It lives where it is put: nothing is allocated.
#[derive(Debug, Clone, Copy)]
pub struct Mic {
    bytes: [u8; MIC_MAX],
    length: usize,
}

impl Mic {
    /// Length of the MIC tokens of an enctype in bytes: 28, 32 or 40.
    pub fn length(enctype: Enctype) -> usize {
        HEADER + enctype.checksum_length()
    }

    /// The token's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for Mic {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Signs a message, given in parts.
pub(crate) fn sign(key: &IntegrityKey, sender: Sender, sequence: u64, message: &[&[u8]]) -> Mic {
    let header = sender.mic_header(sequence);
    let checksum = key.sign(message.iter().copied().chain([&header[..]]));
    let length = HEADER + checksum.bytes().len();
    let mut bytes = [0; MIC_MAX];
    bytes[..HEADER].copy_from_slice(&header);
    bytes[HEADER..length].copy_from_slice(checksum.bytes());
    Mic { bytes, length }
}

/// Checks a token that `sender` made for a message, given in parts.
pub(crate) fn check(
    key: &IntegrityKey,
    sender: Sender,
    message: &[&[u8]],
    token: &[u8],
) -> Result<(), TokenError> {
    let (header, checksum) = token.split_first_chunk().ok_or(TokenError::Length)?;
    sender.check_mic(header)?;
    key.sign(message.iter().copied().chain([&header[..]])).check(checksum)
}
