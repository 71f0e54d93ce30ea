//! The file system itself: takes the lock and hands each call to the operation of that name.

use std::ops::ControlFlow;

use parking_lot::Mutex;

use super::MemoryOptions;
use super::tables::{ROOT, Tables};
use super::{attributes, capacity, create, file, link, listing, lookup, remove, rename};
use crate::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CreateFile, Entry,
    ExtendedAttributes, FileSystem, Found, FsError, Handle, Limits, ListDirectory, Listing, LocalChanges,
    MakeDirectory, MakeLink, MakeSpecial, Name, Node, RangeOperations, ReadFile, ReadOutcome, Result,
    SetAttributes, Statistics, WriteFile, Written,
};

/// A file system in memory.
pub struct MemoryFileSystem {
    pub(super) tables: Mutex<Tables>,
}

impl MemoryFileSystem {
    /// An empty one, with a counter for a clock and as much room as there is memory.
    pub fn new() -> Self {
        Self::with_options(MemoryOptions::default())
    }

    /// An empty one.
    pub fn with_options(options: MemoryOptions) -> Self {
        Self { tables: Mutex::new(Tables::new(options)) }
    }

    /// Does what a crash and a restart do to a server: data that was written unstably and not committed is lost, and
    /// the write verifier changes. Handles stay valid.
    pub fn restart(&self) {
        file::lose_uncommitted(&mut self.tables.lock());
    }
}

impl Default for MemoryFileSystem {
    fn default() -> Self {
        Self::new()
    }
}

impl FileSystem for MemoryFileSystem {
    fn root(&self) -> Handle {
        self.tables.lock().handle(ROOT)
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        Some(self)
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        Some(self)
    }

    fn local_changes(&self) -> Option<&dyn LocalChanges> {
        Some(self)
    }

    fn attributes(&self, _caller: &Caller, node: &Handle) -> Result<Attributes> {
        let tables = self.tables.lock();
        tables.attributes(tables.find(node)?)
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(node, change, |tables, node| {
            attributes::set_attributes(tables, caller, node, new, guard)
        })
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let tables = self.tables.lock();
        lookup::lookup(&tables, caller, tables.find(directory)?, name)
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        let tables = self.tables.lock();
        lookup::parent(&tables, caller, tables.find(directory)?)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let tables = self.tables.lock();
        attributes::access(&tables, caller, tables.find(node)?, wanted)
    }

    fn read_link(&self, _caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        let tables = self.tables.lock();
        lookup::read_link(&tables, tables.find(node)?, target)
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let mut tables = self.tables.lock();
        let node = tables.find(node)?;
        file::read(&mut tables, caller, node, offset, count, buffer)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, mut data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        // Before the lock: the data may still have to come out of a socket.
        let data = data.bytes().map_err(|_| FsError::Io)?;
        let mut tables = self.tables.lock();
        tables
            .changing(node, change, |tables, node| file::write(tables, caller, node, offset, data, stability))
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            create::create(tables, caller, directory, name, how)
        })
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            create::make_directory(tables, caller, directory, name, new)
        })
    }

    fn make_link(
        &self,
        caller: &Caller,
        MakeLink { directory, name, target, new }: MakeLink<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            create::make_link(tables, caller, directory, name, target, new)
        })
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            create::make_special(tables, caller, directory, name, kind, new)
        })
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        let mut tables = self.tables.lock();
        tables
            .changing(directory, change, |tables, directory| remove::remove(tables, caller, directory, name))
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            remove::remove_directory(tables, caller, directory, name)
        })
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let mut tables = self.tables.lock();
        tables.changing(from.0, changes.0, |tables, left| {
            tables.changing(to.0, changes.1, |tables, entered| {
                rename::rename(tables, caller, (left, from.1), (entered, to.1))
            })
        })
    }

    fn link(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let mut tables = self.tables.lock();
        tables.changing(directory, change, |tables, directory| {
            let node = tables.find(node)?;
            link::link(tables, caller, node, directory, name)
        })
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, mut cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        loop {
            let batch = {
                let tables = self.tables.lock();
                listing::batch(&tables, caller, tables.find(directory)?, cookie, detail)?
            };
            for listed in &batch.entries {
                let entry = Entry {
                    name: &listed.name,
                    file: listed.file,
                    cookie: listed.cookie,
                    node: listed.node.as_ref(),
                };
                if sink(entry).is_break() {
                    return Ok(Listing { end: false, directory: Some(batch.directory) });
                }
                cookie = listed.cookie;
            }
            if batch.end {
                return Ok(Listing { end: true, directory: Some(batch.directory) });
            }
        }
    }

    fn statistics(&self, _caller: &Caller, node: &Handle) -> Result<Statistics> {
        let tables = self.tables.lock();
        tables.find(node)?;
        Ok(capacity::statistics(&tables))
    }

    fn limits(&self, _caller: &Caller, node: &Handle) -> Result<Limits> {
        let tables = self.tables.lock();
        tables.find(node)?;
        Ok(capacity::limits(&tables))
    }

    fn commit(
        &self,
        caller: &Caller,
        CommitFile { node, .. }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        let mut tables = self.tables.lock();
        tables.changing(node, change, |tables, node| file::commit(tables, caller, node))
    }
}
