//! What opening and closing a file mean to a file system with caches: more than the trait says.

use crate::{Attributes, Caller, Handle, Name, NewAttributes, Node, ReadFile, ReadOutcome, Result};

/// Close-to-open consistency: what is done when a file is opened, and when it is closed or synchronised.
pub trait Consistency: Send + Sync {
    /// A file is opened: its attributes as the server has them now, whatever is remembered.
    ///
    /// # Errors
    /// As those of GETATTR.
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes>;

    /// A file will be opened and read, most likely: what a small one holds may be asked for while its opener waits for
    /// [`opened`](Consistency::opened). Does not wait.
    fn will_read(&self, _caller: &Caller, _node: &Handle) {}

    /// A file that was written is closed or synchronised: returns when its data is durable.
    ///
    /// # Errors
    /// Data could not be written or is not durable.
    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed>;

    /// A file is about to be closed, and attributes are set of it that a program set after it wrote its data: sets them while
    /// that data is written, and gives what the file is like then, if the server said so. `None`: data must be written before,
    /// and nothing was done. In any case [`closed`](Consistency::closed) comes next, and returns what the data was refused
    /// with.
    ///
    /// # Errors
    /// As those of SETATTR.
    fn set_while_written(
        &self,
        _caller: &Caller,
        _node: &Handle,
        _new: &NewAttributes,
    ) -> Option<Result<Option<Attributes>>> {
        None
    }

    /// A file is synchronised: as strong as closing it, and more where changes are answered before the server has them. Then its names
    /// are safe, too.
    ///
    /// # Errors
    /// As those of [`closed`](Consistency::closed).
    fn synced(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        self.closed(caller, node)
    }

    /// A directory is synchronised: its names are safe. Servers make names durable before they answer (RFC 1813 4.8).
    ///
    /// # Errors
    /// A change of a name was refused.
    fn synced_directory(&self, _caller: &Caller, _directory: &Handle) -> Result<()> {
        Ok(())
    }

    /// Everything is synchronised.
    ///
    /// # Errors
    /// Something was refused.
    fn synced_all(&self) -> Result<()> {
        Ok(())
    }

    /// Whether changes are answered before the server has them: then nobody above need hold them back, and making a file is safe to repeat.
    fn is_behind(&self) -> bool {
        false
    }

    /// Whether nobody else changes the tree, as the user said and as far as nothing has shown otherwise.
    fn is_alone(&self) -> bool {
        false
    }

    /// Whether what a node is like is known without asking.
    fn is_believed(&self, _node: &Handle) -> bool {
        false
    }

    /// A program asks about a file that it has written: sends what was written, which need not be durable then, and gives the
    /// attributes that the server sends. Those that caches make up meanwhile would change later.
    ///
    /// # Errors
    /// As those of GETATTR, or data could not be written.
    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes>;

    /// Where a name leads at the server now, past all caches.
    ///
    /// # Errors
    /// As those of LOOKUP.
    fn lookup_now(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Node>;

    /// Reads what the server has now, past all caches (O_DIRECT).
    ///
    /// # Errors
    /// As those of READ.
    fn read_now(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome>;
}

/// What COMMIT returned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closed {
    /// That of the server's run which has the data.
    pub verifier: [u8; 8],
    /// What the file is like now, if the reply says so.
    pub after: Option<Attributes>,
}
