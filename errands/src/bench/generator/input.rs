//! Replies out of a stream: the beginning of each is kept for a look, the rest is passed over.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use anyhow::{Context, bail, ensure};
use howdah_wire::rpc::RecordMark;
use rustix::io::retry_on_intr;
use rustix::net::RecvFlags;

/// What is received in one go: fits a second-level cache, so that copying into it costs as little as can be.
const BUFFER: usize = 256 << 10;
/// The shortest reply that went well: its header (RFC 5531) and a status.
const SHORTEST: usize = 28;

/// The stream.
#[derive(Debug)]
pub struct Input {
    buffer: Vec<u8>,
    /// What is in the buffer and not looked at yet.
    start: usize,
    end: usize,
    /// What is still to come of a reply that was looked at.
    skip: usize,
    looks_at: usize,
    discard: bool,
}

/// A reply.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// Its beginning, after the record mark.
    pub head: &'a [u8],
    /// Length of all of it.
    pub length: usize,
}

impl Input {
    /// Shows at most `looks_at` bytes of each reply; `discard` leaves it to the kernel to pass over the rest.
    pub fn new(looks_at: usize, discard: bool) -> Self {
        let buffer = vec![0; BUFFER.max(2 * looks_at)];
        Self { buffer, start: 0, end: 0, skip: 0, looks_at, discard }
    }

    /// Waits for something, and takes it.
    pub fn fill(&mut self, mut stream: &TcpStream) -> anyhow::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let received = if self.discard && self.skip > 0 && self.end == 0 {
            let most = self.skip.min(self.buffer.len());
            let into = &mut self.buffer[..most];
            retry_on_intr(|| rustix::net::recv(stream, &mut *into, RecvFlags::TRUNC))
                .map(|(count, _)| count)?
        } else {
            match stream.read(&mut self.buffer[self.end..]) {
                // A receive with a limit of time is not gone on with after a signal, no matter which thread it was for.
                Err(error) if error.kind() == ErrorKind::Interrupted => return self.fill(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => bail!("no reply for too long"),
                result => result.context("receiving replies")?,
            }
        };
        ensure!(received > 0, "the server closed the connection");
        self.end += received;
        Ok(())
    }

    /// Takes the rest of the last reply that was looked at.
    pub fn pass_over(&mut self, stream: &TcpStream) -> anyhow::Result<()> {
        while self.skip > self.end - self.start {
            self.fill(stream)?;
            self.next_reply()?;
        }
        Ok(())
    }

    /// The next reply that can be looked at.
    pub fn next_reply(&mut self) -> anyhow::Result<Option<Reply<'_>>> {
        let passed = self.skip.min(self.end - self.start);
        self.start += passed;
        self.skip -= passed;
        let Some((mark, rest)) = self.buffer[self.start..self.end].split_first_chunk() else {
            return Ok(None);
        };
        let mark = RecordMark::from_bytes(*mark);
        let length = mark.length as usize;
        ensure!(mark.last, "a reply in several fragments, which this load does not take");
        ensure!(length >= SHORTEST, "a reply of {length} bytes, which is no reply that went well");
        let looked = length.min(self.looks_at);
        let Some(head) = rest.get(..looked) else { return Ok(None) };
        self.start += RecordMark::SIZE + looked;
        self.skip = length - looked;
        Ok(Some(Reply { head, length }))
    }
}
