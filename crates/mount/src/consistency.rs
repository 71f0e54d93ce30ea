//! What opening and closing a file mean to a file system without caches.

use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, Closed, CommitFile, Consistency, FileSystem, Handle, Name, Node, ReadFile,
    ReadOutcome, Result,
};

/// By the trait alone: GETATTR when a file is opened, COMMIT when it is closed.
pub struct Plain(pub Arc<dyn FileSystem>);

impl Consistency for Plain {
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.attributes(caller, node)
    }

    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        let mut change = Change::default();
        let verifier = self.0.commit(caller, CommitFile::new(node, 0, 0), &mut change)?.verifier;
        Ok(Closed { verifier, after: change.after })
    }

    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.attributes(caller, node)
    }

    fn lookup_now(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Node> {
        Ok(self.0.lookup(caller, directory, name)?.node)
    }

    fn read_now(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        self.0.read(caller, read, buffer)
    }
}
