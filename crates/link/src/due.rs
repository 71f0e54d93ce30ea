//! A queue in which every entry has the time at which it leaves, the earliest first.

use std::collections::VecDeque;
use std::time::Instant;

/// The first entry, if its time has come.
pub fn take_due<T>(queue: &mut VecDeque<(Instant, T)>, now: Instant) -> Option<(Instant, T)> {
    if queue.front()?.0 > now {
        return None;
    }
    queue.pop_front()
}
