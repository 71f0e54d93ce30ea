//! A connection's bytes as records of TLS: received, opened, sealed and sent. Buffers belong to threads; a connection keeps only
//! what is not whole yet, and what the socket did not take.

use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use howdah_tls::{SEAL_MAX, SEALED_MAX, TlsError, TlsSession};
use rustix::net::{RecvFlags, SendFlags};

use crate::transfer::{Sent, outcome};

/// The most that is received at once, in bytes.
const RECEIVE_MAX: usize = 128 << 10;
/// The least: a record and what is around it (RFC 8446 5.2), so that it comes whole.
const RECEIVE_MIN: usize = 17 << 10;

/// So many sealed bytes of all connections may wait for sockets that take none, before less is sealed at once.
const UNSENT_BUDGET: usize = 64 << 20;
/// What is sealed at once then, in bytes: one record.
const RECORD: usize = 16 << 10;

/// Sealed bytes of all connections that wait for their sockets.
static UNSENT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What this thread receives into, gathers in, and seals into.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

#[derive(Default)]
struct Memory {
    received: Vec<u8>,
    gathered: Vec<u8>,
    sealed: Vec<u8>,
}

/// From so many bytes on it is measured how long they take to seal or to open.
const MEASURED_MIN: usize = 8 << 10;

/// A session on a socket. Both directions share it: sealing needs what is half received.
#[derive(Debug)]
pub struct Secured {
    state: Mutex<State>,
    /// Nanoseconds in which bulk was sealed and opened.
    in_cipher: AtomicU64,
}

#[derive(Debug)]
struct State {
    session: TlsSession,
    /// The beginning of a record that is not whole yet.
    kept: Vec<u8>,
    /// Nobody has looked at it.
    is_fresh: bool,
    /// Plaintext that nobody has taken yet, from `taken` on.
    plain: Vec<u8>,
    taken: usize,
    /// Records that the socket has not taken yet.
    unsent: Vec<u8>,
    /// Bytes of plaintext in them, which the sender counts as sent once they are gone.
    promised: usize,
    /// Why it is of no use any more.
    failed: Option<TlsError>,
    /// Measured, and not reported yet.
    in_cipher: Duration,
}

