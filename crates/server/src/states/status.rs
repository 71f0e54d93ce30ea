//! Why the state refuses a call of NFSv4, in the words of the protocol.

use howdah_state::StateError;
use howdah_wire::nfs4::Status;

/// The status of a refusal.
pub fn status(error: &StateError) -> Status {
    match error {
        StateError::BadSession => Status::BADSESSION,
        StateError::BadSlot => Status::BADSLOT,
        StateError::BadHighSlot => Status::BAD_HIGH_SLOT,
        StateError::SequenceMisordered => Status::SEQ_MISORDERED,
        StateError::SequenceFalseRetry => Status::SEQ_FALSE_RETRY,
        StateError::StaleClientId => Status::STALE_CLIENTID,
        StateError::ClientIdBusy => Status::CLIENTID_BUSY,
        StateError::ClientIdInUse => Status::CLID_INUSE,
        StateError::NotSame => Status::NOT_SAME,
        StateError::Permission => Status::PERM,
        StateError::NoEntry => Status::NOENT,
        StateError::Delay => Status::DELAY,
        StateError::NoSpace => Status::NOSPC,
        StateError::Grace => Status::GRACE,
        StateError::NoGrace => Status::NO_GRACE,
        StateError::ReclaimBad => Status::RECLAIM_BAD,
        StateError::ReclaimConflict => Status::RECLAIM_CONFLICT,
        StateError::CompleteAlready => Status::COMPLETE_ALREADY,
        StateError::BadStateId => Status::BAD_STATEID,
        StateError::OldStateId => Status::OLD_STATEID,
        StateError::Expired => Status::EXPIRED,
        StateError::ShareDenied => Status::SHARE_DENIED,
        StateError::Locked => Status::LOCKED,
        StateError::OpenMode => Status::OPENMODE,
        StateError::DelegationRevoked => Status::DELEG_REVOKED,
        StateError::LocksHeld => Status::LOCKS_HELD,
        StateError::Denied(_) => Status::DENIED,
        StateError::Deadlock => Status::DEADLOCK,
        StateError::Invalid => Status::INVAL,
    }
}
