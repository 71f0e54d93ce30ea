//! What kind of call it is: how long an answer may take, whether it moves bulk data, whether it may run twice.

/// Calls that take about as long as each other, and share what is measured of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Answered from memory as a rule: NULL, GETATTR, ACCESS, FSSTAT, FSINFO, PATHCONF, and all of MOUNT and portmap.
    Attributes,
    /// LOOKUP and READLINK: one block of a directory or a node.
    Lookup,
    /// READDIR and READDIRPLUS: many blocks.
    Listing,
    /// READ.
    Read,
    /// WRITE.
    Write,
    /// COMMIT: as long as the storage takes.
    Commit,
    /// What changes names or attributes durably: SETATTR, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK.
    Change,
}

/// Whether a call may run a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplaySafety {
    /// Its answer is the same: it may be sent again at will.
    Idempotent,
    /// Running it again ends in another way, as a second REMOVE does: sent again only with the xid it had, so that the
    /// server's cache of replies knows it.
    OnceOnly,
}

impl Class {
    /// How many classes there are.
    pub const COUNT: usize = 7;

    /// All of them, in order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Attributes, Self::Lookup, Self::Listing, Self::Read, Self::Write, Self::Commit, Self::Change];

    /// Whether calls of this class move bulk data: they are bounded by what the path holds.
    pub const fn is_bulk(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}
