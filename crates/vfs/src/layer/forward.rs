//! What all layers have in common: each method of the trait written once, as a call that passes through `around`.

use std::ops::ControlFlow;

use super::Call;
use crate::{
    Access, Acl, AclKind, AddLink, Attributes, Caller, Change, CommitFile, Committed, CopyRange, CreateFile,
    DirectoryDelegations, Entry, ExtendedAttributes, FileExtent, FileLock, FileLocks, FileSystem, Found,
    FsError, Handle, HostLocks, KeptOpen, Limits, ListDirectory, Listing, LocalChanges, LockFreed,
    MakeDirectory, MakeLink, MakeSpecial, Name, Node, PosixAcls, Quotas, RangeOperations, ReadFile,
    ReadOutcome, Result, SeekOutcome, SeekTarget, SetAcl, SetAttributes, SetXattr, Statistics, WholeFiles,
    WriteFile, Written, XattrName,
};

/// Writes the trait [`Layer`] with a default for every method, and makes every layer a [`FileSystem`] with its groups.
macro_rules! forward {
    (
        { $($call:ident $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)* }
        $($group:ident: $trait:ident {
            $($its_call:ident $its:ident($($its_argument:ident: $its_type:ty),*) -> $its_answer:ty;)*
        })*
    ) => {
        /// A file system around another one. A layer writes [`Layer::pass`], and those methods that it treats in a
        /// way of its own; whatever is a layer is a [`FileSystem`], and has the groups of methods that the file system
        /// inside has.
        pub trait Layer: Send + Sync {
            /// The file system inside.
            fn inner(&self) -> &dyn FileSystem;

            /// [`FileSystem::waits`].
            fn waits(&self) -> bool {
                self.inner().waits()
            }

            /// [`FileSystem::may_get_xattrs`].
            fn may_get_xattrs(&self) -> bool {
                self.inner().may_get_xattrs()
            }

            /// [`FileSystem::let_go`].
            fn let_go(&self) {
                self.inner().let_go();
            }

            /// [`FileSystem::host_locks`]. They are told what clients have, and refuse no call: so they do not pass through the layer.
            fn host_locks(&self) -> Option<&dyn HostLocks> {
                self.inner().host_locks()
            }

            /// [`FileSystem::watch_locks`].
            fn watch_locks(&self, freed: LockFreed) {
                self.inner().watch_locks(freed);
            }

            /// [`FileSystem::directory_delegations`]. They do not pass through the layer.
            fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
                self.inner().directory_delegations()
            }

            /// [`FileSystem::whole_files`]. None, unless the layer has no need to know of them.
            fn whole_files(&self) -> Option<&dyn WholeFiles> {
                None
            }

            /// [`FileSystem::local_changes`]. They do not pass through the layer.
            fn local_changes(&self) -> Option<&dyn LocalChanges> {
                self.inner().local_changes()
            }

            /// [`FileSystem::quotas`]. They do not pass through the layer.
            fn quotas(&self) -> Option<&dyn Quotas> {
                self.inner().quotas()
            }

            /// [`FileSystem::keep_open`].
            fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
                self.inner().keep_open(file)
            }

            /// [`FileSystem::is_junction`].
            fn is_junction(&self, directory: &Handle) -> bool {
                self.inner().is_junction(directory)
            }

            /// [`FileSystem::has_default_acl`].
            fn has_default_acl(&self, directory: &Handle) -> bool {
                self.inner().has_default_acl(directory)
            }

            /// Every call passes here, unless the layer has its own method for it: `run` makes it on the file
            /// system inside.
            fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T>;

            $(
                #[doc = concat!("[`FileSystem::", stringify!($method), "`].")]
                fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                    self.pass(Call::$call, |inner| inner.$method($($argument),*))
                }
            )*
            $(
                #[doc = concat!("[`FileSystem::", stringify!($group), "`].")]
                fn $group(&self) -> Option<&dyn $trait>
                where
                    Self: Sized,
                {
                    self.inner().$group().map(|_| self as &dyn $trait)
                }

                $(
                    #[doc = concat!("[`", stringify!($trait), "::", stringify!($its), "`].")]
                    fn $its(&self, $($its_argument: $its_type),*) -> Result<$its_answer> {
                        self.pass(Call::$its_call, |inner| {
                            inner.$group().ok_or(FsError::NotSupported)?.$its($($its_argument),*)
                        })
                    }
                )*
            )*
        }

        impl<L: Layer> FileSystem for L {
            fn root(&self) -> Handle {
                self.inner().root()
            }

            fn waits(&self) -> bool {
                Layer::waits(self)
            }

            fn may_get_xattrs(&self) -> bool {
                Layer::may_get_xattrs(self)
            }

            fn let_go(&self) {
                Layer::let_go(self);
            }

            fn host_locks(&self) -> Option<&dyn HostLocks> {
                Layer::host_locks(self)
            }

            fn watch_locks(&self, freed: LockFreed) {
                Layer::watch_locks(self, freed);
            }

            fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
                Layer::directory_delegations(self)
            }

            fn whole_files(&self) -> Option<&dyn WholeFiles> {
                Layer::whole_files(self)
            }

            fn local_changes(&self) -> Option<&dyn LocalChanges> {
                Layer::local_changes(self)
            }

            fn quotas(&self) -> Option<&dyn Quotas> {
                Layer::quotas(self)
            }

            fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
                Layer::keep_open(self, file)
            }

            fn is_junction(&self, directory: &Handle) -> bool {
                Layer::is_junction(self, directory)
            }

            fn has_default_acl(&self, directory: &Handle) -> bool {
                Layer::has_default_acl(self, directory)
            }

            $(
                fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                    Layer::$method(self, $($argument),*)
                }
            )*

            $(
                fn $group(&self) -> Option<&dyn $trait> {
                    Layer::$group(self)
                }
            )*
        }

        $(
            impl<L: Layer> $trait for L {
                $(
                    fn $its(&self, $($its_argument: $its_type),*) -> Result<$its_answer> {
                        Layer::$its(self, $($its_argument),*)
                    }
                )*
            }
        )*
    };
}

