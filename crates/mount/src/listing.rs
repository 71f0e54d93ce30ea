//! Entries of a directory, fetched some thousand at a time and given to the kernel page by page.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use fuser::{Generation, INodeNo, ReplyDirectoryPlus};
use howdah_vfs::{Caller, Detail, Entry, FileKind, Handle, ListDirectory, Name, Node};

use crate::attributes::{nothing, shown};
use crate::fetched::{Fetched, Listed};
use crate::limits::LISTED_AHEAD_MAX;
use crate::nodes::{NOBODY, ROOT};
use crate::opens::OpenDirectory;
use crate::refused::Answer;
use crate::shared::Shared;

impl Shared {
    /// Sees to it that entries after `cookie` are fetched, if there are any.
    pub fn fetch(&self, caller: &Caller, open: &OpenDirectory, cookie: u64) -> Answer<()> {
        let names_lost = open.node.names_lost.load(Relaxed);
        {
            let fetched = open.fetched.lock();
            let continues = fetched.from == cookie && cookie != 0 && fetched.names_lost == names_lost;
            if continues && (fetched.end || !fetched.entries.is_empty()) {
                return Ok(());
            }
        }
        let mut entries = VecDeque::new();
        let mut take = |entry: Entry<'_>| {
            if entries.len() >= LISTED_AHEAD_MAX {
                return ControlFlow::Break(());
            }
            let node = entry.node.copied();
            let kind = node.map_or(FileKind::Regular, |node| node.attributes.kind);
            // On what another file system is mounted, has a number of its own.
            let of_node = node.filter(|node| node.attributes.file == entry.file);
            let file = of_node.map_or(entry.file, |node| self.nodes.number_of(&node.attributes));
            let (name, cookie) = (entry.name.to_vec(), entry.cookie);
            entries.push_back(Listed { name, file, cookie, kind, node });
            ControlFlow::Continue(())
        };
        let directory = &open.node.handle;
        let listing = self.file_system.read_directory(
            caller,
            ListDirectory::new(directory, cookie, Detail::Nodes),
            &mut take,
        )?;
        entries.iter_mut().filter(|entry| entry.node.is_none()).for_each(|entry| {
            entry.node = self.node_of(caller, directory, &entry.name);
            entry.kind = entry.node.map_or(FileKind::Regular, |node| node.attributes.kind);
        });
        *open.fetched.lock() = Fetched { from: cookie, entries, end: listing.end, names_lost };
        Ok(())
    }

    /// Looks up a node that the listing left out.
    fn node_of(&self, caller: &Caller, directory: &Handle, name: &[u8]) -> Option<Node> {
        let name = Name::parse(name).ok()?;
        self.file_system.lookup(caller, directory, name).ok().map(|found| found.node)
    }
}

/// Adds an entry to an answer, and says whether it does not fit.
pub fn add(shared: &Shared, reply: &mut ReplyDirectoryPlus, directory: u64, entry: &Listed) -> bool {
    let name = OsStr::from_bytes(&entry.name);
    let is_dots = matches!(&entry.name[..], b"." | b"..");
    let Some(node) = entry.node.filter(|_| !is_dots) else {
        // The kernel lists it and takes nothing from a size that no file has. Then it forgets the number, which no node must have;
        // that of dots it does not forget.
        let (number, kind) =
            if is_dots { (entry.file.max(ROOT), FileKind::Directory) } else { (NOBODY, entry.kind) };
        let attributes = shown(number, &nothing(kind));
        return reply.add(INodeNo(number), entry.cookie, name, &Duration::ZERO, &attributes, Generation(0));
    };
    let known = shared.nodes.enter(&node);
    let attributes = shown(known.number, &known.as_seen(node.attributes));
    let generation = Generation(known.generation());
    let named = shared.named(directory, &entry.name);
    let is_kept = named.is_kept;
    let ttl = shared.believed(&known, &node.attributes).min(shared.name_believed(&known, is_kept));
    let is_full = reply.add(INodeNo(known.number), entry.cookie, name, &ttl, &attributes, generation);
    if is_full {
        shared.nodes.forget(known.number, 1);
    } else if !ttl.is_zero() {
        shared.note_told(named, &node.attributes);
    }
    is_full
}
