//! The floors of GETATTR and ACCESS, and of LOOKUP.

use std::fs::File;
use std::net::TcpStream;
use std::path::Path;

use howdah_wire::nfs3::{FileHandle, access, getattr, lookup};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, fstat, openat, statx};

use super::super::export::file_name;
use super::super::load::place::{self, FEW_COUNT};
use super::record::{HANDLE, attributes, name, reply, word};
use super::{batch, handle};

/// One fstat.
pub fn stat(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let open = |number| File::open(export.join(place::FEW).join(file_name(number)));
    let files = (0..FEW_COUNT).map(open).collect::<Result<Vec<_>, _>>()?;
    let get = reply(&getattr::Success { attributes: attributes() }, 0);
    let access = reply(&access::Success { attributes: Some(attributes()), granted: 0x3f }, 0);
    let mut next = 0;
    batch::serve(stream, |call, replies| {
        next = (next + 1) % files.len();
        fstat(&files[next])?;
        let is_get = word(call, 24) == getattr::PROCEDURE as usize;
        batch::answer(call, if is_get { &get } else { &access }, replies);
        Ok(())
    })
}

/// A node by its name.
pub fn lookup(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let directory = File::open(export.join(place::MANY))?;
    let some = Some(attributes());
    let canned = reply(&lookup::Success { node: FileHandle(&HANDLE), attributes: some, directory: some }, 0);
    batch::serve(stream, |call, replies| {
        let found = openat(&directory, name(call), OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())?;
        statx(&found, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        handle::of(&found, c"")?;
        drop(found);
        fstat(&directory)?;
        batch::answer(call, &canned, replies);
        Ok(())
    })
}
