//! What a client's certificate may be issued for: to be a client of TLS (clientAuth), or of RPC-with-TLS (RFC 9289). rustls knows the
//! first alone.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, KeyUsage, RevocationCheckDepth,
    RevocationOptionsBuilder, UnknownStatusPolicy,
};

/// 1.3.6.1.5.5.7.3.33, encoded (RFC 9289 8.3).
const RPC_CLIENT: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 33];

/// Accepts what rustls accepts, and also certificates that are for clients of RPC-with-TLS alone.
#[derive(Debug)]
pub struct EitherPurpose {
    standard: Arc<dyn ClientCertVerifier>,
    roots: Arc<RootCertStore>,
    lists: Vec<CertRevocationList<'static>>,
}

impl EitherPurpose {
    /// Around this verifier, which trusts the same authorities and has the same lists.
    ///
    /// # Errors
    /// A list cannot be read.
    pub fn around(
        standard: Arc<dyn ClientCertVerifier>,
        roots: Arc<RootCertStore>,
        lists: &[CertificateRevocationListDer<'_>],
    ) -> Result<Self, webpki::Error> {
        let owned = |list: &CertificateRevocationListDer<'_>| {
            BorrowedCertRevocationList::from_der(list)?.to_owned().map(CertRevocationList::from)
        };
        Ok(Self { standard, roots, lists: lists.iter().map(owned).collect::<Result<_, _>>()? })
    }

    /// Whether the certificate is for clients of RPC, and as good as the others otherwise.
    fn is_for_rpc(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> bool {
        let Ok(certificate) = EndEntityCert::try_from(end_entity) else { return false };
        let lists: Vec<_> = self.lists.iter().collect();
        // The same as of the other purpose. There is no such thing for no list.
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|options| {
            options
                .with_depth(RevocationCheckDepth::EndEntity)
                .with_status_policy(UnknownStatusPolicy::Allow)
                .build()
        });
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms.all;
        // Not required: an intermediate authority without purposes may issue for all of them (RFC 5280 4.2.1.12).
        let usage = KeyUsage::required_if_present(RPC_CLIENT);
        certificate
            .verify_for_usage(algorithms, &self.roots.roots, intermediates, now, usage, revocation, None)
            .is_ok()
    }
}

impl ClientCertVerifier for EitherPurpose {
    fn offer_client_auth(&self) -> bool {
        self.standard.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.standard.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.standard.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        use CertificateError::{InvalidPurpose, InvalidPurposeContext};
        match self.standard.verify_client_cert(end_entity, intermediates, now) {
            Err(Error::InvalidCertificate(InvalidPurpose | InvalidPurposeContext { .. }))
                if self.is_for_rpc(end_entity, intermediates, now) =>
            {
                Ok(ClientCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, Error> {
        self.standard.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, Error> {
        self.standard.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.standard.supported_verify_schemes()
    }
}
