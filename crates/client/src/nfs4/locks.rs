//! LOCK, LOCKT and LOCKU: byte-range locks. The first lock of a file opens it, and the last unlock closes it.

use howdah_session::{LockStep, UnlockStep};
use howdah_vfs::{Caller, FileLock, FileLocks, FsError, Handle, Result};
use howdah_wire::nfs4::lock::{self, Denied, FirstLock, FurtherLock, LockingOwner};
use howdah_wire::nfs4::{
    ClientId, LockKind, Opaque, Owner, StateId, Status, free_stateid, lockt, locku, putfh,
};

use super::client::Nfs4Client;
use super::compound::Compound;
use super::lock_owner::lock_owner;
use super::open_file::{Closed, READS, WRITES, newest};
use super::operation::Operation;
use super::refusal::is_of_state;
use super::results::{ResultReader, Results, Stopped};
use crate::channel::Class;

/// How often one lock may be refused for its stateid.
const CHECKS_MAX: u32 = 3;

/// Whose lock: the caller, the file, the number of the lock owner.
type LockOf<'a> = (&'a Caller, &'a Handle, u64);

/// How a LOCK ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockAnswer {
    Granted(StateId),
    Denied(FileLock),
    /// The stateid that it went by is not the server's.
    BadState,
    /// The server may have made it or not.
    Unanswered(FsError),
}

/// Offset and length of a range: all ones is "to the end".
pub(super) fn extent((first, last): (u64, u64)) -> (u64, u64) {
    (first, if last == u64::MAX { u64::MAX } else { (last - first).saturating_add(1) })
}

/// A LOCK of the current file.
pub(super) fn lock_current<'a>(
    owner: &'a str,
    (open, held): (StateId, Option<StateId>),
    lock: FileLock,
    (waits, reclaim): (bool, bool),
) -> Operation<'a> {
    let (offset, length) = extent((lock.first, lock.last));
    let owner = Owner { client: ClientId(0), owner: Opaque(owner.as_bytes()) };
    let first = FirstLock { open_sequence: 0, open: newest(open), lock_sequence: 0, owner };
    let further = |state| LockingOwner::Further(FurtherLock { state: newest(state), sequence: 0 });
    let locker = held.map_or(LockingOwner::First(first), further);
    Operation::Lock(lock::Arguments { kind: kind(lock.exclusive, waits), reclaim, offset, length, locker })
}

/// A LOCKU of the current file.
pub(super) fn unlock_current(held: StateId, bytes: (u64, u64)) -> Operation<'static> {
    let (offset, length) = extent(bytes);
    let (kind, state) = (LockKind::Write, newest(held));
    Operation::Unlock(locku::Arguments { kind, sequence: 0, state, offset, length })
}

fn kind(exclusive: bool, waits: bool) -> LockKind {
    match (exclusive, waits) {
        (false, false) => LockKind::Read,
        (true, false) => LockKind::Write,
        (false, true) => LockKind::ReadWait,
        (true, true) => LockKind::WriteWait,
    }
}

/// The lock that a denial names.
fn in_the_way(denied: &Denied<'_>) -> FileLock {
    let last = denied.offset.checked_add(denied.length).map_or(u64::MAX, |end| end.saturating_sub(1));
    let last = if denied.length == u64::MAX { u64::MAX } else { last };
    FileLock { first: denied.offset, last, exclusive: denied.kind.is_exclusive() }
}

impl FileLocks for Nfs4Client {
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>> {
        let _turn = self.opens.turn(node);
        let had_some = self.opens.change(|known| known.table.holds(caller.user, node, owner));
        self.open_file(caller, node, if lock.exclusive { WRITES } else { READS })?;
        let outcome = self.lock_open((caller, node, owner), lock, waits);
        // Each lock owner counts once as a user of the open.
        if had_some || outcome != Ok(None) {
            self.close_or_leave(caller, node);
        }
        outcome
    }

