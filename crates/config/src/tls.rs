//! TLS of a server: which certificate proves it, which authorities its clients come from, and what each export asks for.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use howdah_server::exports::TlsPolicy;
use howdah_tls::{CertificateFacts, ServerFiles};

use super::{ClientPattern, ExportConfig, Squash};

/// How long before the end of a certificate a warning is given.
const SOON: Duration = Duration::from_secs(30 * 86_400);

/// What was said of it; what was not is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsSaid {
    /// The server's certificate, PEM.
    pub certificate: Option<PathBuf>,
    /// Its key, PEM.
    pub key: Option<PathBuf>,
    /// Authorities of client certificates.
    pub client_ca: Vec<PathBuf>,
    /// What they revoked.
    pub client_crl: Vec<PathBuf>,
}

impl TlsSaid {
    /// This, or else what another one says. A certificate and its key come from the same place.
    pub fn or(self, other: Self) -> Self {
        let own_files = self.certificate.is_some() || self.key.is_some();
        let (certificate, key) =
            if own_files { (self.certificate, self.key) } else { (other.certificate, other.key) };
        Self {
            certificate,
            key,
            client_ca: if self.client_ca.is_empty() { other.client_ca } else { self.client_ca },
            client_crl: if self.client_crl.is_empty() { other.client_crl } else { self.client_crl },
        }
    }

    /// What holds.
    ///
    /// # Errors
    /// A part is missing.
    pub fn decide(self) -> Result<Option<ServerFiles>, String> {
        if self.client_ca.is_empty() && !self.client_crl.is_empty() {
            return Err("tls_client_ca (--tls-client-ca) is missing: without it no client is asked for a certificate, \
                        and tls_client_crl revokes nothing"
                .to_owned());
        }
        match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Ok(Some(ServerFiles {
                certificate,
                key,
                authorities: self.client_ca,
                revocations: self.client_crl,
            })),
            (None, None) if self.client_ca.is_empty() => Ok(None),
            (None, _) => {
                Err("tls_certificate (--tls-certificate) is missing: TLS needs a certificate and its key; \
                              howdah certificate makes both"
                    .to_owned())
            }
            (Some(_), None) => {
                Err("tls_key (--tls-key) is missing: the key of tls_certificate; TLS needs both".to_owned())
            }
        }
    }
}

/// Checks that clients can meet what exports ask for.
///
/// # Errors
/// An export asks for what the server cannot do.
pub fn check_policies(tls: Option<&ServerFiles>, exports: &[ExportConfig]) -> Result<(), String> {
    for ExportConfig { name, tls: policy, clients, .. } in exports {
        let word = policy.name();
        if policy.needs_tls() && tls.is_none() {
            return Err(format!(
                "export {name}: tls = \"{word}\" needs a certificate: set tls_certificate and tls_key (--tls-certificate, \
                 --tls-key), files of PEM; howdah certificate makes them"
            ));
        }
        let asks_clients = tls.is_some_and(|tls| !tls.authorities.is_empty());
        let asking = clients.iter().find(|rule| {
            matches!(rule.who, ClientPattern::Certificate(_)) || rule.access.squash == Squash::Certificate
        });
        if let Some(rule) = asking.filter(|_| !asks_clients) {
            return Err(format!(
                "export {name}: the rule for {} needs certificates of clients: set tls_client_ca (--tls-client-ca), the authority \
                 that issues them, and the server's own tls_certificate and tls_key",
                rule.who
            ));
        }
        if *policy == TlsPolicy::ClientCertificate && !asks_clients {
            return Err(format!(
                "export {name}: tls = \"{word}\" needs the authority that issues certificates of clients: set tls_client_ca \
                 (--tls-client-ca)"
            ));
        }
    }
    Ok(())
}

/// Reads what an export asks for.
pub fn parse_tls_policy(written: &str) -> Result<TlsPolicy, String> {
    TlsPolicy::ALL.into_iter().find(|policy| policy.name() == written).ok_or_else(|| {
        let names = TlsPolicy::ALL.map(|policy| format!("\"{}\"", policy.name()));
        format!("expected one of {}", names.join(", "))
    })
}

