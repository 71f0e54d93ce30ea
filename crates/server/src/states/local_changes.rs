//! Changes that programs of this host make, past the server: they call delegations back, too.

use std::sync::{Arc, Weak};

use howdah_state::{ClientId, StateId};
use howdah_vfs::{Handle, LocalChange, LocalChangeObserver, WatchedNode};

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
            LocalChange::Of(node) => states.recall_changed(&FileKey { export: self.export, node }),
            LocalChange::Any => states.recall_export(self.export),
        }
    }

    fn keep_watched(&self, nodes: &[Handle]) -> Vec<bool> {
        let Some(states) = self.states.upgrade() else { return vec![false; nodes.len()] };
        let key = |node: &Handle| FileKey { export: self.export, node: *node };
        states.look(|state| nodes.iter().map(|node| state.is_delegated(&key(node))).collect())
    }
}

impl States {
    /// Gives a client that may have one a delegation of a file that it just opened for reading, or of a directory. Changes by programs of
    /// this host are noticed from before it is given.
    pub fn delegate(self: &Arc<Self>, client: ClientId, export: &Export, node: &Handle) -> Option<StateId> {
        let watch = || {
            let states = Arc::downgrade(self);
            let observer = Arc::new(DelegationRecaller { states, export: export.id() });
            let local = export.local_changes()?;
            local.watch(WatchedNode { node, has_children: false }, observer).ok().map(|()| local)
        };
        let local = match export.delegations() {
            DelegationPolicy::Never => return None,
            DelegationPolicy::WhereNoticed => Some(watch()?),
            DelegationPolicy::Always => watch(),
        };
        let file = FileKey { export: export.id(), node: *node };
        let given = self.ask(|state, now| Ok(state.delegate(now, client, &file))).ok().flatten()?;
        if local.is_some_and(|local| !local.is_watched(node)) {
            // It was taken for one that nobody has, just before.
            self.recall_changed(&file);
        }
        Some(given)
    }

    /// A file was changed by nobody who asked.
    fn recall_changed(&self, file: &FileKey) {
        if self.changes.begin(file).may_be_delegated() {
            // They come back when they do.
            let _ = self.ask(|state, now| state.recall(now, file, None));
        }
    }

    /// Any files of an export were changed by nobody who asked.
    fn recall_export(&self, export: u32) {
        let _ = self.ask(|state, now| {
            state.recall_all(now, |file| file.export == export);
            Ok(())
        });
    }
}
