//! The handshake of TLS on a connection: begun, followed, and given up if it takes too long.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_net::Stream;

use super::inbox::Received;
use crate::limits::HANDSHAKE_PATIENCE;
use crate::secure::{Permit, TlsDoor};

/// What is known of a connection's handshake.
#[derive(Debug, Default)]
pub struct Securing {
    is_under_way: AtomicBool,
    permit: Mutex<Option<Permit>>,
}

impl Securing {
    /// From now on the stream is TLS: `received` of it has come, and `last` goes before it in the clear.
    ///
    /// # Errors
    /// It may not begin; the connection is of no use.
    pub fn begin(&self, door: &TlsDoor, stream: &Stream, received: &[u8], last: &[u8]) -> io::Result<()> {
        let (session, permit) = door.begin(stream.peer())?;
        *self.permit.lock() = Some(permit);
        self.is_under_way.store(true, Ordering::SeqCst);
        stream.start_tls(session, received, last)
    }

    /// Something was received: looks what became of the handshake, if one is under way.
    pub fn follow(
        &self,
        door: Option<&TlsDoor>,
        stream: &Stream,
        received: io::Result<Received>,
    ) -> io::Result<Received> {
        let (true, Some(door)) = (self.is_under_way(), door) else { return received };
        match &received {
            Err(error) => self.fail(door, stream, error),
            Ok(_) if !stream.is_handshaking() => self.finish(door, stream),
            Ok(Received::End) => self.fail(door, stream, &"the client ended the connection"),
            Ok(_) => {}
        }
        received
    }

    /// Whether it has begun and not ended.
    pub fn is_under_way(&self) -> bool {
        self.is_under_way.load(Ordering::Relaxed)
    }

    /// Why the connection must go: its handshake takes too long.
    pub fn is_late(&self, door: Option<&TlsDoor>, stream: &Stream, now: Instant) -> Option<&'static str> {
        const WHY: &str = "the TLS handshake took too long";
        if !self.is_under_way() {
            return None;
        }
        let is_late = |permit: &Permit| now.saturating_duration_since(permit.began) > HANDSHAKE_PATIENCE;
        let late = self.permit.lock().as_ref().is_some_and(is_late);
        let door = door.filter(|_| late)?;
        self.fail(door, stream, &WHY);
        Some(WHY)
    }

    fn finish(&self, door: &TlsDoor, stream: &Stream) {
        if let Some(permit) = self.end() {
            door.on_done();
            let (peer, suite) = (stream.peer(), stream.suite().unwrap_or("unknown"));
            let certificate = peer.certificate.as_ref().map(|certificate| certificate.name());
            let took: Duration = permit.began.elapsed();
            tracing::debug!(client = %peer.ends.client, suite, certificate, ?took, "TLS begins");
        }
    }

    fn fail(&self, door: &TlsDoor, stream: &Stream, why: &dyn std::fmt::Display) {
        if self.end().is_some() {
            door.on_failed(stream.peer(), why);
        }
    }

    fn end(&self) -> Option<Permit> {
        let permit = self.permit.lock().take();
        self.is_under_way.store(false, Ordering::SeqCst);
        permit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::tests::{connected, door};

    #[test]
    fn a_handshake_that_stops_half_way_is_given_up() {
        let door = door();
        let (stream, _client) = connected();
        let (securing, began) = (Securing::default(), Instant::now());
        let is_late = |after| securing.is_late(Some(&door), &stream, began + after);
        assert_eq!(is_late(HANDSHAKE_PATIENCE * 2), None, "none is under way");
        securing.begin(&door, &stream, &[0x16, 3], &[]).expect("begun");
        assert_eq!((is_late(HANDSHAKE_PATIENCE), door.under_way()), (None, 1));
        assert!(is_late(HANDSHAKE_PATIENCE + Duration::from_secs(1)).is_some());
        assert_eq!(door.under_way(), 0, "its place is free");
        let failed =
            door.figures().counts().iter().find(|(end, _)| *end == "failed").map(|(_, count)| *count);
        assert_eq!(failed, Some(1));
    }
}
