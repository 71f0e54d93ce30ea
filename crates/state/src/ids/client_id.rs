//! The server's names of a client and its opens, and who the client is.

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

/// One open state: what one open owner of one client has open of one file. The server keeps its open file under this name until
/// [`Effect::Closed`](crate::Effect::Closed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenId {
    /// Whose.
    pub client: ClientId,
    /// The index in its stateid.
    pub index: u32,
}

/// Who sent a call, as bytes that the server makes of flavour and user; never of the address, or trunking and renumbering break
/// (RFC 8881 2.4.3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Principal(pub Box<[u8]>);
