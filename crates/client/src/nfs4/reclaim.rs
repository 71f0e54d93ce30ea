//! What the thread of the session does about opens and locks: gives back to a server what it forgot, and finds out what it took away.

use howdah_session::{ReclaimStep, SettleCall, SettleStep, UpkeepFailure};
use howdah_vfs::{Caller, FileLock, Handle};
use howdah_wire::nfs4::open::{Claim, DelegationKind};
use howdah_wire::nfs4::{StateId, Status, close, free_stateid, lock, locku, open, putfh, test_stateid};
use howdah_wire::xdr::Array;

use super::lock_owner::lock_owner;
use super::locks::{lock_current, unlock_current};
use super::open_file::{newest, open_current, open_owner};
use super::operation::Operation;
use super::refusal::is_of_state;
use super::results::{ResultReader, Results, Stopped};
use super::upkeep::Upkeep;
use crate::channel::Channel;

/// Stateids that one call tests.
const TESTED_AT_ONCE: usize = 64;

type Step<T> = Result<T, UpkeepFailure>;
type Claimed = ReclaimStep<Handle>;

impl Upkeep {
    /// The server has another client now, without opens and locks.
    pub(super) fn forget_states(&self) {
        self.delegations.forget();
        self.opens.change(|known| {
            known.table.on_forgotten();
            known.is_reclaiming = true;
        });
    }

    /// Whether something is to be opened again that could not be reclaimed, or to be set right.
    pub(super) fn has_more_to_do(&self) -> bool {
        self.opens.change(|known| known.table.next_reopen().is_some() || known.table.owes())
    }

    /// Reclaims all opens and locks that are not reclaimed yet. What the server refuses is lost.
    pub(super) fn reclaim(&self, channel: &Channel) -> Step<()> {
        let wanted = self.opens.change(|known| {
            if !std::mem::replace(&mut known.is_reclaiming, true) {
                known.table.on_forgotten();
            }
            known.checks_wanted
        });
        while let Some(step) = self.opens.change(|known| known.table.next_reclaim()) {
            self.claim(channel, &step)?;
        }
        self.opens.change(|known| {
            known.is_reclaiming = false;
            known.checks_done = known.checks_done.max(wanted);
        });
        Ok(())
    }

    /// Tests all stateids, frees those that were revoked, opens again what is to be used on, and sets right what calls without an answer
    /// may have done.
    pub(super) fn check_states(&self, channel: &Channel) -> Step<()> {
        let (wanted, mut states) = self.opens.change(|known| (known.checks_wanted, known.table.stateids()));
        // Those of locks first: an open with locks cannot be freed.
        states.reverse();
        for states in states.chunks(TESTED_AT_ONCE) {
            self.check_some(channel, states)?;
        }
        while let Some(step) = self.opens.change(|known| known.table.next_reopen()) {
            self.claim(channel, &step)?;
        }
        while let Some(step) = self.opens.change(|known| known.table.next_settle()) {
            let answer = self.settle(channel, &step);
            self.opens.change(|known| known.table.on_settled(&step, answer.ok()));
            answer?;
        }
        self.opens.change(|known| known.checks_done = known.checks_done.max(wanted));
        Ok(())
    }

    /// Makes a call that sets something right. Gives the stateid of the lock owner, unless the server refused it.
    fn settle(&self, channel: &Channel, step: &SettleStep<Handle>) -> Step<Option<StateId>> {
        let Ok(handle) = self.handles.to_wire(&step.key) else { return Ok(None) };
        let name;
        let operation = match step.call {
            SettleCall::Lock { locker, range: (first, last), is_exclusive, open, held } => {
                name = lock_owner(locker);
                let lock = FileLock { first, last, exclusive: is_exclusive };
                lock_current(&name, (open, held), lock, (false, false))
            }
            SettleCall::Unlock { range, held, .. } => unlock_current(held, range),
            SettleCall::Close(open) => Operation::Close(newest(open)),
        };
        let number = operation.number();
        let caller = self.opens.change(|known| known.callers.get(&step.owner).cloned());
        let results =
            self.call_in_session(channel, caller.as_ref(), &[Operation::PutHandle(handle), operation])?;
        let mut reader = read(&results)?;
        let given = reader.skip(putfh::OPERATION).and_then(|()| match step.call {
            SettleCall::Lock { .. } => Ok(reader.take::<lock::Success>(number)?.state),
            SettleCall::Unlock { .. } => Ok(reader.take::<locku::Success>(number)?.state),
            SettleCall::Close(_) => Ok(reader.take::<close::Success>(number)?.state),
        });
        match given {
            Ok(state) => Ok(Some(state)),
            Err(Stopped::Malformed) => Err(UpkeepFailure::NoAnswer),
            Err(Stopped::Refused(_, status @ (Status::DELAY | Status::GRACE))) => {
                Err(UpkeepFailure::Refused(status))
            }
            Err(Stopped::Refused(..)) => Ok(None),
        }
    }

