//! Pages of a directory: READDIRPLUS, and READDIR where a server has only that.

use std::sync::atomic::Ordering;

use howdah_vfs::{Detail, FsError, Node, Result};

use super::client::Nfs3;
use crate::common::{DirectoryPages, Listed, Page, Position, Sink, Verifiers};

impl DirectoryPages for Nfs3 {
    fn verifiers(&self) -> &Verifiers {
        &self.verifiers
    }

    fn page(&self, position: &Position<'_>, detail: Detail, sink: &mut Sink<'_>) -> Result<Page> {
        if detail == Detail::Nodes && !self.lists_names_only.load(Ordering::Relaxed) {
            match self.page_of_nodes(position, sink) {
                // Some servers have no READDIRPLUS, and some have it switched off.
                Err(FsError::NotSupported) => self.lists_names_only.store(true, Ordering::Relaxed),
                page => return page,
            }
        }
        self.page_of_names(position, sink)
    }

    fn details(&self, position: &Position<'_>, detail: Detail, listed: &Listed<'_>) -> (u64, Option<Node>) {
        if listed.name == b".." && *position.directory == self.root {
            // What lies above the root is nobody's business.
            let parent =
                self.look_up_parent(position.caller, position.directory).ok().map(|found| found.node);
            let file = parent.map_or(listed.file, |parent| parent.attributes.file);
            return (file, parent.filter(|_| detail == Detail::Nodes));
        }
        let wants_node = detail == Detail::Nodes;
        (listed.file, if wants_node { self.node_of(position, listed) } else { None })
    }
}

impl Nfs3 {
    /// The node of an entry, asked for where the listing does not have it; `None` if it is gone meanwhile.
    fn node_of(&self, position: &Position<'_>, listed: &Listed<'_>) -> Option<Node> {
        let Some((handle, attributes)) = listed.told else {
            return self
                .look_up(position.caller, position.directory, listed.name)
                .ok()
                .map(|found| found.node);
        };
        let known = attributes.map_or_else(|| self.get_attributes(position.caller, &handle), Ok);
        Some(Node { handle, attributes: known.ok()? })
    }
}
