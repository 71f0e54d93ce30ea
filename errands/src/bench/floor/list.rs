//! The floor of READDIRPLUS. It must write real entries, for the load goes on from their cookies.

use std::fs::File;
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::path::Path;

use howdah_wire::nfs3::listing::{Budget, Writer};
use howdah_wire::nfs3::{Attributes, FileHandle, readdir, readdirplus};
use rustix::fs::{AtFlags, RawDir, SeekFrom, StatxFlags, fstat, seek, statx};

use super::super::load::place;
use super::record::{HANDLE, after_handle, attributes, hyper, reply_header, word, xid};
use super::{batch, handle};

/// Bytes of directory entries that are asked of the kernel in one go.
const ENTRIES: usize = 16 << 10;

/// Entries from a cookie on, until the reply is full; with the kernel asked for each one's handle, or not.
pub fn list(stream: &TcpStream, export: &Path, ask_handles: bool) -> anyhow::Result<()> {
    let directory = File::open(export.join(place::MANY))?;
    let mut buffer = vec![MaybeUninit::uninit(); ENTRIES];
    let header = reply_header();
    batch::serve(stream, |call, replies| {
        let arguments = after_handle(call);
        let (cookie, names, whole) = (hyper(arguments, 0), word(arguments, 16), word(arguments, 20));
        let start = replies.len();
        replies.extend_from_slice(&header);
        replies[start + 4..start + 8].copy_from_slice(&xid(call));
        seek(&directory, SeekFrom::Start(cookie))?;
        let mut writer = Writer::new(replies, [0; 8], Budget { whole, names });
        let mut end = true;
        let mut entries = RawDir::new(&directory, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let found =
                statx(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
            if ask_handles {
                handle::of(&directory, entry.file_name())?;
            }
            let name = readdir::Entry {
                file: entry.ino(),
                name: entry.file_name().to_bytes(),
                cookie: entry.next_entry_cookie(),
            };
            let attributes = Some(Attributes { file: found.stx_ino, ..attributes() });
            if writer
                .add(&readdirplus::Entry { name, attributes, node: Some(FileHandle(&HANDLE)) })
                .is_break()
            {
                end = false;
                break;
            }
        }
        fstat(&directory)?;
        writer.finish(Some(attributes()), end);
        let length = (replies.len() - start - 4) as u32 | howdah_wire::rpc::LAST_FRAGMENT;
        replies[start..start + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    })
}
