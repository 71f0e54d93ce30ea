//! NFS version 4 as a program that is served: what its operations share.

use std::sync::Arc;
use std::time::Instant;

use super::pseudo::{PseudoTree, TreeOfExports};
use crate::Peer;
use crate::back_channel::BackChannels;
use crate::exports::{Exported, Exports};
use crate::range_doubt::RangeDoubt;
use crate::seldom::Seldom;
use crate::states::States;

/// The state behind the operations.
pub struct Nfs4 {
    exports: Arc<Exported>,
    /// Whether READs are copied.
    pub(super) ranges: Arc<RangeDoubt>,
    /// Clients, sessions, opens and locks.
    pub(super) states: Arc<States>,
    /// How clients are called.
    pub(super) back: Arc<BackChannels>,
    tree: TreeOfExports,
    /// Of clients that no export admits.
    strangers: Seldom,
}

impl Nfs4 {
    /// Serves these exports.
    pub fn new(
        exports: Arc<Exported>,
        ranges: Arc<RangeDoubt>,
        states: Arc<States>,
        back: Arc<BackChannels>,
    ) -> Self {
        Self { exports, ranges, states, back, tree: TreeOfExports::default(), strangers: Seldom::default() }
    }

    /// Logs that a client was refused since no export admits it.
    #[cold]
    pub(super) fn log_stranger(&self, peer: &Peer) {
        let Some(others) = self.strangers.log(Instant::now()) else { return };
        let security = peer.security.name();
        tracing::info!(client = %peer.ends.client, security, others, "refused an NFSv4 client: no export admits it");
    }

    /// The exports as they are now.
    pub(super) fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }

    /// The pseudo file system above these exports.
    pub(super) fn tree_of(&self, exports: &Arc<Exports>) -> Arc<PseudoTree> {
        self.tree.of(exports)
    }

    /// How long a client that is not heard of keeps what it has, in seconds.
    pub(super) fn lease_seconds(&self) -> u32 {
        u32::try_from(self.states.lease().as_secs()).unwrap_or(u32::MAX)
    }
}
