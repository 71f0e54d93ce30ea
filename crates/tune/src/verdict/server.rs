//! Calls that wait in the server: for storage, or for a processor.

use super::Verdict;
use super::history::History;
use super::sending::{ALL_BUSY, MOSTLY};
use crate::Interval;

/// Storage, unless no processor is free and most of the calls that are being carried out want one.
pub fn server(interval: &Interval<'_>, history: &History) -> Verdict {
    if starves(interval, history.outstanding().max(1.0)) { Verdict::Processor } else { Verdict::Storage }
}

/// Whether no processor is free, and threads of ours that have one or want one are most of so many.
pub fn starves(interval: &Interval<'_>, threads: f64) -> bool {
    let gauges = &interval.after.gauges;
    gauges.processors_busy >= ALL_BUSY && gauges.threads_wanting >= MOSTLY * threads
}
