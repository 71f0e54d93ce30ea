//! Changes of files of which clients may have delegations.

use std::sync::atomic::Ordering;

use howdah_state::{Changing, ClientId, StateError, StateId, UnnamedChange};
use howdah_wire::nfs4::Status;

use super::file_key::FileKey;
use super::states::States;
use crate::exports::DelegationPolicy;

impl States {
    /// Whether whoever changes files of an export must say so before, which gives delegations or does not: some may still be
    /// outstanding.
    pub(super) fn are_changes_watched(&self, policy: DelegationPolicy) -> bool {
        policy.gives() || self.changes.is_used()
    }

    /// Whether changes by all but clients of NFSv4 wait, because those of an earlier run may believe that they have a delegation.
    pub(super) fn do_changes_wait(&self, by: Option<ClientId>, policy: DelegationPolicy) -> bool {
        by.is_none() && policy == DelegationPolicy::Always && self.is_grace.load(Ordering::Relaxed)
    }

    /// A change begins of files that are known by name alone, while nobody has a delegation.
    pub(super) fn begin_unnamed_change(&self) -> Option<UnnamedChange<'_>> {
        self.changes.begin_unnamed()
    }

    /// A change of a file begins, by a client of NFSv4 or by somebody else. It is over when what is returned is dropped.
    ///
    /// # Errors
    /// [`StateError::Delay`] while delegations are asked for back.
    pub(super) fn begin_change(
        &self,
        file: &FileKey,
        by: Option<ClientId>,
    ) -> Result<Changing<'_>, StateError> {
        let change = self.changes.begin(file);
        let recall = || self.ask(|state, now| state.recall(now, file, by));
        if change.may_be_delegated() {
            recall().or_else(|refusal| {
                if self.returns.wait_until(|| recall().is_ok()) { Ok(()) } else { Err(refusal) }
            })?;
        }
        Ok(change)
    }

    /// A client gives its delegation of a file back.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn return_delegation(
        &self,
        client: ClientId,
        delegation: StateId,
        file: &FileKey,
    ) -> Result<(), Status> {
        let returned = self.judge(|state, _| state.return_delegation(client, delegation, file));
        self.returns.tell();
        if let (Ok(()), Some(news)) = (&returned, self.client_news()) {
            news.returned(client, file);
        }
        returned
    }
}
