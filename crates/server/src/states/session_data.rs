//! What is kept with a session of NFSv4.

use std::sync::Arc;

use howdah_net::{Peer, TransportSecurity};
use howdah_tls::CertificateFacts;
use howdah_wire::nfs4::create_session::ChannelSizes;

/// What is kept with a session.
#[derive(Debug, Clone)]
pub struct SessionData {
    /// The sizes of its channel for calls.
    pub fore: ChannelSizes,
    /// What protected the call that made it.
    security: TransportSecurity,
    /// The certificate that the client showed.
    certificate: Option<Arc<CertificateFacts>>,
}

impl SessionData {
    /// Of a session that this peer makes.
    pub fn new(fore: ChannelSizes, peer: &Peer) -> Self {
        Self { fore, security: peer.security, certificate: peer.certificate.clone() }
    }

    /// Whether calls of this peer are protected as the session was made: a session of the holder of a certificate is of no use in the
    /// clear, or to another holder.
    pub fn takes(&self, peer: &Peer) -> bool {
        self.security == peer.security
            && match (&self.certificate, &peer.certificate) {
                (None, None) => true,
                (Some(own), Some(shown)) => Arc::ptr_eq(own, shown) || own.has_holder_of(shown),
                _ => false,
            }
    }
}
