//! Why an operation is refused: each variant is one NFS4ERR_ code.

use crate::ids::{ByteRange, LockKind, LockOwner};

/// Why an operation is refused. Each variant is one code of RFC 8881 15.1, which its documentation names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateError {
    /// `NFS4ERR_BADSESSION`: no such session, or it ended.
    BadSession,
    /// `NFS4ERR_BADSLOT`: the session has no slot of this number.
    BadSlot,
    /// `NFS4ERR_BAD_HIGH_SLOT`: the client names a highest slot below the one that it uses, or one that the session has not.
    BadHighSlot,
    /// `NFS4ERR_SEQ_MISORDERED`: neither the next number nor the last.
    SequenceMisordered,
    /// `NFS4ERR_SEQ_FALSE_RETRY`: the last number with another request.
    SequenceFalseRetry,
    /// `NFS4ERR_STALE_CLIENTID`: no such client, or one of an earlier run of the server.
    StaleClientId,
    /// `NFS4ERR_CLIENTID_BUSY`: the client has sessions, opens or locks.
    ClientIdBusy,
    /// `NFS4ERR_CLID_INUSE`: the owner or the id belongs to another principal.
    ClientIdInUse,
    /// `NFS4ERR_NOT_SAME`: an update with another verifier (RFC 8881 18.35.4, case 8).
    NotSame,
    /// `NFS4ERR_PERM`: an update by another principal (case 9).
    Permission,
    /// `NFS4ERR_NOENT`: an update of a client that is not confirmed (case 7).
    NoEntry,
    /// `NFS4ERR_DELAY`: try again later.
    Delay,
    /// `NFS4ERR_NOSPC`: a bound is reached. RFC 8881 does not list it for LOCK and LOCKU, which are answered DELAY; it is
    /// `NLM4_DENIED_NOLOCKS` for NLM.
    NoSpace,
    /// `NFS4ERR_GRACE`: only reclaims now, or this client has not yet sent RECLAIM_COMPLETE.
    Grace,
    /// `NFS4ERR_NO_GRACE`: a reclaim when none is possible any more.
    NoGrace,
    /// `NFS4ERR_RECLAIM_BAD`: a reclaim by a client that has no record of the run before.
    ReclaimBad,
    /// `NFS4ERR_RECLAIM_CONFLICT`: a reclaim of what another client reclaimed.
    ReclaimConflict,
    /// `NFS4ERR_COMPLETE_ALREADY`: a second RECLAIM_COMPLETE.
    CompleteAlready,
    /// `NFS4ERR_BAD_STATEID`: no such state of this client on this file, or of the wrong kind, or its seqid is yet to come.
    BadStateId,
    /// `NFS4ERR_OLD_STATEID`: the seqid has passed.
    OldStateId,
    /// `NFS4ERR_EXPIRED`: the client ended while the COMPOUND ran.
    Expired,
    /// `NFS4ERR_SHARE_DENIED`: the open conflicts with another.
    ShareDenied,
    /// `NFS4ERR_LOCKED`: I/O without an open that the deny mode of an open forbids.
    Locked,
    /// `NFS4ERR_OPENMODE`: the open was not for this.
    OpenMode,
    /// `NFS4ERR_DELEG_REVOKED`: the delegation was not given back in time.
    DelegationRevoked,
    /// `NFS4ERR_LOCKS_HELD`: the stateid stands for an open or for locks.
    LocksHeld,
    /// `NFS4ERR_DENIED`: another owner holds a conflicting lock.
    Denied(Box<LockConflict>),
    /// `NFS4ERR_DEADLOCK`: the owner asks for a lock of an owner that waits for one of its own. It does not wait.
    Deadlock,
    /// `NFS4ERR_INVAL`.
    Invalid,
}

/// What keeps a lock from being granted (RFC 8881 18.10, `LOCK4denied`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockConflict {
    /// Who holds it.
    pub owner: LockOwner,
    /// Which bytes.
    pub range: ByteRange,
    /// How.
    pub kind: LockKind,
    /// Whether the request is remembered, and its owner will get a call ([`Effect::Notify`](crate::Effect::Notify) or
    /// [`Effect::Granted`](crate::Effect::Granted)): NLM answers BLOCKED then.
    pub is_waiting: bool,
}
