//! Changes of files that clients may have delegations of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_state::{ChangeWatch, Changing, ClientId, StateError, UnnamedChange};

use super::file_key::FileKey;
use super::returns::Returns;
use crate::exports::DelegationPolicy;

/// Changes of files under way, and delegations outstanding.
pub(super) struct FileChanges {
    watch: Arc<ChangeWatch>,
    /// Calls that wait for delegations.
    returns: Returns,
    /// Whether clients of an earlier run may still believe that they have a delegation.
    is_grace: AtomicBool,
}

impl FileChanges {
    pub(super) fn new(watch: Arc<ChangeWatch>, is_grace: bool) -> Self {
        Self { watch, returns: Returns::default(), is_grace: AtomicBool::new(is_grace) }
    }

    /// Grace began, or is over.
    pub(super) fn set_grace(&self, is_grace: bool) {
        self.is_grace.store(is_grace, Ordering::Relaxed);
    }

    /// Whether changes of files of an export, which gives delegations or does not, must begin here: some may still be outstanding.
    pub(super) fn are_watched(&self, policy: DelegationPolicy) -> bool {
        policy.gives() || self.watch.is_used()
    }

    /// Whether changes by all but clients of NFSv4 wait, because those of an earlier run may believe that they have a delegation.
    pub(super) fn must_wait(&self, by: Option<ClientId>, policy: DelegationPolicy) -> bool {
        by.is_none() && policy == DelegationPolicy::Always && self.is_grace.load(Ordering::Relaxed)
    }

    /// A change begins of files that are known by name alone, while nobody has a delegation.
    pub(super) fn begin_unnamed(&self) -> Option<UnnamedChange<'_>> {
        self.watch.begin_unnamed()
    }

    /// A change of a file begins. It is over when what is returned is dropped.
    ///
    /// # Errors
    /// The refusal of `recall`, while delegations are asked for back.
    pub(super) fn begin(
        &self,
        file: &FileKey,
        recall: impl Fn() -> Result<(), StateError>,
    ) -> Result<Changing<'_>, StateError> {
        let change = self.watch.begin(file);
        if change.may_be_delegated() {
            recall().or_else(|refusal| {
                if self.returns.wait_until(|| recall().is_ok()) { Ok(()) } else { Err(refusal) }
            })?;
        }
        Ok(change)
    }

    /// Whether somebody may have a delegation of a file that was changed.
    pub(super) fn may_be_delegated(&self, file: &FileKey) -> bool {
        self.watch.begin(file).may_be_delegated()
    }

    /// A delegation came back.
    pub(super) fn on_return(&self) {
        self.returns.tell();
    }
}
