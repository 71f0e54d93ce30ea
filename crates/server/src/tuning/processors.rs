//! How busy the processors of this host were of late, and how many threads of ours had one or wanted one.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What was found between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessorLoad {
    /// What part of all processors was busy; 0 where nothing is known.
    pub busy: f64,
    /// What part of all processors this process used; `None` where nothing is known.
    pub own: Option<f64>,
    /// How many threads of ours had one or wanted one, on average; 0 where nothing is known.
    pub threads_wanting: f64,
}

/// Remembers the last look at `/proc/stat`, and at what the scheduler says of our threads.
#[derive(Debug, Default)]
pub struct Processors {
    last: Option<Ticks>,
    /// What this process had used until then.
    used: Option<Duration>,
    /// When it was, and how long our threads had run or wanted to until then.
    wanted: Option<(Duration, Duration)>,
}

/// Of `/proc/stat`: `USER_HZ`, which is the same on all of Linux's platforms but Alpha.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    total: u64,
}

impl Ticks {
    fn busy(self) -> u64 {
        self.total - self.idle
    }
}

impl Processors {
    /// What happened since the last look.
    pub fn load(&mut self, now: Duration) -> ProcessorLoad {
        let passed = self.passed().unwrap_or_default();
        let own = self.used().filter(|_| passed.total > 0);
        ProcessorLoad {
            busy: if passed.total == 0 { 0.0 } else { passed.busy() as f64 / passed.total as f64 },
            own: own.map(|own| (own.as_secs_f64() * TICKS_PER_SECOND / passed.total as f64).min(1.0)),
            threads_wanting: self.threads_wanting(now),
        }
    }

    /// What the processors did since the last look.
    fn passed(&mut self) -> Option<Ticks> {
        let now = fs::read_to_string("/proc/stat").ok().and_then(|text| parse(&text))?;
        let before = self.last.replace(now)?;
        let total = now.total.saturating_sub(before.total);
        Some(Ticks { idle: now.idle.saturating_sub(before.idle).min(total), total })
    }

    /// What this process used of them since then.
    fn used(&mut self) -> Option<Duration> {
        let now = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).ok()?;
        self.used.replace(now).map(|before| now.saturating_sub(before))
    }

    fn threads_wanting(&mut self, now: Duration) -> f64 {
        let wanted = wanted_by_threads();
        let Some((at, before)) = self.wanted.replace((now, wanted)) else { return 0.0 };
        let passed = now.saturating_sub(at).as_secs_f64();
        if passed > 0.0 { wanted.saturating_sub(before).as_secs_f64() / passed } else { 0.0 }
    }
}

/// How long all threads of this process have run or waited for a processor, those that have ended left out.
fn wanted_by_threads() -> Duration {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let shares =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    shares.filter_map(|text| wanted(&text)).sum()
}

/// Nanoseconds on a processor, nanoseconds waiting for one, and how often (sched-stats of the kernel's documentation).
fn wanted(text: &str) -> Option<Duration> {
    let mut words = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    Some(Duration::from_nanos(words.next()?? + words.next()??))
}

/// The first line: user, nice, system, idle, waiting for I/O, … (proc_stat(5)). Who waits for I/O leaves the processor free.
fn parse(text: &str) -> Option<Ticks> {
    let words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    Some(Ticks {
        idle: ticks.get(3)? + ticks.get(4).copied().unwrap_or(0),
        total: ticks.iter().take(8).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_ticks_are_those_of_nobody() {
        let text = "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3 4\n";
        assert_eq!(parse(text), Some(Ticks { idle: 850, total: 1000 }));
        assert_eq!(parse("intr 1 2 3"), None);
    }

    #[test]
    fn a_thread_wants_what_it_has_and_what_it_waits_for() {
        assert_eq!(wanted("1500000000 500000000 3\n"), Some(Duration::from_secs(2)));
        assert_eq!(wanted("1500000000"), None);
    }

    #[test]
    fn this_host_is_between_idle_and_busy() {
        let mut processors = Processors::default();
        assert_eq!(processors.load(Duration::ZERO), ProcessorLoad::default());
        let load = processors.load(Duration::from_secs(1));
        assert!((0.0..=1.0).contains(&load.busy) && load.threads_wanting >= 0.0, "{load:?}");
    }

    #[test]
    fn a_thread_that_computes_is_our_own_use() {
        let mut processors = Processors::default();
        processors.load(Duration::ZERO);
        let mut load = ProcessorLoad::default();
        // Until the kernel has counted a tick.
        while load.own.is_none_or(|own| own == 0.0) {
            std::hint::black_box((0..100_000).sum::<u64>());
            load = processors.load(Duration::from_secs(1));
        }
        assert!(load.own.is_some_and(|own| own <= 1.0), "{load:?}");
    }
}
