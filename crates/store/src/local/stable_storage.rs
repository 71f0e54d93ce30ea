//! Stable storage: making changes durable before they are answered, where the export promises that, and what follows if that fails.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use howdah_vfs::{Attributes, FileKind, FsError, Result};
use rustix::fs::fsync;

use super::data_files::DataFiles;
use super::errno::refusal;
use super::flushes::Losses;
use super::node::Node;
use super::open_nodes::OpenNodes;
use super::verifier::Verifier;

/// Makes changes durable.
pub(super) struct StableStorage {
    /// Whether changes of metadata are made durable before they are answered.
    syncs: bool,
    nodes: Arc<OpenNodes>,
    files: Arc<DataFiles>,
    verifier: Arc<Verifier>,
}

impl StableStorage {
    pub(super) fn new(
        syncs: bool,
        (nodes, files): (Arc<OpenNodes>, Arc<DataFiles>),
        verifier: Arc<Verifier>,
    ) -> Self {
        Self { syncs, nodes, files, verifier }
    }

    /// The write verifier of now.
    pub(super) fn verifier(&self) -> [u8; 8] {
        self.verifier.current()
    }

    /// Makes all of a node durable. If that fails, data that was answered as written may be gone: every client must
    /// send its uncommitted data again, so the verifier changes.
    pub(super) fn flush(&self, node: &Node, file: &OwnedFd) -> Result<()> {
        node.flushes().flush(|| fsync(file).map_err(refusal), || self.verifier.on_loss(file))
    }

    /// Makes durable what was written since a node had so many losses. An error if another flush reported in between that data
    /// was lost, since that may have been this.
    pub(super) fn flush_written(&self, node: &Node, file: &OwnedFd, before: Losses) -> Result<()> {
        self.flush(node, file)?;
        if node.flushes().losses() == before { Ok(()) } else { Err(FsError::Io) }
    }

    /// Opens what making a change of a directory durable takes: out of descriptors, the change is refused before it is made.
    pub(super) fn prepare_directory(&self, directory: &Node) -> Result<()> {
        self.prepare(|| self.files.listable(directory))
    }

    /// The same for a file whose names change.
    pub(super) fn prepare_file(&self, node: &Node, attributes: &Attributes) -> Result<()> {
        if attributes.kind != FileKind::Regular {
            return Ok(());
        }
        self.prepare(|| self.files.readable(node, attributes))
    }

    /// Only want of descriptors or memory is a reason to refuse: all else is judged when it is needed.
    fn prepare<T>(&self, open: impl FnOnce() -> Result<T>) -> Result<()> {
        match self.syncs.then(open) {
            Some(Err(FsError::Delay)) => Err(FsError::Delay),
            _ => Ok(()),
        }
    }

    /// Makes a new name, and the node that it names, durable, if this export promises that.
    pub(super) fn settle(&self, node: &Node, attributes: &Attributes, directory: &Node) -> Result<()> {
        self.settle_node(node, attributes)?;
        self.settle_directory(directory)
    }

    /// Makes a directory's entries durable, if this export promises that.
    pub(super) fn settle_directory(&self, directory: &Node) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        // Without a look at it: if others removed it meanwhile, the change that was made in it has to last all the same.
        // Calls that run together share a flush. No data of a client's lies in it that was answered for and not made durable yet,
        // so a failure concerns nobody else.
        let flushed = self
            .files
            .listable(directory)
            .and_then(|file| directory.flushes().flush(|| fsync(file).map_err(refusal), || {}));
        self.unless_closed(unless_gone(flushed))
    }

    /// Makes a node's metadata durable, if this export promises that. New links and special files are as durable as the
    /// directory they are in makes them: they cannot be opened.
    pub(super) fn settle_node(&self, node: &Node, attributes: &Attributes) -> Result<()> {
        match attributes.kind {
            FileKind::Regular if self.syncs => {
                let flushed = self.files.readable(node, attributes).and_then(|file| self.flush(node, file));
                self.unless_closed(flushed)
            }
            FileKind::Directory => self.settle_directory(node),
            _ => Ok(()),
        }
    }

    /// Makes metadata of a link or a special file durable, if this export promises that. It cannot be opened, so all of the
    /// file system is synced, which few clients ask for.
    pub(super) fn settle_unopenable(&self, node: &Node) -> Result<()> {
        if self.syncs { self.nodes.handles().sync_file_system(&node.handle) } else { Ok(()) }
    }

    /// Without privilege there are directories and files that can be written and not opened.
    fn unless_closed(&self, flushed: Result<()>) -> Result<()> {
        match flushed {
            Err(FsError::AccessDenied) if !self.nodes.identity().acts_as_caller() => Ok(()),
            flushed => flushed,
        }
    }
}

/// Some file systems open nothing that is gone, and what is gone needs no flush.
fn unless_gone(flushed: Result<()>) -> Result<()> {
    match flushed {
        Err(FsError::Stale | FsError::NotFound) => Ok(()),
        flushed => flushed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{LocalFileSystem, Options};

    #[test]
    fn a_change_in_a_directory_that_others_removed_since_was_made() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("directory");
        std::fs::create_dir(&path).expect("a directory in it");
        let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        let verifier = Arc::new(Verifier::open(None).expect("a verifier"));
        let (nodes, files) = (Arc::clone(fs.nodes()), Arc::clone(fs.files()));
        let storage = StableStorage::new(true, (nodes, files), verifier);
        let name = howdah_vfs::Name::parse(b"directory").expect("a name");
        let (node, _) = fs.names().child(fs.nodes().root(), name).expect("it is there");
        std::fs::remove_dir(&path).expect("it is empty");
        assert_eq!(storage.settle_directory(&node), Ok(()));
        // What others answer is seen on network file systems only.
        assert_eq!([FsError::Stale, FsError::NotFound].map(|gone| unless_gone(Err(gone))), [Ok(()), Ok(())]);
        assert_eq!(unless_gone(Err(FsError::Io)), Err(FsError::Io));
    }
}
