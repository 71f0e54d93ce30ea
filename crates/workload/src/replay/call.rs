//! One call of a record, made on the file system under test.

use std::ops::ControlFlow;

use howdah_capture::{Call, How, Stability as Stable};
use howdah_vfs::{
    Access, AddLink, Caller, Change, CommitFile, Create, CreateFile, Data, Detail, Entry, FileSystem,
    FsError, Handle, ListDirectory, MakeDirectory, MakeLink, MakeSpecial, NewAttributes, ReadFile, Result,
    SetAttributes, SetTime, SpecialKind, Stability, WriteFile,
};

use super::made::{Made, name};
use super::story::Step;
use crate::content::{Generator, Stamp};

/// Bits that files and directories keep whatever a SETATTR says, lest the player's next call be refused.
const OURS: u32 = 0o700;
/// The largest transfer of READ and WRITE that servers announce.
const TRANSFER_MOST: u64 = 1 << 20;
/// The longest target of a symbolic link.
const TARGET_MOST: u32 = 4095;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With so many bytes read or written.
    Done(u64),
    /// It was refused.
    Refused(FsError),
    /// It could not be made: no file system has such a call, or what it is for is not there, since another call came out otherwise.
    Skipped,
}

/// Who makes calls, on one thread.
pub(super) struct Hand<'a> {
    pub(super) files: &'a dyn FileSystem,
    pub(super) caller: &'a Caller,
    pub(super) made: &'a Made,
    pub(super) generator: Generator,
    pub(super) buffer: Vec<u8>,
}

