//! From the path that a client mounts to the handle of a directory: the longest export whose name starts the path,
//! and from there name by name through its file system. No path is ever given to the system this server runs on.

use howdah_vfs::{FileKind, FileSystem, FsError, Name};

use super::{Admission, Export, Exports, Identity, SecurityFlavors};
use crate::Peer;
use crate::counts::at_export;
use crate::handle::SealedHandle;

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolveError {
    /// No export has a name that starts like it.
    NoExport,
    /// The directory of the export is gone for now.
    Gone,
    /// The export or its file system refuses.
    Refused(FsError),
}

impl From<FsError> for ResolveError {
    fn from(error: FsError) -> Self {
        Self::Refused(error)
    }
}

/// A directory that can be mounted.
#[derive(Debug)]
pub struct MountedPath {
    /// Its handle.
    pub handle: SealedHandle,
    /// The flavors that its export takes of this client, the one that it should try first first.
    pub flavors: SecurityFlavors,
}

impl Exports {
    /// The handle of the directory at this path, for a client of this identity. The directories on the way are
    /// searched as the user that the client acts as, so that nobody gets a handle by mounting that they could not
    /// get by looking up.
    pub fn resolve(
        &self,
        path: &[u8],
        peer: &Peer,
        identity: &Identity,
    ) -> Result<MountedPath, ResolveError> {
        let (export, named) = self.find_path(path).ok_or(ResolveError::NoExport)?;
        at_export(export.place());
        let Admission { file_system, caller, flavors, .. } = export.admit_mount(peer, identity)?;
        if export.gone().is_some() {
            return Err(ResolveError::Gone);
        }
        let mut handle = *export.root();
        let mut kind = file_system.attributes(&caller, &handle)?.kind;
        for part in parts(path).skip(named) {
            let name = Name::parse(part).map_err(|error| error.refusal())?;
            let node = file_system.lookup(&caller, &handle, name)?.node;
            (handle, kind) = (node.handle, node.attributes.kind);
        }
        if kind != FileKind::Directory {
            return Err(FsError::NotDirectory.into());
        }
        Ok(MountedPath { handle: self.seal(export, &handle), flavors })
    }

    /// The export that a path leads into, and how many parts of the path are its name.
    pub fn find_path(&self, path: &[u8]) -> Option<(&Export, usize)> {
        self.iter()
            .filter_map(|export| {
                let name = export.name().as_bytes();
                let length = parts(name).count();
                parts(path).take(length).eq(parts(name)).then_some((export, length))
            })
            .max_by_key(|&(_, length)| length)
    }
}

/// The parts of a path that are looked up: empty ones and `.` stay where one is.
pub(super) fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    fn exports(names: &[&str]) -> Exports {
        let export = |(id, name): (usize, &&str)| {
            Export::new(name, id as u32, Arc::new(MemoryFileSystem::new()), Vec::new())
        };
        Exports::new(names.iter().enumerate().map(export).collect(), [1; 16]).expect("names differ")
    }

    #[test]
    fn a_path_finds_the_longest_export_by_whole_parts() {
        let exports = exports(&["/srv", "/srv/data", "/home/"]);
        for (path, expected) in [
            ("/srv", Some(("/srv", 1))),
            ("/srv/", Some(("/srv", 1))),
            ("srv", Some(("/srv", 1))),
            ("//./srv//x", Some(("/srv", 1))),
            ("/srv/data", Some(("/srv/data", 2))),
            ("/srv/data/a/b", Some(("/srv/data", 2))),
            ("/srv/database", Some(("/srv", 1))),
            ("/srvx", None),
            ("/sr", None),
            ("/home", Some(("/home", 1))),
            ("/", None),
            ("", None),
        ] {
            let found = exports.find_path(path.as_bytes());
            assert_eq!(found.map(|(export, named)| (export.name(), named)), expected, "{path}");
        }
        for path in ["/any/where", "/", ""] {
            let exports = self::exports(&["/"]);
            assert_eq!(
                exports.find_path(path.as_bytes()).map(|(export, named)| (export.name(), named)),
                Some(("/", 0))
            );
        }
    }
}
