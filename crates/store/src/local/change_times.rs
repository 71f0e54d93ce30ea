//! The `changed` time as clients get it: one that differs whenever the node does.
//!
//! Clients take this time for a version: NFSv4 derives its attribute `change` from it, and NFSv3 clients compare it. Kernels before
//! 6.13, and file systems with coarse times, stamp all changes within one tick of a clock with the same time. Here each such change
//! gets a time of its own in the half millisecond before the stamp: after every earlier stamp, and before the stamp itself, which
//! means "the last state with this stamp".
//!
//! - Our own changes are counted, and the count is remembered, so that a client's cache of what it wrote itself stays valid.
//! - A node that a local process changed within the tick shows another time at each look, until the tick has passed: what a client
//!   reads meanwhile is asked for once more.
//! - A count that was forgotten gives way to the stamp, which stands for no earlier state.

use std::hash::Hasher;

use howdah_vfs::{Attributes, Timestamp};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use siphasher::sip::SipHasher13;

use super::known::nanoseconds;

/// Nanoseconds before a stamp that belong to it: less than the shortest tick (1 ms at 1000 Hz).
const RANGE: i128 = 500_000;

/// So long after its stamp a node may get the same stamp again: twice the coarsest tick of Linux (10 ms at 100 Hz), and as much for
/// file systems that keep times in hundredths of a second.
const TICK: i128 = 30_000_000;
/// The same where times are whole seconds, or two (FAT).
const SECONDS: i128 = 2_000_000_000 + TICK;

/// Steps of [`RANGE`] that such a time is divided into; the rest is for changes that come faster.
const STEPS: i128 = 400_000;

/// Nodes that share a lock and are allocated together. Numbers in a row share a page.
const PAGE: usize = 64;

/// What was last shown of a node.
#[derive(Debug, Clone, Copy)]
struct Entry {
    file_system: u64,
    file: u64,
    stamp: Timestamp,
    /// Which of the states with this stamp.
    count: u64,
    /// Of what else differs where a local process changed the node.
    digest: u64,
}

type Page = Mutex<Option<Box<[Option<Entry>; PAGE]>>>;

/// When a call that may change a node began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// The stamp that the node had.
    stamp: Timestamp,
    now: i128,
}

#[cfg(test)]
thread_local! {
    /// What stands still in the file systems that this thread opens.
    pub(super) static FROZEN: std::cell::Cell<Option<Timestamp>> = const { std::cell::Cell::new(None) };
}

/// Times of change.
pub(super) struct ChangeTimes {
    pages: Box<[Page]>,
    /// The file system whose stamps always differ, if the root's is one.
    fine: Option<u64>,
    /// Whether stamps come from the clock of this host.
    is_own_clock: bool,
    /// Stands still for tests.
    #[cfg(test)]
    frozen: Option<Timestamp>,
}

impl ChangeTimes {
    /// Remembers the counts of about `most` nodes. `fine`: the file system whose stamps always differ.
    pub(super) fn new(most: usize, fine: Option<u64>, is_own_clock: bool) -> Self {
        #[cfg(test)]
        let (fine, is_own_clock) = if FROZEN.get().is_some() { (None, false) } else { (fine, is_own_clock) };
        Self {
            pages: (0..most.div_ceil(PAGE).max(1)).map(|_| Mutex::new(None)).collect(),
            fine,
            is_own_clock,
            #[cfg(test)]
            frozen: FROZEN.get(),
        }
    }

    /// Whether the stamps of a node show all its changes.
    pub(super) fn is_fine(&self, node: &Attributes) -> bool {
        self.fine == Some(node.file_system)
    }

    /// The attributes of a node as clients see them, from what the kernel said at a look.
    pub(super) fn seen(&self, node: &Attributes) -> Attributes {
        if self.is_fine(node) { *node } else { self.seen_at(&self.stamped(node), now) }
    }

    /// Before a call of ours that may change a node.
    pub(super) fn start(&self, node: &Attributes) -> Start {
        let now = if self.is_fine(node) { 0 } else { now() };
        Start { stamp: self.stamp(node.changed), now }
    }

    /// The attributes after a call of ours that may have changed a node. `start`: as the call began, if the node was there; `is_done`:
    /// whether the call succeeded.
    pub(super) fn changed(&self, start: Option<Start>, node: &Attributes, is_done: bool) -> Attributes {
        if self.is_fine(node) { *node } else { self.changed_at(start, &self.stamped(node), is_done, now) }
    }

