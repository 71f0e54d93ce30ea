//! Where TLS begins: with the first byte of a connection, or after a client asked for it by AUTH_TLS.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_tls::{CertificateFacts, ServerTls};
use parking_lot::Mutex;

use super::figures::TlsFigures;
use super::handshakes::{Handshakes, Permit};
use crate::Peer;

/// What a ClientHello begins with (RFC 8446 5.1). A record mark that begins so announces a fragment of 369 MB, which is never taken.
pub const HANDSHAKE: u8 = 0x16;
/// How often the log tells of a handshake that failed: anybody can make one fail.
const TELLING: Duration = Duration::from_secs(1);

/// What a server needs to begin TLS.
#[derive(Debug)]
pub struct TlsDoor {
    tls: ServerTls,
    handshakes: Arc<Handshakes>,
    figures: TlsFigures,
    /// When the log last told that one failed, and how many failed since.
    told: Mutex<(Option<Instant>, u64)>,
}

impl TlsDoor {
    /// With this certificate.
    pub fn new(tls: ServerTls) -> Self {
        Self { tls, handshakes: Arc::default(), figures: TlsFigures::default(), told: Mutex::default() }
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
        let (client, now) = (peer.ends.client, Instant::now());
        let mut told = self.told.lock();
        if told.0.is_some_and(|last| now - last < TELLING) {
            told.1 += 1;
            return;
        }
        let others = std::mem::take(&mut told.1);
        told.0 = Some(now);
        drop(told);
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
