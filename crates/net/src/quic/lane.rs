//! One stream, from its user's side: what a connection of TCP asks the kernel, it asks the stream's connection.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_tls::CertificateFacts;
use howdah_tune::{Gauges, PathState, Receiving, Sample, Sending};

use super::driver::Work;
use super::link::{Inbox, Phase, QuicLink, StreamState};
use super::socket::QuicSocketFacts;
use super::words::in_words;
use howdah_quic::{ConnectionFacts, ConnectionKey};

/// One stream of a connection.
#[derive(Debug)]
pub struct QuicLane {
    state: Arc<StreamState>,
    /// A client's connection, which lives as long as a stream of it, and where it leads.
    connection: Option<(SocketAddr, Arc<dyn Any + Send + Sync>)>,
    /// The connection of a stream that was opened to us, and who can end it.
    accepted: Option<(ConnectionKey, Arc<Inbox<Work>>)>,
}

impl QuicLane {
    /// A stream that a client opened to us.
    pub(super) fn accepted(
        state: Arc<StreamState>,
        connection: ConnectionKey,
        inbox: Arc<Inbox<Work>>,
    ) -> Self {
        Self { state, connection: None, accepted: Some((connection, inbox)) }
    }

    /// A stream of ours to this server, on a connection that it keeps.
    pub(super) fn opened(
        state: Arc<StreamState>,
        server: SocketAddr,
        connection: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self { state, connection: Some((server, connection)), accepted: None }
    }

    /// Ends its connection with all its streams, if a client opened it to us: that client must connect again.
    pub fn end_connection(&self, why: &'static str) {
        if let Some((connection, inbox)) = &self.accepted {
            inbox.push(Work::Close(*connection, Arc::clone(self.link()), why));
        }
    }

    /// Why the connection is over, if it is one of ours.
    pub(crate) fn why_lost(&self) -> Option<io::Error> {
        let (server, _) = self.connection.as_ref()?;
        match self.link().phase() {
            Phase::Lost(why) => Some(in_words(&why, *server)),
            _ => None,
        }
    }

    fn link(&self) -> &Arc<QuicLink> {
        &self.state.link
    }

    /// What its connection knows, and the socket below.
    pub fn facts(&self) -> (ConnectionFacts, QuicSocketFacts) {
        self.link().facts()
    }

    /// Where the peer has moved to since it connected, if it has.
    pub fn moved_to(&self) -> Option<SocketAddr> {
        self.link().moved_to().map(crate::address::canonical)
    }

    /// What the peer's certificate says.
    pub fn certificate(&self) -> Option<Arc<CertificateFacts>> {
        self.link().certificate()
    }

    /// So many bytes were sent into it.
    pub(crate) fn on_sent(&self, bytes: usize) {
        self.state.give(bytes);
    }

    /// It is given up: what was not sent yet never will be.
    pub(crate) fn cut(&self) {
        self.state.cut();
    }

    /// Whether the peer gave it up, or its connection is lost.
    pub(crate) fn was_reset(&self) -> bool {
        self.state.was_reset()
    }

    /// Whether all that was sent has come to the peer, or never will.
    pub(crate) fn has_arrived(&self) -> bool {
        let (_, waiting, _) = self.state.counts();
        self.was_reset() || self.link().is_lost() || (waiting == 0 && self.link().flight() == 0)
    }

    /// Whether something is on its way to the peer, and how long ago anything was heard of it.
    pub(crate) fn under_way(&self) -> (bool, Duration) {
        let (_, waiting, _) = self.state.counts();
        (waiting > 0 || self.link().flight() > 0, self.link().since_heard(Instant::now()))
    }

    /// A look at it. The path is that of its connection; bytes are its own.
    pub(crate) fn sample(&self, now: Duration, unread: u64, gauges: &Gauges) -> Sample {
        let (facts, _) = self.facts();
        let (taken, waiting, received) = self.state.counts();
        let sending = Sending {
            sent: taken,
            // Of the whole connection: a lost packet may carry bytes of several streams.
            retransmitted: facts.bytes_lost.min(taken),
            flight: facts.flight,
            unsent: waiting,
            congestion_window: facts.congestion_window,
            queued: waiting,
            buffer: howdah_quic::limits::CONNECTION_WINDOW,
            ..Sending::default()
        };
        let receiving = Receiving {
            received,
            segments: facts.packets_received,
            segment: facts.packet_size,
            unread,
            queued: unread,
            buffer: howdah_quic::limits::STREAM_WINDOW,
            window: Some(howdah_quic::limits::STREAM_WINDOW),
            window_limit: howdah_quic::limits::STREAM_WINDOW,
            ..Receiving::default()
        };
        let path =
            PathState { rtt: facts.round_trip, min_rtt: facts.least_round_trip, segment: facts.packet_size };
        Sample { at: now, sending, receiving, path, gauges: gauges.clone() }
    }
}
