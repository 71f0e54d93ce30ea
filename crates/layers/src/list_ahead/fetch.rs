//! A listing that no program asked for.

use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{Access, Detail, Entry, FileKind, Result};

use super::shared::Shared;
use super::walk::{Child, Done, NextListing};

/// A directory that is listed ahead. Those who wait for it are woken when this is dropped.
pub struct Fetch {
    shared: Arc<Shared>,
    next: NextListing,
    done: Done,
}

impl Fetch {
    /// A listing that begins when it is [`run`](Self::run).
    pub fn new(shared: Arc<Shared>, next: NextListing) -> Self {
        Self { shared, next, done: Done::Not }
    }

    /// Lists the directory into the cache, with what the caller may do there.
    pub fn run(mut self) {
        match self.list() {
            Ok(done) => self.done = done,
            Err(error) => tracing::debug!(%error, "a directory could not be listed ahead"),
        }
    }

    fn list(&self) -> Result<Done> {
        let NextListing { caller, directory } = &self.next;
        let (granted, _) = self.shared.files().access(caller, directory, Access::ALL)?;
        if !granted.contains(Access::READ | Access::LOOKUP) {
            return Ok(Done::Not);
        }
        let was_known = self.shared.cache.knows_listing(caller, directory);
        let mut children = Vec::new();
        let mut sink = |entry: Entry<'_>| {
            children.extend(child(&entry));
            ControlFlow::Continue(())
        };
        let is_whole = self.shared.cache.list_if_small(caller, directory, Detail::Nodes, &mut sink)?;
        let mut walks = self.shared.walks.lock();
        walks.on_listed(caller, directory, children, true);
        if is_whole {
            walks.on_whole(directory);
        }
        Ok(match (is_whole, was_known) {
            (false, _) => Done::Not,
            (true, true) => Done::Known,
            (true, false) => Done::Listed,
        })
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        let now = self.shared.now();
        self.shared.walks.lock().on_done(&self.next.directory, self.done, now);
        self.shared.over.notify_all();
    }
}

/// The subdirectory that an entry is, if it is one.
pub fn child(entry: &Entry<'_>) -> Option<Child> {
    let node = entry.node.filter(|node| node.attributes.kind == FileKind::Directory)?;
    (!matches!(entry.name, b"." | b"..")).then(|| (entry.name.into(), node.handle))
}
