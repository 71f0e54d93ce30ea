//! What this machine does besides: a measurement of microseconds on a machine that is busy elsewhere, or that its hypervisor
//! takes processors from, shows that and not the forwarder.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context;

/// Ticks of `/proc/stat` in a second (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Processors, in the mean over a time.
#[derive(Debug, Clone, Copy)]
pub struct Elsewhere {
    /// Those that worked.
    pub busy: f64,
    /// Those that the hypervisor gave to somebody else though they had work.
    pub stolen: f64,
}

impl Elsewhere {
    /// While this program does nothing.
    pub fn watch(time: Duration) -> anyhow::Result<Self> {
        let (start, first) = (Instant::now(), ticks()?);
        std::thread::sleep(time);
        let (then, seconds) = (ticks()?, start.elapsed().as_secs_f64());
        let processors = |of: fn(&[u64]) -> u64| (of(&then) - of(&first)) as f64 / TICKS / seconds;
        // User, nice, system; then idle, waiting, interrupts, soft interrupts, stolen (proc_stat(5)).
        Ok(Self {
            busy: processors(|ticks| ticks[..3].iter().chain(&ticks[5..7]).sum()),
            stolen: processors(|ticks| ticks[7]),
        })
    }
}

fn ticks() -> anyhow::Result<Vec<u64>> {
    let text = fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
    let figures = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<u64> = figures.map(str::parse).collect::<Result<_, _>>().context("reading /proc/stat")?;
    anyhow::ensure!(ticks.len() > 7, "/proc/stat tells too little");
    Ok(ticks)
}
