//! READDIR and READDIRPLUS.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Detail, Entry, FsError, ListDirectory, Listing, Name, Node as Named, Result,
    Timestamp,
};
use rustix::io::Errno;

use super::data_files::DataFiles;
use super::errno::refusal;
use super::known::now;
use super::lookup::NamedNodes;
use super::node::{Node, Right};
use super::open_nodes::OpenNodes;
use super::stream::{Item, State, Stream, Streams};

/// Lists directories.
pub(super) struct DirectoryLister {
    nodes: Arc<OpenNodes>,
    names: Arc<NamedNodes>,
    files: Arc<DataFiles>,
    streams: Arc<Streams>,
}

impl DirectoryLister {
    pub(super) fn new(
        (nodes, names): (Arc<OpenNodes>, Arc<NamedNodes>),
        files: Arc<DataFiles>,
        streams: Arc<Streams>,
    ) -> Self {
        Self { nodes, names, files, streams }
    }

    /// READDIR and READDIRPLUS. Cookies are the kernel's offsets, which stay valid while the directory changes.
    pub(super) fn list(
        &self,
        caller: &Caller,
        ListDirectory { directory: handle, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let node = self.nodes.node(handle)?;
        let attributes = self.nodes.stat_directory(&node)?;
        self.files.permit(caller, &node, &attributes, Right::Read, false)?;
        let state = self.streams.state(handle, attributes.modified);
        let mut stream = match self.streams.take(handle, cookie, state) {
            Some(stream) => stream,
            None => self.open_stream(&node, state, cookie)?,
        };
        self.nodes.identity().assume(caller)?;
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
        self.nodes.identity().assume_root()?;
        let file = self.nodes.tree().open_listing(node.descriptor()).map_err(refusal)?;
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
        let is_root = directory.node.handle == self.nodes.root().handle;
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
                let parent = self.names.parent_of(directory.node);
                self.nodes.identity().assume(directory.caller)?;
                Ok(parent.map_or(Looked::Hidden, Looked::Node))
            }
            _ => Ok(self.look_at_entry(directory, name)),
        }
    }

    /// One `statx`, and the handle from memory; else `name_to_handle_at` too; else the node is opened.
    fn look_at_entry(&self, directory: &OpenDirectory<'_>, name: &CStr) -> Looked {
        let (node, now) = (directory.node, directory.now);
        let seen = match self.nodes.attributes().look_at(node.descriptor(), name) {
            Ok(seen) => seen,
            Err(Errno::NOENT) => return Looked::Gone,
            Err(_) => return Looked::Hidden,
        };
        if self.names.hides(&seen) {
            return Looked::Hidden;
        }
        let Ok(plain) = Name::parse(name.to_bytes()) else { return Looked::Hidden };
        if let Some(handle) = self.nodes.handles().of_name(node, name, plain, &seen.identification, now) {
            return Looked::Node(Named { handle, attributes: seen.attributes });
        }
        match self.names.open_child(node, plain, now) {
            Ok((_, seen, handle)) => Looked::Node(Named { handle, attributes: seen.attributes }),
            Err(FsError::NotFound) => Looked::Gone,
            Err(_) => Looked::Hidden,
        }
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
