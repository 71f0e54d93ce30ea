//! The families about TCP connections, all of them together.

use howdah_tune::budget::Pressure;

use super::facts::MetricsFacts;
use super::text::{Kind, MetricsText};
use crate::tuning::pressure;

/// What they hold in the kernel, of what they may.
pub fn memory(text: &mut MetricsText, facts: &MetricsFacts) {
    text.family(
        "howdah_memory_budget_bytes",
        Kind::Gauge,
        Some("bytes"),
        "Max kernel memory of connections.",
    );
    text.sample(&[], facts.budget);
    text.family(
        "howdah_memory_used_bytes",
        Kind::Gauge,
        Some("bytes"),
        "Kernel memory of connections: send queues, and received but not read.",
    );
    text.sample(&[("queue", "sending")], facts.used.sending);
    text.sample(&[("queue", "unread")], facts.used.unread);
    text.family("howdah_memory_pressure", Kind::Gauge, None, "1 for the level in effect.");
    for level in [Pressure::None, Pressure::StopGrowing, Pressure::TakeBack, Pressure::Refuse] {
        text.sample(&[("level", pressure(level))], u8::from(facts.pressure == level));
    }
    text.family(
        "howdah_held_connections",
        Kind::Gauge,
        None,
        "Connections that are paused because memory is short.",
    );
    text.sample(&[], facts.held);
    text.family(
        "howdah_refused_connections",
        Kind::Counter,
        None,
        "Connections refused because memory was short.",
    );
    text.sample(&[], facts.refused);
}

/// What limits connections, all of them together.
pub fn limits(text: &mut MetricsText, facts: &MetricsFacts) {
    text.family(
        "howdah_verdict_seconds",
        Kind::Counter,
        Some("seconds"),
        "Time of all TCP connections, by bottleneck.",
    );
    for (direction, times) in [("sending", &facts.account.sending), ("receiving", &facts.account.receiving)] {
        for (verdict, time) in times {
            text.sample(
                &[("direction", direction), ("verdict", verdict.word())],
                time.as_millis() as f64 / 1e3,
            );
        }
    }
    text.family("howdah_retransmitted_bytes", Kind::Counter, Some("bytes"), "Sent again over TCP.");
    text.sample(&[], facts.account.moved.retransmitted);
}
