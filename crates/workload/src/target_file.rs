//! A file that a workload writes and reads: knows what each part of it must hold, and what is not durable yet.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use howdah_vfs::{Change, CommitFile, Content, Data, Handle, ReadFile, Stability, WriteFile};
use parking_lot::{Mutex, RwLock};

use super::ledger::{Ledger, Range};
use super::names::Kind;
use super::performance::Deeds;
use super::place::Place;
use crate::content::{Generator, Mismatch, Stamp};

/// How often a commit is tried again because the server lost what was written: a server that loses data this often in
/// a row never keeps any.
const MOST_COMMITS: usize = 100;

/// A file.
pub(super) struct TargetFile {
    pub(super) number: u64,
    pub(super) size: u64,
    handle: Handle,
    /// Bytes that are written as one and have one generation.
    unit: u64,
    /// How often each unit was written; 0 is never.
    generations: Box<[AtomicU32]>,
    ledger: Mutex<Ledger>,
    /// Held by who commits, so that who finds something lost can wait until it is there again.
    committing: Mutex<()>,
    /// Shared by writes; alone for who writes again what was lost, lest old data overtake new.
    sending: RwLock<()>,
}

/// What reads and writes files: the place, the data, and one buffer.
pub(super) struct Hand<'a> {
    place: &'a Place,
    generator: Generator,
    buffer: Vec<u8>,
    /// Where data is read to that comes in a file: kept at its full length, lest each read pay for zeroes.
    landing: Vec<u8>,
}

impl<'a> Hand<'a> {
    pub(super) fn new(place: &'a Place, generator: Generator) -> Self {
        Self { place, generator, buffer: Vec::new(), landing: Vec::new() }
    }
}

impl TargetFile {
    /// A file that was just made, and will be so large.
    pub(super) fn new(number: u64, handle: Handle, size: u64, unit: u64) -> Self {
        let units = size.div_ceil(unit);
        let generations = (0..units).map(|_| AtomicU32::new(0)).collect();
        let (ledger, committing, sending) = (Mutex::default(), Mutex::default(), RwLock::default());
        Self { number, size, handle, unit, generations, ledger, committing, sending }
    }

    /// The range of a unit.
    pub(super) fn unit(&self, number: u64) -> Range {
        let offset = number * self.unit;
        Range { offset, length: self.unit.min(self.size - offset) }
    }

    /// The units that were never written.
    pub(super) fn unwritten(&self) -> impl Iterator<Item = Range> {
        self.units_that(|generation| generation == 0)
    }

    /// The units that were written.
    pub(super) fn written(&self) -> impl Iterator<Item = Range> {
        self.units_that(|generation| generation > 0)
    }

    fn units_that(&self, wanted: impl Fn(u32) -> bool) -> impl Iterator<Item = Range> {
        let seen = (0..).zip(&self.generations);
        let fit = seen.filter(move |(_, generation)| wanted(generation.load(Ordering::Relaxed)));
        fit.map(|(number, _)| self.unit(number))
    }

    /// How many units there are.
    pub(super) fn units(&self) -> u64 {
        self.generations.len() as u64
    }

    /// Writes the next generation of a range of whole units. Only one thread writes a unit at a time.
    pub(super) fn write(&self, hand: &mut Hand<'_>, range: Range, stability: Stability) -> Result<()> {
        let _shared = self.sending.read();
        for unit in self.units_of(range) {
            self.generations[unit as usize].fetch_add(1, Ordering::Relaxed);
        }
        self.send(hand, range, stability)
    }

    /// Writes what a range must hold.
    fn send(&self, hand: &mut Hand<'_>, range: Range, stability: Stability) -> Result<()> {
        hand.buffer.resize(range.length as usize, 0);
        for (unit, part) in self.parts(range) {
            let start = (part.offset - range.offset) as usize;
            let stamp = self.stamp(unit);
            hand.generator.fill(stamp, part.offset, &mut hand.buffer[start..start + part.length as usize]);
        }
        let Hand { place, buffer, .. } = hand;
        let mut done = 0;
        while done < buffer.len() {
            let offset = range.offset + done as u64;
            let (data, mut change) = (Data::Bytes(&buffer[done..]), Change::default());
            let answer = place
                .file_system
                .write(&place.caller, WriteFile::new(&self.handle, offset, data, stability), &mut change)
                .with_context(|| format!("writing {} at {offset}", self.name()))?;
            if answer.count == 0 || answer.count > buffer.len() - done {
                bail!("writing {} at {offset}: {} bytes were taken", self.name(), answer.count);
            }
            self.ledger.lock().wrote(Range { offset, length: answer.count as u64 }, &answer);
            done += answer.count;
        }
        Ok(())
    }

