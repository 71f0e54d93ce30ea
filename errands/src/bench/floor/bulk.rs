//! The floors of large READs and WRITEs: sendfile, and two ways from the socket into the file.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSliceMut, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendFlags, recvmsg, send};
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, pipe, splice};

use super::super::load::{LARGE, place};
use super::record::{after_handle, hyper, word, written, xid};
use super::small::read_head;

/// Calls without data are short: this is more than any.
const CALLS: usize = 64 << 10;

/// A header with MSG_MORE, and the file behind it.
pub fn sendfile(mut stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let file = File::open(export.join(place::READ_STREAM))?;
    let mut head = read_head(LARGE);
    let mut calls = vec![0; CALLS];
    let mut end = 0;
    loop {
        let received = stream.read(&mut calls[end..])?;
        if received == 0 {
            return Ok(());
        }
        end += received;
        let mut start = 0;
        while end - start >= 4 && end - start >= record_length(&calls[start..]) {
            let call = &calls[start..start + record_length(&calls[start..])];
            start += call.len();
            head[4..8].copy_from_slice(&xid(call));
            // A socket takes so little all at once, or it has no room at all and waits.
            send(stream, &head, SendFlags::MORE | SendFlags::NOSIGNAL)?;
            let mut offset = hyper(after_handle(call), 0);
            let last = offset + u64::from(LARGE);
            while offset < last {
                let left = (last - offset) as usize;
                rustix::fs::sendfile(stream, &file, Some(&mut offset), left)?;
            }
        }
        calls.copy_within(start..end, 0);
        end -= start;
    }
}

/// Header and data into buffers, data on into the file.
pub fn receive_pwrite(mut stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let file = target(export)?;
    let mut canned = written(LARGE);
    let mut header = vec![0; header_length(stream)?];
    let mut data = vec![0; LARGE as usize];
    loop {
        receive_both(stream, &mut header, &mut data)?;
        file.write_all_at(&data, hyper(after_handle(&header), 0))?;
        canned[4..8].copy_from_slice(&xid(&header));
        stream.write_all(&canned)?;
    }
}

/// The header into a buffer, the data through a pipe into the file.
pub fn receive_splice(mut stream: &TcpStream, export: &Path) -> anyhow::Result<()> {
    let file = target(export)?;
    let mut canned = written(LARGE);
    let mut header = vec![0; header_length(stream)?];
    let (out, into) = pipe()?;
    fcntl_setpipe_size(&into, LARGE as usize)?;
    loop {
        stream.read_exact(&mut header)?;
        let mut offset = hyper(after_handle(&header), 0);
        let last = offset + u64::from(LARGE);
        while offset < last {
            let left = (last - offset) as usize;
            let mut held = splice(stream, None, &into, None, left, SpliceFlags::MOVE | SpliceFlags::MORE)?;
            if held == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            while held > 0 {
                held -= splice(&out, None, &file, Some(&mut offset), held, SpliceFlags::MOVE)?;
            }
        }
        canned[4..8].copy_from_slice(&xid(&header));
        stream.write_all(&canned)?;
    }
}

fn target(export: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(export.join(place::WRITE_STREAM))
}

fn record_length(call: &[u8]) -> usize {
    4 + (word(call, 0) & 0x7fff_ffff)
}

/// The length of what stands before the data of the first call; all have the same.
fn header_length(stream: &TcpStream) -> io::Result<usize> {
    let mut mark = [0; 4];
    while stream.peek(&mut mark)? < 4 {}
    Ok(record_length(&mark) - LARGE as usize)
}

fn receive_both(mut stream: &TcpStream, header: &mut [u8], data: &mut [u8]) -> io::Result<()> {
    let wanted = header.len() + data.len();
    let mut ancillary = RecvAncillaryBuffer::default();
    let buffers = &mut [IoSliceMut::new(header), IoSliceMut::new(data)];
    let received = recvmsg(stream, buffers, &mut ancillary, RecvFlags::WAITALL)?.bytes;
    if received == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // A wait for all ends early only when the connection does, or a signal comes.
    let of_header = received.min(header.len());
    stream.read_exact(&mut header[of_header..])?;
    if received < wanted { stream.read_exact(&mut data[received - of_header..]) } else { Ok(()) }
}
