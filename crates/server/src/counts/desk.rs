//! What the call that runs on this thread is seen to do: which export it is for, and how long it was in the file system. The
//! handler and the file system below it say so here, wherever they are, and the worker that runs the call reads it afterwards.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::moment::Moment;
use super::shard::{Doing, NO_EXPORT, Shard};

// Nothing of it is dropped with the thread: what is would be asked for by a call, and looked at for whether it is there yet.
thread_local! {
    static DESK: Desk = const { Desk {
        export: Cell::new(NO_EXPORT),
        storage: Cell::new(0),
        weight: Cell::new(1),
        shard: ManuallyDrop::new(RefCell::new(None)),
    } };
}

struct Desk {
    export: Cell<u16>,
    /// Nanoseconds.
    storage: Cell<u64>,
    /// How many calls stand behind one whose time is taken; 0: this one's is not.
    weight: Cell<u32>,
    /// Of the worker whose thread it is.
    shard: ManuallyDrop<RefCell<Option<Arc<Shard>>>>,
}

impl Desk {
    #[inline]
    fn set(&self, doing: Doing) {
        if let Some(shard) = &*self.shard.borrow() {
            shard.set(doing);
        }
    }
}

/// This thread is that worker's, or nobody's any more.
pub fn seat(shard: Option<&Arc<Shard>>) {
    DESK.with(|desk| drop(desk.shard.replace(shard.cloned())));
}

/// A call starts, which stands for so many.
#[inline]
pub fn clear(weight: u32) {
    DESK.with(|desk| {
        desk.export.set(NO_EXPORT);
        desk.storage.set(0);
        desk.weight.set(weight);
    });
}

/// The call is for the export of this place.
#[inline]
pub fn at_export(place: u16) {
    DESK.with(|desk| {
        desk.export.set(place);
        if let Some(shard) = &*desk.shard.borrow() {
            shard.enter(place);
        }
    });
}

/// The export, and nanoseconds within the file system.
#[inline]
pub fn read() -> (u16, u64) {
    DESK.with(|desk| (desk.export.get(), desk.storage.get()))
}

/// A call on the file system that runs.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    /// When it began, and how many calls stand behind it; none: its time is not taken.
    timed: Option<(Moment, u64)>,
}

/// A call on the file system starts; its time is taken if that is worth it, or `always`. The caller passes the answer on
/// itself: attributes are large, and a function around the call would move them once more.
#[inline]
pub fn enter_storage(always: bool) -> Asking {
    DESK.with(|desk| {
        desk.set(Doing::Stores);
        let weight = if always { 1 } else { desk.weight.get() };
        Asking { timed: (weight > 0).then(|| (Moment::now(), u64::from(weight))) }
    })
}

/// It ended.
#[inline]
pub fn leave_storage(asking: Asking) {
    DESK.with(|desk| {
        if let Some((start, weight)) = asking.timed {
            desk.storage.set(desk.storage.get() + Moment::now().since(start) * weight);
        }
        desk.set(Doing::Runs);
    });
}
