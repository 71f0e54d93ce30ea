//! The trait.

use std::any::Any;
use std::ops::{BitAnd, BitOr, ControlFlow};
use std::sync::Arc;

use crate::{
    AddLink, Attributes, Caller, Change, CommitFile, Committed, Content, CreateFile, DirectoryDelegations,
    Entry, ExtendedAttributes, FileLocks, FsError, Handle, HostLocks, ListDirectory, Listing, LocalChanges,
    LockFreed, MakeDirectory, MakeLink, MakeSpecial, Name, Node, PosixAcls, Quotas, RangeOperations,
    ReadFile, Result, SetAttributes, WholeFiles, WriteFile, Written,
};

/// A tree of files that can be served, mounted, copied, measured and tested.
///
/// Calls block: each runs on the thread that makes it, and any number of threads may call at once. Every call
/// carries the credentials of who asks, and the file system judges them. A handle that names no node any more is
/// refused with [`FsError::Stale`], never taken for another node. A call that changes a node tells the node's
/// attributes before and after in a [`Change`], on refusal too as far as it knows them. What a call with many arguments asks for is
/// one value, such as [`WriteFile`], between the caller and what the call fills in: a layer passes it on whole.
pub trait FileSystem: Send + Sync {
    /// The handle of the root directory.
    fn root(&self) -> Handle;

    /// Whether calls usually wait for another host. A server then lets each wait by itself, and many at once.
    fn waits(&self) -> bool {
        false
    }

    /// Its calls on ranges of files, if it has them.
    fn ranges(&self) -> Option<&dyn RangeOperations> {
        None
    }

    /// Its extended attributes, if it has them.
    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        None
    }

    /// Whether it may have extended attributes later where it has none now: other file systems lie below it.
    fn may_get_xattrs(&self) -> bool {
        false
    }

    /// Its POSIX ACLs, if it has them.
    fn acls(&self) -> Option<&dyn PosixAcls> {
        None
    }

    /// Its locks, if its server keeps such for all clients.
    fn file_locks(&self) -> Option<&dyn FileLocks> {
        None
    }

    /// From now on the server's word that a lock may be free which an owner [waits for](FileLocks::lock_range) goes here. Only the first
    /// one counts. Not all servers say so, and what they say may be lost: who waits asks again now and then.
    fn watch_locks(&self, _freed: LockFreed) {}

    /// Makes whole files by one call each, if its server can.
    fn whole_files(&self) -> Option<&dyn WholeFiles> {
        None
    }

    /// Its delegations of directories, if its server may give some.
    fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
        None
    }

    /// What notices changes that other programs of this host make, if anything does.
    fn local_changes(&self) -> Option<&dyn LocalChanges> {
        None
    }

    /// The quotas of its users and groups, if it can tell them.
    fn quotas(&self) -> Option<&dyn Quotas> {
        None
    }

    /// Closes what it keeps open between calls: another host served the same files meanwhile, or serves them from now on.
    fn let_go(&self) {}

    /// Its locks as processes of this host have them, if the kernel keeps such.
    fn host_locks(&self) -> Option<&dyn HostLocks> {
        None
    }

    /// Keeps a file for a client that has it open: it is served until what is returned is dropped, although its last name goes.
    /// `None` where that is not to be had: then it goes with its last name.
    fn keep_open(&self, _file: &Handle) -> Option<KeptOpen> {
        None
    }

    /// Whether a directory is the root of another file system than the directory above it is on, such as what is mounted inside, or
    /// a subvolume. The root itself is none.
    fn is_junction(&self, _directory: &Handle) -> bool {
        false
    }

    /// Whether new nodes in a directory get their permissions from a default ACL: then the umask of their maker does not hold.
    fn has_default_acl(&self, _directory: &Handle) -> bool {
        false
    }

    /// The attributes of a node (GETATTR). Asks no permission, as in POSIX.
    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes>;

    /// Sets attributes (SETATTR). With a `guard`, only if that holds, else
    /// [`FsError::NotSynchronised`].
    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()>;

    /// The node of that name (LOOKUP).
    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found>;

    /// The directory that holds this one; the root's is the root itself. Never leads out of the file system.
    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found>;

    /// Which of the rights asked for the caller has (ACCESS).
    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)>;

    /// Where a symbolic link points (READLINK): appends the target to `target`, byte for byte.
    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes>;

    /// Reads up to `count` bytes at `offset` (READ). Short only at the end of the file. A file system that has the
    /// bytes in no shareable form appends them to `buffer` and says so; nothing else in `buffer` may be touched.
    /// The owner may read whatever the permission bits say, as a local process may that opened the file earlier; and
    /// who may execute a file may read it, since a client reads what it executes (RFC 1813 4.4).
    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome>;

    /// Writes all of `data` at `offset` (WRITE), or says how much. The owner may write whatever the permission bits
    /// say.
    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written>;

    /// Makes a regular file (CREATE).
    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node>;

    /// Makes a directory (MKDIR).
    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node>;

    /// Makes a symbolic link (SYMLINK) that points to `target`, which is any 1 to 4095 bytes without NUL.
    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node>;

    /// Makes a device, socket or pipe (MKNOD).
    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node>;

    /// Removes a name that is not a directory's (REMOVE).
    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()>;

    /// Removes an empty directory (RMDIR).
    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()>;

    /// Gives a node another name, in this directory or another one, replacing what is there (RENAME). `changes`
    /// are those of the directory it leaves and of the one it enters.
    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()>;

    /// Gives a node that is not a directory one more name (LINK). Answers the node's attributes after.
    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes>;

    /// Lists a directory from just after `cookie` (0: from its start) until the sink breaks off or the end is
    /// reached. The entry on which the sink breaks counts as not given. Every entry that exists during the whole of
    /// a listing, however many calls that takes, is given exactly once, whatever else changes meanwhile.
    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing>;

    /// How full it is (FSSTAT).
    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics>;

    /// What can be stored here at all (FSINFO, PATHCONF).
    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits>;

    /// Makes what was written unstably durable (COMMIT); a `count` of 0 means up to the end.
    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed>;
}

