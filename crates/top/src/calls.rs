//! Calls between two looks: how many a second, how they ended, how long they took.

use howdah_server::admin::Procedure;
use serde::Serialize;

/// Of some calls. Without a rate where there was but one look.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Calls {
    /// How many a second.
    pub calls_per_second: Option<f64>,
    /// Those with a status other than OK.
    pub errors_per_second: Option<f64>,
    /// Bytes of calls.
    pub received_per_second: Option<f64>,
    /// Bytes of replies.
    pub sent_per_second: Option<f64>,
    /// From a call being complete to its reply being handed to the socket.
    pub mean_seconds: Option<f64>,
    /// What half of them stayed below.
    pub p50_seconds: Option<f64>,
    /// What ninety-nine of a hundred stayed below.
    pub p99_seconds: Option<f64>,
    /// The part of that time within the file system.
    pub storage_part: Option<f64>,
}

impl Calls {
    /// Of what was counted in so many seconds.
    pub fn of(counted: &Procedure, seconds: f64) -> Self {
        let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        let latency = &counted.latency;
        let whole = (latency.seconds > 0.0).then_some(latency.seconds);
        Self {
            calls_per_second: rate(counted.calls),
            errors_per_second: rate(counted.errors.values().sum()),
            received_per_second: rate(counted.received),
            sent_per_second: rate(counted.sent),
            mean_seconds: latency.mean_seconds(),
            p50_seconds: latency.p50_seconds,
            p99_seconds: latency.p99_seconds,
            storage_part: whole.map(|whole| (counted.storage_seconds / whole).min(1.0)),
        }
    }
}
