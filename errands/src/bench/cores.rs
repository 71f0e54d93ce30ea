//! Which core belongs to which process: one to the server or the floor, another to the load.

use anyhow::{Context, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The two cores.
#[derive(Debug, Clone, Copy)]
pub struct Cores {
    /// The server's and the floors'.
    pub server: usize,
    /// The load's.
    pub load: usize,
}

impl Cores {
    /// The first two that this process may use.
    pub fn choose() -> anyhow::Result<Self> {
        let allowed = sched_getaffinity(None).context("asking which cores we may use")?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
        let (server, load) = (cores.next(), cores.next());
        ensure!(load.is_some(), "two cores are needed, one for the server and one for the load");
        Ok(Self { server: server.unwrap_or_default(), load: load.unwrap_or_default() })
    }
}

/// Keeps the calling thread, and what it starts from now on, on one core.
pub fn stay_on(core: usize) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("staying on core {core}"))
}

/// Runs `action` on a core and comes back: for starting a process there, which inherits it.
pub fn while_on<T>(core: usize, action: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let before = sched_getaffinity(None).context("asking which cores we may use")?;
    stay_on(core)?;
    let result = action();
    sched_setaffinity(None, &before).context("going back to our cores")?;
    result
}

/// Puts this process, and what it starts from now on, before others, by so many steps of niceness. Where the kernel
/// shares processors among sessions first, the niceness of ours counts.
pub fn go_before_others(steps: i32) -> anyhow::Result<()> {
    let step = "putting ourselves before other processes";
    rustix::process::setpriority_process(None, -steps).context(step)?;
    match std::fs::write("/proc/self/autogroup", format!("{}", -steps)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).context(step),
        _ => Ok(()),
    }
}
