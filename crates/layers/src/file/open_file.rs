//! The open file: reads and writes through any file system, and what close-to-open consistency asks of a client.

use std::sync::Arc;

use bytes::Bytes;
use howdah_vfs::{
    Attributes, Caller, Change, CommitFile, Create, CreateFile, Data, FileSystem, FsError, Handle, Name,
    NewAttributes, ReadFile, Result, SetAttributes, Stability, WriteFile, Written,
};
use parking_lot::{Mutex, RwLock};

use super::{Lost, Uncommitted};

/// How often data is written again because a server lost it before it said it was safe. One that restarts more often within
/// one COMMIT is not cured by more of it.
const LOSSES_MAX: usize = 16;

/// How an open file behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFileOptions {
    /// Bytes that may be held until they are committed; beyond it the writer that comes commits.
    pub memory_budget: usize,
}

impl Default for OpenFileOptions {
    /// As much as is a second's worth at 500 Mb/s: enough that a COMMIT is rare, little enough for many files.
    fn default() -> Self {
        Self { memory_budget: 64 << 20 }
    }
}

/// An open file. Any number of threads read and write at once; of two writes to the same bytes at the same time either may
/// be the last, as everywhere.
pub struct OpenFile {
    fs: Arc<dyn FileSystem>,
    caller: Caller,
    node: Handle,
    opened: Attributes,
    options: OpenFileOptions,
    uncommitted: Mutex<Uncommitted>,
    /// Held shared by writers, alone by the thread that writes lost data again: so that no older data lands over newer.
    writing: RwLock<()>,
    /// Held by the thread that commits: a second one waits, and finds little left to do.
    committing: Mutex<()>,
}

impl OpenFile {
    /// Opens a file. Its attributes are asked for now, so that the opener sees what was closed before.
    ///
    /// # Errors
    /// What asking for its attributes is refused with.
    pub fn open(
        fs: Arc<dyn FileSystem>,
        caller: Caller,
        node: Handle,
        options: OpenFileOptions,
    ) -> Result<Self> {
        let opened = fs.attributes(&caller, &node)?;
        Ok(Self::with_attributes(fs, caller, (node, opened), options))
    }