    /// Asks for its attributes.
    pub(super) fn look(&self, hand: &Hand<'_>) -> Result<()> {
        let place = hand.place;
        let asked = place.file_system.attributes(&place.caller, &self.handle);
        asked.map(drop).with_context(|| format!("asking for the attributes of {}", self.name()))
    }

    /// Makes what was written durable; what the server lost meanwhile is written again first.
    pub(super) fn commit(&self, hand: &mut Hand<'_>, deeds: &mut Deeds) -> Result<()> {
        let _alone = self.committing.lock();
        for _ in 0..MOST_COMMITS {
            let covered = self.ledger.lock().take();
            if covered.is_empty() {
                return Ok(());
            }
            let committed = hand
                .place
                .file_system
                .commit(&hand.place.caller, CommitFile::new(&self.handle, 0, 0), &mut Change::default())
                .with_context(|| format!("committing {}", self.name()))?;
            for range in covered.lost(committed.verifier) {
                let _alone = self.sending.write();
                self.send(hand, range, Stability::Unstable)?;
                deeds.resent_bytes += range.length;
            }
        }
        bail!("committing {}: the server lost what was written {MOST_COMMITS} times in a row", self.name())
    }

    /// Reads a range, all of it, and compares it with what it must hold if `verify`.
    pub(super) fn read(
        &self,
        hand: &mut Hand<'_>,
        range: Range,
        verify: bool,
        deeds: &mut Deeds,
    ) -> Result<()> {
        match self.read_all(hand, range, verify) {
            // A server may lose what was not committed: the holder of the data must look, and write it again.
            Err(error) if error.is::<Mismatch>() => {
                self.commit(hand, deeds)?;
                self.read_all(hand, range, verify)?;
            }
            done => done?,
        }
        if verify {
            deeds.verified_bytes += range.length;
        }
        Ok(())
    }

    fn read_all(&self, hand: &mut Hand<'_>, range: Range, verify: bool) -> Result<()> {
        let mut done = 0;
        while done < range.length {
            let rest = Range { offset: range.offset + done, length: range.length - done };
            done += self.read_some(hand, rest, verify)? as u64;
        }
        Ok(())
    }

    fn read_some(&self, hand: &mut Hand<'_>, range: Range, verify: bool) -> Result<usize> {
        let Hand { place, generator, buffer, landing } = hand;
        let (offset, count) = (range.offset, range.length as usize);
        buffer.clear();
        let outcome = place
            .file_system
            .read(&place.caller, ReadFile::new(&self.handle, offset, count), buffer)
            .with_context(|| format!("reading {} at {offset}", self.name()))?;
        let length = outcome.content.len();
        if length == 0 || length > count {
            bail!("reading {} at {offset}: {length} bytes came, of {count}", self.name());
        }
        let shared;
        let data = match outcome.content {
            Content::Appended(_) => &buffer[..],
            Content::Bytes(bytes) => {
                shared = bytes;
                &shared[..]
            }
            Content::File(range) => {
                // An application has its data in memory: what could be sent without a copy is copied here.
                landing.clear();
                let moved = range
                    .append_to(landing)
                    .with_context(|| format!("reading {} at {offset}", self.name()))?;
                if moved == 0 {
                    bail!("reading {} at {offset}: it ends there", self.name());
                }
                &landing[..]
            }
        };
        if verify {
            self.check(generator, offset, data)?;
        }
        Ok(data.len())
    }

    fn check(&self, generator: &Generator, offset: u64, data: &[u8]) -> Result<()> {
        for (unit, part) in self.parts(Range { offset, length: data.len() as u64 }) {
            let start = (part.offset - offset) as usize;
            generator
                .check(self.stamp(unit), part.offset, &data[start..start + part.length as usize])
                .with_context(|| format!("verifying {}", self.name()))?;
        }
        Ok(())
    }

    /// The unit that each part of a range lies in.
    fn parts(&self, range: Range) -> impl Iterator<Item = (u64, Range)> {
        let end = range.offset + range.length;
        self.units_of(range).map(move |unit| {
            let (first, last) = ((unit * self.unit).max(range.offset), ((unit + 1) * self.unit).min(end));
            (unit, Range { offset: first, length: last - first })
        })
    }

    fn units_of(&self, range: Range) -> std::ops::Range<u64> {
        range.offset / self.unit..(range.offset + range.length).div_ceil(self.unit)
    }

    fn stamp(&self, unit: u64) -> Stamp {
        Stamp { file: self.number, generation: self.generations[unit as usize].load(Ordering::Relaxed) }
    }

    fn name(&self) -> String {
        Kind::Data.name(self.number)
    }
}
