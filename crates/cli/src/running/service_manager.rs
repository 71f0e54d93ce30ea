//! What systemd wants to know, if it runs us; without it all of this does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// The service manager.
#[derive(Debug)]
pub struct ServiceManager {
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// Whoever runs us.
    pub fn new() -> Self {
        Self { watchdog: sd_notify::watchdog_enabled() }
    }

    /// How often [`Self::alive`] must be called: twice in the time it waits for a sign.
    pub fn interval(&self) -> Option<Duration> {
        self.watchdog.map(|limit| limit / 2)
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

    /// We still run.
    pub fn alive(&self) {
        if self.watchdog.is_some() {
            tell(&[NotifyState::Watchdog]);
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "telling the service manager");
    }
}
