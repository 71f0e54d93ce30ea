//! What an administrator sees: who holds what, and who waits for whom.

use std::net::IpAddr;
use std::time::Duration;

use crate::ids::{ByteRange, ClientId, LockKind, LockOwner, Principal};

/// A client of NFSv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientView {
    /// Its id.
    pub client: ClientId,
    /// Its name of itself.
    pub owner: Box<[u8]>,
    /// Who it is.
    pub principal: Principal,
    /// Where its EXCHANGE_ID came from.
    pub peer: IpAddr,
    /// Whether its lease holds.
    pub standing: ClientStanding,
    /// How long it has been silent.
    pub silence: Duration,
    /// Sessions.
    pub sessions: usize,
    /// Opens.
    pub opens: usize,
    /// Byte ranges that are locked.
    pub locks: usize,
}

/// Whether a client's lease holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientStanding {
    /// No session yet.
    Unconfirmed,
    /// Its lease holds.
    Active,
    /// Its lease passed: it keeps what nobody wants.
    Courtesy,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who.
    pub owner: &'a LockOwner,
    /// How.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
}

/// A lock that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who waits.
    pub owner: &'a LockOwner,
    /// How it is to be locked.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
    /// Who holds it; none if it is the waiter's turn.
    pub holder: Option<&'a LockOwner>,
}
