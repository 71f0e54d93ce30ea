//! One side of a copy: a file system, who acts in it, and the calls that a copy makes of it.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, CommitFile, Content, Create, CreateFile, Data, Detail, Entry,
    FileSystem, FsError, Handle, ListDirectory, MakeDirectory, Name, NewAttributes, Node, PutFile, ReadFile,
    ReadOutcome, Result, SeekTarget, SetAttributes, Stability, WriteFile, Written,
};

use super::naming::{marker, source_id};

/// How often something is made whose name is taken: more than anybody restarts a server while one call waits, and an end where
/// two fight for a name.
const MOST_TRIES: usize = 8;

/// A file system and who acts in it.
#[derive(Clone)]
pub struct Side {
    /// The file system.
    pub file_system: Arc<dyn FileSystem>,
    /// The user of every call.
    pub caller: Caller,
    /// Two sides of one realm may be the same files; in another realm the same numbers are other files.
    pub(super) realm: u64,
    /// The server that has the files: handles of one side are valid in another of the same server.
    pub(super) server: Option<u64>,
}

/// The bytes of a name that came out of a listing or was made here.
fn name(bytes: &[u8]) -> Result<Name<'_>> {
    Name::parse(bytes).map_err(|error| error.refusal())
}

impl Side {
    /// This caller in this file system, which is a realm of its own.
    pub fn new(file_system: Arc<dyn FileSystem>, caller: Caller) -> Self {
        let realm = Arc::as_ptr(&file_system).cast::<()>().addr() as u64;
        Self { file_system, caller, realm, server: None }
    }

    /// The same in a realm that it shares with others of this name: a machine, of which several file systems are open.
    #[must_use]
    pub fn in_realm(self, name: &str) -> Self {
        Self { realm: source_id(name.as_bytes()), ..self }
    }

    /// The same, and a server of this name can copy from one such side to another.
    #[must_use]
    pub fn at_server(self, name: &str) -> Self {
        Self { server: Some(source_id(name.as_bytes())), ..self }
    }

    /// The node of a name, if there is one.
    pub(super) fn find(&self, directory: &Handle, bytes: &[u8]) -> Result<Option<Node>> {
        match self.file_system.lookup(&self.caller, directory, name(bytes)?) {
            Ok(found) => Ok(Some(found.node)),
            Err(FsError::NotFound) => Ok(None),
            Err(refused) => Err(refused),
        }
    }

    /// Reads a range, of which the file system may give a range of an open file instead: see [`in_memory`].
    pub(super) fn read(
        &self,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        buffer.clear();
        buffer.reserve(count);
        self.file_system.read(&self.caller, ReadFile { node, offset, count }, buffer)
    }

    /// Where the next data begins, as far as holes are known; `None` if there is none up to the end.
    pub(super) fn next_data(&self, node: &Handle, offset: u64) -> Result<Option<u64>> {
        let Some(ranges) = self.file_system.ranges() else { return Ok(Some(offset)) };
        let found = ranges.seek(&self.caller, node, offset, SeekTarget::Data)?;
        Ok((!found.end).then_some(found.offset))
    }

    /// Writes `length` bytes, in as many calls as the file system wants, and gives each part to `part`. `rest` gives the data
    /// without so many bytes at its start.
    pub(super) fn write(
        &self,
        node: &Handle,
        (offset, length): (u64, usize),
        rest: impl Fn(usize) -> Data<'static>,
        stability: Stability,
        mut part: impl FnMut(u64, Written),
    ) -> Result<()> {
        let mut done = 0;
        while done < length {
            let (at, change) = (offset + done as u64, &mut Change::default());
            let written = self.file_system.write(
                &self.caller,
                WriteFile::new(node, at, rest(done), stability),
                change,
            )?;
            // Of an answer that cannot be, nothing is believed.
            if written.count == 0 || written.count > length - done {
                return Err(FsError::Io);
            }
            part(at, written);
            done += written.count;
        }
        Ok(())
    }

    /// Lists the first name of a directory: whether it can be listed.
    pub(super) fn begin_listing(&self, directory: &Handle) -> Result<()> {
        let first = &mut |_: Entry<'_>| ControlFlow::Break(());
        self.file_system
            .read_directory(&self.caller, ListDirectory::new(directory, 0, Detail::Names), first)
            .map(drop)
    }

    /// The node's attributes now.
    pub(super) fn attributes(&self, node: &Handle) -> Result<Attributes> {
        self.file_system.attributes(&self.caller, node)
    }

    /// Where a symbolic link leads.
    pub(super) fn read_link(&self, node: &Handle) -> Result<Vec<u8>> {
        let mut target = Vec::new();
        self.file_system.read_link(&self.caller, node, &mut target)?;
        Ok(target)
    }

    /// Makes a file that was not there.
    pub(super) fn create_new(&self, directory: &Handle, bytes: &[u8], new: NewAttributes) -> Result<Node> {
        let how = Create::Guarded(new);
        self.file_system.create(
            &self.caller,
            CreateFile::new(directory, name(bytes)?, &how),
            &mut Change::default(),
        )
    }

    /// Makes a file in place of what has the name.
    pub(super) fn create_afresh(&self, directory: &Handle, bytes: &[u8], new: NewAttributes) -> Result<Node> {
        self.afresh(directory, bytes, || self.create_new(directory, bytes, new))
    }

