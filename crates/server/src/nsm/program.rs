//! NSM as a program that is served.

use std::sync::Arc;

use crate::seldom::Seldom;
use crate::states::States;

/// The state behind the procedures.
pub struct Nsm {
    /// Hosts and their locks.
    pub(super) states: Arc<States>,
    /// Notices that were not believed.
    pub(super) refusals: Seldom,
}

impl Nsm {
    /// The monitor of hosts that have locks in this state.
    pub fn new(states: Arc<States>) -> Self {
        Self { states, refusals: Seldom::default() }
    }
}
