//! What opening and closing a file mean: closing a small one waits for nothing.

use howdah_vfs::{
    Access, Attributes, Caller, Closed, Consistency, Handle, Name, Node, ReadFile, ReadOutcome, Result,
};

use super::shared::NodeSide;
use super::{NamesBehind, Settle};

impl Consistency for NamesBehind {
    /// What was made here and is not all there yet is known better here.
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        if let Some((_, attributes)) = self.own_rights(caller, node, Access::NONE)? {
            return Ok(attributes);
        }
        let (since, real) = (self.shared.since(), self.shared.real(node)?);
        let attributes = self.shared.consistency.opened(caller, &real)?;
        Ok(self.shared.presented(caller, since, node, attributes))
    }

    fn will_read(&self, caller: &Caller, node: &Handle) {
        if let Ok(NodeSide::There(real)) = self.side(node) {
            self.shared.consistency.will_read(caller, &real);
        }
    }

    /// Waits only for a file with more data than a small one has.
    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        if let Err(failure) = self.shared.take_failure(node) {
            // It is reported, and the data is sent all the same.
            let _ = self.synced(caller, node);
            return Err(failure);
        }
        // Where something was refused lately, nothing is answered early.
        let waits = {
            let log = self.shared.log.lock();
            log.is_synchronous || log.careful_directories() > 0
        };
        if waits {
            return self.synced(caller, node);
        }
        // Data of a file that the server has is not in the journal.
        let most = if self.shared.kept.is_some() { 0 } else { self.shared.options.small as u64 };
        let is_large = {
            let now = self.shared.now();
            let mut log = self.shared.log.lock();
            let is_large = log.unsafe_bytes(node) > most;
            if !is_large && let Some(id) = log.tree.find(node) {
                let number = log.close(now, caller, id);
                self.shared.keep(log, number);
            }
            is_large
        };
        if is_large && let NodeSide::There(real) = self.side(node)? {
            self.shared.sync_journal();
            self.shared.closed(caller, node, &real)?;
        }
        Ok(Closed { verifier: self.verifier(), after: None })
    }

    fn synced(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        self.settle(caller, Settle::Node(node))?;
        Ok(Closed { verifier: self.verifier(), after: None })
    }

    fn synced_directory(&self, caller: &Caller, directory: &Handle) -> Result<()> {
        self.settle(caller, Settle::Directory(directory))
    }

    fn synced_all(&self) -> Result<()> {
        self.settle(&Caller::ROOT, Settle::All)
    }

    fn is_behind(&self) -> bool {
        true
    }

    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        match self.side(node)? {
            NodeSide::Here(_) => self.attributes_of(caller, node),
            NodeSide::There(real) => {
                let since = self.shared.since();
                let attributes = self.shared.consistency.sent(caller, &real)?;
                Ok(self.shared.presented(caller, since, node, attributes))
            }
        }
    }

    fn lookup_now(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Node> {
        self.settle_names(&[(directory, name)]);
        let (since, real) = (self.shared.since(), self.shared.real(directory)?);
        let node = self.shared.consistency.lookup_now(caller, &real, name)?;
        Ok(self.shared.shown(caller, since, node))
    }

    fn read_now(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        self.shared.settle(&[read.node], &[]);
        let (since, real) = (self.shared.since(), self.shared.real(read.node)?);
        let outcome = self.shared.consistency.read_now(
            caller,
            ReadFile::new(&real, read.offset, read.count),
            buffer,
        )?;
        let attributes = self.shared.presented(caller, since, read.node, outcome.attributes);
        Ok(ReadOutcome { attributes, ..outcome })
    }
}
