//! Many connections at once, which have asked once and do nothing since.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, anyhow, ensure};
use howdah_wire::nfs3::{FileHandle, getattr};
use howdah_wire::rpc::RecordMark;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::generator;
use super::load::{check_success, nfs, set_xid};

/// Threads that connect.
const CONNECTING: usize = 32;
/// Descriptors that a process needs besides.
const BESIDES: u64 = 100;

/// Connections of one client.
pub struct Crowd {
    streams: Vec<TcpStream>,
    call: Vec<u8>,
    xid: u32,
}

/// Lets this process, and what it starts from now on, have so many descriptors.
pub fn allow_descriptors(count: usize) -> anyhow::Result<()> {
    let (wanted, limit) = (count as u64 + BESIDES, getrlimit(Resource::Nofile));
    let most = limit.maximum.unwrap_or(u64::MAX);
    ensure!(wanted <= most, "{wanted} descriptors are needed, and {most} allowed");
    let current = limit.current.map(|current| current.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).context("raising the limit of descriptors")
}

/// So many connections, many of them at a time: each takes a round trip.
fn connect_all(count: usize, address: SocketAddr) -> anyhow::Result<Vec<TcpStream>> {
    let some = |count: usize| (0..count).map(|_| Ok(generator::connect(address)?.0)).collect();
    std::thread::scope(|scope| {
        let part = |index| count / CONNECTING + usize::from(index < count % CONNECTING);
        let threads: Vec<_> = (0..CONNECTING).map(|index| scope.spawn(move || some(part(index)))).collect();
        let mut streams = Vec::with_capacity(count);
        for thread in threads {
            let part: anyhow::Result<Vec<TcpStream>> =
                thread.join().map_err(|_| anyhow!("a thread panicked"))?;
            streams.extend(part?);
        }
        Ok(streams)
    })
}

impl Crowd {
    /// So many connections; each asks for the attributes of that node once.
    pub fn connect(count: usize, address: SocketAddr, node: &[u8]) -> anyhow::Result<Self> {
        let call = nfs(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(node) });
        let mut crowd = Self { streams: connect_all(count, address)?, call, xid: std::process::id() << 12 };
        crowd.ask_all()?;
        Ok(crowd)
    }

    /// Each asks once; when this returns, all are answered.
    pub fn ask_all(&mut self) -> anyhow::Result<()> {
        for stream in &mut self.streams {
            self.xid = self.xid.wrapping_add(1);
            set_xid(&mut self.call, self.xid);
            stream.write_all(&self.call).context("sending a call")?;
        }
        let mut reply = Vec::new();
        for stream in &mut self.streams {
            let mut mark = [0; RecordMark::SIZE];
            stream.read_exact(&mut mark).context("receiving a reply")?;
            reply.resize(RecordMark::from_bytes(mark).length as usize, 0);
            stream.read_exact(&mut reply).context("receiving a reply")?;
            check_success(&reply)?;
        }
        Ok(())
    }
}
