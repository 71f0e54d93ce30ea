//! One connection that reads as fast as it gets data, with some calls in flight.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::Context;
use howdah_wire::nfs3::{FileHandle, read};
use howdah_wire::rpc::RecordMark;

use super::super::generator;
use super::super::load::{check_success, nfs, set_xid};

/// Bytes of a call.
pub const LENGTH: u32 = 1 << 20;
/// Calls in flight: together more than the path holds.
const IN_FLIGHT: u32 = 16;

/// Reads a file of that many calls again and again until it is over, and adds what comes to the sum.
pub fn read_on(
    address: SocketAddr,
    file: &[u8],
    calls: u64,
    sum: &AtomicU64,
    over: &AtomicBool,
) -> anyhow::Result<()> {
    let mut stream = generator::connect(address)?.0;
    let (mut asked, mut reply) = (0, Vec::new());
    for _ in 0..IN_FLIGHT {
        ask(&mut stream, file, asked, calls)?;
        asked += 1;
    }
    while !over.load(Ordering::Relaxed) {
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark).context("receiving a reply")?;
        reply.resize(RecordMark::from_bytes(mark).length as usize, 0);
        stream.read_exact(&mut reply).context("receiving a reply")?;
        check_success(&reply)?;
        sum.fetch_add(u64::from(LENGTH), Ordering::Relaxed);
        ask(&mut stream, file, asked, calls)?;
        asked += 1;
    }
    Ok(())
}

fn ask(stream: &mut TcpStream, file: &[u8], number: u64, calls: u64) -> anyhow::Result<()> {
    let offset = number % calls * u64::from(LENGTH);
    let mut call = nfs(read::PROCEDURE, &read::Arguments { node: FileHandle(file), offset, count: LENGTH });
    set_xid(&mut call, number as u32);
    stream.write_all(&call).context("sending a call")
}