forward! {
    {
        Attributes attributes(caller: &Caller, node: &Handle) -> Attributes;
        SetAttributes set_attributes(caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> ();
        Lookup lookup(caller: &Caller, directory: &Handle, name: Name<'_>) -> Found;
        Parent parent(caller: &Caller, directory: &Handle) -> Found;
        Access access(caller: &Caller, node: &Handle, wanted: Access) -> (Access, Attributes);
        ReadLink read_link(caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Attributes;
        Read read(caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> ReadOutcome;
        Write write(caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Written;
        Create create(caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Node;
        MakeDirectory make_directory(caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Node;
        MakeLink make_link(caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Node;
        MakeSpecial make_special(caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Node;
        Remove remove(caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> ();
        RemoveDirectory remove_directory(
            caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change
        ) -> ();
        Rename rename(
            caller: &Caller, from: (&Handle, Name<'_>), to: (&Handle, Name<'_>), changes: (&mut Change, &mut Change)
        ) -> ();
        Link link(caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Attributes;
        ReadDirectory read_directory(
            caller: &Caller, list: ListDirectory<'_>, sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>
        ) -> Listing;
        Statistics statistics(caller: &Caller, node: &Handle) -> Statistics;
        Limits limits(caller: &Caller, node: &Handle) -> Limits;
        Commit commit(caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Committed;
    }

    ranges: RangeOperations {
        Seek seek(caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> SeekOutcome;
        Allocate allocate(caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> ();
        Deallocate deallocate(caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> ();
        CopyRange copy_range(caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Written;
        CloneRange clone_range(caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> ();
    }

    xattrs: ExtendedAttributes {
        GetXattr get_xattr(
            caller: &Caller, node: &Handle, name: XattrName<'_>, value: &mut Vec<u8>
        ) -> ();
        SetXattr set_xattr(caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> ();
        ListXattrs list_xattrs(
            caller: &Caller, node: &Handle, cookie: u64,
            sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>
        ) -> bool;
        RemoveXattr remove_xattr(
            caller: &Caller, node: &Handle, name: XattrName<'_>, change: &mut Change
        ) -> ();
    }

    acls: PosixAcls {
        GetAcl get_acl(caller: &Caller, node: &Handle, kind: AclKind) -> Option<Acl>;
        SetAcl set_acl(caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> ();
    }

    file_locks: FileLocks {
        LockRange lock_range(
            caller: &Caller, node: &Handle, owner: u64, lock: FileLock, waits: bool
        ) -> Option<FileLock>;
        TestLock test_lock(caller: &Caller, node: &Handle, owner: u64, lock: FileLock) -> Option<FileLock>;
        UnlockRange unlock_range(caller: &Caller, node: &Handle, owner: u64, bytes: (u64, u64)) -> ();
    }
}
