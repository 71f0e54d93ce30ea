//! Locks that the server keeps for all clients.

use std::sync::Arc;
use std::time::Instant;

use fuser::Errno;
use howdah_vfs::{FileLock, FileLocks, FsError};

use crate::locks::{PendingLockReply, ProgramLock};
use crate::opens::KernelFile;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;

impl Shared {
    /// GETLK: the lock in the way, if one is.
    pub fn test_lock(&self, wish: &ProgramLock) -> Answer<Option<FileLock>> {
        let file = self.files.of(wish.open)?;
        let found = self.file_locks()?.test_lock(&file.caller, &file.node.handle, wish.owner, wish.lock);
        found.map_err(refused)
    }

    /// SETLKW: locks, or waits until others have unlocked what is in the way.
    pub fn lock_or_wait(&self, wish: ProgramLock, request: PendingLockReply) {
        match self.files.of(wish.open) {
            Ok(file) => self.lock_waiting(wish, file, request, Instant::now()),
            Err(refused) => answer(request, Err(refused)),
        }
    }

    /// The same, when the request waits since then.
    pub fn lock_waiting(
        &self,
        wish: ProgramLock,
        file: Arc<KernelFile>,
        request: PendingLockReply,
        since: Instant,
    ) {
        let wait = |request, file| self.locks.wait(wish, file, request, since);
        self.lock_and_answer(&wish, file, true, request, wait);
    }

    /// SETLK: locks, or refuses.
    pub fn lock_or_refuse(&self, wish: ProgramLock, request: PendingLockReply) {
        let refuse = |request, _| answer(request, Err(Refused(Errno::EAGAIN)));
        match self.files.of(wish.open) {
            Ok(file) => self.lock_and_answer(&wish, file, false, request, refuse),
            Err(refused) => answer(request, Err(refused)),
        }
    }

    /// SETLK of a range that is to be unlocked.
    pub fn unlock_and_answer(&self, wish: ProgramLock, request: PendingLockReply) {
        let bytes = (wish.lock.first, wish.lock.last);
        let unlock = |file: Arc<KernelFile>| {
            // The kernel writes what programs changed in its pages by mmap(2).
            self.locks.drop_pages(file.node.number);
            self.unlock(&file, wish.owner, bytes)
        };
        answer(request, self.files.of(wish.open).and_then(unlock));
    }

    /// Locks and answers. What to do with the request if something is in the way, `denied` knows. For a program that gave up nothing
    /// changes.
    fn lock_and_answer(
        &self,
        wish: &ProgramLock,
        file: Arc<KernelFile>,
        waits: bool,
        request: PendingLockReply,
        denied: impl FnOnce(PendingLockReply, Arc<KernelFile>),
    ) {
        let has_given_up = request.is_answered();
        if has_given_up && !waits {
            return;
        }
        if !has_given_up {
            file.node.locks.add(wish.owner, wish.open);
        }
        // The server may still keep the lock for a program that gave up: it learns so by a call that does not wait.
        match self.lock(&file, wish, waits && !has_given_up) {
            Ok(Some(_)) if has_given_up => {}
            Ok(Some(_)) => denied(request, file),
            Ok(None) => match request.end() {
                Some(reply) => {
                    file.node.locks.granted(wish.owner, wish.lock);
                    reply.ok();
                }
                None => self.undo_lock(&file, wish),
            },
            Err(refused) => answer(request, Err(refused)),
        }
    }

    /// Locks, or says what is in the way. What others wrote before they unlocked is read from now on.
    fn lock(&self, file: &KernelFile, wish: &ProgramLock, waits: bool) -> Answer<Option<FileLock>> {
        let (node, locks) = (&file.node, self.file_locks()?);
        // A lock that excludes others may become one that does not. If the data is not durable, the next close or fsync reports it.
        let _ = self.make_durable(node);
        let conflict = locks.lock_range(&file.caller, &node.handle, wish.owner, wish.lock, waits);
        let conflict = conflict.map_err(refused)?;
        if conflict.is_none() {
            self.locks.drop_pages(node.number);
        }
        Ok(conflict)
    }

