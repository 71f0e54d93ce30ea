//! What an open may do, and what it keeps others from doing.

/// What an open may do: bits as in `OPEN4_SHARE_ACCESS_*` (RFC 8881 18.16) and NLM's `fsh4_access`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ShareAccess(u8);

/// What an open keeps others from doing: bits as in `OPEN4_SHARE_DENY_*` (RFC 8881 18.16) and NLM's `fsh4_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ShareDeny(u8);

/// What both have: the bits of reading and of writing.
macro_rules! share_bits {
    ($name:ident) => {
        impl $name {
            /// Nothing. Of accesses, only NLM's SHARE knows it.
            pub const NONE: Self = Self(0);
            /// Reading.
            pub const READ: Self = Self(1);
            /// Writing.
            pub const WRITE: Self = Self(2);
            /// Both.
            pub const BOTH: Self = Self(3);

            /// From the wire's number without the bits above: 0 to 3.
            pub fn from_bits(bits: u32) -> Option<Self> {
                (bits <= 3).then_some(Self(bits as u8))
            }

            /// The wire's number.
            pub fn bits(self) -> u32 {
                u32::from(self.0)
            }

            /// Both together.
            pub fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

share_bits!(ShareAccess);
share_bits!(ShareDeny);

impl ShareAccess {
    /// Whether all of `other` is in it.
    pub fn allows(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl ShareDeny {
    /// Whether all of `other` is in it.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it keeps others from any of this access.
    pub fn denies(self, access: ShareAccess) -> bool {
        self.0 & access.0 != 0
    }
}
