//! What attackers do. Each act is short: one thread plays them all, and must not need the processor that the server needs.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::ensure;
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::RecordMark;

use super::super::load::{nfs, nfs_before};
use super::attacker::{Attacker, connect};
use super::calls;

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

    /// Those whose names begin so; all if nothing is said, and none that nobody knows.
    pub fn named(starts: &[String]) -> anyhow::Result<Vec<Self>> {
        let is_named =
            |kind: &Self, start: &String| !start.is_empty() && kind.name().starts_with(start.as_str());
        for start in starts {
            let all = Self::ALL.map(Self::name).join(", ");
            ensure!(
                Self::ALL.iter().any(|kind| is_named(kind, start)),
                "no kind of attackers begins with {start:?}; there are {all}"
            );
        }
        let is_wanted = |kind: &Self| starts.is_empty() || starts.iter().any(|start| is_named(kind, start));
        Ok(Self::ALL.into_iter().filter(is_wanted).collect())
    }

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
    pub fn begin(self, target: &Target) -> anyhow::Result<Option<Attacker>> {
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
        Attacker::come(target.address, first).map(Some)
    }

    /// Does one act; whether the server still has him.
    pub fn act(self, attacker: Option<&mut Attacker>, target: &Target) -> bool {
        match (self, attacker) {
            (Self::HalfOpen, Some(attacker)) => attacker.dribble(1),
            (Self::SlowWriter, Some(attacker)) => attacker.dribble(DRIBBLE),
            // He only holds what he has.
            (Self::SlowReader, Some(_)) => true,
            (Self::HugeDirectory, Some(attacker)) => attacker.ask(|| list(target)),
            (Self::DeepPaths, Some(attacker)) => attacker.ask(|| calls::deep_paths(target)),
            (Self::ManyGroups, Some(attacker)) => attacker.ask(|| calls::many_groups(target)),
            (Self::ForgedHandles, Some(attacker)) => attacker.ask(|| calls::forged_handles(target)),
            (Self::StaleHandles, Some(attacker)) => attacker.ask(|| calls::stale_handles(target)),
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

fn list(target: &Target) -> Vec<u8> {
    let arguments = nfs3::readdirplus::Arguments {
        directory: FileHandle(&target.directory),
        cookie: 0,
        verifier: [0; 8],
        name_count: 64 << 10,
        count: 64 << 10,
    };
    nfs(nfs3::readdirplus::PROCEDURE, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_start_of_their_names_and_no_others() {
        let named =
            |starts: &[&str]| Kind::named(&starts.iter().map(|&start| start.to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&[]).expect("all").len(), Kind::ALL.len());
        assert_eq!(
            named(&["slow", "deep"]).expect("three"),
            [Kind::SlowReader, Kind::SlowWriter, Kind::DeepPaths]
        );
        let error = named(&["deep", "slwo"]).expect_err("no such kind").to_string();
        assert!(error.contains("\"slwo\"") && error.contains("slow readers"), "{error}");
    }
}
