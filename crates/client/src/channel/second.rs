//! Another connection beside a lane's own, tried while the path below that is lost.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use howdah_net::{ConnectSettings, Connecting, Connection};
use parking_lot::{Mutex, MutexGuard};

/// How often a connection is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long one attempt may take: the kernel asks again ever later, a new attempt asks at once.
const ATTEMPT: Duration = Duration::from_secs(2);
/// The same over a long path, in round trips.
const ATTEMPT_ROUND_TRIPS: u32 = 4;
/// From one attempt to the next, where they fail at once.
const PACE: Duration = Duration::from_secs(1);

/// The other connection of a lane.
#[derive(Default)]
pub(super) struct Second(Mutex<Attempts>);

/// How it is tried.
#[derive(Default)]
pub(super) struct Attempts {
    looked: Option<Instant>,
    attempt: Option<Connecting>,
    began: Option<Instant>,
    /// Attempts that failed in this outage: each is to the next of the server's addresses.
    failed: usize,
    /// One that stands.
    made: Option<Connection>,
}

impl Second {
    /// Whether there is a connection to take.
    pub(super) fn stands(&self) -> bool {
        self.0.lock().made.is_some()
    }

    /// The connection that stands, if there is one.
    pub(super) fn take(&self) -> Option<Connection> {
        self.0.lock().made.take()
    }

    /// No other connection is needed.
    pub(super) fn end(&self) {
        *self.0.lock() = Attempts::default();
    }

    /// Returns the attempts if a look is due and no other thread is looking.
    pub(super) fn look(&self, now: Instant) -> Option<MutexGuard<'_, Attempts>> {
        let mut attempts = self.0.try_lock()?;
        let is_due = attempts.looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK);
        is_due.then(|| {
            attempts.looked = Some(now);
            attempts
        })
    }
}

impl Attempts {
    /// Whether another connection stands; otherwise it is tried, to the address that is next after so many failures.
    pub(super) fn stands(
        &mut self,
        address: impl Fn(usize) -> SocketAddr,
        settings: &ConnectSettings,
        round_trip: Duration,
    ) -> bool {
        if self.made.is_some() {
            return true;
        }
        let lasted = self.began.map_or(Duration::MAX, |began| began.elapsed());
        let outcome = match self.attempt.take() {
            None if lasted < PACE => return false,
            None => self.begin(address(self.failed), settings),
            Some(attempt) => match attempt.is_made() {
                Ok(true) => attempt.finish().map(|made| self.made = Some(made)),
                Ok(false) if lasted < ATTEMPT.max(round_trip * ATTEMPT_ROUND_TRIPS) => {
                    self.attempt = Some(attempt);
                    return false;
                }
                Ok(false) => Err(ErrorKind::TimedOut.into()),
                Err(error) => Err(error),
            },
        };
        if let Err(error) = outcome {
            tracing::debug!(address = %address(self.failed), %error, "connecting a second time");
            self.failed += 1;
        }
        self.made.is_some()
    }

    /// No other connection is needed, for now.
    pub(super) fn end(&mut self) {
        (self.attempt, self.began, self.failed, self.made) = Default::default();
    }

    fn begin(&mut self, address: SocketAddr, settings: &ConnectSettings) -> io::Result<()> {
        self.began = Some(Instant::now());
        self.attempt = Some(Connecting::begin(address, settings)?);
        Ok(())
    }
}
