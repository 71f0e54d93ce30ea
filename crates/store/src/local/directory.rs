//! READDIR and READDIRPLUS.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

use howdah_vfs::{
    Attributes, Caller, Detail, Entry, FsError, Handle, Listing, Name, Node as Named, Result, Timestamp,
};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::known::now;
use super::node::{Node, Right};
use super::stream::{Item, State, Stream};
use super::tree::LOOK;

impl LocalFileSystem {
    /// READDIR and READDIRPLUS. Cookies are the kernel's offsets, which stay valid while the directory changes.
    pub(super) fn list(
        &self,
        caller: &Caller,
        handle: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let node = self.node(handle)?;
        let attributes = self.stat_directory(&node)?;
        self.permit(caller, &node, &attributes, Right::Read, false)?;
        let state = self.streams.state(handle, attributes.modified);
        let mut stream = match self.streams.take(handle, cookie, state) {
            Some(stream) => stream,
            None => self.open_stream(&node, state, cookie)?,
        };
        self.identity.assume(caller)?;
        let directory = OpenDirectory { caller, node: &node, attributes: &attributes, detail, now: now() };
        while let Some(item) = stream.peek().map_err(refusal)? {
            match self.give(&directory, &item, sink)? {
                ControlFlow::Continue(()) => stream.advance(),
                ControlFlow::Break(()) => {
                    self.streams.put(stream);
                    return Ok(Listing { end: false, directory: Some(attributes) });
                }
            }
        }
        Ok(Listing { end: true, directory: Some(attributes) })
    }

    fn open_stream(&self, node: &Node, state: State, cookie: u64) -> Result<Stream> {
        self.identity.assume_root()?;
        let file = self.tree.open_listing(node.descriptor()).map_err(refusal)?;
        Stream::new(node.handle, file, cookie, state).map_err(|errno| match errno {
            Errno::INVAL => FsError::BadCookie,
            errno => refusal(errno),
        })
    }

    /// Gives one entry to the sink.
    fn give(
        &self,
        directory: &OpenDirectory<'_>,
        item: &Item<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        // 0 would start the listing anew, for ever.
        if item.cookie == 0 {
            return Err(FsError::ServerFault);
        }
        let is_root = directory.node.handle == self.root.handle;
        let name = item.name.to_bytes();
        // What is above the root is nobody's business.
        let file = if is_root && name == b".." { directory.attributes.file } else { item.file };
        let node = match directory.detail {
            Detail::Names => None,
            Detail::Nodes => match self.entry_node(directory, item.name)? {
                Looked::Node(node) => Some(node),
                Looked::Hidden => None,
                Looked::Gone => return Ok(ControlFlow::Continue(())),
            },
        };
        Ok(sink(Entry { name, file, cookie: item.cookie, node: node.as_ref() }))
    }

    fn entry_node(&self, directory: &OpenDirectory<'_>, name: &CStr) -> Result<Looked> {
        match name.to_bytes() {
            b"." => {
                Ok(Looked::Node(Named { handle: directory.node.handle, attributes: *directory.attributes }))
            }
            b".." => {
                let parent = self.parent_of(directory.node);
                self.identity.assume(directory.caller)?;
                Ok(parent.map_or(Looked::Hidden, Looked::Node))
            }
            _ => Ok(self.look_at_entry(directory, name)),
        }
    }

    /// One `statx`, and the handle from memory; else `name_to_handle_at` too; else the node is opened.
    fn look_at_entry(&self, directory: &OpenDirectory<'_>, name: &CStr) -> Looked {
        let seen = match self.look_at(directory.node.descriptor(), name) {
            Ok(seen) => seen,
            Err(Errno::NOENT) => return Looked::Gone,
            Err(_) => return Looked::Hidden,
        };
        if self.hides(&seen) {
            return Looked::Hidden;
        }
        let Ok(plain) = Name::parse(name.to_bytes()) else { return Looked::Hidden };
        match self.handle_of_name(directory.node, name, plain, &seen, directory.now) {
            Some(handle) => Looked::Node(Named { handle, attributes: seen.attributes }),
            None => self.open_entry(directory, plain),
        }
    }

    fn open_entry(&self, directory: &OpenDirectory<'_>, name: Name<'_>) -> Looked {
        let child = match self.tree.open_name(directory.node.descriptor(), name.as_bytes(), LOOK) {
            Ok(child) => child,
            Err(Errno::NOENT) => return Looked::Gone,
            Err(_) => return Looked::Hidden,
        };
        let Ok(seen) = self.look(child.as_fd(), b"") else { return Looked::Hidden };
        let Ok(handle) = self.maker.of_open(child.as_fd(), &seen.identification) else {
            return Looked::Hidden;
        };
        self.on_seen(directory.node, name, &seen, directory.now, &handle);
        Looked::Node(Named { handle, attributes: seen.attributes })
    }
}

/// The directory that is being listed.
struct OpenDirectory<'a> {
    caller: &'a Caller,
    node: &'a Node,
    attributes: &'a Attributes,
    detail: Detail,
    now: Timestamp,
}

/// What became of an entry.
#[allow(clippy::large_enum_variant, reason = "one at a time, and passed on at once")]
enum Looked {
    Node(Named),
    /// There, but not to be looked at: behind a mount, or in a directory that the caller may not search.
    Hidden,
    /// Removed meanwhile.
    Gone,
}
