//! The counters of one worker, and what it does now.

use std::array;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::cell::CountCell;
use super::counter::Counter;
use super::figures::Figures;
use super::outcome::Unheard;
use super::ticket::Place;
use crate::limits::EXPORTS_COUNTED_MAX;

/// The place of calls that reach no export: NULL, handles that lead nowhere, the lists of MOUNT, portmap.
pub const NO_EXPORT: u16 = 0;
/// The place of exports beyond the first ones.
pub const OTHER_EXPORTS: u16 = EXPORTS_COUNTED_MAX as u16 + 1;
/// All places.
pub const PLACES: usize = EXPORTS_COUNTED_MAX + 2;

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// It waits for sockets.
    Waits,
    /// It receives, runs calls or sends.
    Runs,
    /// It is in a call on a file system.
    Stores,
}

/// A call's time in an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stay {
    /// The export's place; [`NO_EXPORT`]: it is over.
    pub export: u16,
    /// The how manyth it is.
    pub number: u64,
}

/// Cells of one export, each made when it is first needed.
type Cells = Box<[OnceLock<Box<CountCell>>]>;

/// One worker's. By itself in its cache lines.
#[repr(align(128))]
pub struct Shard {
    doing: AtomicU8,
    /// The stays so far, and in the lowest 16 bits the export of the present one.
    stay: AtomicU64,
    unheard: [Counter; 3],
    exports: [OnceLock<Cells>; PLACES],
    procedures: usize,
    is_workers: bool,
}

impl Shard {
    /// For so many procedures.
    pub fn new(procedures: usize) -> Self {
        Self {
            doing: AtomicU8::new(Doing::Waits as u8),
            stay: AtomicU64::new(0),
            unheard: array::from_fn(|_| Counter::default()),
            exports: array::from_fn(|_| OnceLock::new()),
            procedures,
            is_workers: true,
        }
    }

    /// The same of a thread that is no worker.
    pub fn beside(self) -> Self {
        Self { is_workers: false, ..self }
    }

    /// Whether it is a worker's.
    pub fn is_workers(&self) -> bool {
        self.is_workers
    }

    /// Says what the worker does from now on.
    #[inline]
    pub fn set(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// What the worker does.
    pub fn doing(&self) -> Doing {
        match self.doing.load(Ordering::Relaxed) {
            0 => Doing::Waits,
            1 => Doing::Runs,
            _ => Doing::Stores,
        }
    }

    /// The worker's call is for this export from now on. A load and a store: only the worker changes it.
    #[inline]
    pub fn enter(&self, export: u16) {
        let before = self.stay.load(Ordering::Relaxed);
        self.stay.store(((before >> 16) + 1) << 16 | u64::from(export), Ordering::Relaxed);
    }

    /// The worker's call is over.
    #[inline]
    pub fn leave(&self) {
        self.stay.store(self.stay.load(Ordering::Relaxed) & !0xffff, Ordering::Relaxed);
    }

    /// Where the worker's call is.
    pub fn stay(&self) -> Stay {
        let stay = self.stay.load(Ordering::Relaxed);
        Stay { export: stay as u16, number: stay >> 16 }
    }

    /// The counters of a procedure.
    #[inline]
    pub fn cell(&self, place: Place) -> &CountCell {
        let cells = self.exports[usize::from(place.export)]
            .get_or_init(|| (0..self.procedures).map(|_| OnceLock::new()).collect());
        cells[usize::from(place.procedure)].get_or_init(|| Box::new(CountCell::new()))
    }

    /// A counter of what came to no procedure.
    pub fn unheard(&self, unheard: Unheard) -> &Counter {
        &self.unheard[unheard as usize]
    }

    /// Adds what was counted for a procedure to a sum.
    pub fn add_to(&self, export: u16, procedure: u16, sum: &mut Figures) {
        let cells = self.exports[usize::from(export)].get();
        if let Some(cell) = cells.and_then(|cells| cells[usize::from(procedure)].get()) {
            cell.add_to(sum);
        }
    }
}
