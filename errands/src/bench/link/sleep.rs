//! How late this machine wakes up whoever sleeps until a time: what no program on it can do better, unless it stays awake.

use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};

/// Of so many sleeps, each until the next multiple of `every`.
pub fn lateness(count: u32, every: Duration) -> anyhow::Result<Vec<Duration>> {
    std::thread::scope(|scope| scope.spawn(|| sleep(count, every)).join().expect("it does not panic"))
}

fn sleep(count: u32, every: Duration) -> anyhow::Result<Vec<Duration>> {
    rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN))?;
    let start = Instant::now();
    let until = |number| {
        let at = start + every * number;
        poll(&mut [], Some(&Timespec::try_from(at.saturating_duration_since(Instant::now()))?))?;
        anyhow::Ok(at.elapsed())
    };
    (1..=count).map(until).collect()
}
