//! What a file system of a server is beside a file system, whichever version of the protocol it is spoken to by.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use howdah_vfs::{FileSystem, Node, Result};

use crate::channel::{Channel, ProcedureReport};

/// An export of a server, or a directory below it, as a file system.
pub trait Remote: FileSystem {
    /// The way to the server: what it measured can be asked.
    fn channel(&self) -> &Arc<Channel>;

    /// The version of the protocol, as people write it: "NFSv4.2".
    fn protocol(&self) -> &'static str;

    /// The number and version of the program that it calls.
    fn program(&self) -> (u32, u32);

    /// How many bytes go into one call.
    fn sizes(&self) -> Sizes;

    /// Whether the server has said that it does not know the root any more: its directory was removed or replaced, or its handles are
    /// others now. Connecting again helps.
    fn has_lost_root(&self) -> bool;

    /// The root as it was when this connected, if the server said so.
    fn root_at_connect(&self) -> Option<Node>;

    /// The names, below the root, of what the URL named: they may not be there.
    fn below_root(&self) -> &[Vec<u8>];

    /// What the first of these names led to when this connected, if there are any.
    fn first_below_at_connect(&self) -> Option<Result<Node>>;

    /// The identity of the server, if it sends one: handles of clients that have this in common are those of one server.
    fn server_identity(&self) -> Option<&str> {
        None
    }

    /// What the server granted the session of NFSv4.
    fn session_grant(&self) -> Option<SessionGrant> {
        None
    }

    /// Makes all handles durable that callers were given by number, where such handles outlive this process.
    ///
    /// # Errors
    /// The disk fails.
    fn sync_handles(&self) -> io::Result<()> {
        Ok(())
    }

    /// Announces to the server that this client leaves, so that it keeps nothing for it. Calls after that may fail. Dropping it
    /// does so, too.
    fn leave(&self) {}

    /// What was called to connect: calls that the channel does not count.
    fn connect_calls(&self) -> &[ProcedureReport];
}

/// What a server grants a session of NFSv4 (RFC 8881 18.36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionGrant {
    /// The minor version.
    pub minor_version: u32,
    /// The most calls at the same time.
    pub slots: u32,
    /// The most operations in a call.
    pub operations: u32,
    /// The longest call, in bytes.
    pub request: u32,
    /// The longest reply, in bytes.
    pub response: u32,
    /// The longest reply that the server keeps for a call that is sent again, in bytes.
    pub kept_response: u32,
    /// How long the server keeps the state of a client that is not heard of.
    pub lease: Duration,
}

/// How many bytes go into one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The most data of a READ.
    pub read: u32,
    /// The most data of a WRITE.
    pub write: u32,
    /// The longest answer to a listing.
    pub listing: u32,
}
