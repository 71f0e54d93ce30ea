//! One TCP connection: what is received of it, what waits to be sent to it, and which thread its socket wakes.

mod armed;
mod held_count;
mod inbox;
mod onlookers;
mod outbox;
mod pausing;
mod payload;
mod securing;

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use howdah_net::{Interest, Poller, Ready, Stream, Token};
use howdah_rpc::server::BufferPool;

use crate::counts::Clerk;
use crate::secure::TlsDoor;
use crate::spare::Spare;
use crate::{Peer, Reply};
use armed::Armed;
use held_count::HeldCount;
pub use inbox::{Inbox, NextRecord, Received};
pub use onlookers::Onlooker;
use onlookers::Onlookers;
use outbox::{Flushed, Outbox};
use pausing::Pausing;
pub use payload::Payload;
use securing::Securing;

/// One connection.
pub struct Connection {
    token: Token,
    stream: Stream,
    opened: Instant,
    inbox: Inbox,
    outbox: Outbox,
    /// What the socket is armed for.
    armed: Armed,
    /// The socket wakes nobody before the data of a bulk WRITE is complete.
    wakes_late: AtomicBool,
    /// Whether it is read.
    pausing: Pausing,
    /// Its TLS handshake.
    securing: Securing,
    /// The peer sends no more.
    ended: AtomicBool,
    /// Calls that wait until the processors have nothing better to do.
    parked: AtomicU8,
    /// Calls that wait before the gate of an export.
    in_line: AtomicUsize,
    /// Replies that caps hold.
    held: HeldCount,
    /// Calls that are done, their replies queued. Those that run are the records taken but for these.
    answered: AtomicU64,
    onlookers: Onlookers,
}

impl Connection {
    /// A connection that has just been accepted, not in any poller yet.
    pub fn new(token: Token, stream: Stream) -> Self {
        Self {
            token,
            stream,
            opened: Instant::now(),
            inbox: Inbox::new(),
            outbox: Outbox::default(),
            armed: Armed::readable(),
            wakes_late: AtomicBool::new(false),
            pausing: Pausing::new(),
            securing: Securing::default(),
            ended: AtomicBool::new(false),
            parked: AtomicU8::new(0),
            in_line: AtomicUsize::new(0),
            held: HeldCount::default(),
            answered: AtomicU64::new(0),
            onlookers: Onlookers::default(),
        }
    }

    /// Names it in the poller.
    pub fn token(&self) -> Token {
        self.token
    }

    /// The two ends of it.
    pub fn peer(&self) -> &Peer {
        self.stream.peer()
    }

    /// When it was accepted.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    /// Its socket.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Who looks at it.
    pub fn onlookers(&self) -> &Onlookers {
        &self.onlookers
    }

    /// What is received of it.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Receives what there is room for. With a door, a connection whose first byte is that of TLS becomes one.
    pub fn receive(&self, buffers: &mut BufferPool, door: Option<&TlsDoor>) -> io::Result<Received> {
        let begin = |received: &[u8]| match door {
            Some(door) => self.securing.begin(door, &self.stream, received, &[]),
            None => Err(io::Error::other("it begins with TLS, for which there is no certificate here")),
        };
        let received = self.inbox.receive(&self.stream, buffers, begin);
        self.securing.follow(door, &self.stream, received)
    }

    /// Answers a client that asked for TLS with `last`, in the clear; from the next byte on, in both directions, all is TLS.
    ///
    /// # Errors
    /// Calls of it wait, or bytes came behind the question, which anybody may have put there. The connection is of no use then.
    pub fn start_tls(&self, door: &TlsDoor, last: &[u8]) -> io::Result<()> {
        if self.outstanding() > 1 || !self.outbox.is_empty() {
            return Err(io::Error::other("it asked for TLS before its calls were answered"));
        }
        let begin = || self.securing.begin(door, &self.stream, &[], last);
        self.inbox
            .at_rest(begin)
            .unwrap_or_else(|| Err(io::Error::other("bytes came in the clear behind the question for TLS")))
    }

