//! Opening, creating and closing files.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{SystemTime, UNIX_EPOCH};

use fuser::{Errno, FopenFlags};
use howdah_vfs::{
    Access, Attributes, Caller, Change, Closed, Create, CreateFile, FileKind, FsError, Handle, Name,
    NewAttributes, Node, SetAttributes, SetTime, Stability,
};

use crate::nodes::{KernelNode, Seen};
use crate::opens::KernelFile;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;
use crate::unset::{SettingCall, Unset};
use crate::who::Requester;

/// The kernel opens a file to run it (`__FMODE_EXEC`).
const EXECUTE: i32 = 0x20;

/// A file that CREATE made or found.
pub struct Created {
    pub node: Node,
    pub caller: Caller,
    pub flags: i32,
    /// Sets the attributes of a new file.
    pub setting: Option<Arc<SettingCall>>,
    /// Whether nobody else can have it open.
    pub is_new: bool,
}

/// A file, and what follows from how it came about.
struct Made {
    node: Node,
    setting: Option<Arc<SettingCall>>,
    is_new: bool,
}

impl Made {
    fn new(node: Node) -> Self {
        Self { node, setting: None, is_new: true }
    }
}

impl Created {
    /// What is remembered of the file from now on.
    pub fn noted(&self, known: &KernelNode) {
        if !self.is_new {
            return;
        }
        let mut content = known.content.lock();
        content.maker = Some(self.caller.clone());
        if let Some(setting) = &self.setting {
            content.unset = Unset::by(Arc::clone(setting));
        }
    }
}

impl Shared {
    /// OPEN: its rights are asked of the server, and pages that the kernel has are kept if the file did not change since.
    pub fn open(&self, asker: Requester, number: u64, flags: i32) -> Answer<(KernelFile, FopenFlags)> {
        let node = self.nodes.of(number)?;
        let caller = self.caller(asker);
        self.settle_first(&node);
        if reads_only(flags) && node.content.lock().seen.is_none() {
            // The kernel has no pages of it.
            self.consistency.will_read(&caller, &node.handle);
        }
        let now = self.consistency.opened(&caller, &node.handle)?;
        self.may_open(&caller, &node.handle, flags)?;
        let seen = Seen::from(&now);
        let before = node.content.lock().seen.replace(seen);
        let keep = before == Some(seen) && now.kind == FileKind::Regular;
        let how = if keep { FopenFlags::FOPEN_KEEP_CACHE } else { FopenFlags::empty() };
        let open = KernelFile::new(node, caller, flags, self.stability(flags));
        let how = open.how(how);
        Ok((open, how))
    }

    /// NFSv3 opens nothing: whether a file could be read or written is asked by ACCESS.
    fn may_open(&self, caller: &Caller, file: &Handle, flags: i32) -> Answer<()> {
        let write = Access::MODIFY | Access::EXTEND;
        let needed = match flags & libc::O_ACCMODE {
            libc::O_WRONLY => write,
            libc::O_RDWR => Access::READ | write,
            _ if flags & EXECUTE != 0 => Access::EXECUTE,
            _ => Access::READ,
        };
        let (granted, _) = self.file_system.access(caller, file, needed)?;
        if granted.contains(needed) { Ok(()) } else { Err(Refused(Errno::EACCES)) }
    }

    /// The file is open from now on; only called when the kernel hears of it.
    pub fn opened(&self, open: KernelFile) -> u64 {
        open.node.opens.fetch_add(1, SeqCst);
        self.nodes.opens.fetch_add(1, SeqCst);
        self.files.add(open)
    }

    /// CREATE. The kernel looked and found nothing; if somebody else made it meanwhile, and that is allowed, it is opened.
    pub fn create(
        &self,
        asker: Requester,
        parent: u64,
        name: &[u8],
        mode: u32,
        flags: i32,
    ) -> Answer<Created> {
        let parent = self.nodes.of(parent)?;
        let (caller, name) = (self.caller(asker), Name::parse(name)?);
        let Made { node, setting, is_new } = match flags & libc::O_EXCL {
            0 => self.create_or_open(&caller, &parent, name, mode, flags)?,
            _ if self.consistency.is_behind() => self.create_new(&caller, &parent, name, mode)?,
            _ => self.create_exclusively(&caller, &parent, name, mode)?,
        };
        Ok(Created { node, caller, flags, setting, is_new })
    }

    fn create_or_open(
        &self,
        caller: &Caller,
        parent: &KernelNode,
        name: Name<'_>,
        mode: u32,
        flags: i32,
    ) -> Answer<Made> {
        let how = Create::Guarded(NewAttributes::with_mode(mode & 0o7777));
        match self.file_system.create(
            caller,
            CreateFile::new(&parent.handle, name, &how),
            &mut Change::default(),
        ) {
            Err(FsError::Exists) => {}
            made => return Ok(Made::new(made?)),
        }
        let mut node = self.file_system.lookup(caller, &parent.handle, name)?.node;
        if node.attributes.kind != FileKind::Regular {
            return Err(FsError::Exists.into());
        }
        if let Some(known) = self.nodes.with(&node.handle) {
            self.settle_first(&known);
        }
        self.may_open(caller, &node.handle, flags)?;
        if flags & libc::O_TRUNC != 0 {
            node.attributes = self.set(caller, &node.handle, &NewAttributes::with_size(0))?;
        }
        Ok(Made { is_new: false, ..Made::new(node) })
    }

