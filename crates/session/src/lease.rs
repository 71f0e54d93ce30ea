//! The lease of a client: how long its states are safe, and when the server must hear of it (RFC 8881 8.3).

use std::time::Duration;

/// Until the server has said how long it is, it is taken to be as short as the shortest in use.
const UNKNOWN: Duration = Duration::from_secs(15);
/// The server must hear of the client this many times in a lease.
const TIMES: u32 = 3;

/// The lease. Times are those since the channel was opened.
#[derive(Debug)]
pub struct Lease {
    period: Duration,
    /// When a SEQUENCE last went out.
    asked: Duration,
    /// When the last one went out that the server took.
    renewed: Option<Duration>,
}

impl Default for Lease {
    fn default() -> Self {
        Self { period: UNKNOWN, asked: Duration::ZERO, renewed: None }
    }
}

impl Lease {
    /// The server says how long it is (`lease_time`).
    pub fn set_period(&mut self, period: Duration) {
        self.period = period.max(Duration::from_secs(1));
    }

    /// A SEQUENCE goes out.
    pub fn on_asked(&mut self, now: Duration) {
        self.asked = now;
    }

    /// The server took a SEQUENCE that was sent then. It renews the lease from some time after that.
    pub fn on_renewed(&mut self, sent: Duration) {
        self.renewed = self.renewed.max(Some(sent));
    }

    /// There is another client now, whose lease began then.
    pub fn begin(&mut self, sent: Duration) {
        (self.renewed, self.asked) = (Some(sent), sent);
    }

    /// When a SEQUENCE is due.
    pub fn due(&self) -> Duration {
        self.asked + self.period / TIMES
    }

    /// Until when the server is sure to keep all states.
    pub fn until(&self) -> Option<Duration> {
        Some(self.renewed? + self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn is_certain(lease: &Lease, now: Duration) -> bool {
        lease.until().is_some_and(|until| now < until)
    }

    #[test]
    fn it_is_renewed_from_the_time_of_sending_and_due_after_a_third() {
        let mut lease = Lease::default();
        assert!(!is_certain(&lease, Duration::ZERO));
        lease.set_period(90 * SECOND);
        lease.begin(10 * SECOND);
        assert_eq!(lease.due(), 40 * SECOND);
        assert!(is_certain(&lease, 99 * SECOND) && !is_certain(&lease, 100 * SECOND));
        lease.on_asked(30 * SECOND);
        assert_eq!(lease.due(), 60 * SECOND);
        assert!(!is_certain(&lease, 110 * SECOND), "it was not answered");
        lease.on_renewed(30 * SECOND);
        lease.on_renewed(20 * SECOND);
        assert!(is_certain(&lease, 119 * SECOND) && !is_certain(&lease, 120 * SECOND));
    }
}
