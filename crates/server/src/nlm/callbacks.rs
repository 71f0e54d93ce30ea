//! What clients' lock managers are to be called for: locks that they got, and answers to the procedures that end in `_MSG`.

use std::net::IpAddr;
use std::time::Instant;

use howdah_state::{HostId, LockGrant, NlmOwner};

use super::pending::PendingGrants;
use crate::limits::{
    ANSWERS_OF_CLIENT_MAX, CALLBACK_THREADS_OF_CLIENT, CALLBACKS_MAX, CALLBACKS_OF_CLIENT_MAX,
};
use crate::outgoing::{ClientPorts, DueQueue, QueueBounds};
use crate::room::one_client;
use crate::states::{FileKey, GrantTicket, LockNews};
use crate::{Peer, Transport};

/// GRANTED: a client got a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantCall {
    /// Which.
    pub ticket: GrantTicket,
    /// When it got it.
    pub since: Instant,
    /// Where it is called.
    pub client: IpAddr,
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

/// The calls that are to be made, and what is known for them. Answers wait in a queue of their own: a client that asks for many, and does
/// not take them, keeps no other from learning of its lock.
#[derive(Debug)]
pub struct Callbacks {
    pending: PendingGrants,
    grants: DueQueue<GrantCall>,
    answers: DueQueue<Answer>,
    ports: ClientPorts,
}

impl Callbacks {
    /// None yet. Clients' portmappers listen on this port.
    pub fn new(portmapper: u16) -> Self {
        let grants = QueueBounds {
            jobs: CALLBACKS_MAX,
            jobs_of_peer: CALLBACKS_OF_CLIENT_MAX,
            at_once: CALLBACK_THREADS_OF_CLIENT,
        };
        let answers = QueueBounds { jobs_of_peer: ANSWERS_OF_CLIENT_MAX, at_once: 1, ..grants };
        let (grants, answers) = (DueQueue::new(grants), DueQueue::new(answers));
        Self { pending: PendingGrants::default(), grants, answers, ports: ClientPorts::new(portmapper) }
    }

    /// Locks that hosts have got and do not know of yet.
    pub fn pending(&self) -> &PendingGrants {
        &self.pending
    }

    /// Calls of GRANTED.
    pub fn grants(&self) -> &DueQueue<GrantCall> {
        &self.grants
    }

    /// Answers.
    pub fn answers(&self) -> &DueQueue<Answer> {
        &self.answers
    }

    /// Where clients' lock managers listen.
    pub fn ports(&self) -> &ClientPorts {
        &self.ports
    }

    /// Answers a client by a call.
    pub fn answer(&self, peer: &Peer, procedure: u32, arguments: Vec<u8>) {
        let [client, from] = [peer.ends.client, peer.ends.server].map(|end| end.ip().to_canonical());
        let answer = Answer { from, client, transport: peer.transport, procedure, arguments };
        if self.answers.put(one_client(client), Instant::now(), answer).is_err() {
            tracing::debug!(%client, "too many answers by call wait: one is dropped");
        }
    }
}

impl LockNews for Callbacks {
    fn note(&self, owner: NlmOwner, grant: LockGrant<FileKey>) -> GrantTicket {
        self.pending.note(owner, grant)
    }

    fn tell(&self, ticket: GrantTicket, client: IpAddr) {
        let since = Instant::now();
        if self.grants.put(one_client(client), since, GrantCall { ticket, since, client }).is_err() {
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
