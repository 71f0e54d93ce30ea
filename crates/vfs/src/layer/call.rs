//! The calls of a file system as values, for those who treat them all alike.

/// A method of [`FileSystem`](crate::FileSystem), or of a group of methods that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named like its method")]
pub enum Call {
    Attributes,
    SetAttributes,
    Lookup,
    Parent,
    Access,
    ReadLink,
    Read,
    Write,
    Create,
    MakeDirectory,
    MakeLink,
    MakeSpecial,
    Remove,
    RemoveDirectory,
    Rename,
    Link,
    ReadDirectory,
    Statistics,
    Limits,
    Commit,
    Seek,
    Allocate,
    Deallocate,
    CopyRange,
    CloneRange,
    GetXattr,
    SetXattr,
    ListXattrs,
    RemoveXattr,
    GetAcl,
    SetAcl,
    LockRange,
    TestLock,
    UnlockRange,
}

impl Call {
    /// All of them, in the order of the traits.
    pub const ALL: [Self; 34] = [
        Self::Attributes,
        Self::SetAttributes,
        Self::Lookup,
        Self::Parent,
        Self::Access,
        Self::ReadLink,
        Self::Read,
        Self::Write,
        Self::Create,
        Self::MakeDirectory,
        Self::MakeLink,
        Self::MakeSpecial,
        Self::Remove,
        Self::RemoveDirectory,
        Self::Rename,
        Self::Link,
        Self::ReadDirectory,
        Self::Statistics,
        Self::Limits,
        Self::Commit,
        Self::Seek,
        Self::Allocate,
        Self::Deallocate,
        Self::CopyRange,
        Self::CloneRange,
        Self::GetXattr,
        Self::SetXattr,
        Self::ListXattrs,
        Self::RemoveXattr,
        Self::GetAcl,
        Self::SetAcl,
        Self::LockRange,
        Self::TestLock,
        Self::UnlockRange,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_in_order() {
        Call::ALL.iter().enumerate().for_each(|(number, call)| assert_eq!(*call as usize, number));
    }
}
