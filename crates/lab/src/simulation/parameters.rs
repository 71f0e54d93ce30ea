//! What is simulated.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use howdah_link::PathSpec;

/// A client reads a file of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The client's rule.
    pub timer: TimerRule,
    /// The path between them.
    pub path: PathSpec,
    /// What part of the fragments is lost, each way, from 0 to 1.
    pub fragment_loss: f64,
    /// Bytes of the file.
    pub size: usize,
    /// Bytes of each READ (`rsize`).
    pub transfer: usize,
    /// Bytes that are asked for ahead of the first one missing: READs at once, whatever their size.
    pub ahead: usize,
    /// Bytes that the program reads with each call of its own.
    pub record: usize,
    /// How long a READ takes the server that finds it in memory.
    pub cached: Duration,
    /// Bytes that one access to the disk fetches.
    pub fetch: usize,
    /// How long such an access takes as a rule.
    pub fetch_time: Duration,
    /// What part of them takes longer, from 0 to 1: the disk has to seek.
    pub disk_share: f64,
    /// How long those take at least.
    pub disk: Duration,
    /// And up to how much longer, evenly spread.
    pub disk_spread: Duration,
    /// What all chance follows from.
    pub seed: u64,
}

/// By which rule a client waits for an answer, and how many calls it has on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerRule {
    /// Waits for 0.7 s, whatever was measured: Linux until 2002. Its window is that of 2003.
    Fixed,
    /// Waits for what was measured, 20 ms of variation at least: Linux 2.4.20 to 2.4.22.
    Ratchet,
    /// The same with 100 ms of variation at least: what was tried in 2003, and is in Linux since.
    RatchetWithFloor,
    /// `howdah_rpc::client::datagram`.
    Today,
}

const RULES: [(&str, TimerRule); 4] = [
    ("fixed", TimerRule::Fixed),
    ("2003", TimerRule::Ratchet),
    ("2003-floor", TimerRule::RatchetWithFloor),
    ("today", TimerRule::Today),
];

impl FromStr for TimerRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = RULES.iter().find(|(name, _)| *name == text).map(|(_, rule)| *rule);
        rule.ok_or_else(|| {
            format!("\"{text}\" is no rule; allowed are {}", RULES.map(|(name, _)| name).join(", "))
        })
    }
}

impl fmt::Display for TimerRule {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = RULES.iter().find(|(_, rule)| rule == self).expect("every rule has a name");
        to.write_str(name)
    }
}

impl Default for Parameters {
    /// The network and the read of the measurements of 2003, and a server that has the file in memory.
    fn default() -> Self {
        let path = howdah_link::profile("lan-100m").expect("it is one of the profiles").path.clone();
        Self {
            timer: TimerRule::Today,
            path,
            fragment_loss: 0.0,
            size: 50 << 20,
            transfer: 8 << 10,
            // Read-ahead of a client of that time: 31 pages and the one that is read.
            ahead: 128 << 10,
            record: 256 << 10,
            cached: Duration::from_micros(200),
            fetch: 128 << 10,
            fetch_time: Duration::ZERO,
            disk_share: 0.0,
            disk: Duration::ZERO,
            disk_spread: Duration::ZERO,
            seed: 2003,
        }
    }
}
