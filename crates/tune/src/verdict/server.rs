//! Calls that wait in the server: for storage, for a processor, or for one that encrypts.

use super::Verdict;
use super::history::History;
use crate::Interval;

/// A call is being carried out for so much of the time: the server is what the client waits for.
pub const MOSTLY: f64 = 0.5;
/// Processors so busy have no time for us.
pub const ALL_BUSY: f64 = 0.9;

/// Storage, unless no processor is free and most of the calls that are being carried out want one.
pub fn server(interval: &Interval<'_>, history: &History) -> Verdict {
    if starves(interval, history.outstanding().max(1.0)) { Verdict::Processor } else { Verdict::Storage }
}

/// A connection encrypts on one processor at a time. From this part of the time on nothing else can be what limits it: the rest goes
/// for the copies and calls of the kernel around it.
const ONE_IS_BUSY: f64 = 0.5;
/// Where no processor is free: of that part of the time on, less encryption would be noticed.
const NOTICED: f64 = 0.05;

/// A verdict where calls are encrypted: that takes the processor for which they wait.
pub fn with_encryption(interval: &Interval<'_>, verdict: Verdict) -> Verdict {
    let least = match verdict {
        Verdict::Idle => return verdict,
        Verdict::Processor => NOTICED,
        _ => ONE_IS_BUSY,
    };
    if in_cipher(interval) >= least { Verdict::Encrypting } else { verdict }
}

/// In what part of the time the connection was encrypted and decrypted.
pub fn in_cipher(interval: &Interval<'_>) -> f64 {
    interval.share(|sample| sample.gauges.in_cipher)
}

/// Whether no processor is free, and threads of ours that have one or want one are most of so many.
pub fn starves(interval: &Interval<'_>, threads: f64) -> bool {
    let gauges = &interval.after.gauges;
    gauges.processors_busy >= ALL_BUSY && gauges.threads_wanting >= MOSTLY * threads
}
