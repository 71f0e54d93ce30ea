//! How busy the processors of this host were of late.

use std::fs;

/// Remembers the last look at `/proc/stat`.
#[derive(Debug, Default)]
pub struct Processors {
    last: Option<Ticks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    total: u64,
}

impl Processors {
    /// What part was busy since the last look; 0 where nothing is known.
    pub fn busy(&mut self) -> f64 {
        let Some(now) = fs::read_to_string("/proc/stat").ok().and_then(|text| parse(&text)) else {
            return 0.0;
        };
        let Some(before) = self.last.replace(now) else { return 0.0 };
        let total = now.total.saturating_sub(before.total);
        let idle = now.idle.saturating_sub(before.idle).min(total);
        if total == 0 { 0.0 } else { (total - idle) as f64 / total as f64 }
    }
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
    fn this_host_is_between_idle_and_busy() {
        let mut processors = Processors::default();
        assert_eq!(processors.busy(), 0.0);
        assert!((0.0..=1.0).contains(&processors.busy()));
    }
}
