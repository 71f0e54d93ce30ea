//! What the server delegates of the directories that are remembered.

use std::sync::Arc;

use howdah_vfs::{Attributes, Caller, DelegationLost, FileSystem, Handle, Result};

/// Delegations of directories, where the file system inside has such.
#[derive(Clone, Default)]
pub struct KnownDelegations(Option<Arc<dyn FileSystem>>);

impl KnownDelegations {
    /// Those of a file system. Losses go to `lost`.
    pub fn of(file_system: &Arc<dyn FileSystem>, lost: DelegationLost) -> Self {
        let delegations = file_system.directory_delegations();
        Self(delegations.map(|delegations| {
            delegations.watch(lost);
            Arc::clone(file_system)
        }))
    }

    /// Whether there may be any.
    pub fn are_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Whether nobody else changes this directory unnoticed.
    pub fn holds(&self, directory: &Handle) -> bool {
        let delegations = self.0.as_ref().and_then(|inner| inner.directory_delegations());
        delegations.is_some_and(|delegations| delegations.holds(directory))
    }

    /// Whether nobody else changes what is in this directory unnoticed.
    pub fn covers_children(&self, directory: &Handle) -> bool {
        let delegations = self.0.as_ref().and_then(|inner| inner.directory_delegations());
        delegations.is_some_and(|delegations| delegations.covers_children(directory))
    }

    /// Of how many directories that is so.
    pub fn count(&self) -> usize {
        let delegations = self.0.as_ref().and_then(|inner| inner.directory_delegations());
        delegations.map_or(0, |delegations| delegations.count())
    }

    /// Whether that counts now.
    pub fn are_certain(&self) -> bool {
        let delegations = self.0.as_ref().and_then(|inner| inner.directory_delegations());
        delegations.is_some_and(|delegations| delegations.are_certain())
    }

    /// The attributes of a directory. The same call asks for its delegation. `None`: the server delegates no directories.
    pub fn look(&self, caller: &Caller, directory: &Handle) -> Option<Result<Attributes>> {
        Some(self.0.as_ref()?.directory_delegations()?.look(caller, directory))
    }
}
