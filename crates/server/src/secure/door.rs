//! Where TLS begins: with the first byte of a connection, or after a client asked for it by AUTH_TLS.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Instant;

use howdah_tls::{CertificateFacts, ServerTls};

use super::figures::TlsFigures;
use super::handshakes::{Handshakes, Permit};
use crate::Peer;
use crate::seldom::Seldom;

/// What a ClientHello begins with (RFC 8446 5.1). A record mark that begins so announces a fragment of 369 MB, which is never taken.
pub const HANDSHAKE: u8 = 0x16;

/// What a server needs to begin TLS.
#[derive(Debug)]
pub struct TlsDoor {
    tls: ServerTls,
    handshakes: Arc<Handshakes>,
    figures: TlsFigures,
    /// Of handshakes that failed.
    seldom: Seldom,
}

impl TlsDoor {
    /// With this certificate.
    pub fn new(tls: ServerTls) -> Self {
        Self { tls, handshakes: Arc::default(), figures: TlsFigures::default(), seldom: Seldom::default() }
    }

    /// The server's side of a new connection of this client, and what lets its handshake go on.
    ///
    /// # Errors
    /// Too many handshakes go on.
    pub fn begin(&self, peer: &Peer) -> io::Result<(howdah_tls::TlsSession, Permit)> {
        let permit = self.handshakes.begin(peer.ends.client.ip(), Instant::now()).ok_or_else(|| {
            self.figures.on_refused();
            io::Error::new(ErrorKind::ResourceBusy, "too many TLS handshakes are under way")
        })?;
        Ok((self.tls.session().map_err(io::Error::other)?, permit))
    }

    /// A handshake is done.
    pub fn on_done(&self) {
        self.figures.on_done();
    }

    /// A handshake failed: says so, but not for each one.
    pub fn on_failed(&self, peer: &Peer, why: &dyn std::fmt::Display) {
        self.figures.on_failed();
        let Some(others) = self.seldom.log(Instant::now()) else { return };
        let client = peer.ends.client;
        tracing::warn!(%client, %why, others, "TLS handshake failed");
    }

    /// How handshakes ended.
    pub fn figures(&self) -> &TlsFigures {
        &self.figures
    }

    /// How many handshakes go on.
    pub fn under_way(&self) -> usize {
        self.handshakes.count()
    }

    /// What the certificate says that holds now.
    pub fn certificate(&self) -> Option<CertificateFacts> {
        self.tls.facts().into_iter().next()
    }
}
