//! Calls that change a directory: CREATE and REMOVE of files that are named by number. So many calls and no more, lest
//! the directory grow with the speed of the server.

use anyhow::ensure;
use howdah_wire::nfs3::create::{self, How};
use howdah_wire::nfs3::{DirectoryName, FileHandle, NewAttributes, remove};

use super::super::export::file_name;
use super::{Load, Scene, call, place};

/// The bytes of both attributes of a directory, before and after.
const BEFORE_AND_AFTER: usize = 28 + 88;

/// Calls of one procedure, each for the next number.
#[derive(Debug)]
pub struct Changes {
    call: Vec<u8>,
    /// Where the name stands in the call.
    name: std::ops::Range<usize>,
    next: u64,
    count: u64,
    shortest: usize,
    /// Files that must be there afterwards.
    left: u64,
    directory: std::path::PathBuf,
}

impl Changes {
    /// CREATE, guarded, in an empty directory.
    pub fn create(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let how = How::Guarded(NewAttributes { mode: Some(0o644), ..NewAttributes::default() });
        let count = scene.calls;
        let encode =
            |object: DirectoryName<'_>| call::nfs(create::PROCEDURE, &create::Arguments { object, how });
        Self::of(scene, (place::CREATE, 0, count), 28 + 8 + 88 + BEFORE_AND_AFTER, encode)
    }

    /// REMOVE, in a directory with just those files.
    pub fn remove(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let count = scene.calls;
        let encode = |object: DirectoryName<'_>| call::nfs(remove::PROCEDURE, &remove::Arguments { object });
        Self::of(scene, (place::REMOVE, count, 0), 28 + BEFORE_AND_AFTER, encode)
    }

    fn of(
        scene: &mut Scene<'_>,
        (place, before, left): (&str, u64, u64),
        shortest: usize,
        encode: impl Fn(DirectoryName<'_>) -> Vec<u8>,
    ) -> anyhow::Result<Self> {
        let directory = scene.export.directory(place, before)?;
        let handle = scene.handle(&directory)?;
        let name = file_name(0);
        let call = encode(DirectoryName { directory: FileHandle(&handle), name: name.as_bytes() });
        let at = call.windows(name.len()).position(|bytes| bytes == name.as_bytes()).unwrap_or_default();
        Ok(Self { call, name: at..at + name.len(), next: 0, count: scene.calls, shortest, left, directory })
    }
}

impl Load for Changes {
    fn count(&self) -> Option<u64> {
        Some(self.count)
    }

    fn call(&mut self, _: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        if self.next == self.count {
            return false;
        }
        call::set_xid(&mut self.call, xid);
        self.call[self.name.clone()].copy_from_slice(file_name(self.next).as_bytes());
        self.next += 1;
        output.extend_from_slice(&self.call);
        true
    }

    fn reply(&mut self, _: usize, _: &[u8], length: usize) -> anyhow::Result<u64> {
        ensure!(length >= self.shortest, "a reply of {length} bytes, where {} are expected", self.shortest);
        Ok(1)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let left = std::fs::read_dir(&self.directory)?.count() as u64;
        ensure!(left == self.left, "{left} files are in {}, not {}", self.directory.display(), self.left);
        Ok(())
    }
}
