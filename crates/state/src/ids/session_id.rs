//! The server's name of a session.

/// The name of a session (RFC 8881 2.10.3, `sessionid4`): a place in the table of sessions, the boot epoch, and eight bytes that
/// never come again and cannot be guessed from other sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// The id of the session at this place of the table.
    pub fn new(place: u32, epoch: u32, unique: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&place.to_be_bytes());
        bytes[4..8].copy_from_slice(&epoch.to_be_bytes());
        bytes[8..].copy_from_slice(&unique.to_be_bytes());
        Self(bytes)
    }

    /// Its place in the table of sessions, as the id claims it.
    pub fn place(self) -> usize {
        let Self([a, b, c, d, ..]) = self;
        u32::from_be_bytes([a, b, c, d]) as usize
    }
}
