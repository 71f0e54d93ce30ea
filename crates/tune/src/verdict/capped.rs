//! Replies that the server holds because their client has used up a cap.

use super::Verdict;
use super::sending::NOTHING;
use super::server::MOSTLY;
use crate::Interval;

/// A verdict where a cap holds replies for most of the time: no other bottleneck matters then. `rate`: bytes per second of the direction.
pub fn with_caps(interval: &Interval<'_>, verdict: Verdict, rate: f64) -> Verdict {
    let is_capped = rate >= NOTHING && interval.share(|sample| sample.gauges.capped) > MOSTLY;
    if is_capped { Verdict::Capped } else { verdict }
}