    fn create_new(&self, caller: &Caller, parent: &KernelNode, name: Name<'_>, mode: u32) -> Answer<Made> {
        let how = Create::Guarded(NewAttributes::with_mode(mode & 0o7777));
        let create = CreateFile::new(&parent.handle, name, &how);
        Ok(Made::new(self.file_system.create(caller, create, &mut Change::default())?))
    }

    /// A repeated request finds what its first try made, by the verifier; the attributes follow while the program goes on, since the
    /// server kept the verifier in their place.
    fn create_exclusively(
        &self,
        caller: &Caller,
        parent: &KernelNode,
        name: Name<'_>,
        mode: u32,
    ) -> Answer<Made> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let verifier = (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 48).to_be_bytes();
        let directory = &parent.handle;
        let how = Create::Exclusive(verifier);
        let new = NewAttributes::with_mode(mode & 0o7777);
        match self.file_system.create(caller, CreateFile::new(directory, name, &how), &mut Change::default())
        {
            Err(FsError::NotSupported) => self.create_new(caller, parent, name, mode),
            made => {
                let mut node = made?;
                let new = NewAttributes { accessed: SetTime::Now, modified: SetTime::Now, ..new };
                if node.attributes.mode & 0o777 & !mode != 0 {
                    // Until then others may do more than they should.
                    node.attributes = self.set(caller, &node.handle, &new)?;
                    return Ok(Made::new(node));
                }
                let setting = self.set_meanwhile(caller, &node.handle, new);
                Ok(Made { setting: Some(setting), ..Made::new(node) })
            }
        }
    }

    fn set(&self, caller: &Caller, node: &Handle, new: &NewAttributes) -> Answer<Attributes> {
        let mut change = Change::default();
        self.file_system.set_attributes(caller, SetAttributes::new(node, new, None), &mut change)?;
        Ok(match change.after {
            Some(after) => after,
            None => self.file_system.attributes(caller, node)?,
        })
    }

    /// RELEASE: nobody has it open any more. What no FLUSH covered (a mapped file that was changed after close) is made durable.
    pub fn release(&self, open: &KernelFile) {
        if let Err(Refused(errno)) = self.make_durable(&open.node) {
            let why = std::io::Error::from_raw_os_error(errno.code());
            tracing::warn!(file = open.node.number, %why, "data of a file that is closed could not be written");
        }
        self.nodes.opens.fetch_sub(1, SeqCst);
        if open.node.opens.fetch_sub(1, SeqCst) == 1 {
            self.closed_last(&open.node);
        }
    }

    /// A node was closed for the last time. From now on nothing is taken to be set when it is closed; what was taken since its data
    /// became durable is set now.
    pub fn closed_last(&self, node: &KernelNode) {
        node.content.lock().maker = None;
        self.settle_first(node);
        self.remove_silly(node);
    }

    /// Makes durable what was written to a node, and sets what was set on it. One caller does it, others wait and have the same result. A failure is counted, so
    /// that every open file of the node can report it.
    pub fn make_durable(&self, node: &KernelNode) -> Answer<()> {
        let _others_wait = node.flushing.lock();
        let set = self.settle_with_data(node);
        let committed = self.commit(node);
        // Writing changes times: those that a program has set come after it.
        let outcome = committed.and(set).and(self.settle(node));
        if let Err(refused) = outcome {
            node.content.lock().failed(refused);
        }
        outcome
    }

    fn commit(&self, node: &KernelNode) -> Answer<()> {
        let (unstable, was_lost, writer, writes) = {
            let mut content = node.content.lock();
            let (was_lost, again) = (std::mem::take(&mut content.lost), std::mem::take(&mut content.again));
            let unstable = content.unstable.take();
            if unstable.is_none() && !again {
                return Ok(());
            }
            (unstable, was_lost, content.writer.clone().unwrap_or(Caller::ROOT), content.writes)
        };
        // Where verifiers differed already when it was written, what was written last is still to be durable.
        match self.consistency.closed(&writer, &node.handle) {
            Ok(Closed { verifier, after }) if !was_lost && unstable.is_none_or(|its| its == verifier) => {
                // What the file is like now is our doing, and pages of it are good.
                let mut content = node.content.lock();
                if let Some(after) = &after {
                    content.seen = Some(Seen::from(after));
                }
                content.was_told(writes);
            }
            Ok(_) => {
                tracing::warn!("the server lost data that was not durable: the writer gets an error");
                return Err(FsError::Io.into());
            }
            Err(error) => {
                // The next flush tries again. It ignores the verifier, which may have changed because of this error.
                node.content.lock().again = true;
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// What O_SYNC and O_DSYNC ask of writes, or the option `sync`.
    pub fn stability(&self, flags: i32) -> Stability {
        match flags {
            _ if self.synchronous || flags & libc::O_SYNC == libc::O_SYNC => Stability::FileSync,
            _ if flags & libc::O_DSYNC != 0 => Stability::DataSync,
            _ => Stability::Unstable,
        }
    }

    /// How many files are open.
    pub fn open_files(&self) -> usize {
        self.nodes.opens.load(Relaxed)
    }
}

/// Whether a file is opened to be read, and by way of the kernel's pages.
fn reads_only(flags: i32) -> bool {
    flags & (libc::O_ACCMODE | libc::O_TRUNC | libc::O_DIRECT | EXECUTE) == libc::O_RDONLY
}
