//! What must survive a restart.

use std::net::IpAddr;

use crate::ids::Principal;

/// A line of the durable log of who may reclaim after a restart (RFC 8881 8.4.2.1, 8.4.3).
/// [`RecoveryRecords`](crate::RecoveryRecords) says what the lines come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurableRecord {
    /// A run of the server began.
    Start {
        /// Its boot epoch, larger than those before.
        epoch: u32,
    },
    /// This client may have opens and locks from now on.
    AddClient {
        /// The client's name of itself (`co_ownerid`).
        owner: Box<[u8]>,
        /// Who it is.
        principal: Principal,
        /// Our address that it calls; lines of older versions do not say.
        server: Option<IpAddr>,
    },
    /// This client has nothing any more and may reclaim nothing.
    RemoveClient {
        /// The client's name of itself.
        owner: Box<[u8]>,
        /// Who it is: another principal of that name keeps what it may.
        principal: Principal,
        /// It gave everything back itself, and reclaims nothing whether the line is lost or not. Not written.
        by_itself: bool,
    },
    /// This NLM host may have locks from now on, and is to get a notice of a restart (SM_NOTIFY).
    AddHost {
        /// What the server needs to know of it: name, addresses, transport.
        host: Box<[u8]>,
    },
    /// This NLM host has nothing any more.
    RemoveHost {
        /// As it was added.
        host: Box<[u8]>,
    },
    /// A client of another server, which this one stands in for from now on, may reclaim here what it had there.
    TakeClient {
        /// The client's name of itself.
        owner: Box<[u8]>,
        /// Who it is.
        principal: Principal,
        /// The address that it calls.
        server: Option<IpAddr>,
    },
    /// The same for an NLM host.
    TakeHost {
        /// As it was added there.
        host: Box<[u8]>,
    },
    /// Grace is over: those of earlier runs who did not come back may reclaim nothing.
    EndGrace,
}
