//! A whole list that makes sense.

use super::{AclEntry, AclSubject};
use crate::{FsError, Result};

/// An access control list: one entry each for the owner, the owning group and the others, any for named users and groups, and a mask
/// if there are such. Sorted; nobody is named twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Acl {
    entries: Vec<AclEntry>,
}

impl Acl {
    /// The most entries (`NFS_ACL_MAX_ENTRIES` of Linux).
    pub const MAX: usize = 1024;

    /// The list of these entries, in any order.
    ///
    /// # Errors
    /// [`FsError::Invalid`] if they make no list, or are too many.
    pub fn new(mut entries: Vec<AclEntry>) -> Result<Self> {
        entries.sort_unstable();
        let is_doubled = entries.windows(2).any(|pair| pair[0].subject == pair[1].subject);
        let has = |subject| entries.iter().any(|entry| entry.subject == subject);
        let is_complete =
            [AclSubject::Owner, AclSubject::OwningGroup, AclSubject::Other].into_iter().all(has);
        let needs_mask = entries.iter().any(|entry| entry.id().is_some());
        if is_doubled || !is_complete || needs_mask && !has(AclSubject::Mask) || entries.len() > Self::MAX {
            return Err(FsError::Invalid);
        }
        Ok(Self { entries })
    }

    /// What these permission bits say.
    pub fn from_mode(mode: u32) -> Self {
        let entry = |subject, shift: u32| AclEntry::new(subject, (mode >> shift & 7) as u8);
        let [owner, group, other] =
            [(AclSubject::Owner, 6), (AclSubject::OwningGroup, 3), (AclSubject::Other, 0)]
                .map(|(subject, shift)| entry(subject, shift));
        Self { entries: vec![owner, group, other] }
    }

    /// The entries in order.
    pub fn entries(&self) -> &[AclEntry] {
        &self.entries
    }

    /// Whether permission bits say as much.
    pub fn is_minimal(&self) -> bool {
        self.entries.len() == 3
    }

    /// The list for NFSACL, where a minimal list has a mask that equals the rights of the owning group.
    #[must_use]
    pub fn with_mask(mut self) -> Self {
        if self.is_minimal() {
            let group = self.entries[1];
            self.entries.insert(2, AclEntry::new(AclSubject::Mask, group.rights));
        }
        self
    }

    /// The list that [`Self::with_mask`] made this of. A mask that limits anything stays.
    #[must_use]
    pub fn without_equal_mask(mut self) -> Self {
        if let [_, group, mask, _] = self.entries[..]
            && (group.subject, mask.subject) == (AclSubject::OwningGroup, AclSubject::Mask)
            && group.rights == mask.rights
        {
            self.entries.remove(2);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(numbers: &[(u32, u32, u32)]) -> Result<Vec<AclEntry>> {
        numbers.iter().map(|&(tag, id, rights)| AclEntry::from_parts(tag, id, rights)).collect()
    }

    fn list(numbers: &[(u32, u32, u32)]) -> Result<Acl> {
        Acl::new(entries(numbers)?)
    }

    const MINIMAL: [(u32, u32, u32); 3] = [(1, 0, 6), (4, 0, 4), (0x20, 0, 0)];

    #[test]
    fn a_list_is_sorted_and_complete() {
        let acl = list(&[(0x20, 9, 0), (8, 7, 5), (2, 30, 1), (0x10, 0, 7), (2, 5, 2), (4, 0, 4), (1, 1, 6)]);
        let subjects: Vec<_> = acl.expect("a list").entries().iter().map(|entry| entry.subject).collect();
        use AclSubject::*;
        assert_eq!(subjects, [Owner, User(5), User(30), OwningGroup, Group(7), Mask, Other]);
        for missing in 0..3 {
            let mut some = MINIMAL.to_vec();
            some.remove(missing);
            assert_eq!(list(&some), Err(FsError::Invalid));
        }
    }

    #[test]
    fn what_makes_no_list_is_refused() {
        for more in [(1, 0, 6), (2, 5, 4), (0x40, 0, 4), (2, u32::MAX, 4), (4, 0, 8)] {
            assert_eq!(list(&[&MINIMAL[..], &[more]].concat()), Err(FsError::Invalid), "{more:?}");
        }
        let twice = [&MINIMAL[..], &[(0x10, 0, 7), (2, 5, 4), (2, 5, 6)]].concat();
        assert_eq!(list(&twice), Err(FsError::Invalid));
        let many = (0..1021).map(|id| (2, id, 4)).chain([(0x10, 0, 7)]);
        assert_eq!(list(&MINIMAL.into_iter().chain(many.clone()).collect::<Vec<_>>()), Err(FsError::Invalid));
        assert!(list(&MINIMAL.into_iter().chain(many.skip(1)).collect::<Vec<_>>()).is_ok());
    }

    #[test]
    fn a_minimal_list_has_a_mask_on_the_wire_alone() {
        let minimal = Acl::from_mode(0o640);
        assert_eq!(list(&MINIMAL), Ok(minimal.clone()));
        let masked = minimal.clone().with_mask();
        assert_eq!(masked, list(&[&MINIMAL[..], &[(0x10, 0, 0xffc)]].concat()).expect("a list"));
        assert_eq!(masked.without_equal_mask(), minimal);
        let limits = list(&[&MINIMAL[..], &[(0x10, 0, 0)]].concat()).expect("a list");
        assert_eq!(limits.clone().without_equal_mask(), limits);
    }
}
