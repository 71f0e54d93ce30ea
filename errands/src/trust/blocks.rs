//! Files of blocks that are written, made durable and read all the time. Each page of a block says which writing it is from: so
//! it can be checked at any moment, from the server's disk alone, whether everything is there that was promised, and nothing
//! that nobody wrote.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use howdah_random::{Random, mix};

use super::crew::Crew;

/// Bytes of a block, and of a page: what a kernel or a server may keep or lose apart from the rest.
pub const BLOCK: usize = 64 << 10;
const PAGE: usize = 4 << 10;
/// Blocks of a file.
const BLOCKS: usize = 64;
/// Blocks that are written before they are made durable, at most.
const BATCH_MAX: u64 = 16;

/// How blocks get to the server.
pub trait Way: Send {
    /// Writes, sooner or later. An error: nothing is known of what was written since all was durable.
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Interrupted>;

    /// Makes everything durable; whether all of it is.
    fn sync(&mut self) -> Result<bool, Interrupted>;

    /// Reads a block.
    fn read(&mut self, at: u64) -> Result<Vec<u8>, Interrupted>;
}

/// What was under way came to nothing, as it may when something was killed.
pub struct Interrupted;

/// One file, and what is known of it.
pub struct Blocks {
    number: u64,
    path: PathBuf,
    known: Mutex<Vec<Known>>,
}

/// Of a block: the writing that is durable, and the last one that was begun.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    promised: u64,
    latest: u64,
}

impl Blocks {
    /// A new file on the server's disk.
    pub fn make(path: PathBuf, number: u64) -> std::io::Result<Self> {
        fs::write(&path, b"")?;
        Ok(Self { number, path, known: Mutex::new(vec![Known::default(); BLOCKS]) })
    }

    /// Works on it until all are to stop.
    pub fn work(&self, crew: &Crew, mut way: impl Way, mut random: Random) -> Result<(), String> {
        while !crew.stops() {
            let batch: Vec<usize> = (0..=random.below(BATCH_MAX)).map(|_| random.index(BLOCKS)).collect();
            for &block in &batch {
                self.known()[block].latest += 1;
            }
            while !self.make_durable(&mut way, &batch).is_ok_and(|is_durable| is_durable) {
                if crew.stops() {
                    return Ok(());
                }
            }
            for &block in &batch {
                let known = &mut self.known()[block];
                known.promised = known.latest;
            }
            let block = random.index(BLOCKS);
            if let Ok(read) = way.read((block * BLOCK) as u64) {
                let latest = self.known()[block].latest;
                self.judge(block, &read, latest..=latest)?;
            }
            crew.stepped();
        }
        Ok(())
    }

    fn make_durable(&self, way: &mut impl Way, batch: &[usize]) -> Result<bool, Interrupted> {
        for &block in batch {
            let writing = self.known()[block].latest;
            way.write((block * BLOCK) as u64, &self.block(block, writing))?;
        }
        way.sync()
    }

    /// Compares the file on the server's disk with what is known of it; gives the bytes that were read.
    pub fn verify(&self) -> Result<u64, String> {
        // What is promised while we read is newer than what was.
        let promised: Vec<u64> = self.known().iter().map(|known| known.promised).collect();
        let mut bytes = fs::read(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))?;
        bytes.resize(BLOCKS * BLOCK, 0);
        for (block, content) in bytes.chunks(BLOCK).enumerate() {
            let latest = self.known()[block].latest;
            self.judge(block, content, promised[block]..=latest)?;
        }
        Ok(bytes.len() as u64)
    }

    /// Each page must be from one of these writings. It may begin with one and end with another: a WRITE that the server's end cut short.
    fn judge(
        &self,
        block: usize,
        content: &[u8],
        allowed: std::ops::RangeInclusive<u64>,
    ) -> Result<(), String> {
        let place = || format!("{}, block {block}", self.path.display());
        if content.is_empty() && *allowed.start() == 0 {
            return Ok(());
        }
        for (page, bytes) in content.chunks(PAGE).enumerate() {
            let first = bytes.first_chunk().ok_or_else(|| format!("{}: cut short", place()))?;
            let writing = u64::from_le_bytes(*first);
            if !allowed.contains(&writing) {
                return Err(format!("{}, page {page}: writing {writing} instead of {allowed:?}", place()));
            }
            let mut all = allowed.clone().map(|writing| self.page(block, page, writing));
            if !all.any(|last| is_torn_between(bytes, &self.page(block, page, writing), &last)) {
                return Err(format!("{}, page {page}: wrong bytes in writing {writing}", place()));
            }
        }
        Ok(())
    }

    fn block(&self, block: usize, writing: u64) -> Vec<u8> {
        (0..BLOCK / PAGE).flat_map(|page| self.page(block, page, writing)).collect()
    }

    /// What was never written is zeros.
    fn page(&self, block: usize, page: usize, writing: u64) -> Vec<u8> {
        if writing == 0 {
            return vec![0; PAGE];
        }
        let place = mix(self.number << 32 | (block * BLOCK + page * PAGE) as u64);
        let word = |index: u64| if index == 0 { writing } else { mix(place ^ mix(writing) ^ index) };
        (0..(PAGE / 8) as u64).flat_map(|index| word(index).to_le_bytes()).collect()
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the bytes begin as the first ones do, and go on as the last ones do.
fn is_torn_between(bytes: &[u8], first: &[u8], last: &[u8]) -> bool {
    let torn = bytes.iter().zip(first).position(|(byte, of_first)| byte != of_first).unwrap_or(bytes.len());
    bytes.len() == last.len() && bytes[torn..] == last[torn..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_promised_or_nobodys_is_found() {
        let home = tempfile::tempdir().expect("a directory");
        let blocks = Blocks::make(home.path().join("file"), 3).expect("made");
        blocks.verify().expect("empty");
        blocks.known()[1] = Known { promised: 2, latest: 3 };
        let put = |bytes: &[u8]| fs::write(&blocks.path, [vec![0; BLOCK], bytes.to_vec()].concat());
        for (writing, is_right) in [(1, false), (2, true), (3, true), (4, false)] {
            put(&blocks.block(1, writing)).expect("written");
            assert_eq!(blocks.verify().is_ok(), is_right, "{writing}");
        }
        let torn = [&blocks.block(1, 2)[..PAGE], &blocks.block(1, 3)[PAGE..]].concat();
        put(&torn).expect("written");
        blocks.verify().expect("part of what is under way is there");
        let (new, old) = (blocks.block(1, 3), blocks.block(1, 2));
        put(&[&new[..PAGE + 132], &old[PAGE + 132..]].concat()).expect("written");
        blocks.verify().expect("a page that was being written is there in part");
        blocks.known()[1].promised = 3;
        assert!(blocks.verify().is_err(), "what is promised is there as a whole");
        blocks.known()[1].promised = 2;
        let mut spoilt = torn;
        spoilt[PAGE + 100] ^= 1;
        put(&spoilt).expect("written");
        assert!(blocks.verify().expect_err("found").contains("page 1: wrong bytes"));
    }
}