impl dyn FileSystem + '_ {
    /// Its calls on ranges of files.
    ///
    /// # Errors
    /// [`FsError::NotSupported`] if it has none.
    pub fn require_ranges(&self) -> Result<&dyn RangeOperations> {
        self.ranges().ok_or(FsError::NotSupported)
    }

    /// Its extended attributes.
    ///
    /// # Errors
    /// [`FsError::NotSupported`] if it has none.
    pub fn require_xattrs(&self) -> Result<&dyn ExtendedAttributes> {
        self.xattrs().ok_or(FsError::NotSupported)
    }

    /// Its POSIX ACLs.
    ///
    /// # Errors
    /// [`FsError::NotSupported`] if it has none.
    pub fn require_acls(&self) -> Result<&dyn PosixAcls> {
        self.acls().ok_or(FsError::NotSupported)
    }

    /// The locks that its server keeps.
    ///
    /// # Errors
    /// [`FsError::NotSupported`] if it keeps none.
    pub fn require_file_locks(&self) -> Result<&dyn FileLocks> {
        self.file_locks().ok_or(FsError::NotSupported)
    }
}

/// Keeps an open file while it lives ([`FileSystem::keep_open`]).
pub type KeptOpen = Arc<dyn Any + Send + Sync>;

/// Answer of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The node that was looked for.
    pub node: Node,
    /// The directory it was looked for in, if that came for free or nearly so.
    pub directory: Option<Attributes>,
}

/// Answer of a read.
#[derive(Debug, Clone)]
pub struct ReadOutcome {
    /// The data.
    pub content: Content,
    /// Whether the data reaches the end of the file.
    pub end: bool,
    /// The file's attributes.
    pub attributes: Attributes,
}

impl ReadOutcome {
    /// The same answer with the data of a range of a file behind what is in the buffer.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn copied(self, buffer: &mut Vec<u8>) -> Result<Self> {
        let Content::File(range) = &self.content else { return Ok(self) };
        let read = range.append_to(buffer).map_err(|_| FsError::Io)?;
        // Short: it was cut meanwhile, and this is its end now.
        let end = self.end || read < range.length;
        Ok(Self { content: Content::Appended(read), end, ..self })
    }
}

/// A set of rights (RFC 1813 3.3.4, `ACCESS3_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Access(u32);

impl Access {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Read a file, list a directory.
    pub const READ: Self = Self(0x01);
    /// Look a name up in a directory.
    pub const LOOKUP: Self = Self(0x02);
    /// Rewrite existing data, change existing entries.
    pub const MODIFY: Self = Self(0x04);
    /// Write beyond the end, add entries.
    pub const EXTEND: Self = Self(0x08);
    /// Remove an entry.
    pub const DELETE: Self = Self(0x10);
    /// Execute a file.
    pub const EXECUTE: Self = Self(0x20);
    /// All of them.
    pub const ALL: Self = Self(0x3f);

    /// The rights in these bits; bits that mean nothing are left out.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The bits on the wire.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `other` is among them.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is among them.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These without `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Access {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Access {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// How full a file system is, in bytes and in nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Size in bytes.
    pub total_bytes: u64,
    /// Free bytes.
    pub free_bytes: u64,
    /// Free bytes that the caller may use.
    pub available_bytes: u64,
    /// Nodes that fit.
    pub total_files: u64,
    /// Nodes that can still be made.
    pub free_files: u64,
    /// Nodes that the caller can still make.
    pub available_files: u64,
}

/// What a file system can store at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes.
    pub largest_file: u64,
    /// The longest name, in bytes.
    pub longest_name: u32,
    /// Most hard links of one node.
    pub most_links: u32,
    /// The step in which times are kept, in nanoseconds.
    pub time_step_nanoseconds: u32,
    /// Whether there are hard links.
    pub hard_links: bool,
    /// Whether there are symbolic links.
    pub symbolic_links: bool,
    /// Whether only the superuser may give a file away.
    pub chown_restricted: bool,
    /// Whether two names that differ only in case are one name.
    pub case_insensitive: bool,
    /// Whether the case of a name is kept.
    pub case_preserving: bool,
    /// Whether several writes of one file get on at the same time; else they wait for each other, and more than one writer
    /// is of no use.
    pub parallel_writes: bool,
    /// Whether a write of a range of a file ([`Data::File`](crate::Data::File)) passes it on as it lies, without reading it into memory.
    pub passes_files: bool,
    /// What ranges that are cloned must be multiples of, in bytes; `None` if nothing can be cloned here.
    pub clone_block: Option<u32>,
}
