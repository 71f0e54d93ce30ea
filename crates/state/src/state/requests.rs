//! What the server asks.

use crate::ids::{ByteRange, ClientId, LockKind, NlmOwner, ShareAccess, ShareDeny, StateId};

/// Arguments of OPEN that decide about state (RFC 8881 18.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRequest<'a, K> {
    /// The session's client.
    pub client: ClientId,
    /// The open owner.
    pub owner: &'a [u8],
    /// The file.
    pub key: &'a K,
    /// Not [`ShareAccess::NONE`].
    pub access: ShareAccess,
    /// What it keeps others from.
    pub deny: ShareDeny,
    /// CLAIM_PREVIOUS.
    pub is_reclaim: bool,
}

/// Arguments of LOCK (RFC 8881 18.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockRequest<'a, K> {
    /// The session's client.
    pub client: ClientId,
    /// Who locks.
    pub locker: Locker<'a>,
    /// The file.
    pub key: &'a K,
    /// How.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
    /// A denied request is remembered, for [`Effect::Notify`](crate::Effect::Notify): for READW_LT and WRITEW_LT of a client whose
    /// back channel is up. Others ask again by themselves.
    pub waits: bool,
    /// Whether it is a reclaim.
    pub is_reclaim: bool,
}

/// Who locks (RFC 8881 18.10.1, `locker4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locker<'a> {
    /// The first lock of an owner under an open.
    New {
        /// The open's stateid.
        open: StateId,
        /// The lock owner.
        owner: &'a [u8],
    },
    /// A further one.
    Existing(StateId),
}

/// Arguments of NLM's LOCK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NlmLockRequest<'a, K> {
    /// Who locks.
    pub owner: &'a NlmOwner,
    /// The file.
    pub key: &'a K,
    /// How.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
    /// A denied request is remembered, for [`Effect::Granted`](crate::Effect::Granted).
    pub waits: bool,
    /// Whether it is a reclaim.
    pub is_reclaim: bool,
}
