//! The owner of a directory, as the server said in its answer to a change: to give it to the same owner right then changes
//! nothing.

use std::time::{Duration, Instant};

use howdah_vfs::{Attributes, Caller, FileKind, NewAttributes, SetTime};

/// For how long that holds: a program that unpacks a tree sets times, owner and mode one right after the other.
const SOON: Duration = Duration::from_millis(20);

/// An owner, in an answer to the caller that changed the directory, who owns it or is the superuser.
#[derive(Debug)]
pub struct Owned {
    caller: Caller,
    user: u32,
    group: u32,
    learned: Instant,
}

impl Owned {
    /// After a change by a caller that only the owner may make. Of other nodes, a change of the owner takes set-ID bits away, too.
    pub fn after(caller: Caller, new: &NewAttributes, after: &Attributes) -> Option<Self> {
        let is_time = |time| matches!(time, SetTime::To(_));
        let is_owners = new.mode.is_some() || is_time(new.accessed) || is_time(new.modified);
        let is_told = is_owners && after.kind == FileKind::Directory;
        is_told.then(|| Self { caller, user: after.user, group: after.group, learned: Instant::now() })
    }

    /// Whether a change by a caller gives the directory to whom it belongs, and is nothing else.
    pub fn is_as(&self, caller: &Caller, new: &NewAttributes) -> bool {
        let Self { user, group, .. } = *self;
        let owner = NewAttributes { user: new.user, group: new.group, ..NewAttributes::default() };
        *new == owner
            && new.user.is_none_or(|new| new == user)
            && new.group.is_none_or(|new| new == group)
            && self.caller == *caller
            && self.learned.elapsed() < SOON
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    #[test]
    fn only_the_owner_that_a_directory_has_is_not_set_again() {
        let memory = MemoryFileSystem::new();
        let root = memory.attributes(&Caller::ROOT, &memory.root()).expect("there");
        let owner = |user, group| NewAttributes { user, group, ..NewAttributes::default() };
        let mode = NewAttributes::with_mode(0o755);
        let owned = |attributes: Attributes| Owned::after(Caller::ROOT, &mode, &attributes);
        let root = Attributes { user: 5, group: 6, ..root };
        let is_as =
            |caller: Caller, new: NewAttributes| owned(root).expect("a directory").is_as(&caller, &new);
        assert!(is_as(Caller::ROOT, owner(Some(5), Some(6))) && is_as(Caller::ROOT, owner(Some(5), None)));
        assert!(!is_as(Caller::ROOT, owner(Some(5), Some(7))) && !is_as(Caller::ROOT, owner(Some(6), None)));
        assert!(!is_as(Caller::new(5, 6), owner(Some(5), None)), "another may be refused");
        assert!(!is_as(Caller::ROOT, NewAttributes { mode: Some(0o755), ..owner(Some(5), Some(6)) }));
        let touched = NewAttributes { modified: SetTime::Now, ..NewAttributes::default() };
        assert!(Owned::after(Caller::ROOT, &touched, &root).is_none(), "others may do that, too");
        assert!(owned(Attributes { kind: FileKind::Regular, ..root }).is_none());
        let late = Owned { learned: Instant::now() - SOON, ..owned(root).expect("a directory") };
        assert!(!late.is_as(&Caller::ROOT, &owner(Some(5), Some(6))));
    }
}
