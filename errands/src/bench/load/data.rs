//! READ and WRITE, anywhere in a file in small pieces, or from start to end in large ones. Every piece is stamped with
//! its offset, so that a reply with the wrong data, or data in the wrong place, is found.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, ensure};
use howdah_wire::nfs3::write::{self, Stability};
use howdah_wire::nfs3::{FileHandle, read};
use howdah_wire::xdr::{Decode, Decoder};

use super::{Load, Scene, call, place};
use howdah_random::Random;

/// A small piece.
pub const SMALL: u32 = 4096;
/// A large piece.
pub const LARGE: u32 = 1 << 20;
/// The file of small pieces.
const SMALL_FILE: u64 = 256 << 20;
/// The file of large pieces: more than the caches of the machine.
pub const LARGE_FILE: u64 = 1 << 30;
/// How many of the last writes are read back.
const READ_BACK: usize = 64;

/// Where the pieces are.
#[derive(Debug)]
struct Offsets {
    piece: u64,
    pieces: u64,
    next: u64,
    /// If the next piece is anywhere.
    random: Option<Random>,
}

impl Offsets {
    fn random() -> Self {
        let piece = u64::from(SMALL);
        Self { piece, pieces: SMALL_FILE / piece, next: 0, random: Some(Random::new(2)) }
    }

    fn stream() -> Self {
        let piece = u64::from(LARGE);
        Self { piece, pieces: LARGE_FILE / piece, next: 0, random: None }
    }

    fn next(&mut self) -> u64 {
        let piece = self.random.as_mut().map_or(self.next, |random| random.below(self.pieces));
        self.next = (piece + 1) % self.pieces;
        piece * self.piece
    }
}

/// READ.
#[derive(Debug)]
pub struct Reads {
    call: Vec<u8>,
    offsets: Offsets,
    /// What each place in flight asked for.
    asked: Vec<u64>,
    count: u32,
}

impl Reads {
    /// Small pieces.
    pub fn random(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        Self::of(scene, (place::READ_RANDOM, SMALL_FILE), Offsets::random())
    }

    /// Large pieces.
    pub fn stream(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        Self::of(scene, (place::READ_STREAM, LARGE_FILE), Offsets::stream())
    }

    fn of(scene: &mut Scene<'_>, (place, size): (&str, u64), offsets: Offsets) -> anyhow::Result<Self> {
        let file = scene.export.lasting_file(place, size)?;
        let handle = scene.handle(&file)?;
        let count = offsets.piece as u32;
        let arguments = read::Arguments { node: FileHandle(&handle), offset: 0, count };
        Ok(Self { call: call::nfs(read::PROCEDURE, &arguments), offsets, asked: vec![0; 256], count })
    }
}

impl Load for Reads {
    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        let offset = self.offsets.next();
        self.asked[slot] = offset;
        call::set_xid(&mut self.call, xid);
        let at = self.call.len() - 12;
        self.call[at..at + 8].copy_from_slice(&offset.to_be_bytes());
        output.extend_from_slice(&self.call);
        true
    }

    fn reply(&mut self, slot: usize, head: &[u8], length: usize) -> anyhow::Result<u64> {
        let expected = read::Head::SIZE + 24 + self.count as usize;
        ensure!(length == expected, "a reply of {length} bytes, where {expected} are expected");
        let stamp = head.get(24 + read::Head::SIZE..).and_then(|data| data.first_chunk());
        let stamp = u64::from_be_bytes(*stamp.context("a reply without data")?);
        ensure!(stamp == self.asked[slot], "data of {stamp:#x}, where {:#x} was asked", self.asked[slot]);
        Ok(if self.count == SMALL { 1 } else { u64::from(self.count) })
    }
}

/// Makes the stamps of one measurement differ from those before.
static SERIAL: AtomicU64 = AtomicU64::new(1);

/// WRITE, unstable, over data that is there.
#[derive(Debug)]
pub struct Writes {
    call: Vec<u8>,
    offsets: Offsets,
    /// The data after its stamp.
    data: Vec<u8>,
    file: PathBuf,
    /// What each place in flight wrote, for reading it back.
    written: Vec<Option<u64>>,
    serial: u64,
}

impl Writes {
    /// Small pieces.
    pub fn random(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        Self::of(scene, (place::WRITE_RANDOM, SMALL_FILE), Offsets::random())
    }

    /// Large pieces.
    pub fn stream(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        Self::of(scene, (place::WRITE_STREAM, LARGE_FILE), Offsets::stream())
    }

    fn of(scene: &mut Scene<'_>, (place, size): (&str, u64), offsets: Offsets) -> anyhow::Result<Self> {
        let file = scene.export.lasting_file(place, size)?;
        let handle = scene.handle(&file)?;
        let length = offsets.piece as u32;
        let stability = Stability::Unstable;
        let head = write::Head { node: FileHandle(&handle), offset: 0, count: length, stability, length };
        let mut call = call::nfs_before(write::PROCEDURE, &head, length as usize);
        call.extend_from_slice(&[0; 8]);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed) << 48;
        let data = vec![0x62; length as usize - 8];
        Ok(Self { call, offsets, data, file, written: vec![None; READ_BACK], serial })
    }

    fn is_small(&self) -> bool {
        self.offsets.piece == u64::from(SMALL)
    }
}

impl Load for Writes {
    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        let offset = self.offsets.next();
        self.written[slot % READ_BACK] = Some(offset);
        call::set_xid(&mut self.call, xid);
        let end = self.call.len();
        self.call[end - 8..].copy_from_slice(&(self.serial | offset).to_be_bytes());
        self.call[end - 28..end - 20].copy_from_slice(&offset.to_be_bytes());
        output.extend_from_slice(&self.call);
        if self.is_small() {
            output.extend_from_slice(&self.data);
        }
        true
    }

    fn bulk(&self) -> &[u8] {
        if self.is_small() { &[] } else { &self.data }
    }

    fn reply(&mut self, _: usize, head: &[u8], _: usize) -> anyhow::Result<u64> {
        let reply = write::Success::decode(&mut Decoder::new(call::result(head)))
            .map_err(|error| anyhow::anyhow!("an answer to WRITE that cannot be read: {error}"))?;
        ensure!(u64::from(reply.count) == self.offsets.piece, "only {} bytes were written", reply.count);
        Ok(if self.is_small() { 1 } else { u64::from(reply.count) })
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let file = std::fs::File::open(&self.file)?;
        for offset in self.written.iter().flatten() {
            let mut stamp = [0; 8];
            file.read_exact_at(&mut stamp, *offset)?;
            ensure!(
                u64::from_be_bytes(stamp) == self.serial | offset,
                "what was written at {offset} is not there"
            );
        }
        Ok(())
    }
}
