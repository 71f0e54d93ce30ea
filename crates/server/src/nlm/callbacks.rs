//! What clients' lock managers are to be called for: locks that they got, and answers to the procedures that end in `_MSG`.

use std::net::IpAddr;
use std::time::Instant;

use howdah_state::{HostId, LockGrant, NlmOwner};

use super::pending::PendingGrants;
use crate::limits::CALLBACKS_MAX;
use crate::outgoing::{ClientPorts, DueQueue};
use crate::states::{FileKey, GrantTicket, LockNews};
use crate::{Peer, Transport};

/// A call of a client's lock manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callback {
    /// GRANTED: it got a lock. When it got it.
    Granted(GrantTicket, Instant),
    /// An answer.
    Answer(Box<Answer>),
}

/// An answer that is given by a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// From the address that was called.
    pub from: IpAddr,
    /// To the client.
    pub client: IpAddr,
    /// How its call came.
    pub transport: Transport,
    /// The procedure.
    pub procedure: u32,
    /// Its arguments.
    pub arguments: Vec<u8>,
}

/// The calls that are to be made, and what is known for them.
#[derive(Debug)]
pub struct Callbacks {
    pending: PendingGrants,
    queue: DueQueue<Callback>,
    ports: ClientPorts,
}

impl Callbacks {
    /// None yet. Clients' portmappers listen on this port.
    pub fn new(portmapper: u16) -> Self {
        let (pending, queue) = (PendingGrants::default(), DueQueue::new(CALLBACKS_MAX));
        Self { pending, queue, ports: ClientPorts::new(portmapper) }
    }

    /// Locks that hosts are still to be told of.
    pub fn pending(&self) -> &PendingGrants {
        &self.pending
    }

    /// The calls.
    pub fn queue(&self) -> &DueQueue<Callback> {
        &self.queue
    }

    /// Where clients' lock managers listen.
    pub fn ports(&self) -> &ClientPorts {
        &self.ports
    }

    /// Answers a client by a call.
    pub fn answer(&self, peer: &Peer, procedure: u32, arguments: Vec<u8>) {
        let [client, from] = [peer.ends.client, peer.ends.server].map(|end| end.ip().to_canonical());
        let answer = Answer { from, client, transport: peer.transport, procedure, arguments };
        if self.queue.put(Instant::now(), Callback::Answer(Box::new(answer))).is_err() {
            tracing::debug!(%client, "too many calls of lock managers wait: an answer is dropped");
        }
    }
}

impl LockNews for Callbacks {
    fn note(&self, owner: NlmOwner, grant: LockGrant<FileKey>) -> GrantTicket {
        self.pending.note(owner, grant)
    }

    fn tell(&self, ticket: GrantTicket) {
        let now = Instant::now();
        if self.queue.put(now, Callback::Granted(ticket, now)).is_err() {
            // The client learns of it when it asks again.
            self.pending.remove(ticket);
        }
    }

    fn withdraw(&self, ticket: GrantTicket) -> Option<LockGrant<FileKey>> {
        self.pending.remove(ticket)
    }

    fn forget(&self, host: HostId) {
        self.pending.forget(host);
    }
}
