//! TLS of connections, as people read it.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use howdah_server::admin::Clients;
use howdah_server::tuning::ConnectionTlsReport;

use howdah_config::days;

/// What protects a connection: suite, record layer, certificate.
pub fn protection(tls: &ConnectionTlsReport, now: SystemTime) -> String {
    let mut text = format!("TLS: {}, records in {}", tls.suite, tls.records.replace('-', " "));
    match &tls.certificate {
        Some(_) => {
            let _ = write!(text, ", {}", certificate(tls, now));
        }
        None => text.push_str(", no client certificate"),
    }
    text
}

/// A line for each client that showed a certificate; nothing without one.
pub fn certificates(clients: &Clients, now: SystemTime) -> String {
    let mut text = String::new();
    for client in &clients.clients {
        let lanes = client.groups.iter().flat_map(|group| &group.connections);
        let mut shown: Vec<&ConnectionTlsReport> =
            lanes.filter_map(|lane| lane.tls.as_ref()).filter(|tls| tls.certificate.is_some()).collect();
        shown.sort_unstable();
        shown.dedup();
        for tls in shown {
            let _ = writeln!(text, "{:<24}{}", client.client.to_string(), certificate(tls, now));
        }
    }
    text
}

/// The name in a certificate, its user, and how long it is still valid.
fn certificate(tls: &ConnectionTlsReport, now: SystemTime) -> String {
    let mut text = format!("certificate {}", tls.certificate.as_deref().unwrap_or("without a name"));
    if let Some(user) = &tls.user {
        let _ = write!(text, " of user {user}");
    }
    if let Some(end) = tls.valid_until {
        let end = UNIX_EPOCH + Duration::from_secs(u64::try_from(end).unwrap_or(0));
        let _ = match end.duration_since(now) {
            Ok(left) => write!(text, " ({} left)", days(left)),
            Err(_) => write!(text, " (expired)"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_protects_and_who_calls() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut tls = ConnectionTlsReport {
            suite: "TLS13_AES_256_GCM_SHA384".to_owned(),
            records: "user-space".to_owned(),
            ..ConnectionTlsReport::default()
        };
        assert_eq!(
            protection(&tls, now),
            "TLS: TLS13_AES_256_GCM_SHA384, records in user space, no client certificate"
        );
        tls.certificate = Some("backup.example.org".to_owned());
        tls.user = Some("ann@example.org".to_owned());
        for (end, said) in [(1_000_000 + 3 * 86_400, "3 days left"), (999_999, "expired")] {
            tls.valid_until = Some(end);
            let wanted = format!("certificate backup.example.org of user ann@example.org ({said})");
            assert!(protection(&tls, now).ends_with(&wanted), "{wanted}");
        }
    }
}