    /// Makes a file that is not there yet, and opens it. `verifier` is a number that no other request uses, so that a
    /// repeated request finds its own file and nobody else's.
    ///
    /// # Errors
    /// [`FsError::Exists`], and what making a file or setting its attributes is refused with.
    pub fn create_new(
        fs: Arc<dyn FileSystem>,
        caller: Caller,
        (directory, name): (&Handle, Name<'_>),
        new: &NewAttributes,
        verifier: [u8; 8],
        options: OpenFileOptions,
    ) -> Result<Self> {
        let how = Create::Exclusive(verifier);
        let node = fs.create(&caller, CreateFile::new(directory, name, &how), &mut Change::default())?.handle;
        // An exclusive request has no room for attributes, and servers keep the verifier in the times meanwhile.
        fs.set_attributes(&caller, SetAttributes::new(&node, new, None), &mut Change::default())?;
        Self::open(fs, caller, node, options)
    }

    /// A file whose attributes were asked for just now.
    pub fn with_attributes(
        fs: Arc<dyn FileSystem>,
        caller: Caller,
        (node, opened): (Handle, Attributes),
        options: OpenFileOptions,
    ) -> Self {
        let uncommitted = Mutex::default();
        let (writing, committing) = (RwLock::new(()), Mutex::new(()));
        Self { fs, caller, node, opened, options, uncommitted, writing, committing }
    }

    /// What the file was like when it was opened.
    pub fn opened(&self) -> &Attributes {
        &self.opened
    }

    /// Names it.
    pub fn handle(&self) -> &Handle {
        &self.node
    }

    /// Bytes held because they may still be lost.
    pub fn held(&self) -> usize {
        self.uncommitted.lock().held()
    }

    /// Appends up to `count` bytes at `offset` to `buffer`. Says how many, and whether they reach the end of the file.
    ///
    /// # Errors
    /// What reading is refused with.
    pub fn read_at(&self, offset: u64, count: usize, buffer: &mut Vec<u8>) -> Result<(usize, bool)> {
        let outcome = self.fs.read(&self.caller, ReadFile::new(&self.node, offset, count), buffer)?;
        let length = outcome.content.len();
        match outcome.content {
            howdah_vfs::Content::Appended(_) => {}
            howdah_vfs::Content::Bytes(bytes) => buffer.extend_from_slice(&bytes),
            howdah_vfs::Content::File(range) => {
                let read = range.append_to(buffer).map_err(|_| FsError::Io)?;
                // It became shorter meanwhile: zeros, as a mapping of it would show.
                buffer.resize(buffer.len() + range.length - read, 0);
            }
        }
        Ok((length, outcome.end))
    }

    /// Writes all of the data at `offset`, and holds it until it is committed.
    ///
    /// # Errors
    /// What writing is refused with; also, where the memory for held data is used up, what committing is.
    pub fn write_at(&self, offset: u64, data: Bytes) -> Result<()> {
        {
            let _shared = self.writing.read();
            self.write_all(offset, data)?;
        }
        if self.held() > self.options.memory_budget { self.sync() } else { Ok(()) }
    }

    /// Cuts the file off, or extends it with a hole. What was written before is made durable first: data that is cut off must
    /// not be written again afterwards.
    ///
    /// # Errors
    /// What writing, committing, or setting the size is refused with.
    pub fn set_size(&self, size: u64) -> Result<()> {
        let _none_commits = self.committing.lock();
        let _none_writes = self.writing.write();
        self.settle(true)?;
        let new = NewAttributes::with_size(size);
        self.fs.set_attributes(
            &self.caller,
            SetAttributes::new(&self.node, &new, None),
            &mut Change::default(),
        )
    }

    /// Makes all that was written before this call durable (COMMIT), and writes again what a server that restarted has
    /// lost.
    ///
    /// # Errors
    /// What writing or committing is refused with: the data is still held, and the next call tries again.
    pub fn sync(&self) -> Result<()> {
        let _none_commits = self.committing.lock();
        self.settle(false)
    }

    /// Commits until nothing is lost. `no_writers`: nobody writes meanwhile, which else is seen to while writing again.
    fn settle(&self, no_writers: bool) -> Result<()> {
        for _ in 0..LOSSES_MAX {
            let moment = {
                let uncommitted = self.uncommitted.lock();
                if uncommitted.is_empty() {
                    return Ok(());
                }
                uncommitted.moment()
            };
            let committed =
                self.fs.commit(&self.caller, CommitFile::new(&self.node, 0, 0), &mut Change::default())?;
            let _none_writes = (!no_writers).then(|| self.writing.write());
            let lost = self.uncommitted.lock().committed(moment, committed.verifier);
            if lost.is_empty() {
                return Ok(());
            }
            tracing::info!(pieces = lost.len(), "the server restarted: writing again what it lost");
            for Lost { offset, data, .. } in lost {
                self.write_all(offset, data)?;
            }
        }
        Err(FsError::Io)
    }

    /// Makes everything durable, and returns what the file is like then.
    ///
    /// # Errors
    /// What writing, committing, or asking for the attributes is refused with. What is not durable then is lost.
    pub fn close(self) -> Result<Attributes> {
        self.sync()?;
        self.fs.attributes(&self.caller, &self.node)
    }

    fn write_all(&self, mut offset: u64, mut data: Bytes) -> Result<()> {
        loop {
            let Written { count, stability, verifier } = self.fs.write(
                &self.caller,
                WriteFile::new(&self.node, offset, Data::Shared(data.clone()), Stability::Unstable),
                &mut Change::default(),
            )?;
            let written = data.split_to(count.min(data.len()));
            let mut uncommitted = self.uncommitted.lock();
            match stability {
                Stability::Unstable => uncommitted.add(offset, written, verifier, ()),
                Stability::DataSync | Stability::FileSync => uncommitted.supersede(offset, written.len()),
            }
            if data.is_empty() {
                return Ok(());
            }
            if count == 0 {
                return Err(FsError::Io);
            }
            offset += count as u64;
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let held = self.held();
        if held > 0 {
            tracing::warn!(held, "a file was dropped, not closed: data may not be durable");
        }
    }
}
