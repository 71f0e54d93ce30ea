//! What a client is called for.

use howdah_wire::nfs4::callback::{notify_lock, recall};
use howdah_wire::nfs4::{ClientId, FileHandle, Opaque, Owner, StateId};
use howdah_wire::xdr::{Encode, Encoder};

/// What a client is called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackCall {
    /// A lock that was denied may be free now (CB_NOTIFY_LOCK).
    NotifyLock {
        /// The handle of the file, as the client has it.
        node: Box<[u8]>,
        /// The client.
        client: u64,
        /// Who wanted the lock.
        owner: Box<[u8]>,
    },
    /// Its delegation of a file is to come back (CB_RECALL).
    Recall {
        /// The handle of the file, as the client has it.
        node: Box<[u8]>,
        /// The delegation.
        delegation: StateId,
    },
}

impl BackCall {
    /// The number of its operation.
    pub fn operation(&self) -> u32 {
        match self {
            Self::NotifyLock { .. } => notify_lock::OPERATION,
            Self::Recall { .. } => recall::OPERATION,
        }
    }
}

impl Encode for BackCall {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        match self {
            Self::NotifyLock { node, client, owner } => {
                let owner = Owner { client: ClientId(*client), owner: Opaque(owner) };
                notify_lock::Arguments { node: FileHandle(node), owner }.encode(encoder);
            }
            Self::Recall { node, delegation } => {
                recall::Arguments { state: *delegation, truncate: false, node: FileHandle(node) }
                    .encode(encoder);
            }
        }
    }
}
