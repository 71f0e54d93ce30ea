//! The kernel's requests, each handed to the crew: a thin skin over `calls`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use fuser::{
    AccessFlags, BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, IoctlFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLock, ReplyLseek,
    ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use howdah_threads::Threads;
use howdah_vfs::{Attributes, FileKind, FileLock, NewAttributes, Node};

use crate::attributes::{kind, nothing, set_time, shown, special};
use crate::belief::FOR_EVER;
use crate::calls::{Created, Fitting, Making, acl_kind};
use crate::flight::{EndingSignals, Reply, RequestInProgress};
use crate::locks::ProgramLock;
use crate::nodes::ROOT;
use crate::opens::KernelFile;
use crate::refused::{Answer, Refused};
use crate::shared::{Shared, ToldName};
use crate::who::Requester;

/// The most bytes of one request: 256 pages, which is what the kernel allows.
const TRANSFER_MAX: u32 = 1 << 20;
/// Requests that nobody waits for (reading ahead) which the kernel has under way at once.
const BACKGROUND: u16 = 64;
/// The unit of statfs(2).
const BLOCK: u32 = 4096;
const LONGEST_NAME: u32 = 255;
/// Where a lock ends that reaches to the end of the file (`OFFSET_MAX` of the kernel).
const LAST_OFFSET: u64 = i64::MAX as u64;

/// The file system as fuser sees it.
pub struct Skin {
    pub shared: Arc<Shared>,
    /// A request that waits for a server delays no other.
    pub crew: Threads,
    /// Hears when no request comes any more.
    pub ended: Sender<()>,
}

impl Skin {
    /// Does `work` on a thread of the crew and answers. If the program gave up meanwhile, its answer is dropped, and so is work that did
    /// not begin. What the kernel is told of is noted down in `answer`, since it is then told.
    fn run<R: Reply, T>(
        &self,
        request: &Request,
        reply: R,
        work: impl FnOnce(&Shared, Requester) -> Answer<T> + Send + 'static,
        answer: impl FnOnce(&Shared, R, T) + Send + 'static,
    ) {
        let asker = Requester::from(request);
        let (shared, begun) = self.begin(request, reply);
        self.crew.run(move || {
            if begun.is_answered() {
                return;
            }
            let outcome = work(&shared, asker);
            match (begun.end(), outcome) {
                (Some(reply), Ok(outcome)) => answer(&shared, reply, outcome),
                (Some(reply), Err(Refused(errno))) => reply.refuse(errno),
                (None, _) => {}
            }
        });
    }

    /// A request begins.
    fn begin<R: Reply>(&self, request: &Request, reply: R) -> (Arc<Shared>, RequestInProgress<R>) {
        let shared = Arc::clone(&self.shared);
        shared.counters.on_request();
        let process = Requester::from(request).process;
        let begun = shared.flight.begin(process, EndingSignals::ByPersons, reply);
        (shared, begun)
    }

    /// FLUSH and FSYNC, which are done even if nobody waits for them any more: `flush` calls what it is given once the data of the file is
    /// durable. An error that nobody waits for is reported by the next one.
    fn flush_file(
        &self,
        request: &Request,
        open: FileHandle,
        reply: ReplyEmpty,
        flush: impl FnOnce(&Arc<Shared>, Arc<KernelFile>, FlushAnswer) + Send + 'static,
    ) {
        let (shared, begun) = self.begin(request, reply);
        self.crew.run(move || match shared.files.of(open.0) {
            Ok(file) => flush(&shared, file, FlushAnswer(begun)),
            Err(Refused(errno)) => begun.end().into_iter().for_each(|reply| reply.error(errno)),
        });
    }
}

/// The answer that a FLUSH or an FSYNC waits for.
struct FlushAnswer(RequestInProgress<ReplyEmpty>);

impl FlushAnswer {
    /// All is written, or the file counted a failure.
    fn give(self, file: &KernelFile) {
        let Some(reply) = self.0.end() else { return };
        match file.untold_failure() {
            None => reply.ok(),
            Some(Refused(errno)) => reply.error(errno),
        }
    }
}

