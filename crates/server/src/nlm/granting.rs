//! Makes the calls of clients' lock managers, on threads of its own: one client that does not answer must not keep others waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_state::LockKind;
use howdah_wire::nlm::{CallerName, Cookie, Lock, LockOwner, PROGRAM, Status, VERSION_4, granted, lock};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::callbacks::{Answer, Callbacks, GrantCall};
use super::convert::offset_and_length;
use super::pending::Grant;
use crate::exports::Exported;
use crate::outgoing::{CallFailure, Called, call, tell};
use crate::room::one_client;
use crate::states::{GrantTicket, KnownHost, States};

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// After how long a client that did not answer is called again, as Linux's server does.
const AGAIN: Duration = Duration::from_secs(10);

/// Makes the calls.
#[derive(Clone)]
pub struct Granting {
    callbacks: Arc<Callbacks>,
    states: Arc<States>,
    exports: Arc<Exported>,
}

/// What became of a call of GRANTED.
enum Told {
    /// The client has its lock.
    Accepted,
    /// It does not want it, or waits no longer.
    Refused,
    /// It cannot say now, or was not reached.
    Later,
}

impl Granting {
    /// Makes these calls.
    pub fn new(callbacks: Arc<Callbacks>, states: Arc<States>, exports: Arc<Exported>) -> Self {
        Self { callbacks, states, exports }
    }

    /// What is called for.
    #[cfg(test)]
    pub fn callbacks(&self) -> Arc<Callbacks> {
        Arc::clone(&self.callbacks)
    }

    /// Calls clients about their locks until the queue ends: what a thread does.
    pub fn run_grants(&self) {
        while let Some(call) = self.callbacks.grants().take() {
            self.grant(&call);
        }
    }

    /// Answers clients until the queue ends: what a thread does.
    pub fn run_answers(&self) {
        while let Some(answer) = self.callbacks.answers().take() {
            self.answer(&answer);
        }
    }

    /// Ends the queues.
    pub fn end(&self) {
        self.callbacks.grants().end();
        self.callbacks.answers().end();
    }

    fn grant(&self, grant_call: &GrantCall) {
        let GrantCall { ticket, since, client } = *grant_call;
        let pending = self.callbacks.pending();
        let Some(grant) = pending.get(ticket) else { return };
        // A host that is gone has no locks: it was forgotten together with them.
        let Some(host) = self.states.hosts().get(grant.owner.host) else { return };
        match self.call(ticket, &grant, &host) {
            Told::Accepted => drop(pending.remove(ticket)),
            Told::Refused => self.take_back(ticket),
            Told::Later if self.is_unreachable(ticket, since) => {
                tracing::info!(client = %host.host.client, "a client that waited for a lock cannot be called back: the lock goes to the next");
                self.take_back(ticket);
            }
            Told::Later => {
                let (peer, due) = (one_client(client), Instant::now() + AGAIN);
                if self.callbacks.grants().put(peer, due, grant_call.clone()).is_err() {
                    pending.remove(ticket);
                }
            }
        }
    }

    /// Whether a client certainly got no call for a lease: it may have got any call that was sent.
    fn is_unreachable(&self, ticket: GrantTicket, since: Instant) -> bool {
        let may_be_told = self.callbacks.pending().get(ticket).is_none_or(|grant| grant.may_be_told);
        !may_be_told && since.elapsed() >= self.states.lease()
    }

    fn call(&self, ticket: GrantTicket, grant: &Grant, host: &KnownHost) -> Told {
        let arguments = self.arguments(ticket, grant, host);
        let (from, client) = (Some(host.host.server), host.host.client);
        let called = Called { program: PROGRAM, version: VERSION_4, procedure: granted::PROCEDURE };
        let outcome =
            self.callbacks.ports().call(from, client, (PROGRAM, VERSION_4), host.transport, |route| {
                call(route, called, &arguments, PATIENCE)
            });
        let answer = outcome.and_then(|answer| {
            let reply = lock::Reply::decode(&mut Decoder::new(&answer)).map(|reply| reply.status);
            reply.map_err(|_| CallFailure::Unanswered(std::io::ErrorKind::InvalidData.into()))
        });
        match answer {
            Ok(Status::Granted) => Told::Accepted,
            Ok(Status::Grace) => Told::Later,
            Ok(_) => Told::Refused,
            Err(failure) => {
                tracing::debug!(client = %host.host.client, %failure, "calling a client back for a lock");
                if failure.may_have_run() {
                    self.callbacks.pending().may_be_told(ticket);
                }
                Told::Later
            }
        }
    }

    /// The lock as the client asked for it: it finds it by these.
    fn arguments(&self, ticket: GrantTicket, grant: &Grant, host: &KnownHost) -> Vec<u8> {
        let file = self.exports.now().seal_as(ticket.file.export, &ticket.file.node);
        let (offset, length) = offset_and_length(grant.grant.range);
        let lock = Lock {
            caller: CallerName(&host.host.name),
            file: file.as_wire(),
            owner: LockOwner(&grant.owner.oh),
            process: grant.owner.svid,
            offset,
            length,
        };
        let cookie = ticket.number.to_be_bytes();
        let exclusive = grant.grant.kind == LockKind::Write;
        Encoder::to_vec(&granted::Arguments { cookie: Cookie(&cookie), exclusive, lock })
    }

    fn take_back(&self, ticket: GrantTicket) {
        let taken = self.states.ask(|state, now| {
            if let Some(grant) = self.callbacks.pending().remove(ticket) {
                state.refuse(now, &grant, false);
            }
            Ok(())
        });
        if let Err(error) = taken {
            tracing::debug!(?error, "taking a lock back");
        }
    }

    fn answer(&self, answer: &Answer) {
        let Answer { from, client, transport, procedure, arguments } = answer;
        let called = Called { program: PROGRAM, version: VERSION_4, procedure: *procedure };
        let sent =
            self.callbacks.ports().call(Some(*from), *client, (PROGRAM, VERSION_4), *transport, |route| {
                tell(route, called, arguments, PATIENCE)
            });
        if let Err(failure) = sent {
            // The client asks again.
            tracing::debug!(%client, %failure, "answering a client by a call");
        }
    }
}
