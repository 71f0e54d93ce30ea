//! The floors of small READs and WRITEs.

use std::fs::{File, OpenOptions};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::Path;

use howdah_wire::nfs3::read;
use rustix::fs::fstat;

use super::super::load::{SMALL, place};
use super::batch;
use super::record::{after_handle, attributes, hyper, reply, written};

/// pread straight into the replies.
pub fn read(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let file = File::open(export.join(place::READ_RANDOM))?;
    let canned = read_head(SMALL);
    batch::serve(stream, |call, replies| {
        fstat(&file)?;
        batch::answer(call, &canned, replies);
        let at = replies.len();
        replies.resize(at + SMALL as usize, 0);
        file.read_exact_at(&mut replies[at..], hyper(after_handle(call), 0))
    })
}

/// pwrite straight from what was received.
pub fn write(stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).open(export.join(place::WRITE_RANDOM))?;
    let canned = written(SMALL);
    batch::serve(stream, |call, replies| {
        let arguments = after_handle(call);
        fstat(&file)?;
        // Between offset and data stand two counts and the stability.
        file.write_all_at(&arguments[20..20 + SMALL as usize], hyper(arguments, 0))?;
        fstat(&file)?;
        batch::answer(call, &canned, replies);
        Ok(())
    })
}

/// The reply to a READ of so many bytes, up to where they start.
pub fn read_head(length: u32) -> Vec<u8> {
    // What is encoded of a READ without data ends like the head of one with data, but for both lengths.
    let empty = read::Success { attributes: Some(attributes()), end: false, data: &[] };
    let mut reply = reply(&empty, length as usize);
    let end = reply.len();
    reply[end - read::Head::SIZE..]
        .copy_from_slice(&read::Head { attributes: attributes(), end: false, length }.to_bytes());
    reply
}
