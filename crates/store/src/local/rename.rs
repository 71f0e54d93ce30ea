//! RENAME.

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::attributes::Seen;
use super::errno::refusal;
use super::known::now;
use super::node::Node;

impl LocalFileSystem {
    /// RENAME.
    pub(super) fn rename_node(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let left = self.node(from.0)?;
        let entered = match self.node(to.0) {
            Ok(entered) => entered,
            Err(error) => {
                *changes.0 = Change::none(self.stat(&left).ok());
                return Err(error);
            }
        };
        self.changing_directories((&left, &entered), changes, || {
            self.identity.assume(caller)?;
            self.move_name((&left, from.1), (&entered, to.1))
        })?;
        // The one entered first, and the other only after it: a file that is under both names after a crash is better than one that is under neither.
        let kept = self.make_directory_durable(&entered);
        if left.handle == entered.handle {
            kept
        } else {
            kept.and_then(|()| self.make_directory_durable(&left))
        }
    }

    fn move_name(&self, from: (&Node, Name<'_>), to: (&Node, Name<'_>)) -> Result<()> {
        let replaced = self.look(to.0.descriptor(), to.1.as_bytes()).ok();
        let replaced = replaced.map(|seen| (seen, self.before_name_goes(to.0, to.1, &seen)));
        let (source, target) = (from.0.descriptor(), to.0.descriptor());
        renameat_with(source, from.1.as_bytes(), target, to.1.as_bytes(), RenameFlags::empty()).map_err(
            |errno| match errno {
                // POSIX allows either for a directory with entries.
                Errno::EXIST => FsError::NotEmpty,
                errno => refusal(errno),
            },
        )?;
        self.on_renamed(to, replaced);
        Ok(())
    }

    /// Lets go of what was replaced, and tells the index where the node is now.
    fn on_renamed(&self, to: (&Node, Name<'_>), replaced: Option<(Seen, Option<Handle>)>) {
        if replaced.is_none() && self.finder.is_none() {
            return;
        }
        let now = now();
        let Ok(moved) = self.look(to.0.descriptor(), to.1.as_bytes()) else {
            // It was moved on already, by a call that has reported it, or by a process that a scan will find out.
            return;
        };
        // Two names of one node: nothing happened, both stay (POSIX rename).
        if let Some((replaced, handle)) =
            replaced.filter(|(seen, _)| seen.identification != moved.identification)
        {
            self.on_name_gone(&replaced, handle);
        }
        if self.finder.is_some() && self.known_handle(to.0, to.1, &moved, now).is_none() {
            // Opening it records it. If it cannot be opened now, it is looked for when its handle comes: it was renamed.
            let _ = self.open_child(to.0, to.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;

    use super::*;
    use crate::local::Options;
    use crate::local::tree::LOOK;

    #[test]
    fn the_new_name_is_made_durable_before_the_old_one_goes() {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["left", "entered"] {
            std::fs::create_dir(place.path().join(name)).expect("a directory in it");
        }
        std::fs::write(place.path().join("left/f"), b"").expect("writes");
        let mut fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        fs.syncs = true;
        let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
        let open = |text| fs.open_child(&fs.root, name(text)).expect("it is there").0;
        let (left, entered) = (open("left"), open("entered"));
        // What the kernel flushes neither of, and says why in different words.
        left.keep_reading(fs.tree.open_name(fs.tree.root.as_fd(), b".", LOOK).expect("opens"));
        entered.keep_reading(std::io::pipe().map(|(end, _)| OwnedFd::from(end)).expect("a pipe"));
        let rename = |from: (&Arc<Node>, _), to: (&Arc<Node>, _)| {
            let changes = (&mut Change::default(), &mut Change::default());
            fs.rename_node(&Caller::ROOT, (&from.0.handle, from.1), (&to.0.handle, to.1), changes)
        };
        assert_eq!(rename((&left, name("f")), (&entered, name("f"))), Err(FsError::Invalid));
        assert_eq!(rename((&entered, name("f")), (&left, name("f"))), Err(FsError::ServerFault));
    }
}
