//! What is known of all read delegations. Which file has which is with the files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::{ChangeWatch, DelegatedChildren};
use crate::ids::ClientId;

/// A client's delegation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegate {
    /// Whose it is.
    pub client: ClientId,
    /// The number of its stateid.
    pub index: u32,
    /// Whether it is asked for back when files in the directory change, too.
    pub has_children: bool,
    /// Since when it is asked for back.
    pub recalled: Option<Duration>,
}

/// What is known of all delegations.
#[derive(Debug)]
pub struct DelegationTable<K> {
    pub(super) watch: Arc<ChangeWatch>,
    /// How many there are.
    pub(super) count: usize,
    /// Files in delegated directories.
    pub(super) children: DelegatedChildren<K>,
    /// Files of which some are asked for back.
    pub(super) recalling: HashSet<K>,
    /// Files of which some were asked for back not long ago, and until when none is given.
    pub(super) resting: HashMap<K, Duration>,
}

impl<K> Default for DelegationTable<K> {
    fn default() -> Self {
        Self {
            watch: Arc::default(),
            count: 0,
            children: DelegatedChildren::default(),
            recalling: HashSet::new(),
            resting: HashMap::new(),
        }
    }
}