    /// Makes something in place of what has the name. What is in the way may be what this very call made: a server that was
    /// killed before it answered is asked again, and refuses then. It goes as anything else would.
    pub(super) fn afresh<T>(
        &self,
        directory: &Handle,
        bytes: &[u8],
        make: impl Fn() -> Result<T>,
    ) -> Result<T> {
        for _ in 1..MOST_TRIES {
            match make() {
                Err(FsError::Exists) => self.remove(directory, bytes)?,
                outcome => return outcome,
            }
        }
        make()
    }

    pub(super) fn make_directory(&self, parent: &Handle, bytes: &[u8], mode: u32) -> Result<Node> {
        let new = NewAttributes::with_mode(mode);
        self.file_system.make_directory(
            &self.caller,
            MakeDirectory::new(parent, name(bytes)?, &new),
            &mut Change::default(),
        )
    }

    /// Sets attributes. Gives those afterwards, if the answer has them.
    pub(super) fn set(&self, node: &Handle, new: &NewAttributes) -> Result<Option<Attributes>> {
        let mut change = Change::default();
        if *new != NewAttributes::default() {
            self.file_system.set_attributes(
                &self.caller,
                SetAttributes::new(node, new, None),
                &mut change,
            )?;
        }
        Ok(change.after)
    }

    /// Removes a name; that it is gone already is no failure.
    pub(super) fn remove(&self, directory: &Handle, bytes: &[u8]) -> Result<()> {
        match self.file_system.remove(&self.caller, directory, name(bytes)?, &mut Change::default()) {
            Err(FsError::NotFound) => Ok(()),
            outcome => outcome,
        }
    }

    /// Removes an empty directory; that it is gone already is no failure.
    pub(super) fn remove_directory(&self, directory: &Handle, bytes: &[u8]) -> Result<()> {
        let removed =
            self.file_system.remove_directory(&self.caller, directory, name(bytes)?, &mut Change::default());
        match removed {
            Err(FsError::NotFound) => Ok(()),
            outcome => outcome,
        }
    }

    /// Makes a whole file by one call, first under a partial name, which comes first.
    pub(super) fn put(
        &self,
        directory: &Handle,
        (partial, last): (&[u8], &[u8]),
        (data, new): (&Bytes, &NewAttributes),
        stability: Stability,
    ) -> Result<Handle> {
        let whole = self.file_system.whole_files().ok_or(FsError::NotSupported)?;
        let (partial, name) = (name(partial)?, name(last)?);
        whole.put_file(&self.caller, PutFile { directory, partial, name, data, new, stability })
    }

    /// Gives a node another name in the same directory.
    pub(super) fn rename(&self, directory: &Handle, from: &[u8], to: &[u8]) -> Result<()> {
        let (mut left, mut entered) = (Change::default(), Change::default());
        let (from, to) = ((directory, name(from)?), (directory, name(to)?));
        self.file_system.rename(&self.caller, from, to, (&mut left, &mut entered))
    }

    pub(super) fn link(&self, node: &Handle, directory: &Handle, bytes: &[u8]) -> Result<()> {
        self.file_system
            .link(&self.caller, AddLink::new(node, directory, name(bytes)?), &mut Change::default())
            .map(drop)
    }

    /// Makes all that was written to a file durable, and gives the verifier.
    pub(super) fn commit(&self, node: &Handle) -> Result<[u8; 8]> {
        let committed =
            self.file_system.commit(&self.caller, CommitFile::new(node, 0, 0), &mut Change::default())?;
        Ok(committed.verifier)
    }
}

/// The mark of a directory that is the unfinished copy of the source with this id.
pub fn mark_in(side: &Side, directory: &Node, id: u64) -> Option<Node> {
    side.find(&directory.handle, &marker(id)).ok().flatten()
}

/// What was read, in the memory of `buffer` if it can be: [`reclaim`] gives that back, so that nothing is allocated for the next
/// block nor copied on the way to a WRITE. Short where the file ended before.
pub(super) fn in_memory(content: Content, buffer: &mut Vec<u8>) -> Result<Bytes> {
    match content {
        Content::Appended(_) => {}
        Content::Bytes(bytes) => return Ok(bytes),
        Content::File(range) => {
            buffer.clear();
            range.append_to(buffer).map_err(|_| FsError::Io)?;
        }
    }
    Ok(Bytes::from(std::mem::take(buffer)))
}

/// Takes the memory of bytes back that nobody else has any more.
pub(super) fn reclaim(bytes: Bytes, buffer: &mut Vec<u8>) {
    if let Ok(mut own) = bytes.try_into_mut() {
        own.clear();
        *buffer = own.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back() {
        for length in [0, 1000, 4096] {
            let mut buffer = Vec::with_capacity(4096);
            buffer.resize(length, 7);
            let place = buffer.as_ptr();
            let bytes = Bytes::from(std::mem::take(&mut buffer));
            drop(bytes.slice(..length / 2));
            reclaim(bytes, &mut buffer);
            if length > 0 {
                assert_eq!((buffer.as_ptr(), buffer.capacity()), (place, 4096), "{length}");
            }
        }
    }
}
