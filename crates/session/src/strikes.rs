//! How often a recovery failed of late, and how long to wait before the next.

use std::time::Duration;

/// From this many on the session is given up, and the next attempt waits.
const MOST: u32 = 3;
/// After so long without one, those before do not count any more.
const CALM: Duration = Duration::from_secs(60);
/// The first wait, which doubles each time,
const FIRST: Duration = Duration::from_secs(1);
/// up to this.
const LONGEST: Duration = Duration::from_secs(30);

/// Recoveries of late.
#[derive(Debug, Default)]
pub struct Strikes {
    count: u32,
    last: Duration,
}

impl Strikes {
    /// Another one is needed. `Some`: all before it were in vain, and it is to wait for so long.
    pub fn strike(&mut self, now: Duration) -> Option<Duration> {
        if now.saturating_sub(self.last) >= CALM {
            self.count = 0;
        }
        (self.count, self.last) = (self.count + 1, now);
        let beyond = self.count.checked_sub(MOST)?;
        Some(FIRST.saturating_mul(1 << beyond.min(16)).min(LONGEST))
    }

    /// What the last one made is of use: the next waits as the first that has to, and is not the last of many.
    pub fn on_progress(&mut self) {
        self.count = self.count.min(MOST - 1);
    }

    /// How many there were of late.
    pub fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_in_a_row_waits_and_each_further_one_for_longer() {
        let mut strikes = Strikes::default();
        let waits: Vec<_> = (0..9).map(|_| strikes.strike(Duration::from_secs(5))).collect();
        let seconds = |wait: &Option<Duration>| wait.map(|wait| wait.as_secs());
        let waits: Vec<_> = waits.iter().map(seconds).collect();
        assert_eq!(waits, [None, None, Some(1), Some(2), Some(4), Some(8), Some(16), Some(30), Some(30)]);
        assert_eq!(strikes.strike(Duration::from_secs(65)), None, "they are long ago");
    }

    #[test]
    fn what_is_of_use_between_them_keeps_the_wait_short() {
        let mut strikes = Strikes::default();
        let mut wait = || {
            strikes.on_progress();
            strikes.strike(Duration::ZERO)
        };
        let waits: Vec<_> = (0..6).map(|_| wait()).collect();
        let second = Some(FIRST);
        assert_eq!(waits, [None, None, second, second, second, second]);
    }
}
