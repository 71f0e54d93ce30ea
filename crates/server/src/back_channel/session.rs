//! A session, as far as callbacks go.

use howdah_state::{ClientId, SessionId};

/// How the server proves itself in callbacks, as the client wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackCredentials {
    /// AUTH_NONE.
    None,
    /// AUTH_SYS.
    Sys {
        /// The name of the machine.
        machine: Box<[u8]>,
        /// The user.
        user: u32,
        /// The group.
        group: u32,
    },
}

/// A session, as far as callbacks go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackSession {
    /// The session.
    pub id: SessionId,
    /// Its client.
    pub client: ClientId,
    /// 1 or 2.
    pub minor_version: u32,
    /// The program that the client serves.
    pub program: u32,
    /// How the server proves itself.
    pub credentials: BackCredentials,
}