impl Secured {
    /// A session on a socket, from which `received` has come already.
    pub fn new(session: TlsSession, received: &[u8]) -> Self {
        let state = Mutex::new(State {
            session,
            kept: received.to_vec(),
            is_fresh: true,
            plain: Vec::new(),
            taken: 0,
            unsent: Vec::new(),
            promised: 0,
            failed: None,
            in_cipher: Duration::ZERO,
        });
        Self { state, in_cipher: AtomicU64::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the session knows.
    pub fn ask<T>(&self, ask: impl FnOnce(&TlsSession) -> T) -> T {
        ask(&self.state().session)
    }

    /// For how long bulk was sealed and opened so far. Records of less than 8 KiB do not count.
    pub fn in_cipher(&self) -> Duration {
        Duration::from_nanos(self.in_cipher.load(Ordering::Relaxed))
    }

    /// Reports what a step of the state has measured.
    fn tell(&self, state: &mut State) {
        let spent = std::mem::take(&mut state.in_cipher);
        if !spent.is_zero() {
            let nanoseconds = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
            self.in_cipher.fetch_add(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Whether plaintext waits that [`Self::receive`] gives without the socket.
    pub fn keeps_bytes(&self) -> bool {
        let state = self.state();
        state.taken < state.plain.len()
    }

    /// Receives plaintext; 0 bytes: the peer has ended. While the handshake goes on, there is none.
    ///
    /// # Errors
    /// The socket's, or the session is over (`InvalidData`).
    pub fn receive(&self, buffer: &mut [u8], socket: BorrowedFd<'_>) -> io::Result<Sent> {
        let mut state = self.state();
        let mut given = state.give(buffer);
        let received = MEMORY.with_borrow_mut(|memory| {
            while given == 0 || buffer.len() - given >= RECEIVE_MIN {
                match state.receive(&mut buffer[given..], &mut memory.received, socket) {
                    Ok(Sent::Bytes(0)) if given == 0 => return Ok(Sent::Bytes(0)),
                    Ok(Sent::WouldBlock) if given == 0 => return Ok(Sent::WouldBlock),
                    Ok(Sent::Bytes(0) | Sent::WouldBlock) => break,
                    Ok(Sent::Bytes(count)) => given += count,
                    // The error comes again when what came before it has been taken.
                    Err(_) if given > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(Sent::Bytes(given))
        });
        self.tell(&mut state);
        received
    }

    /// Seals and sends; says how many bytes of plaintext went. Where the socket does not take all that was sealed, that waits
    /// here, and the sender gets `WouldBlock`: the same bytes must come first the next time.
    ///
    /// # Errors
    /// The socket's, or the session is over (`InvalidData`).
    pub fn send(&self, pieces: &[IoSlice<'_>], socket: BorrowedFd<'_>) -> io::Result<Sent> {
        let mut state = self.state();
        if !state.flush(socket)? {
            return Ok(Sent::WouldBlock);
        }
        match std::mem::take(&mut state.promised) {
            0 => {}
            promised => return Ok(Sent::Bytes(promised)),
        }
        MEMORY.with_borrow_mut(|memory| {
            let Memory { gathered, sealed, .. } = memory;
            let most = if UNSENT.load(Ordering::Relaxed) > UNSENT_BUDGET { RECORD } else { SEAL_MAX };
            let plain = gather(pieces, gathered, most);
            sealed.resize(SEALED_MAX, 0);
            let State { session, kept, .. } = &mut *state;
            let began = starts(plain.len());
            let length = session.seal(plain, kept, sealed).map_err(in_io)?;
            state.in_cipher += passed(began);
            self.tell(&mut state);
            // A record of the session's own goes first.
            if !state.session.outgoing().is_empty() {
                state.keep_outgoing();
                state.keep_unsent(&sealed[..length]);
                state.promised = plain.len();
                return Ok(match state.flush(socket)? {
                    true => Sent::Bytes(std::mem::take(&mut state.promised)),
                    false => Sent::WouldBlock,
                });
            }
            let mut sent = 0;
            while sent < length {
                match send(socket, &sealed[sent..length])? {
                    Sent::Bytes(count) => sent += count,
                    Sent::WouldBlock => {
                        state.keep_unsent(&sealed[sent..length]);
                        state.promised = plain.len();
                        return Ok(Sent::WouldBlock);
                    }
                }
            }
            Ok(Sent::Bytes(plain.len()))
        })
    }

    /// Sends what the session itself has to say, and what was left of what was sealed; whether all is gone.
    ///
    /// # Errors
    /// The socket's.
    pub fn flush(&self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        let mut state = self.state();
        state.keep_outgoing();
        state.flush(socket)
    }

    /// Bytes of memory that it holds for a record that is not whole, or that nobody has taken.
    pub fn held(&self) -> usize {
        let state = self.state();
        state.kept.len() + state.plain.len() - state.taken
    }

    /// Announces to the peer that nothing more comes, if the socket takes that now.
    pub fn say_end(&self, socket: BorrowedFd<'_>) {
        let mut state = self.state();
        if state.failed.is_none() && !state.session.is_handshaking() && state.unsent.is_empty() {
            let State { session, kept, .. } = &mut *state;
            session.end(kept);
            state.keep_outgoing();
            let _ = state.flush(socket);
        }
    }
}

impl State {
    /// Gives kept plaintext.
    fn give(&mut self, buffer: &mut [u8]) -> usize {
        let left = &self.plain[self.taken..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        if self.taken == self.plain.len() && self.taken > 0 {
            (self.plain, self.taken) = (Vec::new(), 0);
        }
        count
    }

    /// Receives once, and opens what is whole; `WouldBlock`: no record of plaintext is.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        memory: &mut Vec<u8>,
        socket: BorrowedFd<'_>,
    ) -> io::Result<Sent> {
        if let Some(error) = &self.failed {
            return Err(in_io(error.clone()));
        }
        loop {
            if self.session.has_ended() {
                return Ok(Sent::Bytes(0));
            }
            let before = self.kept.len();
            let most = buffer.len().clamp(RECEIVE_MIN, RECEIVE_MAX);
            if memory.len() < before + most {
                memory.resize(before + most, 0);
            }
            let memory = &mut memory[..before + most];
            memory[..before].copy_from_slice(&self.kept);
            let is_fresh = std::mem::take(&mut self.is_fresh);
            let count = match receive(socket, &mut memory[before..])? {
                Sent::Bytes(0) => return Ok(Sent::Bytes(0)),
                Sent::Bytes(count) => count,
                // What came with the beginning may be all of it.
                Sent::WouldBlock if is_fresh => 0,
                Sent::WouldBlock => return Ok(Sent::WouldBlock),
            };
            let given = self.open(&mut memory[..before + count], buffer, socket)?;
            if given > 0 {
                return Ok(Sent::Bytes(given));
            }
            if count < most && !self.session.has_ended() {
                return Ok(Sent::WouldBlock);
            }
        }
    }

    /// Opens records: plaintext goes to `buffer`, what does not fit is kept. Says how much went there.
    fn open(&mut self, received: &mut [u8], buffer: &mut [u8], socket: BorrowedFd<'_>) -> io::Result<usize> {
        let (mut given, plain) = (0, &mut self.plain);
        let began = starts(received.len());
        let opened = self.session.open(received, |piece| {
            let count = piece.len().min(buffer.len() - given);
            buffer[given..given + count].copy_from_slice(&piece[..count]);
            given += count;
            plain.extend_from_slice(&piece[count..]);
        });
        self.in_cipher += passed(began);
        self.keep_outgoing();
        if let Err(error) = opened {
            // The peer learns why, if it can.
            let _ = self.flush(socket);
            self.failed = Some(error.clone());
            return Err(in_io(error));
        }
        if !self.flush(socket)? && self.session.is_handshaking() {
            return Err(io::Error::new(ErrorKind::TimedOut, "the peer does not answer the handshake"));
        }
        let consumed = opened.unwrap_or(0);
        if consumed == received.len() {
            self.kept = Vec::new();
        } else {
            self.kept.clear();
            self.kept.extend_from_slice(&received[consumed..]);
            self.kept.shrink_to_fit();
        }
        Ok(given)
    }

    /// What the session itself has to say waits with the rest.
    fn keep_outgoing(&mut self) {
        let outgoing = std::mem::take(self.session.outgoing());
        self.keep_unsent(&outgoing);
    }

    fn keep_unsent(&mut self, bytes: &[u8]) {
        self.unsent.extend_from_slice(bytes);
        UNSENT.fetch_add(bytes.len(), Ordering::Relaxed);
    }

    fn forget_sent(&mut self, sent: usize) {
        UNSENT.fetch_sub(sent, Ordering::Relaxed);
        self.unsent.drain(..sent);
        if self.unsent.is_empty() {
            self.unsent = Vec::new();
        }
    }

    /// Sends what waits; whether all of it went.
    fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        let mut sent = 0;
        while sent < self.unsent.len() {
            match send(socket, &self.unsent[sent..]) {
                Ok(Sent::Bytes(count)) => sent += count,
                outcome => {
                    self.forget_sent(sent);
                    return outcome.map(|_| false);
                }
            }
        }
        self.forget_sent(sent);
        Ok(true)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        UNSENT.fetch_sub(self.unsent.len(), Ordering::Relaxed);
    }
}

/// When work on so many bytes begins, if that is measured: of small ones it would cost as much as they do.
fn starts(length: usize) -> Option<Instant> {
    (length >= MEASURED_MIN).then(Instant::now)
}

fn passed(began: Option<Instant>) -> Duration {
    began.map_or(Duration::ZERO, |began| began.elapsed())
}

/// The beginning of these pieces in one, at most so many bytes.
fn gather<'g>(pieces: &'g [IoSlice<'_>], gathered: &'g mut Vec<u8>, most: usize) -> &'g [u8] {
    let first = pieces.iter().find(|piece| !piece.is_empty()).map_or(&[][..], |piece| &piece[..]);
    if first.len() >= most || pieces.iter().filter(|piece| !piece.is_empty()).count() < 2 {
        return &first[..first.len().min(most)];
    }
    gathered.clear();
    for piece in pieces {
        let room = most - gathered.len();
        gathered.extend_from_slice(&piece[..piece.len().min(room)]);
    }
    gathered
}

fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Sent> {
    outcome(rustix::net::recv(socket, buffer, RecvFlags::DONTWAIT).map(|(count, _)| count))
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<Sent> {
    outcome(rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL))
}

/// The session is over.
fn in_io(error: TlsError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
