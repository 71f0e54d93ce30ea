//! One run of one client.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::creation::CreationSlot;
use crate::ids::{ClientId, Principal, SessionId};
use crate::sessions::ClientShared;

/// One run of one client.
#[derive(Debug)]
pub struct ClientRecord {
    /// Its id.
    pub id: ClientId,
    /// Its name of itself.
    pub owner: Box<[u8]>,
    /// The name of this run.
    pub verifier: [u8; 8],
    /// Who it is.
    pub principal: Principal,
    /// How many clients were made before it.
    pub made: u64,
    /// Where its EXCHANGE_ID came from.
    pub peer: IpAddr,
    /// The network of that address.
    pub network: IpAddr,
    /// Networks where it sent EXCHANGE_ID before, the last first: a client with several interfaces tries each (RFC 8881 2.10.5).
    pub earlier_networks: Vec<IpAddr>,
    /// Our address that it called.
    pub server: IpAddr,
    /// Lease and flags.
    pub shared: Arc<ClientShared>,
    /// Whether it has made a session.
    pub is_confirmed: bool,
    /// Whether it sent RECLAIM_COMPLETE.
    pub is_complete: bool,
    /// Its calls of CREATE_SESSION.
    pub creation: CreationSlot,
    /// Its sessions.
    pub sessions: Vec<SessionId>,
}

impl ClientRecord {
    /// The networks that are known to be its.
    pub fn networks(&self) -> impl Iterator<Item = IpAddr> {
        std::iter::once(self.network).chain(self.earlier_networks.iter().copied())
    }

    /// Whether its lease has passed.
    pub fn is_lapsed(&self, now: Duration, lease: Duration) -> bool {
        self.shared.silence(now) > lease
    }
}
