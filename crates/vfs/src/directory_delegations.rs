//! Directories of a far file system that nobody else changes unnoticed.

use std::sync::Arc;

use crate::{Attributes, Caller, Handle, Result};

/// What a client has no delegation of any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelegationLoss {
    /// Of this directory: somebody else is about to change it.
    Of(Handle),
    /// Of any: somebody else may have changed each of them.
    All,
}

/// Learns of losses. Before the server hears that a directory may be changed, this returns. It must make no call.
pub type DelegationLost = Arc<dyn Fn(DelegationLoss) + Send + Sync>;

/// Delegations of directories, asked for by [`FileSystem::directory_delegations`](crate::FileSystem::directory_delegations). While one is
/// held, nobody else changes the directory's names nor its own attributes. Of the files in it some say as much
/// ([`Self::covers_children`]).
pub trait DirectoryDelegations: Send + Sync {
    /// From now on delegations are asked for with the calls that list a directory from its start, and with [`Self::look`]. Losses go
    /// here. Only the first one counts.
    fn watch(&self, lost: DelegationLost);

    /// Losses go here, too, after whoever watches has heard of them. It may wait for a moment, but makes no call.
    fn also_tell(&self, lost: DelegationLost);

    /// The attributes of a directory (GETATTR). Asks for a delegation of it in the same call.
    ///
    /// # Errors
    /// As those of GETATTR.
    fn look(&self, caller: &Caller, directory: &Handle) -> Result<Attributes>;

    /// Whether one of this directory is held. What a call that just ended said of it is so now.
    fn holds(&self, directory: &Handle) -> bool;

    /// Whether one of this directory is held that is lost, too, before somebody else changes data or attributes of what is in it.
    fn covers_children(&self, directory: &Handle) -> bool;

    /// How many are held.
    fn count(&self) -> usize;

    /// Whether those that are held count now. They do not while the server may have taken them back.
    fn are_certain(&self) -> bool;
}
