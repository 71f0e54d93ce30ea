//! Calls that ask: GETATTR, ACCESS, LOOKUP. All are encoded beforehand; which comes next is random.

use std::ops::Range;

use anyhow::ensure;
use howdah_wire::nfs3::{DirectoryName, FileHandle, access, getattr, lookup};

use super::super::export::file_name;
use super::place::{self, FEW_COUNT, MANY_COUNT};
use super::{Load, Scene, call};
use howdah_random::Random;

/// All rights of RFC 1813 3.3.4.
const ALL_RIGHTS: u32 = 0x3f;

/// Calls of one procedure.
#[derive(Debug)]
pub struct Queries {
    calls: Vec<Vec<u8>>,
    random: Random,
    /// How long a reply may be: less, and the server leaves out what it should send.
    length: Range<usize>,
}

impl Queries {
    /// GETATTR.
    pub fn attributes(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let calls = few(scene)?
            .iter()
            .map(|handle| call::nfs(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(handle) }))
            .collect();
        Ok(Self::of(calls, 28 + 84..28 + 84 + 1))
    }

    /// ACCESS.
    pub fn access(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let arguments = |handle| access::Arguments { node: FileHandle(handle), wanted: ALL_RIGHTS };
        let calls =
            few(scene)?.iter().map(|handle| call::nfs(access::PROCEDURE, &arguments(handle))).collect();
        Ok(Self::of(calls, 28 + 88 + 4..28 + 88 + 4 + 1))
    }

    /// LOOKUP.
    pub fn lookup(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let directory = scene.export.lasting_directory(place::MANY, MANY_COUNT)?;
        let handle = scene.handle(&directory)?;
        let calls = (0..MANY_COUNT)
            .map(|number| {
                let name = file_name(number);
                let object = DirectoryName { directory: FileHandle(&handle), name: name.as_bytes() };
                call::nfs(lookup::PROCEDURE, &lookup::Arguments { object })
            })
            .collect();
        Ok(Self::of(calls, 28 + 8 + 88 + 88..28 + 4 + 64 + 88 + 88 + 1))
    }

    fn of(calls: Vec<Vec<u8>>, length: Range<usize>) -> Self {
        Self { calls, random: Random::new(1), length }
    }
}

fn few(scene: &mut Scene<'_>) -> anyhow::Result<Vec<Vec<u8>>> {
    let directory = scene.export.lasting_directory(place::FEW, FEW_COUNT)?;
    (0..FEW_COUNT).map(|number| scene.handle(&directory.join(file_name(number)))).collect()
}

impl Load for Queries {
    fn call(&mut self, _: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        let which = self.random.below(self.calls.len() as u64) as usize;
        let call = &mut self.calls[which];
        call::set_xid(call, xid);
        output.extend_from_slice(call);
        true
    }

    fn reply(&mut self, _: usize, _: &[u8], length: usize) -> anyhow::Result<u64> {
        ensure!(
            self.length.contains(&length),
            "a reply of {length} bytes, where {:?} are expected",
            self.length
        );
        Ok(1)
    }
}
