//! The thread that gives delegations back: first nothing is believed any more that they covered, then the server hears of it.

use std::sync::{Arc, Weak};
use std::thread;

use howdah_wire::nfs4::{StateId, Status, delegreturn, putfh};

use super::ClientDelegations;
use super::delegations::ToReturn;
use crate::channel::Channel;
use crate::nfs4::exchange::CompoundCalls;
use crate::nfs4::operation::Operation;
use crate::nfs4::results::{Results, Stopped};
use crate::nfs4::upkeep::Upkeep;

/// So many go into one call.
const AT_ONCE: usize = 8;

/// Gives delegations back.
pub(in crate::nfs4) struct Returner {
    delegations: Arc<ClientDelegations>,
    upkeep: Arc<Upkeep>,
    channel: Weak<Channel>,
}

impl Returner {
    /// Starts the thread, which ends with the client.
    pub(super) fn start(delegations: Arc<ClientDelegations>, calls: &CompoundCalls) {
        let returner = Self {
            delegations: Arc::clone(&delegations),
            upkeep: Arc::clone(calls.session.upkeep()),
            channel: Arc::downgrade(&calls.channel),
        };
        let started = thread::Builder::new().name("delegations".to_owned()).spawn(move || returner.run());
        if let Err(error) = started {
            tracing::warn!(%error, "directories are not delegated to this client");
            delegations.on_no_thread();
        }
    }

    fn run(&self) {
        while let Some(work) = self.delegations.wait_for_work(AT_ONCE) {
            self.delegations.tell(&work.losses);
            let Some(channel) = self.channel.upgrade() else { break };
            let mut left = &work.returns[..];
            while !left.is_empty() {
                left = &left[self.give_back(&channel, left)..];
            }
        }
        self.delegations.on_no_thread();
    }

    /// Gives some back, one after the other until one is refused. Says how many are settled.
    fn give_back(&self, channel: &Channel, returns: &[ToReturn]) -> usize {
        let pairs = returns.iter().flat_map(|ToReturn { directory, state }| {
            [Operation::PutHandle(*directory), Operation::ReturnDelegation(*state)]
        });
        let operations: Vec<_> = pairs.collect();
        let request = self.upkeep.name.request();
        let pending = self.upkeep.start_in_session(channel, request, &operations);
        let Ok(answer) = pending.wait() else { return returns.len() };
        let results = Results { name: "DELEGRETURN", bytes: answer.results, repeated: false };
        let Ok(mut reader) = results.read() else { return returns.len() };
        for (settled, _) in returns.iter().enumerate() {
            let outcome = reader.skip(putfh::OPERATION).and_then(|()| reader.skip(delegreturn::OPERATION));
            match outcome {
                Ok(()) => {}
                Err(Stopped::Refused(_, Status::DELAY)) if settled > 0 => return settled,
                Err(stopped) => {
                    // Such as one that was taken away before, or of a directory that is gone.
                    tracing::debug!(?stopped, "giving a delegation back");
                    if stopped == Stopped::Refused(delegreturn::OPERATION, Status::DELEG_REVOKED) {
                        self.free(channel, returns[settled].state);
                    }
                    return settled + 1;
                }
            }
        }
        returns.len()
    }

    /// Lets the server forget that it took one away.
    fn free(&self, channel: &Channel, state: StateId) {
        let request = self.upkeep.name.request();
        let _ = self.upkeep.start_in_session(channel, request, &[Operation::FreeState(state)]).wait();
    }
}
