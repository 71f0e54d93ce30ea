//! NLM version 4 as a program that is served: what its procedures share.

use std::sync::Arc;

use super::callbacks::Callbacks;
use crate::exports::{Exported, Exports};
use crate::states::States;

/// The state behind the procedures.
pub struct Nlm {
    exports: Arc<Exported>,
    /// Locks, and who waits for them.
    pub(super) states: Arc<States>,
    /// What clients are called back for.
    pub(super) callbacks: Arc<Callbacks>,
}

impl Nlm {
    /// Locks files of these exports in this state.
    pub fn new(exports: Arc<Exported>, states: Arc<States>, callbacks: Arc<Callbacks>) -> Self {
        Self { exports, states, callbacks }
    }

    /// The exports as they are now.
    pub(super) fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }
}