    /// Why the connection must go, if its TLS handshake takes too long.
    pub fn is_late_to_secure(&self, door: Option<&TlsDoor>, now: Instant) -> Option<&'static str> {
        self.securing.is_late(door, &self.stream, now)
    }

    /// Whether a TLS handshake is under way.
    pub fn is_securing(&self) -> bool {
        self.securing.is_under_way()
    }

    /// Whether a record has started, of RPC or of TLS, and the memory that is held for it; `None` while a worker receives or moves.
    pub fn holdings(&self) -> Option<(bool, usize)> {
        let (is_partial, memory) = self.inbox.holdings()?;
        let held = self.stream.held();
        Some((is_partial || held > 0, memory + held))
    }

    /// Whether bytes are at hand that the socket will not wake anybody for.
    pub fn holds_bytes(&self) -> bool {
        self.inbox.is_partial() || self.stream.keeps_bytes()
    }

    /// Queues a reply.
    pub fn push(&self, reply: Reply) {
        self.outbox.push(reply);
    }

    /// Sends what waits, as far as the socket takes it; buffers that are done go to `spare`, and `clerk` counts
    /// the replies that are gone.
    pub fn flush(&self, poller: &Poller, spare: &mut Spare, clerk: &mut Clerk) -> io::Result<()> {
        match self.outbox.flush(&self.stream, spare, clerk)? {
            Flushed::Blocked => self.arm(poller, Interest { readable: false, writable: true }),
            Flushed::Done | Flushed::StillBlocked => Ok(()),
        }
    }

    /// The socket takes bytes again.
    pub fn unblock(&self) {
        self.outbox.unblock();
    }

    /// What waits to be sent.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Arms the socket for one more event.
    pub fn arm(&self, poller: &Poller, more: Interest) -> io::Result<()> {
        self.armed.add(more, self.teller(poller))
    }

    /// An event came, which disarmed the socket: arms it again for what did not happen.
    pub fn on_event(&self, poller: &Poller, ready: Ready) -> io::Result<()> {
        self.armed.on_event(ready, self.teller(poller))
    }

    fn teller(&self, poller: &Poller) -> impl Fn(Interest) -> io::Result<()> {
        |interest| poller.arm(self.stream.as_fd(), self.token, interest)
    }

    /// The socket wakes nobody before so many bytes wait.
    pub fn wake_late(&self, length: usize) -> io::Result<()> {
        self.wakes_late.store(true, Ordering::SeqCst);
        self.stream.wake_at(length)
    }

    /// The socket wakes for every byte again.
    pub fn wake_at_once(&self) -> io::Result<()> {
        if self.wakes_late() && self.wakes_late.swap(false, Ordering::SeqCst) {
            self.stream.wake_at(1)?;
        }
        Ok(())
    }

    /// Whether the socket wakes nobody before some data is complete.
    pub fn wakes_late(&self) -> bool {
        self.wakes_late.load(Ordering::SeqCst)
    }

    /// Whether no further call of it should be read: too many replies wait or are held, or memory is short.
    pub fn should_pause(&self) -> bool {
        self.pausing.is_due(|| self.is_full())
    }

    /// Stops reading until the replies that wait have gone, or it is let go; says whether it must (they may have gone
    /// meanwhile).
    pub fn pause(&self) -> bool {
        self.pausing.pause(|| self.is_full())
    }

    /// Whether reading stopped and may go on; only one caller gets `true`.
    pub fn resume(&self) -> bool {
        self.pausing.resume(|| self.is_full())
    }

    /// Whether so many replies wait that no further call should be started.
    fn is_full(&self) -> bool {
        self.outbox.is_full() || self.held.is_full()
    }

    /// Replies that caps hold.
    pub fn held(&self) -> &HeldCount {
        &self.held
    }

    /// Holds it, or lets it go: the caller asks [`Self::resume`] next.
    pub fn hold(&self, held: bool) {
        self.pausing.hold(held);
    }

    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        self.pausing.is_held()
    }

    /// The peer sends no more.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// A call is parked; says whether it is the only one.
    pub fn park(&self) -> bool {
        self.parked.fetch_add(1, Ordering::SeqCst) == 0
    }

    /// Whether one waits: it may be that nothing more is read before that is done.
    pub fn is_parked(&self) -> bool {
        self.parked.load(Ordering::SeqCst) > 0
    }

    /// One that was parked is done.
    pub fn unpark(&self) {
        self.parked.fetch_sub(1, Ordering::SeqCst);
    }

    /// Calls of it that wait before gates.
    pub fn in_line(&self) -> &AtomicUsize {
        &self.in_line
    }

    /// A call is done, its reply queued.
    pub fn finish_call(&self) {
        self.answered.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether it is not read, because the peer does not take its replies or memory is short.
    pub fn is_paused(&self) -> bool {
        self.pausing.is_paused()
    }

    /// Calls received whole and not answered.
    pub fn outstanding(&self) -> u64 {
        let answered = self.answered.load(Ordering::SeqCst);
        self.inbox.records().saturating_sub(answered)
    }

    /// Whether no call runs and no reply waits.
    pub fn is_idle(&self) -> bool {
        self.outstanding() == 0 && self.outbox.is_empty()
    }

    /// Whether the peer sends no more, though nobody may have seen that yet, and has acknowledged all its replies.
    pub fn has_ended_in_order(&self) -> bool {
        self.is_idle() && self.stream.has_ended_in_order()
    }

    /// Whether the peer sends no more and has all its replies.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst) && self.is_idle()
    }
}

#[cfg(test)]
pub mod tests {
    use std::net::TcpStream;
    use std::time::Duration;

    use howdah_net::{Listener, Stream};
    use howdah_tls::{Authority, CertificatePurpose, ServerFiles, ServerTls};

    use crate::secure::TlsDoor;

    /// A door with a certificate that was made for it.
    pub fn door() -> TlsDoor {
        let home = tempfile::tempdir().expect("a directory");
        let day = Duration::from_secs(86_400);
        let (authority, _) = Authority::new("test", day).expect("an authority");
        let made =
            authority.issue(CertificatePurpose::Server, &["server.test".to_owned()], day).expect("issued");
        let (certificate, key) = (home.path().join("c"), home.path().join("k"));
        std::fs::write(&certificate, made.certificate).expect("written");
        std::fs::write(&key, made.key).expect("written");
        let files = ServerFiles { certificate, key, authorities: Vec::new(), revocations: Vec::new() };
        TlsDoor::new(ServerTls::read(&files).expect("good files"))
    }

    /// Both ends of a connection over loopback.
    pub fn connected() -> (Stream, TcpStream) {
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("any port");
        let client = TcpStream::connect(listener.address()).expect("connecting");
        let stream = loop {
            if let Some(stream) = listener.accept().expect("accepting") {
                break stream;
            }
        };
        (stream, client)
    }
}
