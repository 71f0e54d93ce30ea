//! CPU time that programs outside the laboratory took. Inside a sandbox `/proc` lists the laboratory's processes alone, but
//! `/proc/stat` counts the whole machine: the rest is others', the kernel's own threads and other virtual machines included.

use std::fs;

use serde::{Deserialize, Serialize};

/// From this share of all CPUs on, figures of a cell may be those of the machine and not of what was measured.
const BUSY_SHARE: f64 = 0.1;

/// What others took while a cell was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OtherLoad {
    /// Their CPU time.
    pub seconds: f64,
    /// The same as a share of the time of all CPUs.
    pub share: f64,
}

impl OtherLoad {
    /// Whether they took so much that the figures are in doubt.
    pub fn is_busy(&self) -> bool {
        self.share > BUSY_SHARE
    }

    /// That share, for a reader: "34 %".
    pub fn percent(&self) -> String {
        format!("{:.0} %", self.share * 100.0)
    }
}

/// A look at the machine's CPU time, in ticks since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuLook {
    /// Of all CPUs, idle or not.
    all: u64,
    /// What they worked, and what a hypervisor took from them.
    busy: u64,
    /// What the processes that `/proc` lists, and their children that ended, worked.
    own: u64,
}

impl CpuLook {
    /// Now; none if the kernel does not report it.
    pub fn now() -> Option<Self> {
        let own = own_ticks();
        let (all, busy) = machine_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
        Some(Self { all, busy, own })
    }

    /// What others took since an earlier look; none if no CPU time passed.
    pub fn others_since(&self, earlier: &Self) -> Option<OtherLoad> {
        let all = self.all.checked_sub(earlier.all).filter(|ticks| *ticks > 0)?;
        let busy = self.busy.saturating_sub(earlier.busy);
        let own = self.own.saturating_sub(earlier.own);
        // Each clock is rounded to ticks by itself: ours may seem to have worked more than all.
        let others = busy.saturating_sub(own).min(all) as f64;
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        Some(OtherLoad { seconds: others / per_second, share: others / all as f64 })
    }
}

/// All ticks and the busy ones of the line `cpu` of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal.
fn machine_ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, waiting, rest @ ..] = &ticks[..] else { return None };
    let busy = user + nice + system + rest.iter().sum::<u64>();
    Some((busy + idle + waiting, busy))
}

fn own_ticks() -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_process));
    // One that ends meanwhile is counted by its parent at the next look.
    let stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter_map(|stat| process_ticks(&stat)).sum()
}

/// `utime`, `stime`, `cutime` and `cstime` of proc_pid_stat(5), the 14th to the 17th field: its own time, and that of its
/// children that were waited for. The name before them may hold anything.
fn process_ticks(stat: &str) -> Option<u64> {
    let fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).take(4);
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 4).then(|| ticks.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let stat = "cpu  100 10 50 800 20 3 7 10 99 99\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(machine_ticks(stat), Some((1000, 180)), "guests are in user already");
        assert_eq!(machine_ticks("cpu  1 2 3 4 5\n"), Some((15, 6)), "an old kernel");
        assert_eq!(machine_ticks("cpu0 1 2 3 4 5\n"), None);
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 30 4 20 0 1 0 100 1 1";
        assert_eq!(process_ticks(stat), Some(334));
        assert_eq!(process_ticks("7 (a) S 1"), None);
    }

    #[test]
    fn others_took_what_is_not_ours() {
        let earlier = CpuLook { all: 10_000, busy: 4000, own: 1000 };
        for (all, busy, own, share) in [
            (11_000, 4500, 1200, Some(0.3)),
            (11_000, 4500, 1500, Some(0.0)),
            // Rounded clocks, and a process that nobody waited for.
            (11_000, 4500, 1502, Some(0.0)),
            (11_000, 4500, 900, Some(0.5)),
            (10_000, 4000, 1000, None),
            (9000, 4000, 1000, None),
        ] {
            let others = CpuLook { all, busy, own }.others_since(&earlier);
            assert_eq!(others.map(|others| others.share), share, "{all} {busy} {own}");
        }
        let others = CpuLook { all: 11_000, busy: 4500, own: 1200 }.others_since(&earlier).expect("some");
        assert_eq!(others.seconds, 300.0 / rustix::param::clock_ticks_per_second() as f64);
        assert_eq!(others.percent(), "30 %");
    }

    #[test]
    fn a_cell_is_in_doubt_above_a_tenth() {
        for (share, busy) in [(0.0, false), (0.1, false), (0.101, true), (1.0, true)] {
            assert_eq!(OtherLoad { seconds: 1.0, share }.is_busy(), busy, "{share}");
        }
    }

    #[test]
    fn this_machine_tells() {
        let look = CpuLook::now().expect("a kernel with /proc");
        assert!(look.busy <= look.all && look.busy > 0);
    }
}
