//! Rules of `[[limit]]`, and what they held.

use super::text::{Kind, MetricsText};
use crate::caps::CapReport;

/// Writes them, if there are any.
pub fn caps(text: &mut MetricsText, caps: &[CapReport]) {
    if caps.is_empty() {
        return;
    }
    let help = "Rates of [[limit]] rules, in bytes or calls per second.";
    text.family("howdah_limit_per_second", Kind::Gauge, None, help);
    for CapReport { rule, .. } in caps {
        for (kind, rate) in [("read", rule.read), ("write", rule.write), ("calls", rule.calls)] {
            if let Some(rate) = rate {
                text.sample(&[("limit", &rule.name), ("kind", kind)], rate);
            }
        }
    }
    let help = "Replies that a [[limit]] rule held.";
    text.family("howdah_limit_held_replies", Kind::Counter, None, help);
    caps.iter().for_each(|cap| text.sample(&[("limit", &cap.rule.name)], cap.held_calls));
    let help = "How long a [[limit]] rule held replies, all together.";
    text.family("howdah_limit_held_seconds", Kind::Counter, Some("seconds"), help);
    caps.iter().for_each(|cap| text.sample(&[("limit", &cap.rule.name)], cap.held.as_secs_f64()));
}
