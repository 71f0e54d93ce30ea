//! The loop of the floors of small calls: receive what is there, do what each whole call wants, send all replies at
//! once.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use anyhow::bail;

use super::record::{word, xid};

/// What is received in one go: all that 64 calls of a few KB can hold.
const BUFFER: usize = 512 << 10;

/// Serves until the load closes the connection. `serve` gets a call with its record mark and appends its reply.
pub fn serve(
    mut stream: &TcpStream,
    mut serve: impl FnMut(&[u8], &mut Vec<u8>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut end = 0;
    let mut replies = Vec::new();
    loop {
        let received = stream.read(&mut buffer[end..])?;
        if received == 0 {
            return Ok(());
        }
        end += received;
        let mut start = 0;
        while end - start >= 4 {
            let length = 4 + (word(&buffer, start) & 0x7fff_ffff);
            if length > BUFFER {
                bail!("a call of {length} bytes");
            }
            if end - start < length {
                break;
            }
            serve(&buffer[start..start + length], &mut replies)?;
            start += length;
        }
        stream.write_all(&replies)?;
        replies.clear();
        buffer.copy_within(start..end, 0);
        end -= start;
    }
}

/// Appends a canned reply to this call.
pub fn answer(call: &[u8], reply: &[u8], replies: &mut Vec<u8>) {
    let at = replies.len();
    replies.extend_from_slice(reply);
    replies[at + 4..at + 8].copy_from_slice(&xid(call));
}
