//! The words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What limits one direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nobody wants anything.
    Idle,
    /// The client keeps too few calls in flight for this path: read-ahead, slots, threads.
    ClientSlots,
    /// The client could send more, but its socket does not take it.
    ClientSendBuffer,
    /// Calls wait for the file system.
    Storage,
    /// Calls wait for a processor.
    Processor,
    /// Encryption takes all of a processor.
    Encrypting,
    /// A cap of the server holds replies.
    Capped,
    /// Our send buffer is too small for this path.
    SendBuffer,
    /// The window that the peer offers is too small for this path.
    PeerWindow,
    /// The window that we offer is too small for this path.
    OurWindow,
    /// Losses that no queue explains keep the sender slow.
    Loss,
    /// The path carries what it can: the goal.
    PathFull,
    /// The sender is still finding out what the path can do.
    Ramping,
}

impl Verdict {
    /// The word, as reports, metrics and documents spell it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::ClientSlots => "client-slots",
            Self::ClientSendBuffer => "client-send-buffer",
            Self::Storage => "storage",
            Self::Processor => "processor",
            Self::Encrypting => "encrypting",
            Self::Capped => "capped",
            Self::SendBuffer => "send-buffer",
            Self::PeerWindow => "peer-window",
            Self::OurWindow => "our-window",
            Self::Loss => "loss",
            Self::PathFull => "path-full",
            Self::Ramping => "ramping",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
