//! The server spoke wrongly on a stream.

use std::fmt;

use howdah_wire::xdr::DecodeError;

use super::FirstBytes;

/// The stream cannot be read on: the connection is closed, since nobody knows where the next reply starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerError {
    /// The stream begins with what cannot be the mark of a reply: another protocol speaks.
    NotRpc(FirstBytes),
    /// A reply longer than allowed.
    TooLong {
        /// The length claimed so far, in bytes.
        claimed: usize,
        /// The length allowed.
        limit: usize,
    },
    /// A reply in more fragments than allowed.
    TooManyFragments {
        /// How many are.
        limit: u32,
    },
    /// A record that is not a reply.
    NotAReply(DecodeError),
    /// A reply that is not signed by the server, or was changed on the way.
    NotGenuine,
    /// A call, on a stream whose client answers none.
    UnexpectedCall,
}

impl fmt::Display for PeerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRpc(first) => write!(formatter, "not RPC: the first bytes are {first}"),
            Self::TooLong { claimed, limit } => {
                write!(formatter, "a reply of {claimed} bytes, where at most {limit} are allowed")
            }
            Self::TooManyFragments { limit } => write!(formatter, "a reply in more than {limit} fragments"),
            Self::NotAReply(error) => write!(formatter, "not a reply: {error}"),
            Self::NotGenuine => {
                formatter.write_str("a reply whose signature is wrong: somebody may interfere on the way")
            }
            Self::UnexpectedCall => formatter.write_str("a call from the server, which nobody answers here"),
        }
    }
}

impl std::error::Error for PeerError {}
