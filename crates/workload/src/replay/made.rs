//! The nodes of a play: their handles on the file system under test, as they come and go, and the names that they have there.

use std::ops::ControlFlow;

use anyhow::{Context, Result};
use howdah_vfs::{Change, Detail, Entry, FileKind, FsError, Handle, ListDirectory, Name};
use parking_lot::RwLock;

use super::super::call;
use super::super::names::parsed;
use super::super::place::Place;
use super::world::NodeId;

/// Handles by node.
pub(super) struct Made {
    handles: Box<[RwLock<Option<Handle>>]>,
    /// Where the listing of a directory goes on.
    cookies: Box<[RwLock<u64>]>,
}

impl Made {
    /// None yet, of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        let handles = (0..nodes).map(|_| RwLock::new(None)).collect();
        let cookies = (0..nodes).map(|_| RwLock::new(0)).collect();
        Self { handles, cookies }
    }

    /// The handle of a node, if it has one now.
    pub(super) fn handle(&self, id: NodeId) -> Option<Handle> {
        *self.handles[id].read()
    }

    /// A node has this handle from now on.
    pub(super) fn set(&self, id: NodeId, handle: Handle) {
        *self.handles[id].write() = Some(handle);
    }

    /// Where the listing of a directory goes on.
    pub(super) fn cookie(&self, id: NodeId) -> u64 {
        *self.cookies[id].read()
    }

    /// It goes on there.
    pub(super) fn goes_on(&self, id: NodeId, cookie: u64) {
        *self.cookies[id].write() = cookie;
    }
}

/// A name of the record as the file system takes it: names that were recorded as they are may be too long once what is no
/// letter is written out.
pub(super) fn name(text: &str) -> Result<Name<'_>, FsError> {
    Name::parse(text.as_bytes()).map_err(|error| error.refusal())
}

/// Removes a directory of our own with all that is in it.
pub(super) fn remove_all(place: &Place, parent: &Handle, name: &str) -> Result<()> {
    let directory = match call::lookup(place, parent, name) {
        Ok(node) => node.handle,
        Err(FsError::NotFound) => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("looking up {name}")),
    };
    empty(place, &directory).with_context(|| format!("emptying {name}"))?;
    let removed =
        place.file_system.remove_directory(&place.caller, parent, parsed(name), &mut Change::default());
    match removed {
        Err(FsError::NotFound) if place.kind.may_repeat_calls() => Ok(()),
        other => other.with_context(|| format!("removing {name}")),
    }
}

fn empty(place: &Place, directory: &Handle) -> Result<()> {
    loop {
        // Again until nothing is left, for a file system may lose its place in a directory that shrinks.
        let entries = entries(place, directory)?;
        if entries.is_empty() {
            return Ok(());
        }
        for (name, inner) in &entries {
            let known = Name::parse(name).map_err(|error| error.refusal())?;
            let mut change = Change::default();
            let removed = match inner {
                Some(inner) => {
                    empty(place, inner)?;
                    place.file_system.remove_directory(&place.caller, directory, known, &mut change)
                }
                None => place.file_system.remove(&place.caller, directory, known, &mut change),
            };
            match removed {
                Ok(()) | Err(FsError::NotFound) => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("removing {}", name.escape_ascii()));
                }
            }
        }
    }
}

/// The names in a directory, and the handles of those that are directories.
fn entries(place: &Place, directory: &Handle) -> Result<Vec<(Vec<u8>, Option<Handle>)>> {
    let (mut entries, mut cookie) = (Vec::new(), 0);
    loop {
        let from = cookie;
        let mut sink = |entry: Entry<'_>| {
            cookie = entry.cookie;
            if !matches!(entry.name, b"." | b"..") {
                let inner = entry.node.filter(|node| node.attributes.kind == FileKind::Directory);
                entries.push((entry.name.to_vec(), inner.map(|node| node.handle)));
            }
            ControlFlow::Continue(())
        };
        let (files, caller) = (&place.file_system, &place.caller);
        let listing =
            files.read_directory(caller, ListDirectory::new(directory, from, Detail::Nodes), &mut sink)?;
        if listing.end || cookie == from {
            return Ok(entries);
        }
    }
}