impl Hand<'_> {
    /// Makes it. Data is made before: the caller times what comes back, from `ready` on.
    pub(super) fn make(&mut self, call: &Call, step: &Step) -> Outcome {
        let outcome = self.attempt(call, step);
        match outcome {
            None => Outcome::Skipped,
            Some(Ok(bytes)) => Outcome::Done(bytes),
            Some(Err(error)) => Outcome::Refused(error),
        }
    }

    /// The data of a WRITE, so that making it is no part of its time.
    pub(super) fn prepare(&mut self, call: &Call, step: &Step) {
        if let ("WRITE", Some(node), Some(count)) = (&*call.procedure, step.node, call.count) {
            // What was refused moved nothing, whatever it claimed; and no more is taken at once than a server of ours announces.
            let bytes = if call.error.is_some() { 0 } else { count.min(TRANSFER_MOST) };
            self.buffer.resize(bytes as usize, 0);
            let stamp = Stamp { file: node as u64, generation: 2 };
            self.generator.fill(stamp, call.offset.unwrap_or_default(), &mut self.buffer);
        }
    }

    fn attempt(&mut self, call: &Call, step: &Step) -> Option<Result<u64>> {
        let handle = |id: Option<usize>| id.and_then(|id| self.made.handle(id));
        let node = handle(step.node)?;
        let (files, caller, change) = (self.files, self.caller, &mut Change::default());
        let done = |result: Result<()>| Some(result.map(|()| 0));
        match &*call.procedure {
            "GETATTR" => done(files.attributes(caller, &node).map(drop)),
            "SETATTR" => {
                done(files.set_attributes(caller, SetAttributes::new(&node, &self.set(call), None), change))
            }
            "LOOKUP" => Some(self.look_up(&node, call, step)),
            "ACCESS" => {
                let wanted = Access::from_bits(call.access.unwrap_or_default());
                done(files.access(caller, &node, wanted).map(drop))
            }
            "READLINK" => done(files.read_link(caller, &node, &mut Vec::new()).map(drop)),
            "READ" => Some(self.read(&node, call)),
            "WRITE" => Some(self.write(&node, call)),
            "CREATE" | "MKDIR" | "SYMLINK" | "MKNOD" => Some(self.create(&node, call, step)),
            "REMOVE" => {
                let removed = |name| match files.remove(caller, &node, name, change) {
                    // REMOVE of NFSv4 takes directories, too.
                    Err(FsError::IsDirectory) if call.operation.is_some() => {
                        files.remove_directory(caller, &node, name, change)
                    }
                    outcome => outcome,
                };
                done(name(call.name.as_deref()?).and_then(removed))
            }
            "RMDIR" => {
                let removed = |name| files.remove_directory(caller, &node, name, change);
                done(name(call.name.as_deref()?).and_then(removed))
            }
            "RENAME" => done(self.rename(&node, &handle(step.to)?, call)),
            "LINK" => {
                let to = handle(step.to)?;
                let linked = |name| files.link(caller, AddLink::new(&node, &to, name), change).map(drop);
                done(name(call.to_name.as_deref()?).and_then(linked))
            }
            "READDIR" => Some(self.list(&node, call, step, Detail::Names)),
            "READDIRPLUS" => Some(self.list(&node, call, step, Detail::Nodes)),
            "FSSTAT" => done(files.statistics(caller, &node).map(drop)),
            "PATHCONF" => done(files.limits(caller, &node).map(drop)),
            "COMMIT" => {
                let (offset, count) = (call.offset.unwrap_or_default(), call.count.unwrap_or_default());
                done(files.commit(caller, CommitFile::new(&node, offset, count), change).map(drop))
            }
            _ => None,
        }
    }

    /// What a SETATTR or a new node sets. The owner is not the record's but the player, and times are now.
    fn set(&self, call: &Call) -> NewAttributes {
        let time = if call.set_times { SetTime::Now } else { SetTime::Keep };
        let owner = |id: u32| call.set_owner.then_some(id);
        NewAttributes {
            mode: call.mode.map(|mode| (mode & 0o777) | OURS),
            user: owner(self.caller.user),
            group: owner(self.caller.group),
            size: call.set_size,
            accessed: time,
            modified: time,
        }
    }

    fn look_up(&self, directory: &Handle, call: &Call, step: &Step) -> Result<u64> {
        let found = match call.name.as_deref().unwrap_or(".") {
            ".." => self.files.parent(self.caller, directory)?,
            // No file system of ours is asked for `.` over NFS: it is the node itself, and its attributes are what is asked.
            "." => return self.files.attributes(self.caller, directory).map(|_| 0),
            other => self.files.lookup(self.caller, directory, name(other)?)?,
        };
        if let Some(id) = step.found.filter(|_| call.name.as_deref() != Some("..")) {
            self.made.set(id, found.node.handle);
        }
        Ok(0)
    }

    fn read(&mut self, node: &Handle, call: &Call) -> Result<u64> {
        self.buffer.clear();
        let count = usize::try_from(call.count.unwrap_or_default()).map_err(|_| FsError::Invalid)?;
        let offset = call.offset.unwrap_or_default();
        let outcome = self.files.read(self.caller, ReadFile { node, offset, count }, &mut self.buffer)?;
        let length = outcome.content.len();
        if let howdah_vfs::Content::File(range) = &outcome.content {
            // A range of an open file is a promise: reading is moving the bytes.
            range.append_to(&mut self.buffer).map_err(|_| FsError::Io)?;
        }
        Ok(length as u64)
    }

    fn write(&mut self, node: &Handle, call: &Call) -> Result<u64> {
        let how = match call.stable {
            None | Some(Stable::Unstable) => Stability::Unstable,
            Some(Stable::Data) => Stability::DataSync,
            Some(Stable::File) => Stability::FileSync,
        };
        let (offset, data) = (call.offset.unwrap_or_default(), Data::Bytes(&self.buffer));
        let written =
            self.files.write(self.caller, WriteFile::new(node, offset, data, how), &mut Change::default())?;
        Ok(written.count as u64)
    }

    fn create(&self, directory: &Handle, call: &Call, step: &Step) -> Result<u64> {
        let (files, caller, change) = (self.files, self.caller, &mut Change::default());
        let (name, new) = (name(call.name.as_deref().unwrap_or_default())?, self.set(call));
        let node = match &*call.procedure {
            "MKDIR" => files.make_directory(caller, MakeDirectory::new(directory, name, &new), change)?,
            "SYMLINK" => {
                let length = call.target.unwrap_or(1).clamp(1, TARGET_MOST) as usize;
                files.make_link(caller, MakeLink::new(directory, name, &vec![b'x'; length], &new), change)?
            }
            "MKNOD" => files.make_special(
                caller,
                MakeSpecial::new(directory, name, SpecialKind::Fifo, &new),
                change,
            )?,
            _ => {
                let how = match call.how {
                    Some(How::Guarded) => Create::Guarded(new),
                    Some(How::Exclusive) => {
                        Create::Exclusive((call.at.to_bits() ^ call.took.to_bits()).to_be_bytes())
                    }
                    Some(How::Unchecked) | None => Create::Unchecked(new),
                };
                files.create(caller, CreateFile::new(directory, name, &how), change)?
            }
        };
        if let Some(id) = step.found {
            self.made.set(id, node.handle);
        }
        Ok(0)
    }

    fn rename(&self, from: &Handle, to: &Handle, call: &Call) -> Result<()> {
        let old = name(call.name.as_deref().unwrap_or_default())?;
        let new = name(call.to_name.as_deref().unwrap_or_default())?;
        let (mut left, mut entered) = (Change::default(), Change::default());
        self.files.rename(self.caller, (from, old), (to, new), (&mut left, &mut entered))
    }

    /// As many entries as were recorded, from where the one before ended.
    fn list(&self, directory: &Handle, call: &Call, step: &Step, detail: Detail) -> Result<u64> {
        let wanted = call.entries.unwrap_or_default();
        let Some(id) = step.node else { return Ok(0) };
        let mut cookie = if call.goes_on { self.made.cookie(id) } else { 0 };
        let (from, mut given) = (cookie, 0);
        let mut sink = |entry: Entry<'_>| {
            if given >= wanted && !call.at_end {
                return ControlFlow::Break(());
            }
            (cookie, given) = (entry.cookie, given + 1);
            ControlFlow::Continue(())
        };
        self.files.read_directory(self.caller, ListDirectory::new(directory, from, detail), &mut sink)?;
        self.made.goes_on(id, cookie);
        Ok(0)
    }
}
