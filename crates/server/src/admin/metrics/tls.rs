//! TLS: the connections that have it, how handshakes ended, and until when the certificate is valid.

use super::facts::TlsFacts;
use super::text::{Kind, MetricsText};

/// Writes them, where there is a certificate.
pub fn tls(text: &mut MetricsText, facts: Option<&TlsFacts>) {
    let Some(facts) = facts else { return };
    let help = "TCP connections that TLS protects, by whether the client showed a certificate (mtls).";
    text.family("howdah_tls_connections", Kind::Gauge, None, help);
    text.sample(&[("security", "tls")], facts.connections.0);
    text.sample(&[("security", "mtls")], facts.connections.1);
    text.family("howdah_tls_handshakes_under_way", Kind::Gauge, None, "TLS handshakes in progress.");
    text.sample(&[], facts.under_way);
    text.family("howdah_tls_handshakes", Kind::Counter, None, "TLS handshakes, by how they ended.");
    for (end, count) in facts.handshakes {
        text.sample(&[("end", end)], count);
    }
    if let Some(expiry) = facts.expiry {
        text.family(
            "howdah_tls_certificate_expiry_timestamp_seconds",
            Kind::Gauge,
            Some("seconds"),
            "Until when the server's TLS certificate is valid, in seconds since 1970.",
        );
        text.sample(&[], expiry);
    }
}
