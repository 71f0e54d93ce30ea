//! The times of data that is held: what the server's clock says now, as far as its answers show. A server sets the times of a
//! file when a write reaches it, which is later than when it was taken here; so a time shown here is never later than that.

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_vfs::Timestamp;

/// The server's clock.
#[derive(Debug, Default)]
pub struct ServerClock {
    /// By how many nanoseconds it is ahead of ours: the most that was seen, since answers are under way for a while.
    ahead: Option<i128>,
}

impl ServerClock {
    /// A file was changed at this time, as the server says now.
    pub fn saw(&mut self, changed: Timestamp) {
        let ahead = nanoseconds(changed) - now();
        self.ahead = Some(self.ahead.map_or(ahead, |most| most.max(ahead)));
    }

    /// What it says now, if it ever said anything: later than `last` in any case.
    pub fn after(&self, last: Timestamp) -> Timestamp {
        let next = nanoseconds(last) + 1;
        timestamp(self.ahead.map_or(next, |ahead| next.max(now() + ahead)))
    }
}

fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos().cast_signed())
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

fn timestamp(nanoseconds: i128) -> Timestamp {
    Timestamp {
        seconds: i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX),
        nanoseconds: u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_grow_whatever_the_server_says() {
        let mut clock = ServerClock::default();
        let long_ago = Timestamp { seconds: 1_000, nanoseconds: 999_999_999 };
        assert_eq!(clock.after(long_ago), Timestamp { seconds: 1_001, nanoseconds: 0 });
        let ahead = Timestamp { seconds: 10_000_000_000, nanoseconds: 0 };
        clock.saw(ahead);
        clock.saw(long_ago);
        assert!(clock.after(long_ago) >= ahead, "the clock that is furthest ahead counts");
        let later = Timestamp { seconds: 20_000_000_000, nanoseconds: 5 };
        assert_eq!(clock.after(later), Timestamp { nanoseconds: 6, ..later });
    }
}
