//! What a server may have otherwise than this table, since a call got no answer or was not made.

use howdah_wire::nfs4::StateId;

/// Something to set right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owed {
    /// The server has these bytes as here. It takes the stateid of the lock owner, if that is known.
    Range { locker: u64, range: (u64, u64), held: Option<StateId> },
    /// These are locked.
    Lock { locker: u64, range: (u64, u64), is_exclusive: bool, held: StateId },
    /// These are not.
    Unlock { locker: u64, range: (u64, u64), held: StateId },
}

impl Owed {
    /// Whose locks it is about.
    pub(super) fn locker(self) -> u64 {
        match self {
            Self::Range { locker, .. } | Self::Lock { locker, .. } | Self::Unlock { locker, .. } => locker,
        }
    }
}