/// Tells the kernel of a node.
fn enter(named: ToldName) -> impl FnOnce(&Shared, ReplyEntry, Node) {
    move |shared, reply, node| {
        let is_kept = named.is_kept;
        let known = shared.nodes.enter(&node);
        shared.note_told(named, &node.attributes);
        let attributes = shown(known.number, &known.as_seen(node.attributes));
        let times = (shared.believed(&known, &node.attributes), shared.name_believed(&known, is_kept));
        reply.entry_with_ttls(&times.0, &times.1, &attributes, Generation(known.generation()));
    }
}

/// Tells the kernel of a node, or that there is none, which it believes then.
fn enter_if_there(named: ToldName) -> impl FnOnce(&Shared, ReplyEntry, Option<Node>) {
    move |shared, reply, node| match node {
        Some(node) => enter(named)(shared, reply, node),
        None => {
            let time = if shared.belief.holds() { FOR_EVER } else { Duration::ZERO };
            reply.entry_with_ttls(&time, &time, &shown(0, &nothing(FileKind::Regular)), Generation(0));
        }
    }
}

fn attributes(number: u64) -> impl FnOnce(&Shared, ReplyAttr, Attributes) {
    move |shared, reply, attributes| {
        let Ok(known) = shared.nodes.of(number) else { return reply.error(Errno::ESTALE) };
        // The root's number is one that FUSE chose; it is shown with its own.
        let shown_number = if number == ROOT { shared.nodes.number_of(&attributes) } else { number };
        reply.attr(&shared.believed(&known, &attributes), &shown(shown_number, &attributes));
    }
}

fn fitting(_: &Shared, reply: ReplyXattr, answer: Fitting) {
    match answer {
        Fitting::Length(length) => reply.size(length),
        Fitting::Data(data) => reply.data(&data),
    }
}

/// A lock as the kernel asks for it.
fn wish(open: FileHandle, owner: LockOwner, (first, last): (u64, u64), kind: i32) -> ProgramLock {
    let last = if last >= LAST_OFFSET { u64::MAX } else { last };
    let lock = FileLock { first, last, exclusive: kind == libc::F_WRLCK };
    ProgramLock { open: open.0, owner: owner.0, lock }
}

fn done(_: &Shared, reply: ReplyEmpty, (): ()) {
    reply.ok();
}

