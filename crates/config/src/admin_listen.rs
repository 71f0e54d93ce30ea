//! Where the admin interface answers over TCP, for a browser: who may ask there, and what proves the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The address, with all that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminListen {
    /// Where.
    pub address: SocketAddr,
    /// The file of the token; none is `admin.token` of the state directory.
    pub token: Option<PathBuf>,
    /// TLS; without it only this host is served.
    pub tls: Option<TlsFiles>,
}

/// Files of PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that lead from it to one that clients know.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What was said of it; what was not is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdminListenSaid {
    /// Where.
    pub address: Option<SocketAddr>,
    /// The file of the token.
    pub token: Option<PathBuf>,
    /// A certificate, PEM.
    pub certificate: Option<PathBuf>,
    /// Its key, PEM.
    pub key: Option<PathBuf>,
}

impl AdminListenSaid {
    /// This, or else what another one says. A certificate and its key come from the same place.
    pub fn or(self, other: Self) -> Self {
        let own_files = self.certificate.is_some() || self.key.is_some();
        let files = if own_files { (self.certificate, self.key) } else { (other.certificate, other.key) };
        Self {
            address: self.address.or(other.address),
            token: self.token.or(other.token),
            certificate: files.0,
            key: files.1,
        }
    }

    /// What holds.
    ///
    /// # Errors
    /// Other hosts would be answered without TLS, or a part is missing.
    pub fn decide(self) -> Result<Option<AdminListen>, String> {
        let Some(address) = self.address else {
            return match self.token.is_some() || self.certificate.is_some() || self.key.is_some() {
                true => {
                    Err("admin_token, admin_certificate and admin_key go with an address: set admin_listen \
                             (--admin-listen) as well"
                        .to_owned())
                }
                false => Ok(None),
            };
        };
        let tls = match (self.certificate, self.key) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(missing("admin_key", "--admin-key", "the key of admin_certificate"));
            }
            (None, Some(_)) => {
                return Err(missing(
                    "admin_certificate",
                    "--admin-certificate",
                    "the certificate of admin_key",
                ));
            }
        };
        if tls.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(format!(
                "admin_listen {address}: other hosts reach {}, and the token and all figures would go there in the clear. Set \
                 admin_certificate and admin_key (--admin-certificate, --admin-key), files of PEM; or listen on 127.0.0.1:{} and \
                 let a tunnel carry it, as in ssh -L {}:127.0.0.1:{} HOST",
                address.ip(),
                address.port(),
                address.port(),
                address.port()
            ));
        }
        Ok(Some(AdminListen { address, token: self.token, tls }))
    }
}

fn missing(setting: &str, flag: &str, what: &str) -> String {
    format!("{setting} ({flag}) is missing: {what}; TLS needs both")
}

/// Reads an address and a port, or a port of 127.0.0.1.
pub fn parse_admin_listen(text: &str) -> Result<SocketAddr, String> {
    let port = || text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    text.parse::<SocketAddr>().or_else(|_| port().map(at)).map_err(|_| {
        "expected ADDRESS:PORT as in 127.0.0.1:9048 or [::]:9048, or a port of 127.0.0.1".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(address: &str) -> AdminListenSaid {
        AdminListenSaid { address: parse_admin_listen(address).ok(), ..AdminListenSaid::default() }
    }

    #[test]
    fn other_hosts_are_answered_with_tls_alone() {
        let tls = || AdminListenSaid {
            certificate: Some(PathBuf::from("/c")),
            key: Some(PathBuf::from("/k")),
            ..AdminListenSaid::default()
        };
        for inside in ["127.0.0.1:9048", "[::1]:9048", "9048", ":9048"] {
            assert!(said(inside).decide().expect(inside).is_some_and(|listen| listen.tls.is_none()));
        }
        for outside in ["0.0.0.0:9048", "[::]:9048", "10.0.0.1:9048", "[::ffff:10.0.0.1]:9048"] {
            let why = said(outside).decide().expect_err(outside);
            assert!(why.contains("admin_certificate") && why.contains("ssh -L 9048"), "{why}");
            let listen = said(outside).or(tls()).decide().expect(outside).expect("an address");
            assert!(listen.tls.is_some());
        }
        assert!(parse_admin_listen("monitor:9048").is_err_and(|why| why.contains("expected")));
    }

    #[test]
    fn parts_alone_are_refused() {
        assert_eq!(AdminListenSaid::default().decide(), Ok(None));
        let key = AdminListenSaid { key: Some(PathBuf::from("/k")), ..AdminListenSaid::default() };
        assert!(key.clone().decide().is_err_and(|why| why.contains("set admin_listen")));
        assert!(said("9048").or(key).decide().is_err_and(|why| why.contains("admin_certificate")));
        let certificate =
            AdminListenSaid { certificate: Some(PathBuf::from("/c")), ..AdminListenSaid::default() };
        let key = AdminListenSaid { key: Some(PathBuf::from("/k")), ..said("9048") };
        let mixed = certificate.or(key).decide();
        assert!(mixed.is_err_and(|why| why.contains("admin_key")), "not one from here and one from there");
    }
}
