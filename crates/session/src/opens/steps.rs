//! What a caller does next about an open or a lock.

use howdah_wire::nfs4::StateId;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OpenAccess {
    /// Reading.
    pub reads: bool,
    /// Writing.
    pub writes: bool,
}

impl OpenAccess {
    /// Both.
    pub const BOTH: Self = Self { reads: true, writes: true };

    /// Whether it is for all that the other is for.
    pub fn covers(self, other: Self) -> bool {
        self.union(other) == self
    }

    /// For what either is.
    pub fn union(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }
}

/// The next step of who opens a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenStep {
    /// It is open.
    Done,
    /// OPEN for this; answered by [`OpenTable::on_opened`](super::OpenTable::on_opened).
    Open(OpenAccess),
    /// Another call about it is under way: to be asked again after that.
    Wait,
}

/// The next step of who closes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseStep {
    /// It is closed, or others have it open still.
    Done,
    /// LOCKU of the whole file for this locker; answered by [`OpenTable::on_unlocked`](super::OpenTable::on_unlocked). Then it is to be
    /// asked again.
    Unlock(u64, StateId),
    /// CLOSE; answered by [`OpenTable::on_closed`](super::OpenTable::on_closed), however it ends.
    Close(StateId),
    /// As for an open.
    Wait,
}

/// The next step of who locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStep {
    /// LOCK as a new lock owner, by the stateid of the open; answered by [`OpenTable::on_locked`](super::OpenTable::on_locked).
    First(StateId),
    /// LOCK by the stateid of the lock owner.
    Further(StateId),
    /// As for an open.
    Wait,
    /// Locks of the file were lost: EIO until it is closed.
    Lost,
    /// The file is not open.
    NotOpen,
}

/// The next step of who unlocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlockStep {
    /// Nothing is locked.
    Done,
    /// LOCKU by this; answered by [`OpenTable::on_unlocked`](super::OpenTable::on_unlocked).
    Unlock(StateId),
    /// As for an open.
    Wait,
}

/// The stateid of READ, WRITE and SETATTR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateToUse {
    /// The anonymous one: the file is not open for this.
    Anonymous,
    /// This one, whose number is 0: the newest.
    Open(StateId),
    /// It is being recovered.
    Wait,
    /// Locks of the file, or the open, were lost: EIO until it is closed.
    Lost,
}
