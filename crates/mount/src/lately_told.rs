//! Names that the kernel was told of lately and believes still: when another client is about to change their directory, it must
//! forget them. Names of directories are not among them: it would take their files' paths from programs that work in them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits::LATELY_TOLD_MAX;

/// The names, by their directory.
pub struct LatelyTold {
    /// How long the kernel believes a name.
    believed: Duration,
    told: Mutex<Told>,
}

struct Told {
    since: Instant,
    now: Names,
    before: Names,
}

/// Told within one period.
#[derive(Default)]
struct Names {
    by_directory: HashMap<u64, Vec<Vec<u8>>>,
    count: usize,
}

impl LatelyTold {
    /// None yet.
    pub fn new(believed: Duration) -> Self {
        let told = Told { since: Instant::now(), now: Names::default(), before: Names::default() };
        Self { believed, told: Mutex::new(told) }
    }

    /// A reply gives the kernel a name.
    pub fn note(&self, directory: u64, name: Vec<u8>) {
        let mut told = self.told.lock();
        let age = told.since.elapsed();
        if age >= self.believed {
            let ended = std::mem::take(&mut told.now);
            told.before = if age >= 2 * self.believed { Names::default() } else { ended };
            told.since = Instant::now();
        }
        if told.now.count < LATELY_TOLD_MAX {
            told.now.count += 1;
            told.now.by_directory.entry(directory).or_default().push(name);
        }
    }

    /// The names of a directory, which are to be forgotten.
    pub fn take(&self, directory: u64) -> Vec<Vec<u8>> {
        let mut told = self.told.lock();
        let Told { now, before, .. } = &mut *told;
        let taken = [now, before].map(|names| {
            let taken = names.by_directory.remove(&directory).unwrap_or_default();
            names.count -= taken.len();
            taken
        });
        taken.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_those_of_long_ago_are_gone() {
        let told = LatelyTold::new(Duration::from_secs(3600));
        (0..=LATELY_TOLD_MAX).for_each(|number| told.note(7, number.to_string().into_bytes()));
        told.note(8, b"other".to_vec());
        assert_eq!((told.take(7).len(), told.take(7).len()), (LATELY_TOLD_MAX, 0));
        told.note(8, b"other".to_vec());
        assert_eq!(told.take(8), [b"other".to_vec()]);
        let told = LatelyTold::new(Duration::ZERO);
        (0..9).for_each(|number| told.note(7, vec![number]));
        assert_eq!(told.take(7), [vec![8]]);
    }
}
