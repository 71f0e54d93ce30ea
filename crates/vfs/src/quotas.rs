//! Quotas: what users and groups have used of a file system, and may use at most.

use crate::{Handle, Result};

/// The quotas of a file system, asked for by [`FileSystem::quotas`](crate::FileSystem::quotas). They ask no permission: the asker
/// decides who may know.
pub trait Quotas: Send + Sync {
    /// The quota of a user or group on the file system that a node is on; `None`: there is none.
    ///
    /// # Errors
    /// The node is gone, or the quota cannot be read.
    fn quota(&self, node: &Handle, owner: QuotaOwner) -> Result<Option<Quota>>;
}

/// Who has a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuotaOwner {
    /// A user, by its id.
    User(u32),
    /// A group, by its id.
    Group(u32),
}

/// What an owner has used, and may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Space, in bytes.
    pub bytes: QuotaUse,
    /// Files, directories and all other nodes.
    pub files: QuotaUse,
}

/// One resource of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuotaUse {
    /// How much is used.
    pub used: u64,
    /// The owner may exceed this for a while; 0 is no limit.
    pub soft_limit: u64,
    /// The owner never gets more; 0 is no limit.
    pub hard_limit: u64,
    /// When the soft limit becomes hard, in seconds since 1970; 0 while it is not exceeded.
    pub grace_ends: u64,
}

impl QuotaUse {
    /// How much is left at `now`, in seconds since 1970; `None`: there is no limit.
    pub fn left(&self, now: u64) -> Option<u64> {
        let is_soft_over = self.grace_ends != 0 && self.grace_ends <= now;
        let soft = (self.soft_limit != 0 && is_soft_over).then_some(self.soft_limit);
        let hard = (self.hard_limit != 0).then_some(self.hard_limit);
        let limit = soft.into_iter().chain(hard).min()?;
        Some(limit.saturating_sub(self.used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_judged_by_the_limit_in_effect() {
        let usage =
            |used, soft_limit, hard_limit, grace_ends| QuotaUse { used, soft_limit, hard_limit, grace_ends };
        for (usage, expected) in [
            (usage(5, 0, 0, 0), None),
            (usage(5, 4, 0, 200), None),
            (usage(5, 4, 0, 50), Some(0)),
            (usage(5, 4, 9, 200), Some(4)),
            (usage(5, 4, 9, 100), Some(0)),
            (usage(9, 0, 9, 0), Some(0)),
            (usage(11, 0, 9, 0), Some(0)),
        ] {
            assert_eq!(usage.left(100), expected, "{usage:?}");
        }
    }
}
