//! Peers that know names of what others have: ids of clients, of sessions, and names of clients. None is of use to them.

use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{
    Opaque, Status, Verifier, bind_conn_to_session, destroy_clientid, destroy_session, putrootfh,
};

use super::client::{Client, bare, put, service, step};
use crate::calling::{certificate, peer, shows};
use crate::exports::{ClientRule, Clients, Export, Exports, TlsPolicy};
use crate::service::Service;
use crate::states::StateOptions;
use crate::{Peer, Transport};

const HOST: &str = "192.0.2.9:700";

/// A peer at this address with this certificate; `None`: in the clear; an empty name: TLS without a certificate.
fn from(client: &str, shown: Option<&str>) -> Peer {
    let mut peer = peer(client, "192.0.2.1:2049", Transport::Tcp);
    match shown {
        Some("") => shows(&mut peer, None),
        Some(name) => shows(&mut peer, Some(certificate(name, None))),
        None => {}
    }
    peer
}

fn exchange(owner: &str, verifier: u64) -> Vec<u8> {
    let arguments = exchange_id::Arguments {
        owner: ClientOwner { verifier: Verifier(verifier.to_be_bytes()), owner: Opaque(owner.as_bytes()) },
        flags: 0,
        protection: Protection::None,
        implementation: None,
    };
    step(exchange_id::OPERATION, &arguments)
}

/// What a stranger sends that knows both ids of a client, and what each is answered.
fn attacks(stranger: &Client) -> Vec<(&'static str, Status)> {
    let session = stranger.session;
    let bind = bind_conn_to_session::Arguments {
        session,
        direction: bind_conn_to_session::WantedUse::CallsOrBoth,
        rdma: false,
    };
    let sent = |steps: &[Vec<u8>]| stranger.send(steps).status;
    vec![
        ("SEQUENCE", sent(&[stranger.sequence_step(1, 1), bare(putrootfh::OPERATION)])),
        ("BIND_CONN_TO_SESSION", sent(&[step(bind_conn_to_session::OPERATION, &bind)])),
        (
            "DESTROY_SESSION",
            sent(&[step(destroy_session::OPERATION, &destroy_session::Arguments { session })]),
        ),
    ]
}

/// The same with the id of a client alone.
fn attacks_on_client(stranger: &Client, sequence: u32) -> Vec<(&'static str, Status)> {
    let created = |sequence| stranger.create_session(sequence).err().unwrap_or(Status::OK);
    let destroy = destroy_clientid::Arguments { client: stranger.id };
    vec![
        ("CREATE_SESSION again", created(sequence)),
        ("CREATE_SESSION", created(sequence + 1)),
        ("DESTROY_CLIENTID", stranger.send(&[step(destroy_clientid::OPERATION, &destroy)]).status),
    ]
}

fn knows(service: &Arc<Service>, victim: &Client, peer: Peer) -> Client {
    let nobody = Client::unconfirmed(service, "x");
    Client { peer, id: victim.id, session: victim.session, user: victim.user, ..nobody }
}

#[test]
fn the_names_of_sessions_and_clients_are_of_no_use_to_others() {
    let service = service(&["/"]);
    for own in [None, Some(""), Some("a.example")] {
        let name = format!("victim {own:?}");
        let mut victim = Client::at(&service, &name, from(HOST, own));
        let root = victim.handle(&[]).expect("the root");
        let how = || Some(How::Unchecked(Default::default()));
        victim.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how()).expect("opened");
        for other in [None, Some(""), Some("a.example"), Some("b.example")] {
            let stranger = knows(&service, &victim, from("198.51.100.7:700", other));
            for (what, status) in attacks_on_client(&stranger, 1) {
                assert_eq!(status, Status::STALE_CLIENTID, "{what} of {own:?} by {other:?}");
            }
            // Also from the same host: another user of it, or one who sends from its address.
            let neighbour = knows(&service, &victim, from(HOST, other));
            for stranger in [&stranger, &neighbour].into_iter().filter(|_| own != other) {
                for (what, status) in attacks(stranger) {
                    assert_eq!(status, Status::BADSESSION, "{what} of {own:?} by {other:?}");
                }
            }
        }
        let user = Client { user: 4711, ..knows(&service, &victim, from(HOST, own)) };
        let of_user: Vec<Status> = attacks_on_client(&user, 1).iter().map(|(_, status)| *status).collect();
        assert_eq!(of_user, [Status::CLID_INUSE, Status::CLID_INUSE, Status::STALE_CLIENTID]);
        // It has lost nothing, and its own numbers go on.
        victim.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how()).expect("opened");
        assert!(victim.create_session(1).is_ok() && victim.create_session(2).is_ok());
    }
}

