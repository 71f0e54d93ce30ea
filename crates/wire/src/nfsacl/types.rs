//! The types that both procedures share.

use crate::limits::ACL_ENTRIES_MAX;
use crate::message::{message, newtype};
use crate::xdr::Array;

newtype! {
    /// What of a node's ACLs is asked for, or set.
    pub struct AclSelection(pub u32), "selection of ACLs";
}

impl AclSelection {
    /// The access ACL (`NFS_ACL`).
    pub const ACCESS: Self = Self(0x1);
    /// The number of its entries (`NFS_ACLCNT`).
    pub const ACCESS_COUNT: Self = Self(0x2);
    /// The default ACL (`NFS_DFACL`).
    pub const DEFAULT: Self = Self(0x4);
    /// The number of its entries (`NFS_DFACLCNT`).
    pub const DEFAULT_COUNT: Self = Self(0x8);
    /// All that has a meaning (`NFS_ACL_MASK`).
    pub const ALL: Self = Self(0xf);

    /// All of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of these is selected.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

message! {
    /// An entry (`aclent`).
    pub struct AclEntryOnWire {
        /// The kind of its subject; with [`Self::DEFAULT`] in a default ACL.
        pub tag: u32,
        /// The id of the user or group.
        pub id: u32,
        /// Read 4, write 2, execute 1.
        pub rights: u32,
    }
}

impl AclEntryOnWire {
    /// Marks the entries of a default ACL (`NFS_ACL_DEFAULT`).
    pub const DEFAULT: u32 = 0x1000;
}

message! {
    /// One of the two ACLs (half of `secattr`).
    pub struct AclOnWire<'a> {
        /// How many entries it has, also if only that is asked for.
        pub count: u32,
        /// The entries, if they are asked for.
        pub entries: Array<'a, AclEntryOnWire, ACL_ENTRIES_MAX>,
    }
}