    /// A lock was granted when its program did not wait for it any more: its owner gets what it had before.
    fn undo_lock(&self, file: &KernelFile, wish: &ProgramLock) {
        let bytes = (wish.lock.first, wish.lock.last);
        let before = file.node.locks.held(wish.owner, bytes);
        let others = before.iter().filter(|lock| lock.exclusive != wish.lock.exclusive);
        others.for_each(|lock| self.lock_again(file, wish.owner, *lock));
        let mut unwanted = vec![wish.lock];
        for lock in &before {
            unwanted = unwanted.into_iter().flat_map(|part| part.without((lock.first, lock.last))).collect();
        }
        for part in unwanted {
            if let Err(refused) = self.unlock(file, wish.owner, (part.first, part.last)) {
                tracing::warn!(?refused, "a lock stays that a program did not wait for");
            }
        }
        self.locks.unlocked(file.node.number, bytes);
    }

    /// A lock becomes again what it was.
    fn lock_again(&self, file: &KernelFile, owner: u64, lock: FileLock) {
        let locks = self.file_locks();
        let again = locks
            .and_then(|locks| Ok(locks.lock_range(&file.caller, &file.node.handle, owner, lock, false)?));
        // Only one that excludes others can have become impossible.
        if again != Ok(None) {
            tracing::warn!(?again, "a lock became a shared one, though its program gave that up");
            file.node.locks.granted(owner, FileLock { exclusive: false, ..lock });
        }
    }

    /// Unlocks bytes. What was written is durable before; if it is not, the next close or fsync reports that.
    fn unlock(&self, file: &KernelFile, owner: u64, bytes: (u64, u64)) -> Answer<()> {
        let _ = self.make_durable(&file.node);
        let unlocked = self.file_locks()?.unlock_range(&file.caller, &file.node.handle, owner, bytes);
        file.node.locks.unlocked(owner, bytes);
        self.locks.unlocked(file.node.number, bytes);
        unlocked.map_err(refused)
    }

    /// A process closes a file: nothing is locked by it any more (FLUSH). Then `then` is called: perhaps on a thread for locks, for no
    /// call may wait for one that waits for the kernel.
    pub fn end_lock_owner(
        self: &Arc<Self>,
        file: Arc<KernelFile>,
        owner: u64,
        then: impl FnOnce(&KernelFile) + Send + 'static,
    ) {
        let whose = (file.node.number, owner);
        if !self.locks.are_shared || !(file.node.locks.may_hold(owner) || self.locks.is_busy(whose)) {
            return then(&file);
        }
        let shared = Arc::clone(self);
        self.locks.run(whose, move || {
            shared.end_owner(&file, owner);
            then(&file);
        });
    }

    /// An open file is gone (RELEASE): what was locked by it is unlocked. What a process locked was unlocked when it closed the file; the
    /// others locked as the open file (flock, and fcntl's locks of an open file). Then `then` is called, as above.
    pub fn end_locks_of_file(
        self: &Arc<Self>,
        file: Arc<KernelFile>,
        open: u64,
        then: impl FnOnce(&KernelFile) + Send + 'static,
    ) {
        let Some(owner) = file.node.locks.owner_by(open) else { return then(&file) };
        let shared = Arc::clone(self);
        self.locks.run((file.node.number, owner), move || {
            shared.end_owner(&file, owner);
            shared.end_locks_of_file(file, open, then);
        });
    }

    fn end_owner(&self, file: &KernelFile, owner: u64) {
        if file.node.locks.end_owner(owner) {
            self.unlock_all(file, owner);
        }
    }

    fn unlock_all(&self, file: &KernelFile, owner: u64) {
        if let Err(refused) = self.unlock(file, owner, FileLock::ALL) {
            tracing::warn!(?refused, file = file.node.number, "unlocking a file that is closed");
        }
    }

    fn file_locks(&self) -> Answer<&dyn FileLocks> {
        self.file_system.file_locks().ok_or(Refused(Errno::ENOLCK))
    }
}

fn answer(request: PendingLockReply, outcome: Answer<()>) {
    match (request.end(), outcome) {
        (Some(reply), Ok(())) => reply.ok(),
        (Some(reply), Err(Refused(errno))) => reply.error(errno),
        (None, _) => {}
    }
}

/// What programs know of locks that cannot be had.
fn refused(error: FsError) -> Refused {
    match error {
        FsError::NotSupported => Refused(Errno::ENOLCK),
        error => error.into(),
    }
}
