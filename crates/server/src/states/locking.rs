//! Locks that processes of this host and NFS clients hold against each other. The state decides among clients, the kernel between them and
//! local processes: a lock that the kernel refuses is taken back, and what is in the way is noted in the state.

use std::time::Duration;

use howdah_state::{ByteRange, LockConflict, LockGrant, LockKind, LockOwner, StateError};

use super::file_key::FileKey;
use super::host_mirror::LocalLock;
use super::states::{Done, State, States};

/// How often a lock is tried while local processes lock and unlock beside it.
const ATTEMPTS: usize = 4;

impl States {
    /// Asks the state for a lock of a file, and the kernel whether a local process is in the way.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn lock(
        &self,
        file: &FileKey,
        call: impl Fn(&mut State, Duration) -> Result<LockGrant<FileKey>, StateError>,
    ) -> Result<LockGrant<FileKey>, StateError> {
        for _ in 0..ATTEMPTS {
            let (answer, mut done) = self.run(&call);
            let met = answer.as_ref().ok().and_then(|grant| {
                done.changed.retain(|(file, range)| (file, range) != (&grant.key, &grant.range));
                self.update(&grant.key, grant.range)
            });
            self.settle(done);
            match (answer, met) {
                (Ok(grant), None) => return Ok(grant),
                (Ok(grant), Some(met)) => self.take_back(&grant, met),
                (Err(StateError::Denied(conflict)), _)
                    if conflict.owner == LockOwner::Local && self.look_at_file(file) => {}
                (Err(error), _) => return Err(error),
            }
        }
        Err(StateError::Delay)
    }

    /// Asks the state whether a lock could be had, and then the kernel.
    ///
    /// # Errors
    /// Why it could not.
    pub fn test_lock(
        &self,
        file: &FileKey,
        wish: LocalLock,
        call: impl Fn(&mut State, Duration) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        match self.ask(&call) {
            Err(StateError::Denied(conflict))
                if conflict.owner == LockOwner::Local && self.look_at_file(file) =>
            {
                self.ask(&call)?;
            }
            outcome => outcome?,
        }
        let found = self.mirror.as_ref().and_then(|mirror| mirror.test(file, wish.range, wish.kind));
        found.map_or(Ok(()), |LocalLock { range, kind }| {
            let owner = LockOwner::Local;
            Err(StateError::Denied(Box::new(LockConflict { owner, range, kind, is_waiting: false })))
        })
    }

    /// Looks again at what local processes were seen to hold: those who wait for it may have their turn.
    pub(super) fn look_at_host(&self) {
        let mut files: Vec<FileKey> = self.look(|state| {
            let of_local = state.files().locks.held().filter(|lock| *lock.owner == LockOwner::Local);
            of_local.map(|lock| *lock.key).collect()
        });
        files.dedup();
        for file in &files {
            self.look_at_file(file);
        }
    }

    /// Does what is to be done outside after the state changed.
    pub(super) fn settle(&self, done: Done) {
        if done.is_nothing() {
            return;
        }
        let mut more = Vec::new();
        for (file, range) in &done.changed {
            more.extend(self.update(file, *range).map(|met| self.withdraw(file, met, &done)));
        }
        if let Some(news) = self.lock_news.get() {
            for ticket in done.granted {
                // A host that is gone has no locks.
                if let Some(known) = self.hosts().get(ticket.host) {
                    news.tell(ticket, known.host.client);
                }
            }
        }
        if let Some(news) = self.client_news() {
            done.ended.into_iter().for_each(|client| news.ended(client));
            done.free.iter().for_each(|(client, owner, file)| news.lock_is_free(*client, owner, file));
            done.revoked.iter().for_each(|(client, file)| news.returned(*client, file));
            done.recalled
                .iter()
                .for_each(|(client, delegation, file)| news.recall(*client, *delegation, file));
        }
        more.into_iter().for_each(|done| self.settle(done));
    }

    /// Takes back what hosts got and a local process is in the way of: they wait again.
    fn withdraw(&self, file: &FileKey, met: LocalLock, done: &Done) -> Done {
        let Some(news) = self.lock_news.get() else { return Done::default() };
        let of_file = done.granted.iter().filter(|ticket| ticket.file == *file);
        let (_, more) = self.run(|state, now| {
            for grant in of_file.filter_map(|ticket| news.withdraw(*ticket)) {
                state.set_local(now, file, grant.range, Some((met.range, met.kind)));
                state.refuse(now, &grant, true);
            }
            Ok(())
        });
        more
    }

    fn update(&self, file: &FileKey, range: ByteRange) -> Option<LocalLock> {
        let held = || self.look(|state| state.files().locks.ranges.union(file, range));
        self.mirror.as_ref()?.update(file, held)
    }

    fn take_back(&self, grant: &LockGrant<FileKey>, met: LocalLock) {
        let _ = self.ask(|state, now| {
            state.set_local(now, &grant.key, grant.range, Some((met.range, met.kind)));
            state.refuse(now, grant, false);
            Ok(())
        });
    }

    /// Looks again at what local processes were seen to hold of a file. Whether it is something else now.
    fn look_at_file(&self, file: &FileKey) -> bool {
        let Some(mirror) = &self.mirror else { return false };
        let mut has_changed = false;
        for (range, kind) in
            self.look(|state| state.files().locks.ranges.within(file, &LockOwner::Local, ByteRange::ALL))
        {
            let found = mirror.test(file, range, LockKind::Write);
            let found = found.and_then(|found| Some((found.range.intersection(range)?, found.kind)));
            if found == Some((range, kind)) {
                continue;
            }
            has_changed = true;
            let _ = self.ask(|state, now| {
                state.set_local(now, file, range, found);
                Ok(())
            });
        }
        has_changed
    }
}

impl Done {
    fn is_nothing(&self) -> bool {
        let Self { granted, changed, free, recalled, revoked, ended, closed: _ } = self;
        let of_clients = free.is_empty() && recalled.is_empty() && revoked.is_empty() && ended.is_empty();
        granted.is_empty() && changed.is_empty() && of_clients
    }
}
