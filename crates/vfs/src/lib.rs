//! The one idea of howdah: whatever is a [`FileSystem`] can be served, mounted, copied, measured and tested.
//!
//! This floor is pure: it knows no socket, no protocol and no clock. It holds the trait, the types that pass
//! through it, the in-memory file system that is the model of all others, the layers that wrap any file
//! system, and the conformance suite that judges one.

mod acl;
mod attributes;
mod caller;
mod change;
pub mod conformance;
mod consistency;
mod content;
mod directory;
mod directory_delegations;
mod durability;
mod error;
mod extended_attributes;
mod file_locks;
mod file_range;
mod file_system;
mod handle;
mod host_locks;
pub mod layer;
pub mod limits;
pub mod listing;
mod local_changes;
pub mod memory;
mod name;
mod quotas;
mod range_operations;
mod requests;
mod shown;
mod whole_files;

pub use acl::{Acl, AclEntry, AclKind, AclSubject, PosixAcls, SetAcl};
pub use attributes::{Attributes, DeviceNumber, FileKind, NewAttributes, SetTime, SpecialKind, Timestamp};
pub use caller::{Caller, GroupList};
pub use change::{Before, Change, Guard};
pub use consistency::{Closed, Consistency};
pub use content::{Content, Data, Waiting};
pub use directory::{Detail, Entry, Listing, Node};
pub use directory_delegations::{DelegationLoss, DelegationLost, DirectoryDelegations};
pub use durability::{Committed, Stability, Written};
pub use error::{FsError, Result};
pub use extended_attributes::{ExtendedAttributes, SetXattr, SetXattrMode, XattrName};
pub use file_locks::{FileLock, FileLocks, LockFreed};
pub use file_range::FileRange;
pub use file_system::{Access, FileSystem, Found, KeptOpen, Limits, ReadOutcome, Statistics};
pub use handle::{Handle, HandleTooLong};
pub use host_locks::HostLocks;
pub use local_changes::{LocalChange, LocalChangeObserver, LocalChanges, WatchedNode};
pub use name::{Name, NameError};
pub use quotas::{Quota, QuotaOwner, QuotaUse, Quotas};
pub use range_operations::{RangeOperations, SeekOutcome, SeekTarget};
pub use requests::{
    AddLink, CommitFile, CopyRange, Create, CreateFile, FileExtent, ListDirectory, MakeDirectory, MakeLink,
    MakeSpecial, PutFile, ReadFile, SetAttributes, WriteFile,
};
pub use shown::{Shown, is_harmless};
pub use whole_files::{WHOLE_FILE_MAX, WholeFiles};
