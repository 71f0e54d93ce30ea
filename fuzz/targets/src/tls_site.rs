//! Certificates that a fuzzer's server and client trust.

use std::sync::OnceLock;
use std::time::Duration;

use howdah_tls::{Authority, CertificatePurpose, ClientFiles, ClientTls, ServerFiles, ServerTls};

/// A server and a client that trust each other, made once.
pub fn site() -> &'static (ServerTls, ClientTls) {
    static SITE: OnceLock<(ServerTls, ClientTls)> = OnceLock::new();
    SITE.get_or_init(|| {
        let home = tempfile::tempdir().expect("a directory");
        let day = Duration::from_secs(86_400);
        let (authority, made) = Authority::new("test", day).expect("an authority");
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let authorities = write("ca", &made.certificate);
        let made =
            authority.issue(CertificatePurpose::Server, &["server.test".to_owned()], day).expect("issued");
        let (certificate, key) = (write("c", &made.certificate), write("k", &made.key));
        let server = ServerTls::read(&ServerFiles {
            certificate,
            key,
            authorities: Vec::new(),
            revocations: Vec::new(),
        });
        let files = ClientFiles { authorities: Some(authorities), identity: None };
        (server.expect("good files"), ClientTls::read(&files, "server.test").expect("good files"))
    })
}
