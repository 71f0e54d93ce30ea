//! The conformance suite by each version and each service.

use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::connect::{ConnectError, ConnectOptions, connect};
use howdah_vfs::Caller;
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, ActsAs, Subject};

use crate::gatekeeper::{Gatekeeper, USER};
use crate::served::{EXPORT, Served, serve_memory};

/// A window as that of howdah's own server.
pub const WINDOW: u32 = 2048;

/// A server behind a gatekeeper.
pub fn guarded(window: u32) -> (Served, Gatekeeper) {
    let mut served = serve_memory();
    served.abilities.acts_as = ActsAs::Always(Caller::new(USER, USER));
    let gatekeeper = Gatekeeper::before(served.address, window);
    (served, gatekeeper)
}

/// A client by way of the gatekeeper.
pub fn client(gatekeeper: &Gatekeeper, query: &str) -> Result<Arc<dyn Remote>, ConnectError> {
    let url = format!("nfs://{}{EXPORT}?{query}", gatekeeper.address).parse().expect("a URL");
    let tickets = Some(Arc::clone(&gatekeeper.gate) as _);
    connect(&url, &ConnectOptions { tickets, ..ConnectOptions::default() })
}

fn conforms(query: &str) {
    let (served, gatekeeper) = guarded(WINDOW);
    let subject = || {
        let client = client(&gatekeeper, query).unwrap_or_else(|error| panic!("{query}: {error}"));
        Subject::new(client, served.abilities.clone())
    };
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{query}: {report}");
    for seed in 0..3 {
        run_operations(seed, 200, &subject).unwrap_or_else(|difference| panic!("{query}: {difference}"));
    }
}

#[test]
fn nfs3_conforms_with_signed_headers() {
    conforms("version=3&sec=krb5&lanes=4");
}

#[test]
fn nfs3_conforms_with_signed_data() {
    conforms("version=3&sec=krb5i&lanes=4");
}

#[test]
fn nfs3_conforms_with_encrypted_data() {
    conforms("version=3&sec=krb5p&lanes=4");
}

#[test]
fn nfs4_conforms_with_signed_headers() {
    conforms("version=4.1&sec=krb5");
}

#[test]
fn nfs4_conforms_with_signed_data() {
    conforms("version=4.2&sec=krb5i&lanes=4");
}

#[test]
fn nfs4_conforms_with_encrypted_data() {
    conforms("version=4.2&sec=krb5p&lanes=4");
}