    fn check_some(&self, channel: &Channel, states: &[StateId]) -> Step<()> {
        let test = Operation::TestStates(test_stateid::Arguments { states: Array::of(states) });
        let results = self.call_in_session(channel, None, &[test])?;
        let mut reader = read(&results)?;
        let reply =
            reader.take::<test_stateid::Success<'_>>(test_stateid::OPERATION).map_err(UpkeepFailure::from)?;
        for (state, status) in states.iter().zip(reply.statuses.iter()) {
            // An older version of a state that changed meanwhile is as good.
            if !is_of_state(status) || status == Status::OLD_STATEID {
                continue;
            }
            tracing::warn!(%status, "the server revoked an open file or a lock");
            let free = Operation::FreeState(newest(*state));
            let results = self.call_in_session(channel, None, &[free])?;
            if let Err(stopped) = read(&results)?.skip(free_stateid::OPERATION) {
                tracing::debug!(?stopped, "freeing a revoked state");
            }
            self.opens.change(|known| known.table.on_revoked(*state));
        }
        Ok(())
    }

    /// Claims something. A failure is one of the session: then it is to be claimed again.
    fn claim(&self, channel: &Channel, step: &Claimed) -> Step<()> {
        let given = match self.claim_once(channel, step)? {
            Err(Stopped::Refused(operation, status)) => {
                let operation = howdah_wire::nfs4::operation::name(operation).unwrap_or("?");
                tracing::warn!(operation, %status, "the server does not give an open file or a lock back");
                None
            }
            given => given.ok(),
        };
        self.opens.change(|known| known.table.on_reclaimed(step, given));
        Ok(())
    }

    fn claim_once(&self, channel: &Channel, step: &Claimed) -> Step<Result<StateId, Stopped>> {
        let (ReclaimStep::Open { owner: user, key, .. } | ReclaimStep::Lock { owner: user, key, .. }) = step;
        let Ok(handle) = self.handles.to_wire(key) else {
            return Ok(Err(Stopped::Refused(putfh::OPERATION, Status::STALE)));
        };
        let put = Operation::PutHandle(handle);
        let (open_name, lock_name);
        let operation = match step {
            ReclaimStep::Open { access, is_reclaim, .. } => {
                open_name = open_owner(*user);
                let claim = if *is_reclaim { Claim::Reclaim(DelegationKind::None) } else { Claim::Current };
                open_current(&open_name, *access, claim)
            }
            &ReclaimStep::Lock { locker, range: (first, last), is_exclusive, open, held, .. } => {
                lock_name = lock_owner(locker);
                let lock = FileLock { first, last, exclusive: is_exclusive };
                lock_current(&lock_name, (open, held), lock, (false, true))
            }
        };
        let number = operation.number();
        let caller = self.opens.change(|known| known.callers.get(user).cloned());
        let results = self.call_in_session(channel, caller.as_ref(), &[put, operation])?;
        let mut reader = read(&results)?;
        let given = reader.skip(putfh::OPERATION).and_then(|()| match step {
            ReclaimStep::Open { .. } => Ok(reader.take::<open::Success<'_>>(number)?.state),
            ReclaimStep::Lock { .. } => Ok(reader.take::<lock::Success>(number)?.state),
        });
        match given {
            Err(Stopped::Refused(_, status @ (Status::DELAY | Status::GRACE))) => {
                Err(UpkeepFailure::Refused(status))
            }
            given => Ok(given),
        }
    }

    fn call_in_session(
        &self,
        channel: &Channel,
        caller: Option<&Caller>,
        operations: &[Operation<'_>],
    ) -> Step<Results> {
        let request = caller.map_or_else(|| self.name.request(), |caller| self.name.request_as(caller));
        let answer = self.start_in_session(channel, request, operations).wait();
        let answer = answer.map_err(|_| UpkeepFailure::NoAnswer)?;
        Ok(Results { name: "RECLAIM", bytes: answer.results, repeated: false })
    }
}

fn read(results: &Results) -> Step<ResultReader<'_>> {
    results.read().map_err(UpkeepFailure::from)
}
