//! Who asks: the credentials that come with every call.

/// The groups of a caller beside its main one: at most [`GroupList::MAX`], as AUTH_SYS carries (RFC 5531, 14).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupList {
    length: u8,
    groups: [u32; Self::MAX],
}

impl GroupList {
    /// The most groups a caller has.
    pub const MAX: usize = 16;

    /// The groups given; those beyond [`GroupList::MAX`] are left out, as AUTH_SYS itself does.
    pub fn new(groups: impl IntoIterator<Item = u32>) -> Self {
        let mut list = Self::default();
        for group in groups.into_iter().take(Self::MAX) {
            list.groups[usize::from(list.length)] = group;
            list.length += 1;
        }
        list
    }

    /// The groups as a slice.
    pub fn as_slice(&self) -> &[u32] {
        &self.groups[..usize::from(self.length)]
    }
}

impl std::fmt::Debug for GroupList {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

/// The credentials of a call, after the export's squashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    pub const ROOT: Self =
        Self { user: 0, group: 0, groups: GroupList { length: 0, groups: [0; GroupList::MAX] } };

    /// A user with a main group and no further ones.
    pub fn new(user: u32, group: u32) -> Self {
        Self { user, group, groups: GroupList::default() }
    }

    /// Whether the caller is in this group.
    pub fn is_member(&self, group: u32) -> bool {
        self.group == group || self.groups.as_slice().contains(&group)
    }
}
