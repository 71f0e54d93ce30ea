//! Numbers by number, of late: as many as there is room for, and none for longer than replies are kept.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// The numbers.
#[derive(Debug)]
pub struct Recent {
    most: usize,
    age: Duration,
    values: HashMap<u64, u64>,
    /// Oldest first; what was replaced since stands here, too, until its time is over.
    order: VecDeque<(Instant, u64, u64)>,
}

impl Recent {
    /// Room for so many, each for so long.
    pub fn new(most: usize, age: Duration) -> Self {
        Self { most: most.max(1), age, values: HashMap::new(), order: VecDeque::new() }
    }

    /// Keeps a number, unless one at least as large is kept under that key.
    pub fn keep(&mut self, key: u64, value: u64, now: Instant) {
        while let Some(&(at, old, of)) = self.order.front()
            && (self.order.len() >= self.most || now.saturating_duration_since(at) >= self.age)
        {
            self.order.pop_front();
            if self.values.get(&old) == Some(&of) {
                self.values.remove(&old);
            }
        }
        if self.get(key).is_none_or(|kept| kept < value) {
            self.values.insert(key, value);
            self.order.push_back((now, key, value));
        }
    }

    /// The number under a key.
    pub fn get(&self, key: u64) -> Option<u64> {
        self.values.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)] // Some instant is needed to start from.
    fn the_largest_is_kept_until_it_is_old_or_there_is_no_room() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut recent = Recent::new(3, 10 * second);
        recent.keep(1, 5, start);
        recent.keep(1, 3, start + second);
        assert_eq!((recent.get(1), recent.get(2)), (Some(5), None));
        recent.keep(2, 7, start + 10 * second);
        assert_eq!((recent.get(1), recent.get(2)), (None, Some(7)));
        recent.keep(3, 8, start + 12 * second);
        for key in 4..8 {
            recent.keep(key, key, start + 12 * second);
        }
        assert_eq!((recent.get(3), recent.get(5), recent.get(7)), (None, Some(5), Some(7)), "three at most");
    }
}
