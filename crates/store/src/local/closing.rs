//! The last flush of a node that is closed, and what is done about data that was lost.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::fs::{Advice, fadvise, fsync};

use super::errno::refusal;
use super::identity::Identity;
use super::node::Node;
use super::verifier::Verifier;

/// Flushes a node that is about to be closed, if it has data that no COMMIT made durable: once it is closed the kernel
/// may forget that writing it back failed, and a later COMMIT would be answered that all is well.
pub(super) fn flush_before_close(node: &Node, verifier: &Verifier) {
    if !node.uncommitted.swap(false, Ordering::Relaxed) || node.is_gone() {
        return;
    }
    if let Some(file) = node.writing() {
        let flushed = node.flushes.flush(|| fsync(file).map_err(refusal), || lose(file, verifier));
        if let Err(error) = flushed {
            tracing::warn!(%error, "data of a client could not be written back; clients are asked to send it again");
        }
    }
}

/// Data was lost that was answered as written.
pub(super) fn lose(file: &OwnedFd, verifier: &Verifier) {
    // Pages that could not be written count as clean, and ext4 takes their places for written: what is written
    // there again would be zeros once it is read from the disk. So nothing of them is kept.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    // The state directory is ours, not the caller's. If it cannot be written the verifier still changes in memory.
    let _ = Identity::as_root(|| verifier.replace());
}