    fn seen_at(&self, node: &Attributes, now: impl FnOnce() -> i128) -> Attributes {
        let page = &mut *self.page(node).lock();
        let entry = page.as_mut().and_then(|page| page[slot(node)].as_mut());
        let Some(entry) = entry.filter(|entry| entry.is_of(node)) else {
            return match age(node, now()) {
                Age::Fresh(step) => with_count(node, step),
                Age::Settled => *node,
            };
        };
        let digest = digest(node);
        if entry.digest != digest {
            // A local process changed it within the tick.
            *entry = Entry { digest, count: entry.next(age(node, now())), ..*entry };
        }
        with_count(node, entry.count)
    }

    fn changed_at(
        &self,
        start: Option<Start>,
        node: &Attributes,
        is_done: bool,
        now: impl FnOnce() -> i128,
    ) -> Attributes {
        let now = now();
        let age = age(node, now);
        // What a refused call left half done shows in the other attributes.
        let is_refused = !is_done && start.is_some_and(|start| start.stamp == node.changed);
        // The kernel stamps a file before it takes the data, which may take long.
        let is_before = nanoseconds(node.changed) + tick(node) <= start.map_or(now, |start| start.now);
        if is_refused || (self.is_own_clock && is_before) {
            return self.seen_at(node, || now);
        }
        let page = &mut *self.page(node).lock();
        let page = page.get_or_insert_with(|| Box::new([None; PAGE]));
        let entry = &mut page[slot(node)];
        let count = match entry.as_ref().filter(|entry| entry.is_of(node)) {
            Some(entry) => entry.next(age),
            None => age.count(),
        };
        let (file_system, file, stamp) = (node.file_system, node.file, node.changed);
        *entry = Some(Entry { file_system, file, stamp, count, digest: digest(node) });
        with_count(node, count)
    }

    fn page(&self, node: &Attributes) -> &Page {
        let row = (node.file / PAGE as u64) ^ node.file_system.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.pages[row as usize % self.pages.len()]
    }

    #[cfg(not(test))]
    fn stamp(&self, stamp: Timestamp) -> Timestamp {
        stamp
    }

    #[cfg(test)]
    fn stamp(&self, stamp: Timestamp) -> Timestamp {
        self.frozen.unwrap_or(stamp)
    }

    fn stamped(&self, node: &Attributes) -> Attributes {
        node.with_changed(self.stamp(node.changed))
    }
}

impl Entry {
    fn is_of(&self, node: &Attributes) -> bool {
        (self.file, self.file_system, self.stamp) == (node.file, node.file_system, node.changed)
    }

    /// The count of a later state.
    fn next(&self, age: Age) -> u64 {
        age.count().max(self.count + 1)
    }
}

/// How long ago a node was stamped.
#[derive(Debug, Clone, Copy)]
enum Age {
    /// So lately that the stamp may be given again. The step of that time that it is.
    Fresh(u64),
    /// Longer ago, or by another clock.
    Settled,
}

impl Age {
    /// The count of the first state that is known: greater than any that was shown and forgotten.
    fn count(self) -> u64 {
        match self {
            Self::Fresh(step) => step + 1,
            Self::Settled => STEPS as u64 + 1,
        }
    }
}

/// So long after its stamp a node may get the same stamp again.
fn tick(node: &Attributes) -> i128 {
    if node.changed.nanoseconds == 0 { SECONDS } else { TICK }
}

fn age(node: &Attributes, now: i128) -> Age {
    let long = tick(node);
    let passed = now - nanoseconds(node.changed);
    if !(0..long).contains(&passed) {
        return Age::Settled;
    }
    Age::Fresh(u64::try_from(passed * STEPS / long).expect("not negative, and less than the steps") + 1)
}

/// The node with the time of one of the states that have its stamp.
fn with_count(node: &Attributes, count: u64) -> Attributes {
    let stamp = nanoseconds(node.changed);
    let count = i128::from(count);
    // None before 1970: NFSv3 could not distinguish them.
    let reported = if stamp < RANGE {
        stamp + count
    } else {
        // Not the stamp itself.
        stamp - RANGE + count + i128::from(count >= RANGE)
    };
    let seconds = i64::try_from(reported.div_euclid(1_000_000_000)).unwrap_or(node.changed.seconds);
    let nanoseconds = u32::try_from(reported.rem_euclid(1_000_000_000)).expect("less than a second");
    node.with_changed(Timestamp { seconds, nanoseconds })
}

