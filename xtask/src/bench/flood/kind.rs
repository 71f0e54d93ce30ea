//! What attackers do. Each act is short: one thread plays them all, and must not need the processor that the server needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context;
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::RecordMark;
use socket2::{Domain, Socket, Type};

use super::super::load::{nfs, nfs_before};
use super::calls;

/// How long an attacker waits for the server to take him in.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a greedy one claims, asks for or sends.
const BULK: u32 = 1 << 20;
/// READs that are asked for and not read.
const UNREAD_CALLS: usize = 64;
/// Bytes of a slow writer's act: eight times as fast as what is slow enough to be sent away for.
const DRIBBLE: usize = 8 << 10;

/// A kind of attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Claims a record of 1 MiB and sends a byte of it now and then.
    HalfOpen,
    /// Asks for 64 MiB and reads none of it.
    SlowReader,
    /// Sends a WRITE of 1 MiB, a little at a time.
    SlowWriter,
    /// Connects and closes.
    ConnectClose,
    /// Sends what is no call.
    Garbage,
    /// Lists a directory of many entries from its start.
    HugeDirectory,
    /// Mounts a directory below hundreds of others.
    DeepPaths,
    /// Asks as many users, each with all the groups that there may be.
    ManyGroups,
    /// Asks for the attributes of handles that were made up.
    ForgedHandles,
    /// Asks for the attributes of a file that is gone.
    StaleHandles,
}

/// What attackers need to know.
#[derive(Debug)]
pub struct Target {
    /// The server.
    pub address: SocketAddr,
    /// A file of many bytes.
    pub file: Vec<u8>,
    /// A directory of many entries.
    pub directory: Vec<u8>,
    /// The path of a directory below many others.
    pub deep: String,
    /// A file that is gone.
    pub gone: Vec<u8>,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::HalfOpen,
        Self::SlowReader,
        Self::SlowWriter,
        Self::ConnectClose,
        Self::Garbage,
        Self::HugeDirectory,
        Self::DeepPaths,
        Self::ManyGroups,
        Self::ForgedHandles,
        Self::StaleHandles,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfOpen => "half-open records",
            Self::SlowReader => "slow readers",
            Self::SlowWriter => "slow writers",
            Self::ConnectClose => "connect and close",
            Self::Garbage => "garbage",
            Self::HugeDirectory => "huge directories",
            Self::DeepPaths => "deep paths",
            Self::ManyGroups => "many groups",
            Self::ForgedHandles => "forged handles",
            Self::StaleHandles => "stale handles",
        }
    }

    /// Comes to the server; `None`: it comes with each act.
    pub fn begin(self, target: &Target) -> anyhow::Result<Option<TcpStream>> {
        let first = match self {
            Self::ConnectClose | Self::Garbage => return Ok(None),
            Self::HalfOpen => RecordMark { length: BULK, last: true }.to_bytes().to_vec(),
            Self::SlowReader => {
                let node = FileHandle(&target.file);
                let arguments = nfs3::read::Arguments { node, offset: 0, count: BULK };
                nfs(nfs3::read::PROCEDURE, &arguments).repeat(UNREAD_CALLS)
            }
            Self::SlowWriter => slow_write(target),
            _ => Vec::new(),
        };
        let mut stream = connect(target.address)?;
        stream.set_nonblocking(true).context("an attacker's socket")?;
        // What does not fit is an attacker's own loss.
        let _ = stream.write(&first);
        Ok(Some(stream))
    }

    /// Does one act; whether the server still has him.
    pub fn act(self, stream: Option<&mut TcpStream>, target: &Target) -> bool {
        match (self, stream) {
            (Self::HalfOpen, Some(stream)) => still_there(stream.write(&[0])),
            (Self::SlowWriter, Some(stream)) => still_there(stream.write(&[0; DRIBBLE])),
            // He only holds what he has.
            (Self::SlowReader, Some(_)) => true,
            (Self::HugeDirectory, Some(stream)) => {
                let node = FileHandle(&target.directory);
                let arguments = nfs3::readdirplus::Arguments {
                    directory: node,
                    cookie: 0,
                    verifier: [0; 8],
                    name_count: 64 << 10,
                    count: 64 << 10,
                };
                ask(stream, &nfs(nfs3::readdirplus::PROCEDURE, &arguments))
            }
            (Self::DeepPaths, Some(stream)) => ask(stream, &calls::deep_paths(target)),
            (Self::ManyGroups, Some(stream)) => ask(stream, &calls::many_groups(target)),
            (Self::ForgedHandles, Some(stream)) => ask(stream, &calls::forged_handles(target)),
            (Self::StaleHandles, Some(stream)) => ask(stream, &calls::stale_handles(target)),
            (Self::ConnectClose, _) => connect(target.address).is_ok(),
            (Self::Garbage, _) => {
                let noise: Vec<u8> = (0..64_u8).map(|at| at.wrapping_mul(37) | 0x80).collect();
                connect(target.address).is_ok_and(|mut stream| stream.write_all(&noise).is_ok())
            }
            (_, None) => false,
        }
    }
}

fn slow_write(target: &Target) -> Vec<u8> {
    let arguments = nfs3::write::Arguments {
        node: FileHandle(&target.file),
        offset: 0,
        count: BULK,
        stability: nfs3::write::Stability::Unstable,
        data: &[],
    };
    // The arguments end with the length of the data, which is to follow.
    let mut call = nfs_before(nfs3::write::PROCEDURE, &arguments, BULK as usize);
    let length = call.len();
    call[length - 4..].copy_from_slice(&BULK.to_be_bytes());
    call
}

/// Takes what has come of the act before, and sends another.
fn ask(stream: &mut TcpStream, calls: &[u8]) -> bool {
    let _ = stream.read(&mut [0; 128 << 10]);
    still_there(stream.write(calls))
}

/// A socket that is full is no sign of anything.
fn still_there(outcome: std::io::Result<usize>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket =
        Socket::new(Domain::for_address(address), Type::STREAM, None).context("an attacker's socket")?;
    socket.set_recv_buffer_size(4 << 10).context("an attacker's socket")?;
    // Closed at once, with nothing left behind: else this host runs out of ports.
    socket.set_linger(Some(Duration::ZERO)).context("an attacker's socket")?;
    socket.connect_timeout(&address.into(), PATIENCE).context("an attacker connects")?;
    Ok(socket.into())
}
