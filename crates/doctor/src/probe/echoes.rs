//! Trains of small packets that come back: how long they take, how many are lost, how many are overtaken.

use std::io;
use std::time::{Duration, Instant};

use howdah_net::Echoed;

use super::Bouncing;
use crate::facts::TrainFacts;

/// Bytes of a small packet: what a GETATTR takes.
const SMALL: usize = 128;
/// After the last one, what still is on its way is waited for as long, at least.
const STRAGGLERS: Duration = Duration::from_millis(500);

/// Sends so many, so far apart, from this number on.
///
/// # Errors
/// The kernel does not send them.
pub fn train(echo: &dyn Bouncing, first: u16, count: u16, apart: Duration) -> io::Result<TrainFacts> {
    let begin = Instant::now();
    let mut seen =
        Seen { first, sent: Vec::with_capacity(count.into()), trips: Vec::new(), latest: None, overtaken: 0 };
    for index in 0..count {
        let due = begin + apart * u32::from(index);
        while let Some(left) = due.checked_duration_since(Instant::now()) {
            seen.note(echo.receive(left)?);
        }
        // Before it is sent: who loses the processor in between must not find the path shorter than it is.
        seen.sent.push(Instant::now());
        // A full queue of our own is no loss of the path.
        while let Err(error) = echo.send(first.wrapping_add(index), SMALL.max(echo.shortest())) {
            if error.kind() != io::ErrorKind::WouldBlock && error.raw_os_error() != Some(NO_BUFFERS) {
                return Err(error);
            }
            seen.note(echo.receive(Duration::from_millis(1))?);
        }
    }
    let longest = seen.trips.iter().max().copied().unwrap_or_default();
    let until = Instant::now() + STRAGGLERS.max(longest * 3);
    while seen.trips.len() < usize::from(count) && Instant::now() < until {
        seen.note(echo.receive(until.saturating_duration_since(Instant::now()))?);
    }
    Ok(TrainFacts { by: echo.by().to_owned(), ..seen.facts() })
}

/// `ENOBUFS`
const NO_BUFFERS: i32 = 105;

/// What came so far.
struct Seen {
    first: u16,
    sent: Vec<Instant>,
    trips: Vec<Duration>,
    latest: Option<usize>,
    overtaken: u64,
}

impl Seen {
    fn note(&mut self, what: Echoed) {
        let Echoed::Came(number) = what else { return };
        let index = usize::from(number.wrapping_sub(self.first));
        // One of an earlier train, come late.
        let Some(sent) = self.sent.get(index) else { return };
        self.trips.push(sent.elapsed());
        if self.latest.is_some_and(|latest| latest > index) {
            self.overtaken += 1;
        } else {
            self.latest = Some(index);
        }
    }

    fn facts(mut self) -> TrainFacts {
        self.trips.sort_unstable();
        let at = |part: f64| {
            let index = (self.trips.len().saturating_sub(1) as f64 * part).round() as usize;
            self.trips.get(index).map(Duration::as_secs_f64)
        };
        TrainFacts {
            by: String::new(),
            sent: self.sent.len() as u64,
            arrived: None,
            came: self.trips.len() as u64,
            overtaken: self.overtaken,
            least: at(0.0),
            median: at(0.5),
            slow: at(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_was_overtaken_and_strangers_do_not_count() {
        let now = Instant::now();
        let mut seen =
            Seen { first: 65_534, sent: vec![now; 4], trips: Vec::new(), latest: None, overtaken: 0 };
        for number in [65_534, 0, 65_535, 9] {
            seen.note(Echoed::Came(number));
        }
        seen.note(Echoed::Nothing);
        let facts = seen.facts();
        assert_eq!((facts.sent, facts.came, facts.overtaken), (4, 3, 1));
        assert!(facts.least <= facts.median && facts.median <= facts.slow);
    }
}
