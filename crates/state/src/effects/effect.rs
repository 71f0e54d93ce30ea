//! One thing to do, and how they come with an answer.

use super::DurableRecord;
use crate::ids::{ByteRange, ClientId, HostId, LockKind, LockOwner, NlmOwner, OpenId, StateId};

/// The number of a [`DurableRecord`] within a run of the server, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Serial(pub u64);

/// What to do because of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<K> {
    /// Append the record to the durable log, in the order of serials.
    Persist {
        /// Its number.
        serial: Serial,
        /// What to write.
        record: DurableRecord,
    },
    /// Let the kernel know what NFS owners together hold of these bytes: [`RangeTable::union`](crate::RangeTable::union) says what that is
    /// by then. Applying it again or late changes nothing.
    Mirror {
        /// The file.
        key: K,
        /// The bytes that changed.
        range: ByteRange,
    },
    /// A client may try again for a lock that it waits for (CB_NOTIFY_LOCK, RFC 8881 20.11). Until its turn ends no other owner gets it.
    Notify {
        /// The client.
        client: ClientId,
        /// Its lock owner.
        owner: Box<[u8]>,
        /// The file.
        key: K,
    },
    /// An NLM owner that was blocked has its lock now (NLM GRANTED). If the host refuses it: [`NfsState::refuse`](crate::NfsState::refuse).
    Granted {
        /// Who.
        owner: NlmOwner,
        /// What.
        grant: LockGrant<K>,
    },
    /// Somebody is about to change a file: a client is to give its delegation back (CB_RECALL, RFC 8881 20.2).
    Recall {
        /// The client.
        client: ClientId,
        /// The delegation.
        stateid: StateId,
        /// The file.
        key: K,
    },
    /// A delegation did not come back in time and was taken, for a log.
    Revoked {
        /// The client that had it.
        client: ClientId,
        /// The file.
        key: K,
    },
    /// An open ended: close what is kept for it.
    Closed {
        /// Which.
        open: OpenId,
        /// Of which file.
        key: K,
    },
    /// A client of NFSv4 ended with all its sessions, for a log.
    ClientEnded {
        /// Which.
        client: ClientId,
        /// Its name of itself.
        owner: Box<[u8]>,
        /// Why.
        why: ClientEnd,
    },
    /// An NLM host has nothing any more: its record goes.
    HostEnded {
        /// Which.
        host: HostId,
    },
}

/// What NFS owners together hold of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirrorPiece {
    /// The bytes.
    pub range: ByteRange,
    /// The strongest lock of any owner.
    pub kind: Option<LockKind>,
}

/// Why a client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEnd {
    /// It said so (DESTROY_CLIENTID).
    Destroyed,
    /// It came back with another verifier: it restarted, or another host has its name.
    Replaced,
    /// Its lease had passed, and somebody wanted what it held.
    Conflict,
    /// Its lease had passed long ago, or too many such clients were kept.
    Expired,
    /// An administrator took its state.
    Released,
}

/// A lock that was granted, and what its owner held of these bytes before: by it a grant can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockGrant<K> {
    /// Who got it.
    pub owner: LockOwner,
    /// The file.
    pub key: K,
    /// The bytes.
    pub range: ByteRange,
    /// How.
    pub kind: LockKind,
    /// The owner's lock stateid after it, of NFSv4; else [`StateId::INVALID`].
    pub stateid: StateId,
    /// What the owner held within the bytes, ascending.
    pub before: Vec<(ByteRange, LockKind)>,
}

/// What to do because of one call of [`NfsState`](crate::NfsState).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effects<K> {
    /// In this order. Usually empty, and then nothing is allocated.
    pub list: Vec<Effect<K>>,
    /// All records up to this number must be durable before the answer is acted upon: before it is sent, and before the next
    /// operation of the COMPOUND runs. Not only those of `list`: an answer may rest on a record that another thread still writes.
    pub durable: Serial,
    /// The last of them that names the client or host itself. Of those that name others the answer needs none.
    pub own: Serial,
}
