//! Who asks: the credentials that come with every call.

use std::sync::Arc;

/// The groups of a caller beside its main one. As many as AUTH_SYS carries (RFC 5531, 14) lie in the list itself; a longer
/// list is shared by its clones.
#[derive(Clone)]
pub struct GroupList(List);

#[derive(Clone)]
enum List {
    Few { length: u8, groups: [u32; GroupList::FEW] },
    Many(Arc<[u32]>),
}

impl GroupList {
    /// Up to so many groups take no memory beside the list.
    pub const FEW: usize = 16;

    const NONE: Self = Self(List::Few { length: 0, groups: [0; Self::FEW] });

    /// The groups given.
    pub fn new(groups: impl IntoIterator<Item = u32>) -> Self {
        let (mut rest, mut first, mut length) = (groups.into_iter(), [0; Self::FEW], 0_u8);
        for place in &mut first {
            let Some(group) = rest.next() else { break };
            *place = group;
            length += 1;
        }
        match rest.next() {
            None => Self(List::Few { length, groups: first }),
            Some(next) => Self(List::Many(first.into_iter().chain([next]).chain(rest).collect())),
        }
    }

    /// The groups as a slice.
    pub fn as_slice(&self) -> &[u32] {
        match &self.0 {
            List::Few { length, groups } => &groups[..usize::from(*length)],
            List::Many(groups) => groups,
        }
    }
}

impl Default for GroupList {
    /// No group.
    fn default() -> Self {
        Self::NONE
    }
}

impl PartialEq for GroupList {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for GroupList {}

impl std::fmt::Debug for GroupList {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

/// The credentials of a call, after the export's squashing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    /// User id.
    pub user: u32,
    /// Main group id.
    pub group: u32,
    /// Further groups.
    pub groups: GroupList,
}

impl Caller {
    /// The superuser, with no further groups.
    pub const ROOT: Self = Self { user: 0, group: 0, groups: GroupList::NONE };

    /// A user with a main group and no further ones.
    pub fn new(user: u32, group: u32) -> Self {
        Self { user, group, groups: GroupList::default() }
    }

    /// Whether the caller is in this group.
    pub fn is_member(&self, group: u32) -> bool {
        self.group == group || self.groups.as_slice().contains(&group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_all_groups_however_many() {
        for count in [0, 1, 15, 16, 17, 40, 1000] {
            let groups: Vec<u32> = (5..5 + count).collect();
            let caller = Caller { groups: GroupList::new(groups.iter().copied()), ..Caller::new(1, 2) };
            assert_eq!(caller.groups.as_slice(), groups);
            assert_eq!(caller.clone(), caller);
            assert!(caller.is_member(2) && !caller.is_member(4));
            assert!(count == 0 || caller.is_member(5 + count - 1));
        }
    }
}