    fn test_lock(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
    ) -> Result<Option<FileLock>> {
        let (name, (offset, length)) = (lock_owner(owner), extent((lock.first, lock.last)));
        let owner = Owner { client: ClientId(0), owner: Opaque(name.as_bytes()) };
        let test = lockt::Arguments { kind: kind(lock.exclusive, false), offset, length, owner };
        let operations = [self.put(node)?, Operation::TestLock(test)];
        let results = self.call(caller, &Compound::new("LOCKT", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        match reader.status_of(lockt::OPERATION)? {
            Status::OK => Ok(None),
            Status::DENIED => Ok(Some(in_the_way(&reader.body::<Denied<'_>>()?))),
            status => Err(Stopped::Refused(lockt::OPERATION, status).into()),
        }
    }

    fn unlock_range(&self, caller: &Caller, node: &Handle, owner: u64, bytes: (u64, u64)) -> Result<()> {
        if !self.opens.is_any() {
            return Ok(());
        }
        let _turn = self.opens.turn(node);
        // A program may have locked by files that it opened as several users.
        let callers = self.opens.change(|known| {
            let users = known.table.owners(node, owner).into_iter();
            let callers = users.map(|user| known.callers.get(&user).unwrap_or(caller).clone());
            callers.collect::<Vec<_>>()
        });
        callers.iter().for_each(|caller| self.unlock_open((caller, node, owner), bytes));
        Ok(())
    }
}

impl Nfs4Client {
    fn lock_open(&self, whose: LockOf<'_>, lock: FileLock, waits: bool) -> Result<Option<FileLock>> {
        let ((caller, node, number), user) = (whose, whose.0.user);
        let bytes = (lock.first, lock.last, lock.exclusive);
        let mut checks = 0;
        loop {
            let (step, era) = self.opens.wait_for(self.calls.patience, |known| {
                let step = known.table.lock(user, node, number);
                (step != LockStep::Wait).then(|| (step, known.table.era()))
            })?;
            let states = match step {
                LockStep::First(open) => (open, None),
                LockStep::Further(held) => (held, Some(held)),
                LockStep::Lost | LockStep::NotOpen | LockStep::Wait => return Err(FsError::Io),
            };
            // Who cannot be called is not to keep others from the lock.
            let waits = waits && self.calls.session.back().is_up();
            let owner = lock_owner(number);
            let answer = self.send_lock(caller, node, lock_current(&owner, states, lock, (waits, false)));
            let whose = (user, node, number);
            let is_locked = self.opens.change(|known| match answer {
                Ok(LockAnswer::Granted(state)) => known.table.on_locked(whose, era, bytes, Some(state)),
                Ok(LockAnswer::Unanswered(_)) => {
                    known.table.on_unanswered(whose, era, (lock.first, lock.last), false);
                    false
                }
                _ => known.table.on_locked(whose, era, bytes, None),
            });
            match answer? {
                LockAnswer::Granted(_) if is_locked => return Ok(None),
                // The server forgot it meanwhile.
                LockAnswer::Granted(_) => {}
                LockAnswer::Denied(other) => return Ok(Some(other)),
                LockAnswer::BadState if checks < CHECKS_MAX => {
                    checks += 1;
                    self.check_states()?;
                }
                LockAnswer::BadState => return Err(FsError::Io),
                LockAnswer::Unanswered(error) => {
                    self.calls.session.give_up_calls();
                    return Err(error);
                }
            }
        }
    }

    fn send_lock(&self, caller: &Caller, node: &Handle, lock: Operation<'_>) -> Result<LockAnswer> {
        let operations = [self.put(node)?, lock];
        let results = match self.call(caller, &Compound::change("LOCK", &operations)) {
            Err(error) => return Ok(LockAnswer::Unanswered(error)),
            Ok(results) => results,
        };
        match lock_answer(&results) {
            Err(Stopped::Malformed) => Ok(LockAnswer::Unanswered(FsError::ServerFault)),
            answer => Ok(answer?),
        }
    }

    /// Unlocks something by the open of its user, and closes that if it was the last. What cannot be sent now is sent later.
    fn unlock_open(&self, whose: LockOf<'_>, bytes: (u64, u64)) {
        let ((caller, node, number), user) = (whose, whose.0.user);
        let has_lost = loop {
            let waited = self.opens.wait_for(self.calls.patience, |known| {
                let step = known.table.unlock(user, node, number);
                (step != UnlockStep::Wait).then(|| (step, known.table.era()))
            });
            let Ok((step, era)) = waited else {
                self.opens.change(|known| known.table.unlock_later(user, node, number, bytes));
                self.calls.session.check_states();
                break false;
            };
            // Without a stateid all its locks were lost.
            let UnlockStep::Unlock(state) = step else { break true };
            if self.unlock_once(whose, bytes, (state, era)) {
                break false;
            }
        };
        let ended = self.opens.change(|known| {
            let has_ended = has_lost || !known.table.holds(user, node, number);
            has_ended.then(|| known.table.end_locker(user, node, number))
        });
        let Some(state) = ended else { return };
        if self.close_or_leave(caller, node) == Closed::ByOthersLater
            && let Some(state) = state
        {
            self.free_state(caller, newest(state));
        }
    }

    /// Makes a LOCKU by this stateid of that era. Says whether nothing is locked there now. Else the server forgot all meanwhile, and
    /// gave it back.
    pub(super) fn unlock_once(
        &self,
        (caller, node, number): LockOf<'_>,
        bytes: (u64, u64),
        (state, era): (StateId, u32),
    ) -> bool {
        let whose = (caller.user, node, number);
        match self.send_unlock(caller, node, unlock_current(state, bytes)) {
            Ok(Some(state)) => {
                self.opens.change(|known| known.table.on_unlocked(whose, era, bytes, state));
            }
            unanswered => {
                let error = unanswered.err().unwrap_or(FsError::ServerFault);
                tracing::warn!(%error, "unlocking a part of a file: it is tried again");
                self.opens.change(|known| known.table.on_unanswered(whose, era, bytes, true));
                self.calls.session.give_up_calls();
            }
        }
        self.opens.change(|known| known.table.era() == era)
    }

    /// Gives the new stateid, or none if it was refused; or no answer.
    fn send_unlock(
        &self,
        caller: &Caller,
        node: &Handle,
        unlock: Operation<'_>,
    ) -> Result<Option<Option<StateId>>> {
        // The server does not know a file without a handle.
        let Ok(put) = self.put(node) else { return Ok(Some(None)) };
        let results = self.call(caller, &Compound::change("LOCKU", &[put, unlock]))?;
        let unlocked = results.read().and_then(|mut reader| {
            reader.skip(putfh::OPERATION)?;
            Ok(reader.take::<locku::Success>(locku::OPERATION)?.state)
        });
        match unlocked {
            Ok(state) => Ok(Some(Some(state))),
            Err(Stopped::Malformed) => Ok(None),
            Err(Stopped::Refused(_, status)) => {
                tracing::warn!(%status, "the server refused to unlock a part of a file");
                Ok(Some(None))
            }
        }
    }

    /// The server need not keep what it has of a lock owner without locks.
    fn free_state(&self, caller: &Caller, state: StateId) {
        let operations = [Operation::FreeState(state)];
        let freed = self.call(caller, &Compound::change("FREE_STATEID", &operations));
        let freed = freed.and_then(|results| {
            let mut reader: ResultReader<'_> = results.read()?;
            Ok(reader.skip(free_stateid::OPERATION)?)
        });
        if let Err(error) = freed {
            tracing::debug!(%error, "freeing the state of a lock owner");
        }
    }
}

fn lock_answer(results: &Results) -> std::result::Result<LockAnswer, Stopped> {
    let mut reader = results.read()?;
    reader.skip(putfh::OPERATION)?;
    match reader.status_of(lock::OPERATION)? {
        Status::OK => Ok(LockAnswer::Granted(reader.body::<lock::Success>()?.state)),
        Status::DENIED => Ok(LockAnswer::Denied(in_the_way(&reader.body::<Denied<'_>>()?))),
        status if is_of_state(status) => Ok(LockAnswer::BadState),
        status => Err(Stopped::Refused(lock::OPERATION, status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_to_the_end_has_all_ones_for_its_length() {
        assert_eq!(extent((0, u64::MAX)), (0, u64::MAX));
        assert_eq!(extent((5, u64::MAX)), (5, u64::MAX));
        assert_eq!(extent((5, 5)), (5, 1));
        assert_eq!(extent((0, u64::MAX - 1)), (0, u64::MAX));
        let denied = |offset, length| {
            let owner = Owner { client: ClientId(1), owner: Opaque(b"other") };
            let lock = in_the_way(&Denied { offset, length, kind: LockKind::Write, owner });
            (lock.first, lock.last)
        };
        assert_eq!((denied(0, u64::MAX), denied(5, 1)), ((0, u64::MAX), (5, 5)));
        assert_eq!(denied(u64::MAX - 1, 2), (u64::MAX - 1, u64::MAX));
    }
}
