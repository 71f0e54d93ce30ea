//! Delegations that clients are given and give back, and changes that call them back: also those that programs of this host make,
//! past the server.

use std::sync::{Arc, Weak};

use howdah_state::{Changing, ClientId, StateError, StateId};
use howdah_vfs::{Handle, LocalChange, LocalChangeObserver, WatchedNode};
use howdah_wire::nfs4::Status;

use super::file_key::FileKey;
use super::states::States;
use crate::exports::{DelegationPolicy, Export};

/// Calls delegations of an export back.
struct DelegationRecaller {
    states: Weak<States>,
    export: u32,
}

impl LocalChangeObserver for DelegationRecaller {
    fn on_local_change(&self, change: LocalChange) {
        let Some(states) = self.states.upgrade() else { return };
        match change {
            LocalChange::Of(node) => states.recall_changed(&FileKey { export: self.export, node }, None),
            LocalChange::Any => {
                let _ = states.ask(|state, now| {
                    state.recall_all(now, |file| file.export == self.export);
                    Ok(())
                });
            }
        }
    }

    fn keep_watched(&self, nodes: &[Handle]) -> Vec<bool> {
        let Some(states) = self.states.upgrade() else { return vec![false; nodes.len()] };
        let key = |node: &Handle| FileKey { export: self.export, node: *node };
        states.look(|state| {
            nodes.iter().map(|node| state.files().delegations.is_delegated(&key(node))).collect()
        })
    }
}

impl States {
    /// Gives a client that may have one a delegation of a file that it just opened for reading, or of a directory. Changes by programs of
    /// this host are noticed from before it is given.
    pub fn delegate(self: &Arc<Self>, client: ClientId, export: &Export, node: &Handle) -> Option<StateId> {
        if !export.delegations().gives()
            || !self.watch_node(export, WatchedNode { node, has_children: false })
        {
            return None;
        }
        let file = FileKey { export: export.id(), node: *node };
        let given = self.ask(|state, now| Ok(state.delegate(now, client, &file))).ok().flatten()?;
        let is_watched = export.local_changes().is_some_and(|local| local.is_watched(node));
        if !is_watched && export.delegations() == DelegationPolicy::WhereNoticed {
            // It was taken for one that nobody has, just before.
            self.recall_changed(&file, None);
        }
        Some(given)
    }

    /// Calls delegations of an export back.
    pub(super) fn observer(self: &Arc<Self>, export: u32) -> Arc<dyn LocalChangeObserver> {
        Arc::new(DelegationRecaller { states: Arc::downgrade(self), export })
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
        self.changes().on_return();
        if let (Ok(()), Some(news)) = (&returned, self.client_news()) {
            news.returned(client, file);
        }
        returned
    }

    /// A change of a file begins, by a client of NFSv4 or by another caller. It is over when what is returned is dropped.
    ///
    /// # Errors
    /// [`StateError::Delay`] while delegations are asked for back.
    pub(super) fn begin_change(
        &self,
        file: &FileKey,
        by: Option<ClientId>,
    ) -> Result<Changing<'_>, StateError> {
        self.changes().begin(file, || self.ask(|state, now| state.recall(now, file, by)))
    }

    /// A file was changed, and not all who had delegations were asked before.
    pub(super) fn recall_changed(&self, file: &FileKey, by: Option<ClientId>) {
        if self.changes().may_be_delegated(file) {
            // They come back when they do.
            let _ = self.ask(|state, now| state.recall(now, file, by));
        }
    }
}
