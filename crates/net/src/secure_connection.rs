//! An outgoing connection with TLS: the handshake, and what each of its calls does then. No thread holds the session while it waits.

use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use howdah_tls::{CertificateFacts, SEAL_MAX, TlsSession};

use crate::connect::{Connection, Readiness};
use crate::secured::Secured;
use crate::transfer::{Place, Sent, Wait};

/// So much is received at a time, in bytes.
const PIECE: usize = 128 << 10;

thread_local! {
    /// What is read of a file before it is sealed.
    static READ: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Connection {
    /// Makes a handshake: all that is sent and received from then on is TLS. Nothing may have been received that was not taken.
    ///
    /// # Errors
    /// The peer is not who it should be, refuses us (both `InvalidData`), ends the connection, or takes longer than until `deadline`.
    pub fn secure(mut self, session: TlsSession, deadline: Instant) -> io::Result<Self> {
        let tls = Box::new(Secured::new(session, &[]));
        loop {
            let has_sent = tls.flush(self.as_fd())?;
            if has_sent && !tls.ask(TlsSession::is_handshaking) {
                break;
            }
            self.wait_until(deadline, !has_sent)?;
            match tls.receive(&mut [], self.as_fd()) {
                Ok(Sent::WouldBlock) => {}
                // The handshake came to its end, with nothing behind it.
                Ok(Sent::Bytes(_)) if !tls.ask(TlsSession::is_handshaking) => {}
                Ok(Sent::Bytes(_)) => {
                    return Err(io::Error::new(
                        ErrorKind::UnexpectedEof,
                        "the server ended the connection in the handshake",
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        self.tls = Some(tls);
        Ok(self)
    }

    /// Whether TLS protects it.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some() || self.quic().is_some()
    }

    /// What the handshake agreed on: the cipher suite, and what the server's certificate says.
    pub fn tls_facts(&self) -> Option<(&'static str, Option<CertificateFacts>)> {
        if let Some(lane) = self.quic() {
            return Some(("TLS 1.3 (QUIC)", lane.certificate().map(|certificate| (*certificate).clone())));
        }
        let tls = self.tls.as_ref()?;
        tls.ask(|session| Some((session.suite()?, session.peer_certificate())))
    }

    fn wait_until(&self, deadline: Instant, wants_room: bool) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(
                ErrorKind::TimedOut,
                "the server did not finish the handshake in time",
            ));
        }
        self.wait(Readiness { readable: true, writable: wants_room }, left).map(|_| ())
    }

    /// As [`Connection::receive`]: as much as there is, up to a piece for each call.
    pub(crate) fn receive_opened(
        &self,
        tls: &Secured,
        places: &mut [Place<'_>],
        wait: Wait,
    ) -> io::Result<Sent> {
        let Some(place) = places.iter_mut().find(|place| place.most > 0) else { return Ok(Sent::WouldBlock) };
        let first = self.receive_into(tls, place)?;
        if first != Sent::WouldBlock || wait == Wait::No {
            return Ok(first);
        }
        if !self.wait(Readiness { readable: true, writable: false }, self.tick)?.readable {
            return Ok(Sent::WouldBlock);
        }
        self.receive_into(tls, place)
    }

    fn receive_into(&self, tls: &Secured, place: &mut Place<'_>) -> io::Result<Sent> {
        let before = place.buffer.len();
        place.buffer.resize(before + place.most.min(PIECE), 0);
        let received = tls.receive(&mut place.buffer[before..], self.as_fd());
        let count = if let Ok(Sent::Bytes(count)) = &received { *count } else { 0 };
        place.buffer.truncate(before + count);
        received
    }

    /// As [`Connection::send_file`]: the file is read here, a piece for each call.
    pub(crate) fn send_file_sealed(
        &self,
        tls: &Secured,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> io::Result<Sent> {
        READ.with_borrow_mut(|read| {
            read.resize(SEAL_MAX, 0);
            match rustix::io::pread(file, &mut read[..length.min(SEAL_MAX)], offset)? {
                0 => Ok(Sent::Bytes(0)),
                count => tls.send(&[IoSlice::new(&read[..count])], self.as_fd()),
            }
        })
    }
}