impl Filesystem for Skin {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let _ = config.set_max_write(TRANSFER_MAX);
        let _ = config.set_max_background(BACKGROUND);
        let wanted = [
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_ASYNC_READ,
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
            InitFlags::FUSE_AUTO_INVAL_DATA,
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            // The server removes set-ID bits where it must.
            InitFlags::FUSE_HANDLE_KILLPRIV,
            InitFlags::FUSE_EXPORT_SUPPORT,
        ];
        if self.shared.belief.holds() {
            // Links are not asked for again.
            let _ = config.add_capabilities(InitFlags::FUSE_CACHE_SYMLINKS);
        }
        if self.shared.shows_acls {
            // A default ACL takes the place of the umask.
            let _ = config.add_capabilities(InitFlags::FUSE_DONT_MASK);
        }
        if self.shared.locks.are_shared {
            let locks = [InitFlags::FUSE_POSIX_LOCKS, InitFlags::FUSE_FLOCK_LOCKS];
            locks.iter().for_each(|&flag| _ = config.add_capabilities(flag));
        }
        // What an older kernel does not know it does without.
        wanted.iter().for_each(|&flag| _ = config.add_capabilities(flag));
        Ok(())
    }

    fn destroy(&mut self) {
        let _ = self.ended.send(());
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.as_bytes().to_vec();
        let named = self.shared.named(parent.0, &name);
        let is_kept = named.is_kept;
        let work = move |shared: &Shared, asker| match shared.lookup(asker, parent.0, &name) {
            Err(Refused(Errno::ENOENT)) if is_kept => Ok(None),
            found => found.map(Some),
        };
        self.run(request, reply, work, enter_if_there(named));
    }

    fn forget(&self, _: &Request, node: INodeNo, times: u64) {
        self.shared.nodes.forget(node.0, times);
    }

    fn getattr(&self, request: &Request, node: INodeNo, open: Option<FileHandle>, reply: ReplyAttr) {
        let open = open.map(|open| open.0);
        let work = move |shared: &Shared, asker| shared.attributes(asker, node.0, open);
        self.run(request, reply, work, attributes(node.0));
    }

    fn setattr(
        &self,
        request: &Request,
        node: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        open: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let new = NewAttributes {
            mode: mode.map(|mode| mode & 0o7777),
            user,
            group,
            size,
            accessed: set_time(accessed),
            modified: set_time(modified),
        };
        let open = open.map(|open| open.0);
        let work = move |shared: &Shared, asker| shared.set_attributes(asker, node.0, open, &new);
        self.run(request, reply, work, attributes(node.0));
    }

    fn readlink(&self, request: &Request, node: INodeNo, reply: ReplyData) {
        let work = move |shared: &Shared, asker| shared.read_link(asker, node.0);
        self.run(request, reply, work, |_, reply, target| reply.data(&target));
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let name = name.as_bytes().to_vec();
        let named = self.shared.named(parent.0, &name);
        let work = move |shared: &Shared, asker| {
            let what = special(mode, device).map_or(Making::File, Making::Special);
            let mode = shared.mode_of_new(asker, parent.0, mode, umask);
            shared.make(asker, parent.0, &name, mode, what)
        };
        self.run(request, reply, work, enter(named));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let name = name.as_bytes().to_vec();
        let named = self.shared.named(parent.0, &name);
        let work = move |shared: &Shared, asker| {
            let mode = shared.mode_of_new(asker, parent.0, mode, umask);
            shared.make(asker, parent.0, &name, mode, Making::Directory)
        };
        self.run(request, reply, work, enter(named));
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.as_bytes().to_vec();
        self.run(request, reply, move |shared, asker| shared.remove(asker, parent.0, &name), done);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.as_bytes().to_vec();
        self.run(request, reply, move |shared, asker| shared.remove_directory(asker, parent.0, &name), done);
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let name = name.as_bytes().to_vec();
        let named = self.shared.named(parent.0, &name);
        let target = target.as_os_str().as_bytes().to_vec();
        let work =
            move |shared: &Shared, asker| shared.make(asker, parent.0, &name, 0o777, Making::Link(&target));
        self.run(request, reply, work, enter(named));
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (name, new_name) = (name.as_bytes().to_vec(), new_name.as_bytes().to_vec());
        self.shared.belief.renamed(new_parent.0, &new_name);
        let work = move |shared: &Shared, asker| {
            shared.rename(asker, (parent.0, &name), (new_parent.0, &new_name), flags)
        };
        self.run(request, reply, work, done);
    }

    fn link(&self, request: &Request, node: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.as_bytes().to_vec();
        let named = self.shared.named(parent.0, &name);
        let work = move |shared: &Shared, asker| shared.link(asker, node.0, parent.0, &name);
        self.run(request, reply, work, enter(named));
    }

    fn open(&self, request: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let work = move |shared: &Shared, asker| shared.open(asker, node.0, flags.0);
        self.run(request, reply, work, |shared, reply, (open, how)| {
            reply.opened(FileHandle(shared.opened(open)), how);
        });
    }

    fn read(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let work = move |shared: &Shared, _| {
            let open = shared.files.of(open.0)?;
            shared.read(&open, offset, size as usize, flags.0)
        };
        self.run(request, reply, work, |_, reply, read| reply.data(read.as_ref()));
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = Bytes::copy_from_slice(data);
        let work = move |shared: &Shared, _| {
            let open = shared.files.of(open.0)?;
            shared.write(&open, offset, data, flags.0)
        };
        self.run(request, reply, work, |_, reply, count| {
            reply.written(u32::try_from(count).unwrap_or(u32::MAX));
        });
    }

    fn flush(&self, request: &Request, _: INodeNo, open: FileHandle, owner: LockOwner, reply: ReplyEmpty) {
        self.flush_file(request, open, reply, move |shared, file, answer| {
            // A failure is counted in the node.
            let _ = shared.make_durable(&file.node);
            shared.end_lock_owner(file, owner.0, |file| answer.give(file));
        });
    }

    fn getlk(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        owner: LockOwner,
        first: u64,
        last: u64,
        kind: i32,
        _: u32,
        reply: ReplyLock,
    ) {
        let wish = wish(open, owner, (first, last), kind);
        let work = move |shared: &Shared, _| shared.test_lock(&wish);
        self.run(request, reply, work, |_, reply, found| match found {
            None => reply.locked(0, 0, libc::F_UNLCK, 0),
            Some(FileLock { first, last, exclusive }) => {
                let kind = if exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
                // Nobody knows the number of a process on another host.
                reply.locked(first.min(LAST_OFFSET), last.min(LAST_OFFSET), kind, 0);
            }
        });
    }

    fn setlk(
        &self,
        request: &Request,
        node: INodeNo,
        open: FileHandle,
        owner: LockOwner,
        first: u64,
        last: u64,
        kind: i32,
        _: u32,
        waits: bool,
        reply: ReplyEmpty,
    ) {
        let wish = wish(open, owner, (first, last), kind);
        let (shared, asker) = (Arc::clone(&self.shared), Requester::from(request));
        shared.counters.on_request();
        let unlocks = kind == libc::F_UNLCK;
        let signals = if waits { EndingSignals::All } else { EndingSignals::ByPersons };
        let begun = shared.flight.begin(asker.process, signals, reply);
        self.shared.locks.run((node.0, owner.0), move || match (unlocks, waits) {
            (true, _) => shared.unlock_and_answer(wish, begun),
            (false, true) => shared.lock_or_wait(wish, begun),
            (false, false) => shared.lock_or_refuse(wish, begun),
        });
    }

    fn release(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let (shared, begun) = self.begin(request, reply);
        self.crew.run(move || {
            let closed = move || begun.end().into_iter().for_each(ReplyEmpty::ok);
            let Some(file) = shared.files.remove(open.0) else { return closed() };
            let its = Arc::clone(&shared);
            shared.end_locks_of_file(file, open.0, move |file| {
                its.release(file);
                closed();
            });
        });
    }

    fn fsync(&self, request: &Request, _: INodeNo, open: FileHandle, _: bool, reply: ReplyEmpty) {
        self.flush_file(request, open, reply, |shared, file, answer| {
            shared.synchronise(&file.node);
            answer.give(&file);
        });
    }

    fn opendir(&self, request: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let work = move |shared: &Shared, asker| shared.open_directory(asker, node.0);
        self.run(request, reply, work, |shared, reply, open| {
            reply.opened(FileHandle(shared.directories.add(open)), FopenFlags::empty());
        });
    }

    fn readdir(&self, request: &Request, _: INodeNo, open: FileHandle, offset: u64, reply: ReplyDirectory) {
        let work = move |shared: &Shared, asker| {
            let open = shared.directories.of(open.0)?;
            shared.fetch(&shared.caller(asker), &open, offset)?;
            Ok(open)
        };
        self.run(request, reply, work, |_, mut reply, open| {
            let mut fetched = open.fetched.lock();
            while let Some(entry) = fetched.entries.front() {
                let name = OsStr::from_bytes(&entry.name);
                if reply.add(INodeNo(entry.file), entry.cookie, kind(entry.kind), name) {
                    break;
                }
                fetched.given();
            }
            reply.ok();
        });
    }

    fn readdirplus(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        offset: u64,
        reply: ReplyDirectoryPlus,
    ) {
        let work = move |shared: &Shared, asker| {
            let open = shared.directories.of(open.0)?;
            shared.fetch(&shared.caller(asker), &open, offset)?;
            Ok(open)
        };
        self.run(request, reply, work, |shared, mut reply, open| {
            let mut fetched = open.fetched.lock();
            while let Some(entry) = fetched.entries.front() {
                if crate::listing::add(shared, &mut reply, open.node.number, entry) {
                    break;
                }
                fetched.given();
            }
            reply.ok();
        });
    }

    fn releasedir(&self, _: &Request, _: INodeNo, open: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.shared.directories.remove(open.0);
        reply.ok();
    }

    fn fsyncdir(&self, request: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let work = move |shared: &Shared, asker| {
            let node = shared.nodes.of(node.0)?;
            shared.synchronise_directory(&shared.caller(asker), &node)
        };
        self.run(request, reply, work, done);
    }

    fn statfs(&self, request: &Request, node: INodeNo, reply: ReplyStatfs) {
        let work = move |shared: &Shared, asker| shared.statistics(asker, node.0);
        self.run(request, reply, work, |_, reply, full| {
            let blocks = |bytes: u64| bytes / u64::from(BLOCK);
            let (total, free, available) =
                (blocks(full.total_bytes), blocks(full.free_bytes), blocks(full.available_bytes));
            reply.statfs(
                total,
                free,
                available,
                full.total_files,
                full.free_files,
                BLOCK,
                LONGEST_NAME,
                BLOCK,
            );
        });
    }

    fn access(&self, request: &Request, node: INodeNo, mask: AccessFlags, reply: ReplyEmpty) {
        self.run(request, reply, move |shared, asker| shared.access(asker, node.0, mask), done);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let name = name.as_bytes().to_vec();
        let is_kept = self.shared.belief.keeps(parent.0, &name);
        let work = move |shared: &Shared, asker| {
            let mode = shared.mode_of_new(asker, parent.0, mode, umask);
            shared.create(asker, parent.0, &name, mode, flags)
        };
        self.run(request, reply, work, created(is_kept));
    }

    fn setxattr(
        &self,
        request: &Request,
        node: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let (name, value) = (name.as_bytes().to_vec(), value.to_vec());
        let work = move |shared: &Shared, asker| shared.set_xattr(asker, node.0, &name, &value, flags);
        self.run(request, reply, work, done);
    }

    fn getxattr(&self, request: &Request, node: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        // The kernel asks for security.capability at every write. No server has any but the user's own, and ACLs.
        let shared = &self.shared;
        let is_known =
            name.as_bytes().starts_with(b"user.") || shared.shows_acls && acl_kind(name.as_bytes()).is_some();
        let has = || shared.file_system.may_get_xattrs() || shared.file_system.xattrs().is_some();
        if !is_known && (shared.shows_acls || has()) {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let name = name.as_bytes().to_vec();
        let work = move |shared: &Shared, asker| shared.get_xattr(asker, node.0, &name, size);
        self.run(request, reply, work, fitting);
    }

    fn listxattr(&self, request: &Request, node: INodeNo, size: u32, reply: ReplyXattr) {
        let work = move |shared: &Shared, asker| shared.list_xattrs(asker, node.0, size);
        self.run(request, reply, work, fitting);
    }

    fn removexattr(&self, request: &Request, node: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.as_bytes().to_vec();
        self.run(request, reply, move |shared, asker| shared.remove_xattr(asker, node.0, &name), done);
    }

    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        reply.error(Errno::ENOTTY);
    }

    fn fallocate(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let work = move |shared: &Shared, _| shared.allocate(open.0, (offset, length), mode);
        self.run(request, reply, work, done);
    }

    fn lseek(
        &self,
        request: &Request,
        _: INodeNo,
        open: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let work = move |shared: &Shared, _| shared.seek(open.0, offset, whence);
        self.run(request, reply, work, |_, reply, offset| reply.offset(offset));
    }

    fn copy_file_range(
        &self,
        request: &Request,
        _: INodeNo,
        source: FileHandle,
        from: u64,
        _: INodeNo,
        target: FileHandle,
        to: u64,
        count: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        let work = move |shared: &Shared, _| shared.copy((source.0, from), (target.0, to), count);
        self.run(request, reply, work, |_, reply, count| reply.written(count));
    }
}

fn created(is_kept: bool) -> impl FnOnce(&Shared, ReplyCreate, Created) {
    move |shared, reply, created| {
        let known = shared.nodes.enter(&created.node);
        created.noted(&known);
        let Created { node, caller, flags, .. } = created;
        let attributes = shown(known.number, &known.as_seen(node.attributes));
        let generation = Generation(known.generation());
        // One time for both the name and the attributes.
        let ttl = shared.believed(&known, &node.attributes).min(shared.name_believed(&known, is_kept));
        let open = KernelFile::new(known, caller, flags, shared.stability(flags));
        let how = open.how(FopenFlags::empty());
        reply.created(&ttl, &attributes, generation, FileHandle(shared.opened(open)), how);
    }
}
