//! What listeners offer whoever connects, and what came of it.

use std::time::Duration;

use howdah_tune::Gauges;
use howdah_tune::sizes::UNSENT_MIN;

use super::networks::NetworkSizes;
use super::telling::{apply, ask};
use crate::connection::Connection;
use crate::shared::Shared;

/// What a connection may hold unsent until it is known how fast its peer takes it. Of a peer on this host the kernel would queue
/// megabytes at once: a crowd that asks for much and reads nothing would use up the memory of TCP before anybody had looked at it.
pub const FIRST_MARK: u64 = UNSENT_MIN;

/// What listeners were told last.
#[derive(Debug)]
pub struct Offers {
    window: Option<u64>,
    /// They cannot be told, so nobody tries again.
    is_impossible: bool,
}

impl Offers {
    /// Where some networks have receive buffers of their own, listeners stay as the kernel has them: who connects is known only
    /// when the window is promised already.
    pub fn beside(networks: &[NetworkSizes]) -> Self {
        let is_impossible = networks.iter().any(|network| network.own.receive_buffer.is_some());
        Self { window: None, is_impossible }
    }

    /// Tells listeners what to offer from now on, if that has changed.
    pub fn turn(&mut self, shared: &Shared) {
        let window = if self.is_impossible { None } else { shared.tuner.lock().first_window() };
        if window == self.window {
            return;
        }
        for listener in &shared.listeners {
            if let Err(error) = listener.offer(window) {
                tracing::debug!(address = %listener.address(), ?window, %error, "offering a window");
                self.is_impossible = true;
            }
        }
        tracing::debug!(?window, "offered to new connections");
        self.window = window;
    }

    /// Tells the tuner what a new connection has from its listener.
    pub fn on_new(&self, shared: &Shared, connection: &Connection) {
        let sample = connection.stream().sample(Duration::ZERO, &Gauges::default());
        let Ok(sample) = sample else { return };
        let buffer = sample.receiving.buffer;
        let changes = ask(shared, |tuner| tuner.on_inherited(connection.token(), buffer, FIRST_MARK));
        apply(connection, &changes);
    }
}