fn slot(node: &Attributes) -> usize {
    node.file as usize % PAGE
}

fn digest(node: &Attributes) -> u64 {
    let mut hasher = SipHasher13::new();
    // Not the storage in use: that changes by itself when data is written back.
    let Attributes { mode, links, user, group, size, modified, .. } = node;
    for number in [mode, links, user, group, &modified.nanoseconds] {
        hasher.write_u32(*number);
    }
    for number in [*size, modified.seconds.cast_unsigned()] {
        hasher.write_u64(number);
    }
    hasher.finish()
}

fn now() -> i128 {
    let now = clock_gettime(ClockId::Realtime);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

#[cfg(test)]
mod tests {
    use howdah_vfs::{DeviceNumber, FileKind};

    use super::*;

    const STAMP: Timestamp = Timestamp { seconds: 1_000, nanoseconds: 4_000_000 };

    fn file(number: u64, size: u64) -> Attributes {
        Attributes {
            change: STAMP.as_change(),
            kind: FileKind::Regular,
            mode: 0o644,
            links: 1,
            user: 0,
            group: 0,
            size,
            used: 0,
            device: DeviceNumber::default(),
            file_system: 7,
            file: number,
            accessed: STAMP,
            modified: STAMP,
            changed: STAMP,
            created: None,
        }
    }

    fn coarse() -> ChangeTimes {
        ChangeTimes::new(1_000, None, true)
    }

    fn after(nanoseconds: i128) -> i128 {
        super::nanoseconds(STAMP) + nanoseconds
    }

    /// Looks at a file so long after its stamp.
    fn look(times: &ChangeTimes, file: &Attributes, nanoseconds: i128) -> Timestamp {
        times.seen_at(file, || after(nanoseconds)).changed
    }

    /// Changes a file so long after its stamp, which it keeps.
    fn change(times: &ChangeTimes, file: &Attributes, nanoseconds: i128) -> Timestamp {
        times.changed_at(Some(start(nanoseconds)), file, true, || after(nanoseconds)).changed
    }

    /// A call that begins so long after the stamp.
    fn start(nanoseconds: i128) -> Start {
        Start { stamp: STAMP, now: after(nanoseconds) }
    }

    #[test]
    fn each_change_within_a_tick_has_a_later_time_which_stays() {
        let (times, node) = (coarse(), file(1, 0));
        let mut last = Timestamp::default();
        for _ in 0..1_000 {
            let reported = change(&times, &node, 5);
            assert!(reported > last && reported < STAMP, "{reported:?} after {last:?}");
            assert_eq!(look(&times, &node, 6), reported);
            last = reported;
        }
        assert_eq!(look(&times, &node, 3_600_000_000_000), last, "a client keeps what it wrote");
        let next = Attributes { changed: Timestamp { nanoseconds: 5_000_000, ..STAMP }, ..node };
        assert!(times.seen_at(&next, || after(1_000_001)).changed > STAMP, "the next tick comes after all");
    }

    #[test]
    fn what_a_local_process_changes_within_a_tick_is_seen() {
        let (times, node) = (coarse(), file(1, 0));
        // Nothing but the data differs.
        let first = look(&times, &node, 1_000);
        let second = look(&times, &node, 2_000);
        let settled = look(&times, &node, TICK);
        assert!(first < second && second < settled, "{first:?}, {second:?}, {settled:?}");
        assert_eq!(settled, STAMP);
        assert_eq!(look(&times, &node, 2 * TICK), STAMP, "nothing changes it any more");
        // After a change of ours, what shows.
        let (times, ours) = (coarse(), change(&times, &node, 3_000));
        assert!(ours < STAMP);
        let ours = change(&times, &node, 3_000);
        let theirs = look(&times, &file(1, 10), 3_500);
        assert!(ours < theirs && theirs < STAMP);
        assert_eq!(look(&times, &file(1, 10), TICK), theirs);
    }

    #[test]
    fn a_count_that_was_forgotten_stands_for_no_earlier_state() {
        let (times, node) = (ChangeTimes::new(PAGE, None, true), file(1, 0));
        let reported = [change(&times, &node, 1_000), change(&times, &node, 1_001)];
        // It has the other's place.
        change(&times, &file(1 + PAGE as u64, 0), 1_002);
        let again = look(&times, &node, 2_000);
        let changed = change(&times, &node, 2_001);
        change(&times, &file(1 + PAGE as u64, 0), 1_003);
        let all = [reported[0], reported[1], again, changed, look(&times, &node, TICK)];
        assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        assert_eq!(all[4], STAMP);
        // So it is with a server that was started again within the tick.
        assert!(look(&coarse(), &node, 3_000) > changed);
    }

    #[test]
    fn what_changes_nothing_tells_the_same_time() {
        let (times, node) = (coarse(), file(1, 0));
        assert_eq!(change(&times, &node, TICK), STAMP, "the clock ticked since, and the stamp is the same");
        let other_clock = ChangeTimes::new(1_000, None, false);
        let refused = other_clock.changed_at(Some(start(TICK)), &node, false, || after(TICK));
        assert_eq!(refused.changed, STAMP);
        let reported = change(&times, &node, 5);
        assert_eq!(times.changed_at(Some(start(6)), &node, false, || after(6)).changed, reported, "refused");
    }

    #[test]
    fn a_write_that_takes_longer_than_a_tick_is_a_change() {
        for began in [-1_000, 0, 5, TICK - 1] {
            let (times, node) = (coarse(), file(1, 0));
            let first = change(&times, &node, 5);
            let slow = times.changed_at(Some(start(began)), &node, true, || after(10 * TICK)).changed;
            assert!(slow > first, "it began at {began}");
            // Another client looks while the data is on its way.
            let times = coarse();
            let meanwhile = look(&times, &node, 2 * TICK);
            let slow = times.changed_at(Some(start(began)), &node, true, || after(10 * TICK)).changed;
            assert_ne!(slow, meanwhile, "it began at {began}");
            assert_eq!(look(&times, &node, 20 * TICK), slow);
        }
    }

    #[test]
    fn a_time_that_stands_still_tells_changes() {
        let times = ChangeTimes::new(1_000, None, false);
        for stamp in [STAMP, Timestamp::default()] {
            let node = Attributes { changed: stamp, ..file(1, 0) };
            let mut last = None;
            for round in 0..600_000 {
                let start = Start { stamp, now: after(TICK + round) };
                let reported = times.changed_at(Some(start), &node, true, || after(TICK + round)).changed;
                assert!(last < Some(reported) && reported != stamp);
                last = Some(reported);
            }
        }
    }

    #[test]
    fn times_in_whole_seconds_take_longer_to_settle() {
        let (times, stamp) = (coarse(), Timestamp { seconds: 1_000, nanoseconds: 0 });
        let node = Attributes { changed: stamp, ..file(1, 0) };
        let at = |nanoseconds: i128| times.seen_at(&node, || super::nanoseconds(stamp) + nanoseconds).changed;
        let reported = [at(10), at(1_000_000_000), at(1_999_000_000), at(SECONDS)];
        assert!(reported.is_sorted() && reported.windows(2).all(|pair| pair[0] != pair[1]), "{reported:?}");
        assert_eq!(reported[3], stamp);
    }

    #[test]
    fn no_more_counts_are_remembered_than_there_is_room_for() {
        let times = ChangeTimes::new(2 * PAGE, None, true);
        let files: Vec<_> = (0..10 * PAGE as u64).map(|number| file(number, 0)).collect();
        for file in &files {
            change(&times, file, 1_000);
        }
        let remembered = files.iter().filter(|file| look(&times, file, TICK) != STAMP).count();
        assert_eq!(remembered, 2 * PAGE);
    }

    #[test]
    fn where_stamps_always_differ_they_are_told_as_they_are() {
        let times = ChangeTimes::new(1_000, Some(7), true);
        let node = file(1, 0);
        assert_eq!(times.seen(&node), node);
        assert_eq!(times.changed(Some(times.start(&node)), &node, true), node);
        assert!(times.pages.iter().all(|page| page.lock().is_none()));
        let mounted = Attributes { file_system: 8, ..node };
        assert!(!times.is_fine(&mounted), "another file system is mounted there");
    }
}
