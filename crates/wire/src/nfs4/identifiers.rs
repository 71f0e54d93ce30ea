//! What names clients, sessions, states and nodes (RFC 8881 3.2 and 3.3).

use crate::limits::{FILE_NAME_MAX, HANDLE4_MAX, LINK_TARGET_MAX, OPAQUE4_MAX, XATTR_VALUE_MAX};
use crate::message::{message, newtype, opaque};

newtype! {
    /// Names a client (`clientid4`): given by EXCHANGE_ID.
    pub struct ClientId(pub u64), "client id";

    /// Names a session (`sessionid4`): given by CREATE_SESSION.
    pub struct SessionId(pub [u8; 16]), "session id";

    /// Eight bytes that differ when something else does (`verifier4`): a client's or server's start, a directory's cookies.
    pub struct Verifier(pub [u8; 8]), "verifier";
}

opaque! {
    /// Names a node (`nfs_fh4`): opaque to all but the server that made it.
    pub struct FileHandle, HANDLE4_MAX, "file handle";

    /// A name in a directory (`component4`), as the client sent it: not checked yet.
    pub struct Name, FILE_NAME_MAX, "file name";

    /// Where a symbolic link points (`linktext4`), as the client sent it: not checked yet.
    pub struct LinkTarget, LINK_TARGET_MAX, "link target";

    /// Bytes that the protocol bounds by `NFS4_OPAQUE_LIMIT`: owners of clients, opens and locks, scopes, identities.
    pub struct Opaque, OPAQUE4_MAX, "opaque data";

    /// The value of an extended attribute (`xattrvalue4`, RFC 8276 8.3.1).
    pub struct XattrValue, XATTR_VALUE_MAX, "value of an extended attribute";
}

message! {
    /// Names a state that a server keeps for a client (`stateid4`): an open, the locks of an owner, a delegation.
    #[derive(PartialOrd, Ord, Hash, Default)]
    pub struct StateId {
        /// Rises with each change of the state (`seqid`); 0 means the current one.
        pub sequence: u32,
        /// Names the state.
        pub other: [u8; 12],
    }
}

impl StateId {
    /// Length on the wire in bytes.
    pub const SIZE: usize = 16;
    /// Of no open: deny modes apply (RFC 8881 8.2.3).
    pub const ANONYMOUS: Self = Self { sequence: 0, other: [0; 12] };
    /// For READ only, of no open and past deny modes (RFC 8881 8.2.3).
    pub const READ_BYPASS: Self = Self { sequence: u32::MAX, other: [0xff; 12] };
    /// The one that an earlier operation of the same compound gave (RFC 8881 16.2.3.1.2).
    pub const CURRENT: Self = Self { sequence: 1, other: [0; 12] };
    /// Never valid (RFC 8881 8.2.3).
    pub const INVALID: Self = Self { sequence: u32::MAX, other: [0; 12] };
}

message! {
    /// Who opens a file or locks ranges of it (`state_owner4`, `open_owner4`, `lock_owner4`).
    #[derive(Hash)]
    pub struct Owner<'a> {
        /// The client. Servers of minor version 1 ignore it: the session says which client calls.
        pub client: ClientId,
        /// Distinguishes the owners of a client.
        pub owner: Opaque<'a>,
    }
}
