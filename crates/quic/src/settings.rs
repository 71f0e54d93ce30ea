//! How connections are set up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::{hkdf, hmac};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, EndpointConfig, HashedConnectionIdGenerator, MtuDiscoveryConfig, ServerConfig,
    TransportConfig, VarInt,
};

use crate::controller::ModelFactory;
use crate::facts::FlightCount;
use crate::limits::{IDLE_MAX, STREAM_WINDOW, STREAMS_MAX};

/// How often a client sends a packet on a connection that says nothing: NATs forget one after 30 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The longest packets, without headers of IP and UDP: those of jumbo frames.
const PACKET_MAX: u16 = 8_952;
/// The shortest that every path must carry (RFC 9000 14).
const PACKET_MIN: u16 = 1_200;
/// Headers of IPv6 and UDP, in bytes.
const HEADERS: usize = 48;
/// The protocol that both ends name in the handshake, as over TCP (RFC 9289 8.2).
const ALPN: &[u8] = b"sunrpc";

/// What makes tokens and names of connections. With the same secret, a server that has restarted tells its clients at once that it does
/// not know their connections any more.
#[derive(Clone)]
pub struct EngineSecret(pub [u8; 32]);

/// Connections cannot be set up so.
#[derive(Debug, Clone)]
pub struct SettingsError(String);

impl SettingsError {
    pub(crate) fn of(error: &dyn fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl EngineSecret {
    fn expand(&self, what: &[u8]) -> hmac::Tag {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), what)
    }

    /// The settings of an endpoint.
    pub(crate) fn endpoint(&self) -> EndpointConfig {
        let reset = hmac::Key::new(hmac::HMAC_SHA256, self.expand(b"stateless reset").as_ref());
        let names = self.expand(b"names of connections");
        let names = names.as_ref().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let mut config = EndpointConfig::new(Arc::new(reset));
        config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(names)));
        config.max_udp_payload_size(PACKET_MAX).expect("more than 1,200");
        config
    }

    /// The settings of a server, before any connection.
    ///
    /// # Errors
    /// TLS lacks what QUIC needs.
    pub(crate) fn server(&self, tls: &Arc<rustls::ServerConfig>) -> Result<ServerConfig, SettingsError> {
        let mut tls = rustls::ServerConfig::clone(tls);
        tls.alpn_protocols = vec![ALPN.to_vec()];
        // Nothing is taken that anybody could send twice (0-RTT).
        tls.max_early_data_size = 0;
        let crypto = QuicServerConfig::try_from(tls).map_err(|error| SettingsError(error.to_string()))?;
        let token = hkdf::Salt::new(hkdf::HKDF_SHA256, b"retry").extract(self.expand(b"token").as_ref());
        let mut config = ServerConfig::new(Arc::new(crypto), Arc::new(token));
        config.migration(true);
        Ok(config)
    }
}

/// The settings of a client.
///
/// # Errors
/// TLS lacks what QUIC needs.
pub(crate) fn client(
    tls: &rustls::ClientConfig,
    transport: TransportConfig,
) -> Result<ClientConfig, SettingsError> {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    tls.enable_early_data = false;
    let crypto = QuicClientConfig::try_from(tls).map_err(|error| SettingsError(error.to_string()))?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// How the packets of one connection travel: with this window, over a path that carries packets of so many bytes at most.
pub(crate) fn transport(flight: &Arc<FlightCount>, window: u64, path_mtu: usize) -> TransportConfig {
    let window_of = |bytes: u64| VarInt::from_u64(bytes).unwrap_or(VarInt::MAX);
    let longest =
        u16::try_from(path_mtu.saturating_sub(HEADERS)).unwrap_or(PACKET_MAX).clamp(PACKET_MIN, PACKET_MAX);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(longest);
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX as u32))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(IDLE_MAX.try_into().ok())
        .stream_receive_window(window_of(STREAM_WINDOW.min(window)))
        .receive_window(window_of(window))
        .send_window(window)
        .datagram_receive_buffer_size(None)
        .mtu_discovery_config(Some(discovery))
        .congestion_controller_factory(Arc::new(ModelFactory(Arc::clone(flight))));
    config
}

/// The same for a client, which keeps its connection alive and takes no streams.
pub(crate) fn client_transport(flight: &Arc<FlightCount>, window: u64, path_mtu: usize) -> TransportConfig {
    let mut config = transport(flight, window, path_mtu);
    config.keep_alive_interval(Some(KEEP_ALIVE)).max_concurrent_bidi_streams(VarInt::from_u32(0));
    config
}

impl fmt::Debug for EngineSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EngineSecret")
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