#[test]
fn a_renewed_certificate_keeps_its_session() {
    let mut client = Client::at(&service(&["/"]), "client", from(HOST, Some("a.example")));
    let mut renewed = certificate("a.example", None);
    (renewed.fingerprint.0[0], renewed.not_after) = (1, renewed.not_after + 1);
    shows(&mut client.peer, Some(renewed));
    assert_eq!(client.call(&[bare(putrootfh::OPERATION)]).status, Status::OK);
}

#[test]
fn the_name_of_a_certified_client_is_not_taken_in_the_clear() {
    let service = service(&["/"]);
    let mut victim = Client::at(&service, "host", from(HOST, Some("a.example")));
    let root = victim.handle(&[]).expect("the root");
    let how = Some(How::Unchecked(Default::default()));
    let (_, file) = victim.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how).expect("opened");
    for other in [None, Some(""), Some("b.example")] {
        // As a client that restarted, and from the same address.
        let mut taker = Client::unconfirmed(&service, "host");
        taker.peer = from(HOST, other);
        let found = taker.exchange("host", 99);
        taker.id = found.client;
        assert!(taker.create_session(found.sequence).is_ok(), "a client of its own");
        assert_ne!(taker.id, victim.id);
        assert_eq!(victim.call(&[put(&file)]).status, Status::OK, "{other:?}");
    }
    // Nor does one who was there first keep it from its name.
    let early = Client::at(&service, "later", from(HOST, None));
    let late = Client::at(&service, "later", from(HOST, Some("a.example")));
    assert_ne!(early.id, late.id);
}

/// Exports for one network, and for holders of one certificate.
fn guarded() -> Arc<Service> {
    let export = |name, id, clients: &str| {
        let clients = Clients::Certificate(clients.parse().expect("a pattern"));
        let rule = ClientRule { clients, ..ClientRule::default() };
        Export::new(name, id, Arc::new(MemoryFileSystem::new()), vec![rule])
    };
    let network = Clients::Network { address: [192, 0, 2, 0].into(), prefix: 24 };
    let rule = ClientRule { clients: network, ..ClientRule::default() };
    let open = Export::new("/b", 2, Arc::new(MemoryFileSystem::new()), vec![rule.clone()]);
    let tls = Export::new("/c", 3, Arc::new(MemoryFileSystem::new()), vec![ClientRule::default()]);
    let exports = vec![export("/a", 1, "cert:a.example"), open, tls.with_tls(TlsPolicy::Required)];
    let exports = Exports::new(exports, [7; 16]).expect("exports");
    Arc::new(Service::with(exports, Some(StateOptions::forgetful()), Vec::new()))
}

#[test]
fn nothing_is_kept_for_peers_that_no_export_admits() {
    let service = guarded();
    for (client, shown, expected) in [
        ("192.0.2.7:700", None, Status::OK),
        ("198.51.100.7:700", Some(""), Status::OK),
        ("198.51.100.7:700", Some("a.example"), Status::OK),
        ("198.51.100.7:700", None, Status::PERM),
    ] {
        let mut peer = Client::unconfirmed(&service, "x");
        peer.peer = from(client, shown);
        let before = service.states.as_ref().expect("NFSv4").clients().len();
        assert_eq!(peer.send(&[exchange(client, 1)]).status, expected, "{client} {shown:?}");
        let kept = service.states.as_ref().expect("NFSv4").clients().len() - before;
        assert_eq!(kept, usize::from(expected == Status::OK));
        // An id that it was given before the rules changed is of no use either.
        assert_eq!(peer.create_session(1).err() == Some(Status::PERM), expected == Status::PERM);
    }
}
