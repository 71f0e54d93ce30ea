//! The floors of CREATE and REMOVE.

use std::fs::File;
use std::net::TcpStream;
use std::path::Path;

use howdah_wire::nfs3::{FileHandle, Made, remove};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};

use super::super::load::place;
use super::record::{HANDLE, attributes, before_and_after, name, reply};
use super::{batch, handle};

/// A new file, with the directory looked at before and after.
pub fn create(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let directory = File::open(export.join(place::CREATE))?;
    let canned = Made {
        node: Some(FileHandle(&HANDLE)),
        attributes: Some(attributes()),
        directory: before_and_after(),
    };
    let canned = reply(&canned, 0);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW;
    batch::serve(stream, |call, replies| {
        fstat(&directory)?;
        let made = openat(&directory, name(call), flags, Mode::from_raw_mode(0o644))?;
        fstat(&made)?;
        handle::of(&made, c"")?;
        drop(made);
        fstat(&directory)?;
        batch::answer(call, &canned, replies);
        Ok(())
    })
}

/// A file less, with the directory looked at before and after.
pub fn remove(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let directory = File::open(export.join(place::REMOVE))?;
    let canned = reply(&remove::Success { directory: before_and_after() }, 0);
    batch::serve(stream, |call, replies| {
        fstat(&directory)?;
        unlinkat(&directory, name(call), AtFlags::empty())?;
        fstat(&directory)?;
        batch::answer(call, &canned, replies);
        Ok(())
    })
}
