//! OPEN and CLOSE of a file that is locked, and the stateids by which its owner reads and writes it.

use std::time::Duration;

use howdah_session::{ClientSession, CloseStep, OpenAccess, OpenStep, StateToUse};
use howdah_vfs::{Caller, FsError, Handle, Result};
use howdah_wire::nfs4::{ClientId, Opaque, Owner, StateId, open, putfh};

use super::client::Nfs4Client;
use super::compound::Compound;
use super::exchange::Tries;
use super::operation::Operation;
use super::refusal::is_of_state;
use super::results::Stopped;

/// After so long without a result, a check of all stateids is asked for again.
const CHECK_AGAIN: Duration = Duration::from_secs(5);

/// For reading.
pub(super) const READS: OpenAccess = OpenAccess { reads: true, writes: false };
/// For writing.
pub(super) const WRITES: OpenAccess = OpenAccess { reads: false, writes: true };

/// What became of an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// The file is closed.
    Now,
    /// Other lock owners have it open.
    ByOthersLater,
    /// The thread of the session closes it, once the server answers.
    Later,
}

/// The name of the owner of a user's opens. Files are made by other owners, whose CLOSE must not end these.
pub(super) fn open_owner(user: u32) -> String {
    format!("{user}:locks")
}

/// An OPEN of the current file.
pub(super) fn open_current<'a>(owner: &'a str, access: OpenAccess, claim: open::Claim<'a>) -> Operation<'a> {
    let bit = |is_set, bit| if is_set { bit } else { 0 };
    let access = bit(access.reads, open::ACCESS_READ) | bit(access.writes, open::ACCESS_WRITE);
    Operation::Open(open::Arguments {
        sequence: 0,
        access: access | open::WANT_NO_DELEGATION,
        deny: open::DENY_NONE,
        owner: Owner { client: ClientId(0), owner: Opaque(owner.as_bytes()) },
        create: None,
        claim,
    })
}

/// A stateid in its newest version.
pub(super) fn newest(state: StateId) -> StateId {
    StateId { sequence: 0, ..state }
}

impl Nfs4Client {
    /// Opens a file once more for its user, for what is needed, and for all where that is allowed.
    pub(super) fn open_file(&self, caller: &Caller, node: &Handle, needed: OpenAccess) -> Result<()> {
        self.opens.change(|known| known.callers.insert(caller.user, caller.clone()));
        let is_open = self.opens.change(|known| known.table.access(caller.user, node).covers(needed));
        if is_open {
            return self.open_for(caller, node, needed);
        }
        match self.open_for(caller, node, OpenAccess::BOTH) {
            Err(FsError::AccessDenied | FsError::NotPermitted | FsError::ReadOnly) => {
                self.open_for(caller, node, needed)
            }
            outcome => outcome,
        }
    }

    fn open_for(&self, caller: &Caller, node: &Handle, access: OpenAccess) -> Result<()> {
        loop {
            let (step, era) = self.opens.wait_for(self.calls.patience, |known| {
                let step = known.table.open(caller.user, node, access);
                (step != OpenStep::Wait).then(|| (step, known.table.era()))
            })?;
            let OpenStep::Open(all) = step else { return Ok(()) };
            // From now on the server may have something to give back after a restart.
            self.calls.channel.with_session(|session: &mut ClientSession, _| session.set_holds_states(true));
            let opened = self.send_open(caller, node, all);
            let given = opened.ok().map(|state| (state, all));
            let is_open = self.opens.change(|known| known.table.on_opened((caller.user, node), era, given));
            opened?;
            if is_open {
                return Ok(());
            }
            tracing::debug!("the server forgot an open that it had just given");
        }
    }

