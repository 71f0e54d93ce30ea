//! What contexts and the calls through them came to, counted since the start.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that only grow.
#[derive(Debug, Default)]
pub struct GssFigures {
    established: AtomicU64,
    refused: AtomicU64,
    busy: AtomicU64,
    unknown: AtomicU64,
    forged: AtomicU64,
    repeated: AtomicU64,
    damaged: AtomicU64,
}

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GssEvent {
    /// A context was made.
    Established,
    /// A token was refused.
    Refused,
    /// A token was not looked at, since too many waited.
    Busy,
    /// A call named a context that is not there, or that has ended.
    Unknown,
    /// The header of a call was not signed by its context.
    Forged,
    /// A call came twice, or too late.
    Repeated,
    /// The arguments of a call were not signed or encrypted by its context.
    Damaged,
}

/// The counters at one moment.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "KerberosCounts")]
pub struct GssReport {
    /// Contexts that were made.
    pub established: u64,
    /// Tokens that were refused.
    pub refused: u64,
    /// Tokens that were not looked at, since too many waited.
    pub busy: u64,
    /// Calls that named a context which is not there, or which has ended.
    pub unknown: u64,
    /// Calls whose header was not signed by their context.
    pub forged: u64,
    /// Calls that came twice, or too late.
    pub repeated: u64,
    /// Calls whose arguments were not signed or encrypted by their context.
    pub damaged: u64,
}

impl GssFigures {
    /// It happened once more.
    pub fn count(&self, event: GssEvent) {
        let counter = match event {
            GssEvent::Established => &self.established,
            GssEvent::Refused => &self.refused,
            GssEvent::Busy => &self.busy,
            GssEvent::Unknown => &self.unknown,
            GssEvent::Forged => &self.forged,
            GssEvent::Repeated => &self.repeated,
            GssEvent::Damaged => &self.damaged,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// All of them now.
    pub fn report(&self) -> GssReport {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        GssReport {
            established: read(&self.established),
            refused: read(&self.refused),
            busy: read(&self.busy),
            unknown: read(&self.unknown),
            forged: read(&self.forged),
            repeated: read(&self.repeated),
            damaged: read(&self.damaged),
        }
    }
}
