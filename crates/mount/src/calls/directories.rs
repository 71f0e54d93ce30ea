//! Open directories.

use howdah_vfs::FileKind;
use parking_lot::Mutex;

use crate::opens::OpenDirectory;
use crate::refused::Answer;
use crate::shared::Shared;
use crate::who::Requester;

impl Shared {
    /// OPENDIR. Whether the caller may list it is asked when they do; what it is now, is asked now.
    pub fn open_directory(&self, asker: Requester, number: u64) -> Answer<OpenDirectory> {
        let node = self.nodes.of(number)?;
        let caller = self.caller(asker);
        self.may_list(&caller, &node.handle)?;
        Ok(OpenDirectory { node, fetched: Mutex::default() })
    }

    fn may_list(&self, caller: &howdah_vfs::Caller, node: &howdah_vfs::Handle) -> Answer<()> {
        use howdah_vfs::{Access, FsError};
        let (granted, attributes) = self.file_system.access(caller, node, Access::READ)?;
        if attributes.kind != FileKind::Directory {
            return Err(FsError::NotDirectory.into());
        }
        if granted.contains(Access::READ) { Ok(()) } else { Err(FsError::AccessDenied.into()) }
    }
}
