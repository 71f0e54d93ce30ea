//! What systemd wants to know, if it runs us; without it all of this does nothing.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// The service manager.
#[derive(Debug)]
pub struct ServiceManager {
    watchdog: Option<Watchdog>,
}

/// A service manager that takes us for dead if we give no sign of life.
#[derive(Debug)]
struct Watchdog {
    every: Duration,
    due: Instant,
}

impl ServiceManager {
    /// The service manager that runs us, if one does.
    pub fn of_this_process() -> Self {
        // Twice in the time that it waits.
        let watchdog =
            sd_notify::watchdog_enabled().map(|limit| Watchdog { every: limit / 2, due: Instant::now() });
        Self { watchdog }
    }

    /// How soon [`Self::alive`] must be called.
    pub fn due_in(&self) -> Option<Duration> {
        self.watchdog.as_ref().map(|watchdog| watchdog.due.saturating_duration_since(Instant::now()))
    }

    /// We serve.
    pub fn ready(&self, status: &str) {
        tell(&[NotifyState::Ready, NotifyState::Status(status)]);
    }

    /// We read the configuration again; [`Self::ready`] follows.
    pub fn reloading(&self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => tell(&[NotifyState::Reloading, now]),
            Err(_) => tell(&[NotifyState::Reloading]),
        }
    }

    /// We end.
    pub fn stopping(&self) {
        tell(&[NotifyState::Stopping]);
    }

    /// Reports that we still run, when that is due, however often this is called.
    pub fn alive(&mut self) {
        let now = Instant::now();
        if let Some(watchdog) = self.watchdog.as_mut().filter(|watchdog| watchdog.due <= now) {
            watchdog.due = now + watchdog.every;
            tell(&[NotifyState::Watchdog]);
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "notifying the service manager");
    }
}
