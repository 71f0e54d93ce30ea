//! Files in delegated directories, whose changes call the delegation back: found when it is given, and added as its holder makes some.

use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_state::ClientId;
use howdah_vfs::{
    Attributes, Caller, Detail, Entry, FileKind, FileSystem, Handle, ListDirectory, Node, WatchedNode,
};

use super::file_key::FileKey;
use super::states::States;
use crate::exports::{DelegationPolicy, Export};
use crate::limits::{DELEGATED_CHILDREN_OF_DIRECTORY_MAX, WATCHED_CHILDREN_OF_DIRECTORY_MAX};

/// So many are added at once.
const BATCH: usize = 256;

/// What lies in a directory, while it is gone through.
struct Found<'f> {
    states: &'f Arc<States>,
    export: &'f Export,
    directory: FileKey,
    batch: Vec<FileKey>,
    count: usize,
    watched: usize,
}

impl Found<'_> {
    /// Notes one. Gives whether there was room for it.
    fn add(&mut self, node: &Node) -> bool {
        self.count += 1;
        let needs_watch = is_watched_by_itself(&node.attributes);
        self.watched += usize::from(needs_watch);
        if self.count > DELEGATED_CHILDREN_OF_DIRECTORY_MAX
            || self.watched > WATCHED_CHILDREN_OF_DIRECTORY_MAX
            || needs_watch && !self.states.watch_child(self.export, &node.handle)
        {
            return false;
        }
        self.batch.push(FileKey { export: self.export.id(), node: node.handle });
        self.batch.len() < BATCH || self.settle()
    }

    fn settle(&mut self) -> bool {
        let batch = std::mem::take(&mut self.batch);
        self.states.add_children(&self.directory, &batch)
    }
}

impl States {
    /// From now on a client's delegation of a directory, which was just given, is called back when a file in it changes, too. Whether it
    /// will be: not in a directory of too many files, or if some cannot be watched.
    pub fn cover_children(
        self: &Arc<Self>,
        client: ClientId,
        export: &Export,
        (file_system, caller): (&dyn FileSystem, &Caller),
        node: &Handle,
    ) -> bool {
        let directory = FileKey { export: export.id(), node: *node };
        if !self.watch_node(export, WatchedNode { node, has_children: true })
            || !self.look_and_change(|state| state.delegations_mut().open_children(client, &directory))
        {
            return false;
        }
        let mut found = Found { states: self, export, directory, batch: Vec::new(), count: 0, watched: 0 };
        let mut is_whole = true;
        let mut sink = |entry: Entry<'_>| {
            if matches!(entry.name, b"." | b"..") {
                return ControlFlow::Continue(());
            }
            is_whole = entry.node.is_some_and(|node| found.add(node));
            if is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let list = ListDirectory::new(node, 0, Detail::Nodes);
        let listing = file_system.read_directory(caller, list, &mut sink);
        let is_covered = is_whole && listing.is_ok_and(|listing| listing.end) && found.settle();
        if !is_covered {
            self.look_and_change(|state| state.delegations_mut().end_children(client, &directory));
        }
        is_covered
    }

    /// A client that has a directory delegated put a node into it. From now on changes of that one call the delegation back.
    pub(super) fn add_child(
        self: &Arc<Self>,
        export: &Export,
        directory: &Handle,
        node: &Handle,
        seen: Option<&Attributes>,
    ) {
        let id = export.id();
        let [directory, child] = [directory, node].map(|node| FileKey { export: id, node: *node });
        let needs_watch = seen.is_none_or(is_watched_by_itself);
        let is_kept =
            self.add_children(&directory, &[child]) && (!needs_watch || self.watch_child(export, node));
        if !is_kept {
            // Changes of it would go unnoticed.
            let _ = self.ask(|state, now| state.recall(now, &directory, None));
        }
    }

    /// A file in a delegated directory has another name now, by which programs of this host may change it.
    pub(super) fn watch_linked(self: &Arc<Self>, export: &Export, node: &Handle) {
        if !self.watch_child(export, node) {
            self.recall_changed(&FileKey { export: export.id(), node: *node }, None);
        }
    }

    /// Whether changes of a node in a delegated directory by programs of this host are noticed, or need not be.
    fn watch_child(self: &Arc<Self>, export: &Export, node: &Handle) -> bool {
        self.watch_node(export, WatchedNode { node, has_children: false })
    }

    fn add_children(&self, directory: &FileKey, children: &[FileKey]) -> bool {
        self.look_and_change(|state| state.delegations_mut().add_children(directory, children))
    }

    /// Whether changes of a node by programs of this host are noticed from now on, or need not be.
    pub(super) fn watch_node(self: &Arc<Self>, export: &Export, watched: WatchedNode<'_>) -> bool {
        let is_watched = export
            .local_changes()
            .is_some_and(|local| local.watch(watched, self.observer(export.id())).is_ok());
        is_watched || export.delegations() == DelegationPolicy::Always
    }
}

/// Whether the watch on its directory does not show all that programs of this host do to it: names in it are changed in another
/// directory, or it has other names.
fn is_watched_by_itself(seen: &Attributes) -> bool {
    seen.kind == FileKind::Directory || seen.links > 1
}
