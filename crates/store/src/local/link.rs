//! LINK.

use howdah_vfs::{Attributes, Caller, Change, FileKind, FsError, Handle, Name, Result};

use super::LocalFileSystem;
use super::errno::refusal;

impl LocalFileSystem {
    /// LINK. As the caller: where the system protects hard links (`fs.protected_hardlinks`), who neither owns the
    /// file nor may read and write it is refused, as a local process is.
    pub(super) fn link_node(
        &self,
        caller: &Caller,
        node: &Handle,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        let directory = self.node(directory)?;
        let (node, attributes) = self.changing_directory(&directory, change, || {
            let node = self.node(node)?;
            let before = self.stat(&node)?;
            if before.kind == FileKind::Directory {
                return Err(FsError::NotPermitted);
            }
            self.prepare_to_settle_file(&node, &before)?;
            self.identity.assume(caller)?;
            self.tree.link(node.descriptor(), directory.descriptor(), name.as_bytes()).map_err(refusal)?;
            if let Some(finder) = &self.finder {
                // Mail servers link a file to its new name, then remove the old one.
                finder.on_seen(&node.handle, &directory.handle, name);
            }
            let after = self.stat_changed(&node)?;
            Ok((node, after))
        })?;
        self.settle(&[(&node, &attributes)], &directory)?;
        Ok(attributes)
    }
}
