//! Rules for clients by their names: they are judged in their order, and one that nobody can judge now keeps those after it from being
//! used.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_wire::nfs3::*;

use super::client::{Client, at};
use crate::Transport;
use crate::calling::peer;
use crate::exports::{ClientRule, Clients, Export, Exports, HostDirectory, HostSource, Netgroup};

/// 192.0.2.N is `nodeN.example.org`, except 192.0.2.9, which has no name; others cannot be looked up while it is down.
#[derive(Default)]
struct Book {
    is_down: AtomicBool,
}

impl HostSource for Arc<Book> {
    fn name(&self, address: IpAddr) -> io::Result<Option<String>> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let text = address.to_string();
        let number = text.rsplit('.').next().expect("a number");
        Ok((number != "9").then(|| format!("node{number}.example.org")))
    }

    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let number = name.strip_prefix("node").and_then(|rest| rest.split('.').next()).expect("a node");
        Ok(vec![format!("192.0.2.{number}").parse().expect("an address")])
    }
}

fn client() -> (Arc<Book>, Client) {
    let book = Arc::<Book>::default();
    let client = Client::with_rules(Vec::new());
    let group =
        Netgroup { name: "lab".into(), hosts: ["node2.example.org".into()].into(), ..Netgroup::default() };
    let pattern = "node[34].example.org".parse().expect("a pattern");
    let read_only = |clients| ClientRule { clients, read_only: true, ..ClientRule::default() };
    let everyone_of =
        |last: &str| Clients::Network { address: last.parse().expect("an address"), prefix: 30 };
    let rules = vec![
        ClientRule { clients: Clients::Netgroup(Arc::new(group)), ..ClientRule::default() },
        ClientRule { clients: Clients::Hosts(pattern), ..ClientRule::default() },
        // 192.0.2.0 to 192.0.2.3.
        read_only(everyone_of("192.0.2.0")),
    ];
    let export = Export::new("/", 5, client.memory.clone(), rules);
    let export = export.with_host_names(Some(Arc::new(HostDirectory::new(Arc::clone(&book)))));
    client.service.set_exports(Exports::new(vec![export], [7; 16]).expect("one"));
    (book, client)
}

/// What becomes of GETATTR and MKDIR.
fn tries(client: &mut Client, address: &str) -> [Option<Status>; 2] {
    client.peer = peer(&format!("{address}:700"), "192.0.2.1:2049", Transport::Tcp);
    let (file, directory) = (client.file.clone(), client.root.clone());
    let getattr = getattr::Arguments { node: FileHandle(&file) };
    let made = format!("made-{address}");
    let mkdir = mkdir::Arguments { object: at(&directory, made.as_bytes()), new: NewAttributes::default() };
    [client.status(getattr::PROCEDURE, &getattr), client.status(mkdir::PROCEDURE, &mkdir)]
}

#[test]
fn the_first_rule_that_fits_a_clients_name_or_address_holds() {
    let (_, mut client) = client();
    assert!(client.service.any_waits(), "a look-up may wait");
    let (well, read_only, refused) =
        ([None, None], [None, Some(Status::ReadOnly)], [Some(Status::AccessDenied); 2]);
    for (address, expected) in [
        ("192.0.2.1", read_only),
        ("192.0.2.2", well),
        ("192.0.2.3", well),
        ("192.0.2.4", well),
        ("192.0.2.5", refused),
        ("192.0.2.9", refused),
    ] {
        assert_eq!(tries(&mut client, address), expected, "{address}");
    }
}

#[test]
fn who_may_be_of_an_earlier_rule_must_ask_again_and_who_was_known_need_not() {
    let (book, mut client) = client();
    assert_eq!(tries(&mut client, "192.0.2.2"), [None, None]);
    book.is_down.store(true, Ordering::SeqCst);
    assert_eq!(tries(&mut client, "192.0.2.1"), [Some(Status::Jukebox); 2], "it could be of the netgroup");
    assert_eq!(tries(&mut client, "192.0.2.2")[0], None);
}
