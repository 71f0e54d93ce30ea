//! The thread that receives for all and keeps the timers.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use howdah_net::Sent;

use super::carrier::Carrier;

/// Nothing larger comes in a datagram.
const DATAGRAM_MAX: usize = 64 << 10;
/// Datagrams that are taken before timers are looked at again.
const BATCH: usize = 64;

/// The receiving thread.
pub(super) struct Reader {
    carrier: Arc<Carrier>,
    buffer: Vec<u8>,
    /// Since when nothing but silence comes, while calls wait.
    quiet_since: Option<Instant>,
}

impl Reader {
    pub(super) fn new(carrier: Arc<Carrier>) -> Self {
        Self { carrier, buffer: vec![0; DATAGRAM_MAX], quiet_since: None }
    }

    /// Receives until the channel is closed.
    pub(super) fn run(mut self) {
        while !self.carrier.hub.is_closing() {
            let until = self.carrier.tick();
            self.complain(until.is_some());
            if let Err(error) = self.carrier.socket.wait_to_receive(until) {
                tracing::error!(%error, "waiting for datagrams");
            }
            self.receive();
        }
    }

    fn receive(&mut self) {
        for _ in 0..BATCH {
            match self.carrier.socket.receive(&mut self.buffer) {
                Ok(Sent::Bytes(count)) => {
                    self.quiet_since = None;
                    self.carrier.on_datagram(&self.buffer[..count]);
                }
                Ok(Sent::WouldBlock) => return,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => self.carrier.on_refused(error),
                Err(error) => {
                    tracing::debug!(server = %self.carrier.socket.server(), %error, "receiving");
                    return;
                }
            }
        }
    }

    /// Says so when calls wait for long.
    fn complain(&mut self, is_waiting: bool) {
        if !is_waiting {
            self.quiet_since = None;
            return;
        }
        let since = *self.quiet_since.get_or_insert_with(Instant::now);
        self.carrier.hub.complain(self.carrier.socket.server(), since.elapsed());
    }
}
