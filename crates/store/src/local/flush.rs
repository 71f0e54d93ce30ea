//! Making a node durable, and what follows if that fails.

use std::os::fd::OwnedFd;

use howdah_vfs::{FsError, Result};
use rustix::fs::fsync;

use super::LocalFileSystem;
use super::closing::lose;
use super::errno::refusal;
use super::flushes::Losses;
use super::node::Node;

impl LocalFileSystem {
    /// Makes all of a node durable. If that fails, data that was answered as written may be gone: every client must
    /// send its uncommitted data again, so the verifier changes.
    pub(super) fn flush(&self, node: &Node, file: &OwnedFd) -> Result<()> {
        node.flushes.flush(|| fsync(file).map_err(refusal), || lose(file, &self.verifier))
    }

    /// Makes durable what was written since a node had so many losses. An error if another flush reported in between that data
    /// was lost, since that may have been this.
    pub(super) fn flush_written(&self, node: &Node, file: &OwnedFd, before: Losses) -> Result<()> {
        self.flush(node, file)?;
        if node.flushes.losses() == before { Ok(()) } else { Err(FsError::Io) }
    }
}