    fn send_open(&self, caller: &Caller, node: &Handle, access: OpenAccess) -> Result<StateId> {
        let owner = open_owner(caller.user);
        let operations = [self.put(node)?, open_current(&owner, access, open::Claim::Current)];
        let results = self.call(caller, &Compound::change("OPEN", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        Ok(reader.take::<open::Success<'_>>(open::OPERATION)?.state)
    }

    /// One who has a file open closes it. What cannot be sent now is sent later.
    pub(super) fn close_or_leave(&self, caller: &Caller, node: &Handle) -> Closed {
        let user = caller.user;
        if !self.opens.change(|known| known.table.owes_of(user, node))
            && let Ok(closed) = self.close_use(caller, node)
        {
            return closed;
        }
        self.opens.change(|known| known.table.leave(user, node));
        self.calls.session.check_states();
        Closed::Later
    }

    /// One who has a file open closes it.
    fn close_use(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        let user = caller.user;
        loop {
            let (step, era) = self.opens.wait_for(self.calls.patience, |known| {
                let step = known.table.close(user, node);
                (step != CloseStep::Wait).then(|| (step, known.table.era()))
            })?;
            match step {
                CloseStep::Done | CloseStep::Wait => {
                    let left = self.opens.change(|known| known.table.access(user, node));
                    let is_closed = left == OpenAccess::default();
                    return Ok(if is_closed { Closed::Now } else { Closed::ByOthersLater });
                }
                CloseStep::Unlock(locker, state) => {
                    self.unlock_once((caller, node, locker), (0, u64::MAX), (state, era));
                }
                CloseStep::Close(state) => {
                    if !self.close_file(caller, node, newest(state)) {
                        self.opens.change(|known| known.table.on_close_unanswered(user, node));
                        self.calls.session.give_up_calls();
                        return Ok(Closed::Later);
                    }
                    if self.opens.change(|known| known.table.on_closed(user, node, era)) {
                        return Ok(Closed::Now);
                    }
                }
            }
        }
    }

    /// The stateid by which a caller reads or writes a file: that of its open, if there is one, so that locks which were lost are noticed.
    /// Without one the server judges each call by its caller, as with NFSv3.
    ///
    /// # Errors
    /// [`FsError::Io`] if locks of the file were lost, until those unlock who had them.
    pub(super) fn state_for(&self, caller: &Caller, node: &Handle, access: OpenAccess) -> Result<StateId> {
        if !self.opens.is_any() {
            return Ok(StateId::ANONYMOUS);
        }
        self.opens.wait_for(self.calls.patience, |known| {
            match known.table.state_to_use(caller.user, node, access) {
                StateToUse::Anonymous => Some(Ok(StateId::ANONYMOUS)),
                StateToUse::Open(state) => Some(Ok(state)),
                StateToUse::Lost => Some(Err(FsError::Io)),
                StateToUse::Wait => None,
            }
        })?
    }

    /// Whether a call is to be made again that was refused: for its stateid, which is another one by now.
    ///
    /// # Errors
    /// As those of [`Self::state_for`].
    pub(super) fn is_for_state(
        &self,
        (caller, node, access): (&Caller, &Handle, OpenAccess),
        tries: &mut Tries,
        stopped: Stopped,
    ) -> Result<bool> {
        match stopped {
            Stopped::Refused(_, status) if is_of_state(status) && tries.may_check_states() => {
                tracing::debug!(%status, "a stateid was refused");
                // If nothing is open by now, the last unlock has overtaken this call, which needs no open.
                if self.opens.is_any() {
                    self.state_for(caller, node, access)?;
                    self.check_states()?;
                    self.state_for(caller, node, access)?;
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Finds out which opens and locks the server still has (TEST_STATEID), and opens again what it took away.
    pub(super) fn check_states(&self) -> Result<()> {
        let patience = self.calls.patience;
        let mut waited = Duration::ZERO;
        let wanted = self.opens.change(|known| {
            known.checks_wanted += 1;
            known.checks_wanted
        });
        loop {
            self.calls.session.check_states();
            let is_done =
                |known: &mut super::open_states::KnownOpens| (known.checks_done >= wanted).then_some(());
            if self.opens.wait_for(Some(CHECK_AGAIN), is_done).is_ok() {
                return Ok(());
            }
            waited += CHECK_AGAIN;
            if patience.is_some_and(|patience| waited > patience) {
                return Err(FsError::Delay);
            }
        }
    }
}
