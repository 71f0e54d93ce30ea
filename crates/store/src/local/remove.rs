//! REMOVE and RMDIR.

use howdah_vfs::{Caller, Change, FileKind, FsError, Handle, Name, Result};
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::attributes::Seen;
use super::errno::refusal;

impl LocalFileSystem {
    /// REMOVE.
    pub(super) fn remove_name(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.take_away(caller, directory, name, AtFlags::empty(), change)
    }

    /// RMDIR.
    pub(super) fn remove_empty(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.take_away(caller, directory, name, AtFlags::REMOVEDIR, change)
    }

    /// Looks at the node first, so that it can be let go afterwards: kept open, it would keep its space.
    fn take_away(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        how: AtFlags,
        change: &mut Change,
    ) -> Result<()> {
        let directory = self.node(directory)?;
        self.changing_directory(&directory, change, || {
            self.identity.assume(caller)?;
            let seen = self.look(directory.descriptor(), name.as_bytes()).map_err(refusal)?;
            let handle = self.before_name_goes(&directory, name, &seen);
            unlinkat(directory.descriptor(), name.as_bytes(), how).map_err(|errno| match errno {
                // POSIX allows either for a directory with entries.
                Errno::EXIST => FsError::NotEmpty,
                errno => refusal(errno),
            })?;
            self.on_name_gone(&seen, handle);
            Ok(())
        })?;
        self.make_directory_durable(&directory)
    }

    /// A name of this node was taken away; if it was the last, the node is let go.
    pub(super) fn on_name_gone(&self, seen: &Seen, handle: Option<Handle>) {
        let is_directory = seen.attributes.kind == FileKind::Directory;
        if seen.attributes.links <= 1 || is_directory {
            self.on_gone(seen, handle.filter(|handle| is_directory || self.is_nameless(handle)));
        }
    }

    /// Whether a file is known to have no name. A LINK may have given it one after it was looked at: then its handle is still good.
    fn is_nameless(&self, handle: &Handle) -> bool {
        self.nodes.get(handle).is_some_and(|node| node.is_gone())
    }
}
