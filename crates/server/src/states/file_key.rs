//! What names a file to the table of opens and locks.

use howdah_vfs::Handle;

/// What names a file to the table of opens and locks: the same for all its names, and for every protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileKey {
    /// The export.
    pub export: u32,
    /// The node in it.
    pub node: Handle,
}
