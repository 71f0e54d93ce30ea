//! What the kernel counts of this process, under the names that Prometheus' own clients use.

use std::fs;
use std::io::{Error, ErrorKind, Result};

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

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
    pub fn now() -> Result<Self> {
        let open_files = fs::read_dir("/proc/self/fd")?.count();
        Self::parse(&fs::read_to_string("/proc/self/stat")?, &fs::read_to_string("/proc/stat")?, open_files)
            .ok_or_else(|| Error::new(ErrorKind::InvalidData, "/proc has another form"))
    }

    /// From the files `/proc/self/stat` and `/proc/stat` (proc(5)).
    fn parse(process: &str, machine: &str, open_files: usize) -> Option<Self> {
        // The program's name is in parentheses and may hold anything.
        let (_, process) = process.rsplit_once(')')?;
        // Fields are numbered from 1; the state, behind the name, is the third.
        let field = |number: usize| process.split_whitespace().nth(number - 3)?.parse::<u64>().ok();
        let boot = machine.lines().find_map(|line| line.strip_prefix("btime "))?;
        let seconds = |ticks: u64| ticks as f64 / clock_ticks_per_second() as f64;
        Some(Self {
            cpu_seconds: seconds(field(14)? + field(15)?),
            started_at: boot.trim().parse::<u64>().ok()? as f64 + seconds(field(22)?),
            virtual_bytes: field(23)?,
            resident_bytes: field(24)? * page_size() as u64,
            open_files,
            most_files: getrlimit(Resource::Nofile).current,
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

    #[test]
    fn a_name_may_hold_parentheses_and_blanks() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 1000 4096000 12 0";
        let seen = ProcessUse::parse(stat, "cpu 1 2\nbtime 1700000000\nctxt 3\n", 5).expect("read");
        let ticks = clock_ticks_per_second() as f64;
        assert_eq!((seen.cpu_seconds, seen.started_at), (300.0 / ticks, 1.7e9 + 1_000.0 / ticks));
        assert_eq!((seen.virtual_bytes, seen.resident_bytes), (4_096_000, 12 * page_size() as u64));
    }
}
