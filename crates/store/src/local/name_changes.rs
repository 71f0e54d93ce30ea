//! REMOVE, RMDIR, RENAME and LINK.

use std::sync::Arc;

use howdah_vfs::{AddLink, Attributes, Caller, Change, FileKind, FsError, Handle, Name, Result};
use rustix::fs::{AtFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::attributes::Seen;
use super::errno::refusal;
use super::known::now;
use super::lookup::NamedNodes;
use super::node::Node;
use super::node_changes::NodeChanges;
use super::open_nodes::OpenNodes;
use super::stable_storage::StableStorage;

/// Changes the names of nodes.
pub(super) struct NameChanger {
    nodes: Arc<OpenNodes>,
    names: Arc<NamedNodes>,
    changes: Arc<NodeChanges>,
    storage: Arc<StableStorage>,
}

impl NameChanger {
    pub(super) fn new(
        (nodes, names): (Arc<OpenNodes>, Arc<NamedNodes>),
        (changes, storage): (Arc<NodeChanges>, Arc<StableStorage>),
    ) -> Self {
        Self { nodes, names, changes, storage }
    }

    /// REMOVE, or RMDIR with [`AtFlags::REMOVEDIR`].
    pub(super) fn remove(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        how: AtFlags,
        change: &mut Change,
    ) -> Result<()> {
        let directory = self.nodes.node(directory)?;
        self.changes.changing_directory(&directory, change, || {
            self.nodes.identity().assume(caller)?;
            let seen = self.nodes.attributes().look(directory.descriptor(), name.as_bytes());
            self.names.unlink(&directory, name, how, &seen.map_err(refusal)?).map_err(not_empty)
        })?;
        self.storage.settle_directory(&directory)
    }

    /// LINK. As the caller: where the system protects hard links (`fs.protected_hardlinks`), who neither owns the
    /// file nor may read and write it is refused, as a local process is.
    pub(super) fn link(
        &self,
        caller: &Caller,
        AddLink { node, directory, name }: AddLink<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let directory = self.nodes.node(directory)?;
        let (node, attributes) = self.changes.changing_directory(&directory, change, || {
            let node = self.nodes.node(node)?;
            let before = self.nodes.stat(&node)?;
            if before.kind == FileKind::Directory {
                return Err(FsError::NotPermitted);
            }
            self.storage.prepare_file(&node, &before)?;
            self.nodes.identity().assume(caller)?;
            self.nodes
                .tree()
                .link(node.descriptor(), directory.descriptor(), name.as_bytes())
                .map_err(refusal)?;
            // Mail servers link a file to its new name, then remove the old one.
            self.nodes.handles().on_named(&directory, name, &node.handle);
            let after = self.nodes.stat_changed(&node)?;
            Ok((node, after))
        })?;
        self.storage.settle(&node, &attributes, &directory)?;
        Ok(attributes)
    }

    /// RENAME.
    pub(super) fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let left = self.nodes.node(from.0)?;
        let entered = match self.nodes.node(to.0) {
            Ok(entered) => entered,
            Err(error) => {
                *changes.0 = Change::none(self.nodes.stat(&left).ok());
                return Err(error);
            }
        };
        self.changes.changing_directories((&left, &entered), changes, || {
            self.nodes.identity().assume(caller)?;
            self.move_name((&left, from.1), (&entered, to.1))
        })?;
        // The one entered first, and the other only after it: a file that is under both names after a crash is better than one that is under neither.
        let kept = self.storage.settle_directory(&entered);
        if left.handle == entered.handle {
            kept
        } else {
            kept.and_then(|()| self.storage.settle_directory(&left))
        }
    }

    fn move_name(&self, from: (&Node, Name<'_>), to: (&Node, Name<'_>)) -> Result<()> {
        let replaced = self.nodes.attributes().look(to.0.descriptor(), to.1.as_bytes()).ok();
        let replaced = replaced.map(|seen| (seen, self.names.before_name_goes(to.0, to.1, &seen)));
        let (source, target) = (from.0.descriptor(), to.0.descriptor());
        renameat_with(source, from.1.as_bytes(), target, to.1.as_bytes(), RenameFlags::empty())
            .map_err(not_empty)?;
        self.on_renamed(to, replaced);
        Ok(())
    }

    /// Lets go of what was replaced, and tells the index where the node is now.
    fn on_renamed(&self, to: (&Node, Name<'_>), replaced: Option<(Seen, Option<Handle>)>) {
        let handles = self.nodes.handles();
        if replaced.is_none() && !handles.keeps_places() {
            return;
        }
        let now = now();
        let Ok(moved) = self.nodes.attributes().look(to.0.descriptor(), to.1.as_bytes()) else {
            // It was moved on already, by a call that has reported it, or by a process that a scan will find out.
            return;
        };
        // Two names of one node: nothing happened, both stay (POSIX rename).
        if let Some((replaced, handle)) =
            replaced.filter(|(seen, _)| seen.identification != moved.identification)
        {
            self.names.on_name_gone(&replaced, handle);
        }
        if handles.keeps_places() && handles.known(to.0, to.1, &moved.identification, now).is_none() {
            // Opening it records it. If it cannot be opened now, it is looked for when its handle comes: it was renamed.
            let _ = self.names.child(to.0, to.1);
        }
    }
}

fn not_empty(errno: Errno) -> FsError {
    match errno {
        // POSIX allows either for a directory with entries.
        Errno::EXIST => FsError::NotEmpty,
        errno => refusal(errno),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use howdah_vfs::FileSystem;
    use rustix::fs::{Mode, open};

    use super::*;
    use crate::local::tree::LOOK;
    use crate::local::{LocalFileSystem, Options};

    #[test]
    fn the_new_name_is_made_durable_before_the_old_one_goes() {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["left", "entered"] {
            std::fs::create_dir(place.path().join(name)).expect("a directory in it");
        }
        std::fs::write(place.path().join("left/f"), b"").expect("writes");
        let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
        let child = |text| fs.names().child(fs.nodes().root(), name(text)).expect("it is there").0;
        let (left, entered) = (child("left"), child("entered"));
        // What the kernel flushes neither of, and says why in different words.
        left.keep_reading(open(place.path(), LOOK, Mode::empty()).expect("opens"));
        entered.keep_reading(std::io::pipe().map(|(end, _)| OwnedFd::from(end)).expect("a pipe"));
        let rename = |from: (&Arc<Node>, _), to: (&Arc<Node>, _)| {
            let changes = (&mut Change::default(), &mut Change::default());
            fs.rename(&Caller::ROOT, (&from.0.handle, from.1), (&to.0.handle, to.1), changes)
        };
        assert_eq!(rename((&left, name("f")), (&entered, name("f"))), Err(FsError::Invalid));
        assert_eq!(rename((&entered, name("f")), (&left, name("f"))), Err(FsError::ServerFault));
    }
}
