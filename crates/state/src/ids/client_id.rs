//! The server's name of a client.

/// The server's name of one run of a client (RFC 8881 2.4, `clientid4`): the boot epoch in the upper half, so that an id of an
/// earlier run of the server is known as stale, and a random number in the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u64);

impl ClientId {
    /// The id of the client with this number in this epoch.
    pub fn new(epoch: u32, number: u32) -> Self {
        Self(u64::from(epoch) << 32 | u64::from(number))
    }

    /// The boot epoch of the server that gave it out.
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The number within that epoch; never 0.
    pub fn number(self) -> u32 {
        self.0 as u32
    }
}
