//! Processor time of running programs.

use std::fs;

/// Processor seconds that these processes used so far, all their threads, user and system. Those that are gone count nothing.
pub fn processor_seconds(processes: &[u32]) -> f64 {
    let ticks: u64 = processes.iter().filter_map(|id| ticks_of(*id)).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn ticks_of(id: u32) -> Option<u64> {
    ticks(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// `utime` and `stime` of proc_pid_stat(5): the 14th and 15th field. The name before them may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 1 2 20 0 1 0 100 1 1";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("7"), None);
    }

    #[test]
    fn this_process_used_some_and_none_used_none() {
        assert!(ticks_of(std::process::id()).is_some());
        assert_eq!(processor_seconds(&[]), 0.0);
    }
}
