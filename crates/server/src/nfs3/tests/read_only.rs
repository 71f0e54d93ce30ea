//! Clients that may only read.

use howdah_wire::nfs3::*;

use super::client::{Client, at, decoded, status};
use super::handles::every_procedure;
use crate::exports::{ClientRule, Clients};

#[test]
fn the_first_rule_that_fits_holds() {
    let reader = ClientRule {
        clients: Clients::Network { address: "192.0.2.0".parse().expect("address"), prefix: 24 },
        read_only: true,
        ..ClientRule::default()
    };
    let mut client = Client::with_rules(vec![reader, ClientRule::default()]);
    let root = client.root.clone();
    let mkdir = mkdir::Arguments { object: at(&root, b"new"), new: NewAttributes::default() };
    assert_eq!(client.status(mkdir::PROCEDURE, &mkdir), Some(Status::ReadOnly));
    client.peer.ends.client = "198.51.100.7:700".parse().expect("address");
    assert_eq!(client.status(mkdir::PROCEDURE, &mkdir), None);
}

#[test]
fn a_read_only_client_changes_nothing() {
    let client = Client::with_rules(vec![ClientRule { read_only: true, ..ClientRule::default() }]);
    let before = client.call(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&client.root) });
    for (name, procedure, arguments) in every_procedure(&client.root) {
        let changes = [2, 7, 8, 9, 10, 11, 12, 13, 14, 15].contains(&procedure);
        let (_, result) = client.send(procedure, &arguments, None);
        assert_eq!(status(&result) == Some(Status::ReadOnly), changes, "{name}: {:?}", status(&result));
    }
    let after = client.call(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&client.root) });
    assert_eq!(before, after);
    let access = access::Arguments { node: FileHandle(&client.root), wanted: 0x3f };
    let granted = client.call(access::PROCEDURE, &access);
    assert_eq!(decoded::<access::Reply>(&granted).expect("rights").granted, 0x03, "read and look up");
    let read = read::Arguments { node: FileHandle(&client.file), offset: 0, count: 100 };
    assert_eq!(client.status(read::PROCEDURE, &read), None);
}
