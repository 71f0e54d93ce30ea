//! The sizes of all connections of a channel, which share what memory there is: see `howdah-tune`.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use howdah_net::Connection;
use howdah_tune::budget::{Budget, HostMemory};
use howdah_tune::floor::flight_of;
use howdah_tune::host::{Host, SizingMode};
use howdah_tune::{Judgement, Sample, Settings, SizeChange, Tuner};
use howdah_units::size;
use parking_lot::Mutex;

/// Sizes connections, each named by its number.
pub(super) struct Sizes {
    tuner: Option<Mutex<Tuner<u64>>>,
    same_host: bool,
}

/// What came of a look at a connection.
pub(super) struct Looked {
    /// On the time since the last look.
    pub(super) judgement: Option<Judgement>,
    /// When to look again, after this time.
    pub(super) interval: Duration,
}

impl Sizes {
    /// For connections to a server on this host, or not.
    pub(super) fn new(same_host: bool) -> Self {
        let tuner = match this_host() {
            Ok((host, memory)) => Some(Mutex::new(Tuner::new(Settings::automatic(host.clone(), *memory)))),
            Err(error) => {
                tracing::debug!(%error, "asking what this host lets connections have");
                None
            }
        };
        Self { tuner, same_host }
    }

    /// A connection was made.
    pub(super) fn on_open(&self, number: u64, connection: &Connection) {
        let Some(tuner) = &self.tuner else { return };
        let changes = tuner.lock().on_open(number, self.same_host);
        apply(connection, &changes);
    }

    /// A connection is gone, `now` after any fixed moment.
    pub(super) fn on_close(&self, now: Duration, number: u64) {
        if let Some(tuner) = &self.tuner {
            tuner.lock().on_close(now, number);
        }
    }

    /// A look at a connection was taken.
    pub(super) fn on_sample(&self, number: u64, connection: &Connection, sample: Sample) -> Option<Looked> {
        let mut tuner = self.tuner.as_ref()?.lock();
        let changes = tuner.on_sample(number, sample);
        let looked = tuner
            .get(number)
            .map(|sized| Looked { judgement: sized.judgement().copied(), interval: sized.interval() });
        drop(tuner);
        apply(connection, &changes);
        looked
    }

    /// Whether the server is on this host.
    pub(super) fn same_host(&self) -> bool {
        self.same_host
    }

    /// How connections are sized, why, and what would lift it.
    pub(super) fn explain(&self) -> Option<String> {
        let (host, _) = this_host().ok()?;
        Some(if self.same_host {
            "connections have the kernel's buffers, since the server is on this host".to_owned()
        } else {
            explain(host)
        })
    }
}

/// The window to offer from the start, if no more than so many bytes are ever asked for: a whole one, since what does not
/// fit is never asked for, and bbr remembers a small one for seconds (`docs/decisions/0008`).
pub(super) fn first_window(asked_for_most: u64) -> Option<u64> {
    let (host, memory) = this_host().ok()?;
    host.may_force.then(|| asked_for_most.min(Budget::of(memory).for_receiving() / 2))
}

fn explain(host: &Host) -> String {
    match host.mode() {
        SizingMode::Forced => "connections are sized to their path, since we have CAP_NET_ADMIN".to_owned(),
        SizingMode::Unprivileged => format!(
            "connections have the kernel's buffers, at most {} in flight to the server on each, because CAP_NET_ADMIN is missing: several connections make up for it; CAP_NET_ADMIN, or a larger max of net.ipv4.tcp_wmem and tcp_rmem, lifts it",
            size(flight_of(host.send_most()))
        ),
    }
}

fn apply(connection: &Connection, changes: &[SizeChange]) {
    for &change in changes {
        tracing::debug!(peer = %connection.peer(), ?change, "sizing");
        if let Err(error) = connection.apply(change) {
            tracing::debug!(peer = %connection.peer(), ?change, %error, "sizing");
        }
    }
}

/// What this host lets connections have: asked once.
fn this_host() -> io::Result<&'static (Host, HostMemory)> {
    static HOST: OnceLock<(Host, HostMemory)> = OnceLock::new();
    match HOST.get() {
        Some(host) => Ok(host),
        None => {
            let host = (howdah_net::probe_host()?, howdah_net::memory_limits());
            Ok(HOST.get_or_init(|| host))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_says_what_it_is_why_and_what_would_lift_it() {
        let host = Host {
            may_force: true,
            send_autotuned_most: 4 << 20,
            receive_autotuned_most: 32 << 20,
            send_unforced_most: 425_984,
            has_bbr: true,
        };
        assert_eq!(explain(&host), "connections are sized to their path, since we have CAP_NET_ADMIN");
        let ordinary = explain(&Host { may_force: false, ..host });
        assert!(
            ordinary
                .contains("at most 2.8 MB in flight to the server on each, because CAP_NET_ADMIN is missing")
        );
        assert!(ordinary.ends_with("net.ipv4.tcp_wmem and tcp_rmem, lifts it"), "{ordinary}");
    }
}
