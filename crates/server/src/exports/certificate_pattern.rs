//! Which certificates a rule is for.

use std::fmt;
use std::str::FromStr;

use howdah_tls::{CertificateFacts, Fingerprint};

/// What such a pattern begins with where it is written.
const PREFIX: &str = "cert:";

/// Certificates of clients, as they are written: `cert:*`, `cert:host.example`, `cert:*.example` or `cert:sha256:DIGITS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificatePattern {
    /// Any that an authority issued which the server trusts.
    Any,
    /// Those for this host name or address.
    Name(String),
    /// Those for a host name that ends in a dot and this.
    Below(String),
    /// One.
    Fingerprint(Fingerprint),
}

impl CertificatePattern {
    /// Whether it is meant by a word of a list of clients.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Whether a certificate is of this kind.
    pub fn takes(&self, certificate: &CertificateFacts) -> bool {
        match self {
            Self::Any => true,
            Self::Fingerprint(fingerprint) => certificate.fingerprint == *fingerprint,
            Self::Name(name) => certificate.names.iter().any(|own| own.eq_ignore_ascii_case(name)),
            Self::Below(domain) => certificate.names.iter().any(|own| is_below(own, domain)),
        }
    }

    /// Whether each certificate of the other kind is of this kind, as far as their text shows.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Below(domain), Self::Name(name) | Self::Below(name)) => {
                is_below(name, domain) || matches!(other, Self::Below(_)) && name == domain
            }
            _ => self == other,
        }
    }
}

fn is_below(name: &str, domain: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for CertificatePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected cert:NAME with a host name or an address of the certificate, cert:*.DOMAIN, cert:sha256:FINGERPRINT, \
             or cert:* for every certificate"
                .to_owned()
        };
        let what = text.strip_prefix(PREFIX).ok_or_else(wrong)?;
        if what == "*" {
            return Ok(Self::Any);
        }
        if what.starts_with("sha256:") {
            return what.parse().map(Self::Fingerprint).map_err(|why| format!("{PREFIX}{why}"));
        }
        let name = what.strip_prefix("*.").unwrap_or(what);
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_good) {
            return Err(wrong());
        }
        let lower = name.to_ascii_lowercase();
        Ok(if name.len() == what.len() { Self::Name(lower) } else { Self::Below(lower) })
    }
}

impl fmt::Display for CertificatePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        match self {
            Self::Any => f.write_str("*"),
            Self::Name(name) => f.write_str(name),
            Self::Below(domain) => write!(f, "*.{domain}"),
            Self::Fingerprint(fingerprint) => fingerprint.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(names: &[&str]) -> CertificateFacts {
        CertificateFacts {
            subject: "CN=host.example".to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            user: None,
            fingerprint: Fingerprint([7; 32]),
            not_before: 0,
            not_after: 1,
        }
    }

    fn pattern(text: &str) -> CertificatePattern {
        text.parse().expect(text)
    }

    #[test]
    fn certificates_are_told_apart() {
        let own = Fingerprint([7; 32]).to_string();
        let other = Fingerprint([8; 32]).to_string();
        for (text, names, takes) in [
            ("cert:*", &[][..], true),
            ("cert:Host.Example", &["a.test", "host.example"], true),
            ("cert:host.example", &["HOST.example"], true),
            // The subject proves nothing: authorities check names.
            ("cert:host.example", &[], false),
            ("cert:host.example", &["other.host.example", "host.example.org"], false),
            ("cert:10.0.0.7", &["10.0.0.7"], true),
            ("cert:fd00::7", &["fd00::7"], true),
            ("cert:*.example", &["host.example"], true),
            ("cert:*.example", &["a.host.EXAMPLE"], true),
            ("cert:*.example", &["example", ".example", "hostexample"], false),
            (&format!("cert:{own}"), &[], true),
            (&format!("cert:{other}"), &["host.example"], false),
        ] {
            assert_eq!(pattern(text).takes(&certificate(names)), takes, "{text} of {names:?}");
        }
    }

    #[test]
    fn patterns_are_written_as_they_are_read() {
        let digits = Fingerprint([0xab; 32]).to_string();
        for text in ["cert:*", "cert:a.example", "cert:*.example", "cert:fd00::7", &format!("cert:{digits}")]
        {
            assert_eq!(pattern(text).to_string(), text);
        }
        for wrong in
            ["cert:", "cert:*.", "cert:*x", "cert:a/b", "cert:.a", "cert:sha256:12", "host", "cert:a b"]
        {
            assert!(wrong.parse::<CertificatePattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_kind_covers_another() {
        for (one, other, covers) in [
            ("cert:*", "cert:a.example", true),
            ("cert:a.example", "cert:*", false),
            ("cert:*.example", "cert:a.example", true),
            ("cert:*.example", "cert:*.example", true),
            ("cert:*.example", "cert:*.b.example", true),
            ("cert:*.b.example", "cert:*.example", false),
            ("cert:*.example", "cert:example", false),
            ("cert:a.example", "cert:a.example", true),
        ] {
            assert_eq!(pattern(one).covers(&pattern(other)), covers, "{one} and {other}");
        }
    }
}
