//! Who holds a lock, and the hosts of NLM.

use super::ClientId;

/// The number of a host that takes locks by NLM, for this run of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// Who holds byte-range locks. Locks of one owner never exclude each other; a lock of another owner may (RFC 8881 9.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockOwner {
    /// A lock owner of a client of NFSv4 (`lock_owner4`).
    V4 {
        /// The client.
        client: ClientId,
        /// The client's name of the owner.
        owner: Box<[u8]>,
    },
    /// A process of an NLM host.
    Nlm(NlmOwner),
    /// Processes of the server's own host, which lock files without NFS.
    Local,
}

/// A process of an NLM host (C702, `nlm4_lock`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NlmOwner {
    /// The host.
    pub host: HostId,
    /// The process, as the host numbers it.
    pub svid: u32,
    /// The host's name of the owner, which it compares by its bytes.
    pub oh: Box<[u8]>,
}

impl LockOwner {
    /// The client of NFSv4 that it belongs to.
    pub fn client(&self) -> Option<ClientId> {
        match self {
            Self::V4 { client, .. } => Some(*client),
            Self::Nlm(_) | Self::Local => None,
        }
    }

    /// The client's name of it, of an owner of NFSv4.
    pub fn name_in_v4(&self) -> Option<&[u8]> {
        match self {
            Self::V4 { owner, .. } => Some(owner),
            Self::Nlm(_) | Self::Local => None,
        }
    }

    /// The length of the name that distinguishes it, in bytes.
    pub fn name_length(&self) -> usize {
        match self {
            Self::V4 { owner, .. } => owner.len(),
            Self::Nlm(owner) => owner.oh.len(),
            Self::Local => 0,
        }
    }

    /// The NLM host that it belongs to.
    pub fn host(&self) -> Option<HostId> {
        match self {
            Self::V4 { .. } | Self::Local => None,
            Self::Nlm(owner) => Some(owner.host),
        }
    }
}
