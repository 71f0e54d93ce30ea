//! The floor: one thread, one socket, calls that are ready encoded, replies received whole: each into a buffer of its own
//! call, as whoever makes several calls wants them, or all into one buffer, which stays in the processor's caches.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use howdah_wire::nfs3::write::{self, Stability};
use howdah_wire::nfs3::{FileHandle, read};
use howdah_wire::rpc::RecordMark;

use super::super::generator;
use super::super::load::{LARGE, check_success, nfs, nfs_before, set_xid};
use super::{Direction, Moved};
use xtask::clock::ProcessClock;

/// Bytes of a READ's reply: header, head, data.
const READ_REPLY: usize = RecordMark::SIZE + 24 + read::Head::SIZE + LARGE as usize;
/// Bytes of a WRITE's reply that went well: header, status, both attributes, count, stability, verifier.
const WRITE_REPLY: usize = RecordMark::SIZE + 24 + 4 + (4 + 24) + (4 + 84) + 4 + 4 + 8;

/// Moves a file's data, from start to end and again, for so long.
pub fn run(
    direction: Direction,
    address: SocketAddr,
    (handle, size): (&[u8], u64),
    (in_flight, buffers): (u32, u32),
    time: Duration,
) -> anyhow::Result<Moved> {
    let (mut stream, _) = generator::connect(address)?;
    let mut call = Prepared::new(direction, handle, size);
    let reply = vec![0; if direction == Direction::Read { READ_REPLY } else { WRITE_REPLY }];
    let mut replies = vec![reply; buffers as usize];
    let clock = ProcessClock::of(std::process::id())?;
    let (start, began) = (Instant::now(), clock.now()?);
    let mut bytes = 0;
    for _ in 0..in_flight {
        call.send(&mut stream)?;
    }
    let mut next = (0..replies.len()).cycle();
    while start.elapsed() < time {
        receive(&mut stream, &mut replies[next.next().unwrap_or_default()])?;
        bytes += u64::from(LARGE);
        call.send(&mut stream)?;
    }
    let moved = Moved { bytes, processor: clock.now()? - began, elapsed: start.elapsed() };
    for _ in 0..in_flight {
        receive(&mut stream, &mut replies[0])?;
    }
    Ok(moved)
}

fn receive(stream: &mut TcpStream, reply: &mut [u8]) -> anyhow::Result<()> {
    stream.read_exact(reply).context("receiving a reply")?;
    let (mark, record) = reply.split_first_chunk().context("a reply has a mark")?;
    let length = RecordMark::from_bytes(*mark).length as usize;
    ensure!(length == record.len(), "a reply of {length} bytes, where {} are expected", record.len());
    check_success(record)
}

/// A call to be sent again and again, for the next piece each time.
struct Prepared {
    call: Vec<u8>,
    /// Where the offset stands in it.
    offset_at: usize,
    data: Vec<u8>,
    offset: u64,
    size: u64,
    xid: u32,
}

impl Prepared {
    fn new(direction: Direction, handle: &[u8], size: u64) -> Self {
        let node = FileHandle(handle);
        let (call, behind, data) = match direction {
            Direction::Read => {
                let arguments = read::Arguments { node, offset: 0, count: LARGE };
                (nfs(read::PROCEDURE, &arguments), 12, Vec::new())
            }
            Direction::Write => {
                let stability = Stability::Unstable;
                let head = write::Head { node, offset: 0, count: LARGE, stability, length: LARGE };
                (nfs_before(write::PROCEDURE, &head, LARGE as usize), 20, vec![0x63; LARGE as usize])
            }
        };
        let offset_at = call.len() - behind;
        Self { call, offset_at, data, offset: 0, size, xid: std::process::id() << 8 }
    }

    fn send(&mut self, stream: &mut TcpStream) -> anyhow::Result<()> {
        self.xid = self.xid.wrapping_add(1);
        set_xid(&mut self.call, self.xid);
        self.call[self.offset_at..self.offset_at + 8].copy_from_slice(&self.offset.to_be_bytes());
        self.offset = (self.offset + u64::from(LARGE)) % self.size;
        if self.data.is_empty() {
            return stream.write_all(&self.call).context("sending a call");
        }
        let mut pieces = [std::io::IoSlice::new(&self.call), std::io::IoSlice::new(&self.data)];
        let mut pieces = &mut pieces[..];
        while !pieces.is_empty() {
            let sent = stream.write_vectored(pieces).context("sending a call")?;
            std::io::IoSlice::advance_slices(&mut pieces, sent);
        }
        Ok(())
    }
}
