//! READDIRPLUS of a large directory from start to end, again and again. Each walk needs the cookie of the reply before,
//! so every place in flight walks for itself.

use anyhow::{Context, ensure};
use howdah_wire::nfs3::{FileHandle, readdirplus};
use howdah_wire::xdr::{Decode, Decoder};

use super::place::{self, MANY_COUNT};
use super::{Load, Scene, call};

/// Bytes of a reply that are asked for, and of the names in it: what kernel clients ask at their ease.
const COUNT: u32 = 64 << 10;
/// Bytes of arguments after the cookie: verifier and two counts.
const AFTER_COOKIE: usize = 8 + 4 + 4;

/// The walks.
#[derive(Debug)]
pub struct Walk {
    call: Vec<u8>,
    /// Of each place in flight.
    walks: Vec<Position>,
}

/// How far a walk is.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    cookie: u64,
    verifier: [u8; 8],
    entries: u64,
}

impl Walk {
    /// At the start.
    pub fn new(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let directory = scene.export.lasting_directory(place::MANY, MANY_COUNT)?;
        let handle = scene.handle(&directory)?;
        let arguments = readdirplus::Arguments {
            directory: FileHandle(&handle),
            cookie: 0,
            verifier: [0; 8],
            name_count: COUNT,
            count: COUNT,
        };
        Ok(Self {
            call: call::nfs(readdirplus::PROCEDURE, &arguments),
            walks: vec![Position::default(); 256],
        })
    }
}

impl Load for Walk {
    fn looks_at(&self) -> usize {
        2 * COUNT as usize
    }

    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        call::set_xid(&mut self.call, xid);
        let cookie = self.call.len() - AFTER_COOKIE - 8;
        let walk = self.walks[slot];
        self.call[cookie..cookie + 8].copy_from_slice(&walk.cookie.to_be_bytes());
        self.call[cookie + 8..cookie + 16].copy_from_slice(&walk.verifier);
        output.extend_from_slice(&self.call);
        true
    }

    fn reply(&mut self, slot: usize, head: &[u8], _: usize) -> anyhow::Result<u64> {
        let reply = readdirplus::Success::decode(&mut Decoder::new(call::result(head)))
            .map_err(|error| anyhow::anyhow!("a listing that cannot be read: {error}"))?;
        let walk = &mut self.walks[slot];
        let (mut count, mut last) = (0, None);
        for entry in reply.entries {
            (count, last) = (count + 1, Some(entry));
        }
        let last = last.context("a listing without an entry")?;
        ensure!(last.attributes.is_some() && last.node.is_some(), "an entry without attributes or handle");
        walk.entries += count;
        (walk.cookie, walk.verifier) = (last.name.cookie, reply.verifier);
        if reply.end {
            // "." and ".." may be listed or not.
            let entries = walk.entries;
            ensure!(
                (MANY_COUNT..=MANY_COUNT + 2).contains(&entries),
                "{entries} entries were listed, where {MANY_COUNT} are"
            );
            *walk = Position::default();
        }
        Ok(count)
    }
}
