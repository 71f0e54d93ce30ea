//! The list of certificates that an authority revoked (RFC 5280 5): made anew with each one that it revokes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    CertificateRevocationListParams, KeyIdMethod, RevocationReason, RevokedCertParams, SerialNumber,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_parser::prelude::{CertificateRevocationList, FromDer, X509Certificate};

use crate::authority::Authority;

/// The list must say when the next one comes. Servers here do not ask: a list holds until another one replaces it.
const NEXT: Duration = Duration::from_secs(3650 * 86_400);

impl Authority {
    /// Adds a certificate to the list of those that are revoked, both in PEM; without a list, begins one.
    ///
    /// # Errors
    /// It is no certificate, the list is none, another authority issued the certificate, or it is revoked already.
    pub fn revoke(&self, list: Option<&str>, certificate: &str) -> Result<String, String> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|error| format!("it contains no certificate in PEM: {error}"))?;
        let (_, certificate) = X509Certificate::from_der(&der)
            .map_err(|error| format!("it contains no certificate: {error}"))?;
        let mut revoked = list.map(entries).transpose()?.unwrap_or_default();
        let serial = SerialNumber::from_slice(certificate.raw_serial());
        if revoked.iter().any(|entry| entry.serial_number == serial) {
            return Err(format!("certificate {} is revoked already", certificate.subject()));
        }
        let now = SystemTime::now();
        revoked.push(entry(serial, now));
        let parameters = CertificateRevocationListParams {
            this_update: now.into(),
            next_update: (now + NEXT).into(),
            crl_number: SerialNumber::from(revoked.len() as u64),
            issuing_distribution_point: None,
            revoked_certs: revoked,
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let made = parameters.signed_by(self.issuer()).map_err(|error| error.to_string())?;
        let (_, list) = CertificateRevocationList::from_der(made.der()).map_err(|error| error.to_string())?;
        // Serial numbers of another authority would be listed, and revoke nothing.
        if list.issuer().as_raw() != certificate.issuer().as_raw() {
            return Err(format!("another authority issued it ({})", certificate.issuer()));
        }
        made.pem().map_err(|error| error.to_string())
    }
}

/// What a list holds.
fn entries(list: &str) -> Result<Vec<RevokedCertParams>, String> {
    let der = CertificateRevocationListDer::from_pem_slice(list.as_bytes())
        .map_err(|error| format!("it contains no list of revoked certificates in PEM: {error}"))?;
    let (_, list) = CertificateRevocationList::from_der(&der)
        .map_err(|error| format!("it contains no list of revoked certificates: {error}"))?;
    let entries = list.iter_revoked_certificates().map(|revoked| {
        let seconds = u64::try_from(revoked.revocation_date.timestamp()).unwrap_or_default();
        entry(SerialNumber::from_slice(revoked.raw_serial()), UNIX_EPOCH + Duration::from_secs(seconds))
    });
    Ok(entries.collect())
}

fn entry(serial_number: SerialNumber, since: SystemTime) -> RevokedCertParams {
    RevokedCertParams {
        serial_number,
        revocation_time: since.into(),
        reason_code: Some(RevocationReason::Unspecified),
        invalidity_date: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::CertificatePurpose;

    #[test]
    fn a_list_keeps_what_was_revoked_before() {
        let day = Duration::from_secs(86_400);
        let (authority, _) = Authority::new("test", day).expect("an authority");
        let issue = |name: &str| {
            authority.issue(CertificatePurpose::Client, &[name.to_owned()], day).expect("issued").certificate
        };
        let (one, two) = (issue("one"), issue("two"));
        let list = authority.revoke(None, &one).expect("a list");
        assert_eq!(entries(&list).expect("a list").len(), 1);
        let both = authority.revoke(Some(&list), &two).expect("a list");
        let (first, second) = (entries(&list).expect("a list"), entries(&both).expect("a list"));
        assert_eq!(second.len(), 2);
        assert_eq!(first[0].serial_number, second[0].serial_number);
        assert!(authority.revoke(Some(&both), &one).expect_err("revoked").contains("revoked already"));
        assert!(authority.revoke(Some(&one), &two).is_err(), "a certificate is no list");
        assert!(authority.revoke(None, "nothing").is_err());
        let (stranger, _) = Authority::new("stranger", day).expect("an authority");
        let why = stranger.revoke(None, &one).expect_err("another one's");
        assert_eq!(why, "another authority issued it (CN=test)");
    }
}
