//! Directories of the source, listed a part at a time.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_vfs::{Detail, ListDirectory};

use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::MOST_LOOKS;
use super::tally::Tally;
use super::tasks::{DirectoryJob, Entry, LinkPart};
use super::{mark_in, naming};

/// Entries of a directory that are listed before those are copied: what bounds the memory, together with the depth of
/// the tree. Several answers of a server, so that little of one is thrown away.
const PART: usize = 1024;

/// The next entries, and whether these are the last.
pub(super) fn list_part(directory: &Arc<DirectoryJob>) -> Step<(Vec<Entry>, bool)> {
    let source = directory.source();
    let Some(node) = &directory.node else { return Ok((Vec::new(), true)) };
    let mut entries = Vec::new();
    let mut cookie = directory.cookie.load(Ordering::Relaxed);
    let (marker, mut mark) = (naming::marker(directory.item.id), None);
    let mut sink = |entry: howdah_vfs::Entry<'_>| {
        if entries.len() == PART {
            return ControlFlow::Break(());
        }
        if entry.name == marker {
            mark = Some(entry.node.copied());
        }
        cookie = entry.cookie;
        if !matches!(entry.name, b"." | b"..") && !naming::is_ours(entry.name) {
            entries.push(Entry {
                parent: Arc::clone(directory),
                name: entry.name.to_vec(),
                node: entry.node.copied(),
                part: LinkPart::Unknown,
                tries: 0,
                looked: None,
            });
        }
        ControlFlow::Continue(())
    };
    let at = directory.cookie.load(Ordering::Relaxed);
    let listing = source.file_system.read_directory(
        &source.caller,
        ListDirectory::new(&node.handle, at, Detail::Nodes),
        &mut sink,
    );
    let end = listing.at_source("list")?.end;
    // A source on this machine may be what a server exports that we copy to.
    let mark = mark.and_then(|seen| seen.or_else(|| mark_in(source, node, directory.item.id)));
    if mark.is_some_and(|mark| directory.item.is_marked_as(&mark)) {
        return Err(Trouble::source("copy the directory", Cause::IntoItself));
    }
    if !end && directory.circle.lock().closes_at(cookie) {
        return Err(Trouble::source("list", Cause::EndlessListing));
    }
    directory.cookie.store(cookie, Ordering::Relaxed);
    Ok((entries, end))
}

/// What has the name of a directory that is gone; nothing if it vanished. Fails if that cannot be looked up: then the source may
/// have the directory.
pub(super) fn replacement(directory: &DirectoryJob, trouble: Trouble) -> Step<Option<Entry>> {
    let Some(parent) = directory.parent.as_ref().filter(|_| trouble.is_gone()) else {
        return Err(trouble);
    };
    // The root was named, and was not listed.
    let Some(above) = &parent.node else { return Err(trouble) };
    let found = parent.source().find(&above.handle, &directory.name).at_source("look up")?;
    let tries = directory.tries + 1;
    if found.is_some() && tries >= MOST_LOOKS {
        return Err(trouble);
    }
    let (parent, name) = (Arc::clone(parent), directory.name.clone());
    let entry = |node| Entry { parent, name, node, part: LinkPart::Unknown, tries, looked: None };
    Ok(found.is_some().then(|| entry(found)))
}

/// Counts listings that are not at their end: whether the whole tree is known.
pub(super) struct Listings {
    open: AtomicUsize,
    tally: Arc<Tally>,
}

impl Listings {
    /// None yet.
    pub(super) fn new(tally: Arc<Tally>) -> Self {
        Self { open: AtomicUsize::new(0), tally }
    }

    /// So many more.
    pub(super) fn open(&self, count: usize) {
        self.open.fetch_add(count, Ordering::Relaxed);
    }

    /// One is at its end.
    pub(super) fn close(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts whether all is known now.
    pub(super) fn settle(&self) {
        let all = self.open.load(Ordering::Relaxed) == 0;
        self.tally.found_all.store(u64::from(all), Ordering::Relaxed);
    }
}
