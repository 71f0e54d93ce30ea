//! The 16 bytes in front of each token (RFC 4121 4.2.6): its kind, flags and number. They go last under checksum and cipher.

use crate::error::TokenError;
use crate::lucid::ContextSide;

/// Length of a header in bytes.
pub(crate) const HEADER: usize = 16;

/// `TOK_ID` of a MIC token.
const MIC: [u8; 2] = [0x04, 0x04];
/// `TOK_ID` of a Wrap token.
const WRAP: [u8; 2] = [0x05, 0x04];
/// What a MIC token has where a Wrap token has its counts.
const FILLER: [u8; 5] = [0xff; 5];

/// `SentByAcceptor`.
const BY_ACCEPTOR: u8 = 1;
/// `Sealed`: encrypted, not only signed.
const SEALED: u8 = 2;
/// `AcceptorSubkey`: the key is the one that the acceptor chose.
const SUBKEY: u8 = 4;

/// What all tokens of one side of a context have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) side: ContextSide,
    pub(crate) acceptor_subkey: bool,
}

/// The two counts in a Wrap token's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// `EC`: bytes of filler behind the message.
    pub(crate) extra: usize,
    /// `RRC`: by how many bytes all behind the header is turned right.
    pub(crate) rotation: usize,
}

impl Sender {
    fn flags(self) -> u8 {
        let side = if self.side == ContextSide::Acceptor { BY_ACCEPTOR } else { 0 };
        side | if self.acceptor_subkey { SUBKEY } else { 0 }
    }

    pub(crate) fn mic_header(self, sequence: u64) -> [u8; HEADER] {
        header(MIC, self.flags(), FILLER, sequence)
    }

    /// That of a token without filler that is not turned.
    pub(crate) fn wrap_header(self, sequence: u64) -> [u8; HEADER] {
        header(WRAP, self.flags() | SEALED, [0xff, 0, 0, 0, 0], sequence)
    }

    /// Whether this side could have sent a MIC token with such a header.
    pub(crate) fn check_mic(self, header: &[u8; HEADER]) -> Result<(), TokenError> {
        if header[..2] != MIC || header[3..8] != FILLER {
            return Err(TokenError::Kind);
        }
        self.check_flags(header[2])
    }

    /// The same of a Wrap token.
    pub(crate) fn check_wrap(self, header: &[u8; HEADER]) -> Result<Counts, TokenError> {
        if header[..2] != WRAP || header[3] != FILLER[0] {
            return Err(TokenError::Kind);
        }
        self.check_flags(header[2])?;
        if header[2] & SEALED == 0 {
            return Err(TokenError::NotSealed);
        }
        let count = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
        Ok(Counts { extra: count(4), rotation: count(6) })
    }

    fn check_flags(self, flags: u8) -> Result<(), TokenError> {
        if (flags ^ self.flags()) & BY_ACCEPTOR != 0 {
            return Err(TokenError::Reflected);
        }
        if (flags ^ self.flags()) & SUBKEY != 0 {
            return Err(TokenError::Subkey);
        }
        Ok(())
    }
}

/// A received header as its sender put it under the cipher: before anything was turned.
pub(crate) fn without_rotation(mut header: [u8; HEADER]) -> [u8; HEADER] {
    header[6..8].fill(0);
    header
}

fn header(kind: [u8; 2], flags: u8, middle: [u8; 5], sequence: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..2].copy_from_slice(&kind);
    header[2] = flags;
    header[3..8].copy_from_slice(&middle);
    header[8..].copy_from_slice(&sequence.to_be_bytes());
    header
}
