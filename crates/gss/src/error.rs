//! Why a token is refused.

use std::fmt;

/// What is wrong with a token. After any of them nothing in it, nor in the buffer that it came in, may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenError {
    /// Its length does not fit its kind and enctype.
    Length,
    /// Its first bytes are those of another kind of token.
    Kind,
    /// It was sent by the wrong side: a reflection of one of our own.
    Reflected,
    /// It names another key than the context uses: the acceptor's subkey or none.
    Subkey,
    /// A Wrap token that is signed and not encrypted.
    NotSealed,
    /// The checksum is wrong: another key, or changed bytes.
    Checksum,
    /// The header under the cipher differs from the one in clear.
    Header,
}

impl fmt::Display for TokenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Length => "the token has an impossible length",
            Self::Kind => "the token is of another kind",
            Self::Reflected => "the token was made by this side of the context",
            Self::Subkey => "the token names another key than the context uses",
            Self::NotSealed => "the token is not encrypted",
            Self::Checksum => "the checksum of the token is wrong",
            Self::Header => "the token's encrypted header differs from its header",
        })
    }
}

impl std::error::Error for TokenError {}
