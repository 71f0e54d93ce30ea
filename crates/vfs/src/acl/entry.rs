//! One entry: a subject and its rights.

use crate::{FsError, Result};

/// Who an entry is about. The order is that of entries in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AclSubject {
    /// The owner (`ACL_USER_OBJ`).
    Owner,
    /// The user of this id (`ACL_USER`).
    User(u32),
    /// The owning group (`ACL_GROUP_OBJ`).
    OwningGroup,
    /// The group of this id (`ACL_GROUP`).
    Group(u32),
    /// Limits all but the owner and the others (`ACL_MASK`).
    Mask,
    /// All others (`ACL_OTHER`).
    Other,
}

/// What a subject may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AclEntry {
    /// Who.
    pub subject: AclSubject,
    /// Read 4, write 2, execute 1.
    pub rights: u8,
}

impl AclEntry {
    /// All three rights.
    pub const ALL_RIGHTS: u8 = 7;

    /// An entry of this subject.
    pub const fn new(subject: AclSubject, rights: u8) -> Self {
        Self { subject, rights: rights & Self::ALL_RIGHTS }
    }

    /// The entry with this tag, id and rights. The id counts for named users and groups only. A mask may have more bits than rights,
    /// as that of Solaris does.
    ///
    /// # Errors
    /// [`FsError::Invalid`] for a tag or rights that do not exist, and for the id that names nobody.
    pub fn from_parts(tag: u32, id: u32, rights: u32) -> Result<Self> {
        let subject = match tag {
            0x01 => AclSubject::Owner,
            0x02 => AclSubject::User(id),
            0x04 => AclSubject::OwningGroup,
            0x08 => AclSubject::Group(id),
            0x10 => AclSubject::Mask,
            0x20 => AclSubject::Other,
            _ => return Err(FsError::Invalid),
        };
        let names_nobody = matches!(subject, AclSubject::User(u32::MAX) | AclSubject::Group(u32::MAX));
        let has_more = rights > u32::from(Self::ALL_RIGHTS) && subject != AclSubject::Mask;
        if names_nobody || has_more {
            return Err(FsError::Invalid);
        }
        Ok(Self::new(subject, (rights & u32::from(Self::ALL_RIGHTS)) as u8))
    }

    /// The number of its kind of subject, on Linux and on the wire.
    pub const fn tag(self) -> u16 {
        match self.subject {
            AclSubject::Owner => 0x01,
            AclSubject::User(_) => 0x02,
            AclSubject::OwningGroup => 0x04,
            AclSubject::Group(_) => 0x08,
            AclSubject::Mask => 0x10,
            AclSubject::Other => 0x20,
        }
    }

    /// The id of a named user or group.
    pub const fn id(self) -> Option<u32> {
        match self.subject {
            AclSubject::User(id) | AclSubject::Group(id) => Some(id),
            _ => None,
        }
    }
}
