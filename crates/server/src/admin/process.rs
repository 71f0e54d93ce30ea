//! What the kernel counts of this process, under the names that Prometheus' own clients use.

use procfs::ProcResult;
use procfs::process::{LimitValue, Process};

/// What it uses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessUse {
    /// CPU time, user and system.
    pub cpu_seconds: f64,
    /// Memory that is resident.
    pub resident_bytes: u64,
    /// Address space.
    pub virtual_bytes: u64,
    /// File descriptors that are open, and how many may be; none: no limit.
    pub open_files: usize,
    pub most_files: Option<u64>,
    /// When it was started, in seconds since 1970.
    pub started_at: f64,
}

impl ProcessUse {
    /// As it is now.
    ///
    /// # Errors
    /// There is no `/proc`, or it may not be read.
    pub fn now() -> ProcResult<Self> {
        let process = Process::myself()?;
        let stat = process.stat()?;
        let ticks = procfs::ticks_per_second() as f64;
        let most_files = match process.limits()?.max_open_files.soft_limit {
            LimitValue::Value(most) => Some(most),
            LimitValue::Unlimited => None,
        };
        Ok(Self {
            cpu_seconds: (stat.utime + stat.stime) as f64 / ticks,
            resident_bytes: stat.rss * procfs::page_size(),
            virtual_bytes: stat.vsize,
            open_files: process.fd_count()?,
            most_files,
            started_at: procfs::boot_time_secs()? as f64 + stat.starttime as f64 / ticks,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn this_process_is_seen() {
        let seen = ProcessUse::now().expect("/proc is there");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
        assert!(seen.started_at > 1e9 && seen.started_at < now + 60.0, "{seen:?}");
        assert!(seen.resident_bytes > 100_000 && seen.virtual_bytes > seen.resident_bytes, "{seen:?}");
        assert!(seen.open_files >= 3, "{seen:?}");
    }
}
