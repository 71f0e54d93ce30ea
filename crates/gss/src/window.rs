//! The window of sequence numbers of a context's calls (RFC 2203 5.3.3.1): each number is taken once. Without a lock.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many numbers below the highest are still taken. Calls on several connections overtake each other, so it is large.
pub const WINDOW: u32 = 2048;
/// The number beyond which a context is of no more use (RFC 2203 5.3.3.1, `MAXSEQ`). It is still taken itself, as Linux does.
pub const MAXIMUM_SEQUENCE: u32 = 0x8000_0000;

/// Numbers that one word keeps: its lower half has a bit for each, its upper half says which numbers they are.
const PER_WORD: u32 = 32;
/// Words that the window reaches over: one more than its length, since it seldom begins with a word.
const WORDS: usize = (WINDOW / PER_WORD + 1) as usize;

/// The numbers of a context that were seen. A number is offered only once the call that has it is verified.
pub struct SequenceWindow {
    highest: AtomicU32,
    words: [AtomicU64; WORDS],
}

/// Why a number is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceRefusal {
    /// It was seen already: a call that comes twice.
    Seen,
    /// It lies below the window.
    Old,
    /// It lies beyond [`MAXIMUM_SEQUENCE`]: the client needs a new context.
    Exhausted,
}

impl SequenceWindow {
    /// One that has seen nothing.
    pub fn new() -> Self {
        Self { highest: AtomicU32::new(0), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Takes a number.
    ///
    /// # Errors
    /// It is not to be taken. Of any number of threads that offer the same one, one succeeds at most.
    pub fn take(&self, sequence: u32) -> Result<(), SequenceRefusal> {
        if sequence > MAXIMUM_SEQUENCE {
            return Err(SequenceRefusal::Exhausted);
        }
        if u64::from(sequence) + u64::from(WINDOW) <= u64::from(self.highest.load(Ordering::Relaxed)) {
            return Err(SequenceRefusal::Old);
        }
        let group = u64::from(sequence / PER_WORD);
        let bit = 1_u64 << (sequence % PER_WORD);
        let word = &self.words[group as usize % WORDS];
        let mut current = word.load(Ordering::Relaxed);
        loop {
            // A word of a later group took the place: the window moved on meanwhile.
            if current >> PER_WORD > group {
                return Err(SequenceRefusal::Old);
            }
            let next = if current >> PER_WORD == group { current | bit } else { group << PER_WORD | bit };
            if next == current {
                return Err(SequenceRefusal::Seen);
            }
            match word.compare_exchange_weak(current, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => current = found,
            }
        }
        self.highest.fetch_max(sequence, Ordering::Relaxed);
        Ok(())
    }
}

impl Default for SequenceWindow {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SequenceWindow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SequenceWindow(highest {})", self.highest.load(Ordering::Relaxed))
    }
}

impl fmt::Display for SequenceRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Seen => "the sequence number was used before",
            Self::Old => "the sequence number is below the window",
            Self::Exhausted => "the context has no sequence numbers left",
        })
    }
}

impl std::error::Error for SequenceRefusal {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::AtomicUsize;

    use howdah_random::Random;

    use super::*;

    #[test]
    fn it_takes_what_a_set_of_all_numbers_takes() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let (window, mut seen, mut highest) = (SequenceWindow::new(), HashSet::new(), 0_u32);
            for step in 0..20_000 {
                let near = i64::from(highest) + random.below(3 * u64::from(WINDOW)) as i64 - 5000;
                let sequence = match random.below(500) {
                    0 => highest.saturating_add(random.below(1 << 20) as u32),
                    1 => random.number() as u32 >> 1,
                    _ => near.max(0) as u32,
                };
                let wanted = if sequence > MAXIMUM_SEQUENCE {
                    Err(SequenceRefusal::Exhausted)
                } else if u64::from(sequence) + u64::from(WINDOW) <= u64::from(highest) {
                    Err(SequenceRefusal::Old)
                } else if !seen.insert(sequence) {
                    Err(SequenceRefusal::Seen)
                } else {
                    highest = highest.max(sequence);
                    Ok(())
                };
                assert_eq!(
                    window.take(sequence),
                    wanted,
                    "seed {seed}, step {step}: {sequence} after {highest}"
                );
            }
        }
    }

    #[test]
    fn the_last_number_of_a_context_is_taken_and_none_beyond() {
        let window = SequenceWindow::new();
        assert_eq!(window.take(MAXIMUM_SEQUENCE + 1), Err(SequenceRefusal::Exhausted));
        assert_eq!(window.take(MAXIMUM_SEQUENCE), Ok(()));
        assert_eq!(window.take(MAXIMUM_SEQUENCE), Err(SequenceRefusal::Seen));
        assert_eq!(window.take(MAXIMUM_SEQUENCE - WINDOW), Err(SequenceRefusal::Old));
        assert_eq!(window.take(MAXIMUM_SEQUENCE - WINDOW + 1), Ok(()));
        assert_eq!(window.take(u32::MAX), Err(SequenceRefusal::Exhausted));
    }

    #[test]
    fn threads_that_offer_the_same_numbers_get_each_once() {
        let (window, taken) = (SequenceWindow::new(), AtomicUsize::new(0));
        let numbers = 50_000;
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (window, taken) = (&window, &taken);
                scope.spawn(move || {
                    let mut random = Random::apart(7, thread);
                    for number in 0..numbers {
                        let back = random.below(64) as u32;
                        let mine = [number, u32::saturating_sub(number, back)];
                        let count = mine.into_iter().filter(|&number| window.take(number).is_ok()).count();
                        taken.fetch_add(count, Ordering::Relaxed);
                    }
                });
            }
        });
        // A thread that was held up finds the window gone; none is taken twice.
        assert!(taken.into_inner() <= numbers as usize);
        assert_eq!(window.take(numbers), Ok(()));
    }
}
