//! The runs of the server: what decides whether a lock must be reclaimable.

use std::time::{Duration, Instant};

/// A run of the server.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// It did not run before.
    begin: Instant,
    /// It did not run after.
    end: Option<Instant>,
}

/// All runs so far.
#[derive(Debug)]
pub struct Runs {
    lease: Duration,
    runs: Vec<Run>,
}

impl Runs {
    /// The first run begins, of a server with this lease.
    pub fn begin(lease: Duration) -> Self {
        let mut runs = Self { lease, runs: Vec::new() };
        runs.begins();
        runs
    }

    /// Another run begins.
    pub fn begins(&mut self) {
        self.runs.push(Run { begin: Instant::now(), end: None });
    }

    /// The run is over.
    pub fn ended(&mut self) {
        if let Some(run) = self.runs.last_mut() {
            run.end = Some(Instant::now());
        }
    }

    /// Which run it is.
    pub fn current(&self) -> usize {
        self.runs.len() - 1
    }

    /// Whether a lock of this run, whose holder renewed its lease last at `renewed`, must still be the holder's at `now`: the lease
    /// was good when that run ended, and since then there was no end of a grace.
    pub fn must_last(&self, run: usize, renewed: Instant, now: Instant) -> bool {
        let is_short = |run: &Run, now: Instant| run.end.unwrap_or(now) < run.begin + self.lease;
        let good_until = self.runs[run].end.unwrap_or(now);
        good_until < renewed + self.lease && self.runs[run + 1..].iter().all(|run| is_short(run, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lasts_through_restarts_within_grace() {
        let (lease, begin) = (Duration::from_secs(10), Instant::now());
        let at = |second: u64| begin + Duration::from_secs(second);
        let run = |from, to: Option<u64>| Run { begin: at(from), end: to.map(at) };
        let runs = |runs: &[Run]| Runs { lease, runs: runs.to_vec() };
        assert!(runs(&[run(0, None)]).must_last(0, at(5), at(14)));
        assert!(!runs(&[run(0, None)]).must_last(0, at(5), at(15)));
        assert!(runs(&[run(0, Some(6)), run(20, None)]).must_last(0, at(5), at(29)));
        assert!(!runs(&[run(0, Some(6)), run(20, None)]).must_last(0, at(5), at(30)));
        assert!(!runs(&[run(0, Some(16)), run(20, None)]).must_last(0, at(5), at(21)));
        assert!(runs(&[run(0, Some(6)), run(20, Some(25)), run(40, None)]).must_last(0, at(5), at(41)));
        assert!(!runs(&[run(0, Some(6)), run(20, Some(31)), run(40, None)]).must_last(0, at(5), at(41)));
    }
}
