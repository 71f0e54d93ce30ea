//! The layer: unstable writes are taken, everything else that would see their effect waits for them.

use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Access, Attributes, Caller, Change, Committed, Create, Data, Detail, Entry, FileSystem, Found, FsError,
    Handle, Listing, Name, NewAttributes, Node, ReadOutcome, Result, Stability, Timestamp, Written,
};

use super::super::threads::Threads;
use super::file::Piece;
use super::shared::{Shared, WriteBehindOptions, WriteBehindReport};

/// The verifier of data that was taken: it never changes, for what a server loses is written again from here.
const VERIFIER: [u8; 8] = *b"behind\0\0";

/// Takes unstable writes at once and makes the calls for them later, gathered to whole blocks, so many at a time as the
/// path takes. The first write after a file was opened or committed is made at once, so that whoever may not write is told.
/// Data is held until a COMMIT has made it durable. What goes wrong later is told by the next write or COMMIT of that file.
/// A change that a write behind tells of knows neither before nor after.
pub struct WriteBehind {
    shared: Arc<Shared>,
    threads: Threads,
}

impl WriteBehind {
    /// The same files, written behind.
    pub fn around(inner: Arc<dyn FileSystem>, options: WriteBehindOptions) -> Self {
        let threads = Threads::new("write-behind", options.in_flight);
        Self { shared: Arc::new(Shared::new(inner, options)), threads }
    }

    /// What it holds, did, and chose.
    pub fn report(&self) -> WriteBehindReport {
        self.shared.report()
    }

    fn flush(&self, node: &Handle) {
        if self.shared.is_dirty(node) {
            self.shared.flush(&self.threads, node);
        }
    }

    /// Makes durable what is held of a file, if anything is.
    fn commit_held(&self, node: &Handle) -> Result<()> {
        if self.shared.holds(node) { self.shared.commit_as_writer(&self.threads, node) } else { Ok(()) }
    }
}

impl Drop for WriteBehind {
    /// Nobody will commit what is left: it is written and committed now, as the superuser, who may.
    fn drop(&mut self) {
        for node in self.shared.nodes() {
            if let Err(error) = self.shared.commit(&self.threads, &node, &Caller::ROOT) {
                tracing::warn!(%error, "data that was never committed could not be written");
            }
        }
    }
}

impl Layer for WriteBehind {
    fn inner(&self) -> &dyn FileSystem {
        &*self.shared.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.shared.inner)
    }

    fn write(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        data: Data<'_>,
        stability: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        // What is empty, or reaches beyond what offsets can say, is judged by the file system itself.
        let ends = offset.checked_add(data.len() as u64).is_some_and(|end| i64::try_from(end).is_ok());
        if data.is_empty() || !ends {
            let written = self.shared.inner.write(caller, node, offset, data, stability, change)?;
            return Ok(Written { verifier: VERIFIER, ..written });
        }
        let bytes = data.into_shared().map_err(|_| FsError::Io)?;
        let (count, piece) = (bytes.len(), Piece { caller: caller.clone(), offset, bytes });
        let durable = stability != Stability::Unstable;
        if durable || !self.shared.may_write(node, caller) {
            // What is older than what will be durable must not be written again after it.
            if durable {
                self.commit_held(node)?
            } else {
                self.flush(node)
            }
            let written = self.shared.write_now(&self.threads, node, &piece, stability, change)?;
            return Ok(Written { verifier: VERIFIER, ..written });
        }
        self.shared.take(&self.threads, node, piece)?;
        Ok(Written { count, stability, verifier: VERIFIER })
    }

    fn commit(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: u64,
        change: &mut Change,
    ) -> Result<Committed> {
        self.shared.commit(&self.threads, node, caller)?;
        // Data that somebody else wrote, or that came another way.
        self.shared.inner.commit(caller, node, offset, count, change)?;
        Ok(Committed { verifier: VERIFIER })
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.flush(node);
        self.shared.inner.attributes(caller, node)
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        node: &Handle,
        new: &NewAttributes,
        guard: Option<Timestamp>,
        change: &mut Change,
    ) -> Result<()> {
        if new.size.is_some() {
            // Data that is cut off must not be written again afterwards.
            self.commit_held(node)?;
        } else {
            self.flush(node);
        }
        self.shared.inner.set_attributes(caller, node, new, guard, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let mut found = self.shared.inner.lookup(caller, directory, name)?;
        if self.shared.is_dirty(&found.node.handle) {
            self.flush(&found.node.handle);
            found.node.attributes = self.shared.inner.attributes(caller, &found.node.handle)?;
        }
        Ok(found)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.flush(node);
        self.shared.inner.access(caller, node, wanted)
    }

    fn read(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.flush(node);
        self.shared.inner.read(caller, node, offset, count, buffer)
    }

    fn next_data(&self, caller: &Caller, node: &Handle, offset: u64) -> Result<Option<u64>> {
        self.flush(node);
        self.shared.inner.next_data(caller, node, offset)
    }

    fn create(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        how: &Create,
        change: &mut Change,
    ) -> Result<Node> {
        // It may cut a file short, and must not cut what comes after it.
        if matches!(how, Create::Unchecked(new) if new.size.is_some()) {
            self.shared.commit_all(&self.threads);
        }
        self.shared.inner.create(caller, directory, name, how, change)
    }

    fn link(
        &self,
        caller: &Caller,
        node: &Handle,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        self.flush(node);
        self.shared.inner.link(caller, node, directory, name, change)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        if detail == Detail::Nodes {
            self.shared.flush_all(&self.threads);
        }
        self.shared.inner.read_directory(caller, directory, cookie, detail, sink)
    }
}
