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
    pub fn lock_or_wait(&self, wish: ProgramLock, request: PendingLockReply, since: Instant) {
        if !request.is_answered() {
            let wait = |request, node| self.locks.wait(wish, node, request, since);
            self.lock_and_answer(&wish, request, wait);
        }
    }

    /// SETLK: locks, or refuses.
    pub fn lock_or_refuse(&self, wish: ProgramLock, request: PendingLockReply) {
        self.lock_and_answer(&wish, request, |request, _| answer(request, Err(Refused(Errno::EAGAIN))));
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

    /// Locks and answers. What to do with the request if something is in the way, `denied` knows. A program that gave up has nothing
    /// locked.
    fn lock_and_answer(
        &self,
        wish: &ProgramLock,
        request: PendingLockReply,
        denied: impl FnOnce(PendingLockReply, u64),
    ) {
        let outcome = self.files.of(wish.open).and_then(|file| Ok((self.lock(&file, wish)?, file)));
        match outcome {
            Ok((Some(_), file)) => denied(request, file.node.number),
            Ok((None, file)) => match request.end() {
                Some(reply) => reply.ok(),
                None => self.unlock_unwanted(&file, wish),
            },
            Err(refused) => answer(request, Err(refused)),
        }
    }

    /// Locks, or says what is in the way. What others wrote before they unlocked is read from now on.
    fn lock(&self, file: &KernelFile, wish: &ProgramLock) -> Answer<Option<FileLock>> {
        let (node, locks) = (&file.node, self.file_locks()?);
        // A lock that excludes others may become one that does not. If the data is not durable, the next close or fsync reports it.
        let _ = self.make_durable(node);
        node.locks.add(wish.owner, wish.open);
        let conflict = locks.lock_range(&file.caller, &node.handle, wish.owner, wish.lock);
        let conflict = conflict.map_err(refused)?;
        if conflict.is_none() {
            self.locks.drop_pages(node.number);
        }
        Ok(conflict)
    }

    /// A lock was granted when its program did not wait for it any more.
    fn unlock_unwanted(&self, file: &KernelFile, wish: &ProgramLock) {
        if let Err(refused) = self.unlock(file, wish.owner, (wish.lock.first, wish.lock.last)) {
            tracing::warn!(?refused, "a lock stays that a program did not wait for");
        }
    }

    /// Unlocks bytes. What was written is durable before; if it is not, the next close or fsync reports that.
    fn unlock(&self, file: &KernelFile, owner: u64, bytes: (u64, u64)) -> Answer<()> {
        let _ = self.make_durable(&file.node);
        let unlocked = self.file_locks()?.unlock_range(&file.caller, &file.node.handle, owner, bytes);
        self.locks.unlocked(file.node.number, bytes);
        unlocked.map_err(refused)
    }

    /// A process closes a file: nothing is locked by it any more (FLUSH).
    pub fn end_lock_owner(&self, file: &KernelFile, owner: u64) {
        if file.node.locks.end_owner(owner) {
            self.unlock_all(file, owner);
        }
    }

    /// An open file is gone (RELEASE).
    pub fn end_locks_of_file(&self, file: &KernelFile, open: u64) {
        for owner in file.node.locks.end_file(open) {
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