/// What a person should know of a certificate that ends soon, or has ended.
pub fn ending(facts: &CertificateFacts, now: SystemTime) -> Option<String> {
    let name = facts.name();
    match facts.left(now) {
        None => Some(format!(
            "the TLS certificate for {name} has expired: clients refuse it; replace its file, which is read within a minute"
        )),
        Some(left) if left < SOON => Some(format!(
            "the TLS certificate for {name} expires in {}; replace its file, which is read within a minute",
            days(left)
        )),
        Some(_) => None,
    }
}

/// A time in days, in words.
pub fn days(left: Duration) -> String {
    match left.as_secs() / 86_400 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::one_export;

    #[test]
    fn parts_alone_are_refused() {
        let (certificate, key) = (Some(PathBuf::from("/c")), Some(PathBuf::from("/k")));
        let said =
            |certificate, key, client_ca| TlsSaid { certificate, key, client_ca, client_crl: Vec::new() };
        assert_eq!(TlsSaid::default().decide(), Ok(None));
        let why = said(certificate.clone(), None, Vec::new()).decide().expect_err("no key");
        assert!(why.starts_with("tls_key"), "{why}");
        for (key, client_ca) in [(key.clone(), Vec::new()), (None, vec![PathBuf::from("/ca")])] {
            let why = said(None, key, client_ca).decide().expect_err("no certificate");
            assert!(why.starts_with("tls_certificate"), "{why}");
        }
        let mixed =
            said(certificate.clone(), None, Vec::new()).or(said(None, key.clone(), Vec::new())).decide();
        assert!(mixed.is_err(), "not one from here and one from there");
        let files = said(certificate, key, Vec::new()).decide().expect("both").expect("some");
        assert!(files.authorities.is_empty());
    }

    #[test]
    fn an_export_asks_only_for_what_can_be() {
        let mut exports = one_export().exports;
        let files = |authorities| ServerFiles {
            certificate: "/c".into(),
            key: "/k".into(),
            authorities,
            revocations: Vec::new(),
        };
        let (plain, asking) = (files(Vec::new()), files(vec![PathBuf::from("/ca")]));
        for (policy, none, without, with) in [
            ("off", true, true, true),
            ("offered", true, true, true),
            ("required", false, true, true),
            ("client-certificate", false, false, true),
        ] {
            exports[0].tls = parse_tls_policy(policy).expect("a policy");
            let can = |tls| check_policies(tls, &exports).is_ok();
            assert_eq!([can(None), can(Some(&plain)), can(Some(&asking))], [none, without, with], "{policy}");
        }
        exports[0].tls = TlsPolicy::Offered;
        for (who, squash) in [("cert:*", Squash::Root), ("*", Squash::Certificate)] {
            exports[0].clients[0].who = who.parse().expect("a pattern");
            exports[0].clients[0].access.squash = squash;
            let can = |tls| check_policies(tls, &exports).is_ok();
            assert_eq!([can(None), can(Some(&plain)), can(Some(&asking))], [false, false, true], "{who}");
        }
        assert!(parse_tls_policy("on").is_err_and(|why| why.contains("\"client-certificate\"")));
    }

    #[test]
    fn an_end_is_told_in_time() {
        let now = SystemTime::now();
        let second = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs() as i64
        };
        let facts = |left: u64| CertificateFacts {
            subject: "CN=a".to_owned(),
            names: vec!["a.test".to_owned()],
            user: None,
            fingerprint: Default::default(),
            not_before: 0,
            not_after: second(now) + left as i64,
        };
        assert_eq!(ending(&facts(31 * 86_400), now), None);
        let soon = ending(&facts(29 * 86_400), now).expect("soon");
        assert!(soon.starts_with("the TLS certificate for a.test expires in 29 days"), "{soon}");
        let over = CertificateFacts { not_after: second(now) - 1, ..facts(0) };
        assert!(ending(&over, now).is_some_and(|warning| warning.contains("has expired")));
    }
}
