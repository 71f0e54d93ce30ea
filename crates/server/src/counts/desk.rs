//! What the call that runs on this thread is seen to do: which export it is for, and how long it was in the file system. The
//! handler and the file system below it say so here, wherever they are, and whoever runs the call reads it afterwards.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::time::Instant;

use super::shard::{Doing, NO_EXPORT, Shard};

thread_local! {
    static DESK: Desk = const { Desk {
        export: Cell::new(NO_EXPORT),
        storage: Cell::new(0),
        weight: Cell::new(1),
        shard: OnceCell::new(),
    } };
}

struct Desk {
    export: Cell<u16>,
    /// Nanoseconds.
    storage: Cell<u64>,
    /// How many calls stand behind one whose time is taken; 0: this one's is not.
    weight: Cell<u32>,
    /// Of the worker whose thread it is.
    shard: OnceCell<Arc<Shard>>,
}

/// This thread is a worker's.
pub fn take(shard: &Arc<Shard>) {
    DESK.with(|desk| drop(desk.shard.set(Arc::clone(shard))));
}

/// A call starts, which stands for so many.
pub fn clear(weight: u32) {
    DESK.with(|desk| {
        desk.export.set(NO_EXPORT);
        desk.storage.set(0);
        desk.weight.set(weight);
    });
}

/// The call is for the export of this place.
pub fn at_export(place: u16) {
    DESK.with(|desk| desk.export.set(place));
}

/// The export, and nanoseconds within the file system.
pub fn read() -> (u16, u64) {
    DESK.with(|desk| (desk.export.get(), desk.storage.get()))
}

/// Makes a call on the file system, and takes its time if that is worth it, or `always`.
pub fn in_storage<T>(always: bool, run: impl FnOnce() -> T) -> T {
    DESK.with(|desk| {
        let shard = desk.shard.get();
        let weight = if always { 1 } else { desk.weight.get() };
        if let Some(shard) = shard {
            shard.set(Doing::Stores);
        }
        let start = (weight > 0).then(Instant::now);
        let outcome = run();
        if let Some(start) = start {
            let nanoseconds = start.elapsed().as_nanos() as u64;
            desk.storage.set(desk.storage.get() + nanoseconds * u64::from(weight));
        }
        if let Some(shard) = shard {
            shard.set(Doing::Runs);
        }
        outcome
    })
}
