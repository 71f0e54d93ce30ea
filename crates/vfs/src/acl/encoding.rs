//! The form in which Linux keeps and shows ACLs in extended attributes (`linux/posix_acl_xattr.h`).

use super::{Acl, AclEntry};
use crate::{FsError, Result};

/// The version of the form, which comes first.
const VERSION: u32 = 2;
/// The id of an entry without one.
const NO_ID: u32 = u32::MAX;
/// Bytes of an entry: tag, rights, id.
const ENTRY: usize = 8;

impl Acl {
    /// The value of the extended attribute.
    pub fn to_xattr(&self) -> Vec<u8> {
        let entry = |entry: &AclEntry| {
            let [tag, rights] = [entry.tag(), entry.rights.into()].map(u16::to_le_bytes);
            let id = entry.id().unwrap_or(NO_ID).to_le_bytes();
            [tag[0], tag[1], rights[0], rights[1], id[0], id[1], id[2], id[3]]
        };
        let entries = self.entries().iter().flat_map(entry);
        VERSION.to_le_bytes().into_iter().chain(entries).collect()
    }

    /// The list in the value of an extended attribute. One without entries is none: Linux then removes the ACL.
    ///
    /// # Errors
    /// [`FsError::NotSupported`] for another version, [`FsError::Invalid`] for what is no list.
    pub fn from_xattr(value: &[u8]) -> Result<Option<Self>> {
        let (version, entries) = value.split_first_chunk().ok_or(FsError::Invalid)?;
        if u32::from_le_bytes(*version) != VERSION {
            return Err(FsError::NotSupported);
        }
        let (entries, rest) = entries.as_chunks::<ENTRY>();
        if !rest.is_empty() || entries.len() > Self::MAX {
            return Err(FsError::Invalid);
        }
        let entry = |&[tag0, tag1, rights0, rights1, id @ ..]: &[u8; ENTRY]| {
            let [tag, rights] = [[tag0, tag1], [rights0, rights1]].map(u16::from_le_bytes).map(u32::from);
            AclEntry::from_parts(tag, u32::from_le_bytes(id), rights)
        };
        if entries.is_empty() {
            return Ok(None);
        }
        Self::new(entries.iter().map(entry).collect::<Result<_>>()?).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AclSubject;

    #[test]
    fn a_list_has_the_form_of_linux_in_both_directions() {
        let entries = vec![
            AclEntry::new(AclSubject::Owner, 7),
            AclEntry::new(AclSubject::User(1001), 5),
            AclEntry::new(AclSubject::OwningGroup, 4),
            AclEntry::new(AclSubject::Mask, 5),
            AclEntry::new(AclSubject::Other, 0),
        ];
        let acl = Acl::new(entries).expect("a list");
        let value = acl.to_xattr();
        let none = [0xff; 4];
        let expected = [
            &[2, 0, 0, 0, 1, 0, 7, 0][..],
            &none,
            &[2, 0, 5, 0, 0xe9, 3, 0, 0, 4, 0, 4, 0],
            &none,
            &[0x10, 0, 5, 0],
            &none,
            &[0x20, 0, 0, 0],
            &none,
        ];
        assert_eq!(value, expected.concat());
        assert_eq!(Acl::from_xattr(&value), Ok(Some(acl)));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert_eq!(Acl::from_xattr(&[2, 0, 0, 0]), Ok(None));
        assert_eq!(Acl::from_xattr(&[1, 0, 0, 0]), Err(FsError::NotSupported));
        let value = Acl::from_mode(0o644).to_xattr();
        for cut in [0, 3, 5, value.len() - 1, value.len() - ENTRY] {
            assert_eq!(Acl::from_xattr(&value[..cut]), Err(FsError::Invalid), "{cut}");
        }
    }
}
