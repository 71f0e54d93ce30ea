//! Which clients are let in, and as which users.

use std::net::IpAddr;
use std::sync::Arc;

use howdah_vfs::{Caller, Change, FileSystem, SetAttributes};
use howdah_wire::nfs3::*;
use howdah_wire::rpc::{Accepted, AuthFlavor, AuthStatus, AuthSys, Credentials, Denied};
use howdah_wire::xdr::{Decoder, Encoder};

use super::client::{Client, OWNER, at, decoded, name, status};
use super::handles::every_procedure;
use crate::Transport;
use crate::exports::{
    Anonymous, ClientRule, Clients, Export, Exports, GroupSource, PrivilegedPorts, Squash, UserGroups,
};
use crate::outline::{Outline, ReplyPace};
use crate::program::Tabled;

fn network(address: &str) -> Clients {
    Clients::Network { address: address.parse().expect("address"), prefix: 24 }
}

#[test]
fn a_client_that_no_rule_is_for_is_refused_whatever_it_holds() {
    let mut client =
        Client::with_rules(vec![ClientRule { clients: network("192.0.2.0"), ..ClientRule::default() }]);
    let getattr = getattr::Arguments { node: FileHandle(&client.file.clone()) };
    assert_eq!(client.status(getattr::PROCEDURE, &getattr), None);
    client.peer.ends.client = "198.51.100.7:700".parse().expect("address");
    for (name, procedure, arguments) in every_procedure(&client.file) {
        let (_, result) = client.send(procedure, &arguments, None);
        assert_eq!(status(&result), Some(Status::AccessDenied), "{name}");
    }
}

#[test]
fn ports_that_anybody_may_use_are_refused_where_that_is_asked_for() {
    let mut client = Client::with_rules(vec![ClientRule {
        privileged_ports: PrivilegedPorts::Always,
        ..ClientRule::default()
    }]);
    for (port, expected) in
        [(1, None), (1023, None), (1024, Some(Status::NotPermitted)), (65535, Some(Status::NotPermitted))]
    {
        client.peer.ends.client.set_port(port);
        let getattr = getattr::Arguments { node: FileHandle(&client.root) };
        assert_eq!(client.status(getattr::PROCEDURE, &getattr), expected, "port {port}");
        if expected.is_none() {
            continue;
        }
        for (name, procedure, arguments) in every_procedure(&client.root) {
            let (_, result) = client.send(procedure, &arguments, None);
            assert_eq!(status(&result), expected, "{name} from port {port}");
        }
    }
}

#[test]
fn an_ordinary_user_of_the_servers_host_is_refused_by_default() {
    let local = ClientRule { privileged_ports: PrivilegedPorts::Local, ..ClientRule::default() };
    let mut client = Client::with_rules(vec![local]);
    // RFC 5737: addresses of nobody. One that is the server's own is this host whatever its interfaces say.
    for (address, port, expected) in [
        ("127.0.0.1", 1023, None),
        ("127.0.0.1", 1024, Some(Status::NotPermitted)),
        ("127.0.0.2", 50_000, Some(Status::NotPermitted)),
        ("::1", 50_000, Some(Status::NotPermitted)),
        ("::ffff:127.0.0.1", 50_000, Some(Status::NotPermitted)),
        ("192.0.2.9", 50_000, None),
    ] {
        client.peer.ends.client = (address.parse::<IpAddr>().expect("an address"), port).into();
        let getattr = getattr::Arguments { node: FileHandle(&client.root) };
        assert_eq!(client.status(getattr::PROCEDURE, &getattr), expected, "{address} port {port}");
    }
    client.peer.ends.server = client.peer.ends.client;
    let getattr = getattr::Arguments { node: FileHandle(&client.root) };
    assert_eq!(client.status(getattr::PROCEDURE, &getattr), Some(Status::NotPermitted));
}

#[test]
fn files_belong_to_whom_the_caller_is_squashed_to() {
    let anonymous = Anonymous { user: 77, group: 78 };
    for (squash, user, expected) in [
        (Squash::Root, Some(0), (77, 78)),
        (Squash::Root, Some(OWNER), (OWNER, OWNER)),
        (Squash::Root, None, (77, 78)),
        (Squash::All, Some(0), (77, 78)),
        (Squash::All, Some(OWNER), (77, 78)),
        (Squash::None, Some(0), (0, 0)),
        (Squash::None, Some(OWNER), (OWNER, OWNER)),
        (Squash::None, Some(u32::MAX), (77, 78)),
        (Squash::None, None, (77, 78)),
    ] {
        let mut client = Client::with_rules(vec![ClientRule { squash, anonymous, ..ClientRule::default() }]);
        client.user = user;
        let object = at(&client.root, b"mine");
        let how = create::How::Guarded(NewAttributes::default());
        let result = client.call(create::PROCEDURE, &create::Arguments { object, how });
        let made = decoded::<create::Reply>(&result).expect("made").attributes.expect("attributes");
        assert_eq!((made.user, made.group), expected, "{user:?} under {squash:?}");
    }
}

#[test]
fn flavors_we_do_not_take_are_too_weak_and_malformed_ones_are_bad() {
    let client = Client::new();
    let arguments = Encoder::to_vec(&getattr::Arguments { node: FileHandle(&client.root) });
    let outcome = |credentials| client.send_as(credentials, getattr::PROCEDURE, &arguments, None).0;
    let denied = |status| Err(Denied::Authentication(status));
    assert_eq!(outcome(Credentials::Other(AuthFlavor::SHORT)), denied(AuthStatus::TooWeak));
    assert_eq!(outcome(Credentials::None), Ok(Accepted::Success));
    assert_eq!(outcome(Credentials::Sys(AuthSys::new(b"", 1, 2, &[3; 16]))), Ok(Accepted::Success));
}

#[test]
fn null_and_garbage() {
    let client = Client::new();
    assert_eq!(client.send(null::PROCEDURE, &[], None), (Ok(Accepted::Success), Vec::new()));
    assert_eq!(client.send(22, &[], None).0, Ok(Accepted::ProcedureUnavailable));
    for (name, procedure, arguments) in every_procedure(&client.root) {
        for length in 0..arguments.len() {
            // Padding that is missing at the very end hurts nobody where the data is taken as it comes.
            if procedure == write::PROCEDURE && length > arguments.len() - 4 {
                continue;
            }
            let (outcome, _) = client.send(procedure, &arguments[..length], None);
            assert_eq!(outcome, Ok(Accepted::GarbageArguments), "{name} cut to {length}");
        }
    }
}

#[test]
fn nodes_of_two_exports_cannot_be_linked_or_renamed_across() {
    let (one, other) = (Client::new(), Client::new());
    let export = |id, client: &Client| {
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        Export::new(&format!("/{id}"), id, client.memory.clone(), vec![rule])
    };
    let exports = Exports::new(vec![export(1, &one), export(2, &other)], [7; 16]).expect("exports");
    let seal = |id, client: &Client| {
        let export = exports.find(id).expect("export");
        exports.seal(export, &client.memory.root()).as_wire().0.to_vec()
    };
    let (from, to) = (seal(1, &one), seal(2, &other));
    let ids = [&from, &to].map(|root| {
        one.service
            .set_exports(Exports::new(vec![export(1, &one), export(2, &other)], [7; 16]).expect("exports"));
        let result = one.call(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(root) });
        decoded::<getattr::Reply>(&result).expect("attributes").attributes.file_system
    });
    assert_ne!(ids[0], ids[1], "each export is a file system of its own to clients");
    let arguments = rename::Arguments { from: at(&from, b"file"), to: at(&to, b"moved") };
    assert_eq!(one.status(rename::PROCEDURE, &arguments), Some(Status::CrossDevice));
    let lookup = one.call(lookup::PROCEDURE, &lookup::Arguments { object: at(&from, b"file") });
    let file = decoded::<lookup::Reply>(&lookup).expect("found").node;
    let arguments = link::Arguments { node: file, link: at(&to, b"linked") };
    assert_eq!(one.status(link::PROCEDURE, &arguments), Some(Status::CrossDevice));
}

#[test]
fn a_table_names_all_procedures_in_order() {
    let (_, procedures) = super::super::Nfs3Program::VERSIONS[0];
    let procedures: Vec<_> = procedures.iter().map(|row| &row.procedure).collect();
    let names: Vec<_> = procedures.iter().map(|procedure| procedure.name).collect();
    assert_eq!(names.len(), 22);
    for (name, procedure, _) in every_procedure(&[]) {
        assert_eq!(names[procedure as usize], name);
    }
    let once = |transport| {
        let once = procedures.iter().filter(|procedure| procedure.repetition.is_once(transport));
        once.map(|procedure| procedure.name).collect::<Vec<_>>()
    };
    let changes = ["SETATTR", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK"];
    assert_eq!(once(Transport::Tcp), changes);
    assert_eq!(once(Transport::Udp), [&changes[..1], &["WRITE"], &changes[1..]].concat());
    let data = write::Arguments {
        node: FileHandle(b"handle"),
        offset: 0,
        count: 9,
        stability: write::Stability::DataSync,
        data: b"some data",
    };
    let bytes = [&[0; 8][..], &Encoder::to_vec(&data)].concat();
    let mut decoder = Decoder::new(&bytes);
    decoder.bytes(8, "header").expect("8 bytes");
    let mut outline = Outline::of(procedures[7].pace);
    (procedures[7].outline)(&mut outline, decoder);
    let bulk = outline.bulk.expect("WRITE brings data");
    assert_eq!((bulk.length, bulk.durable, outline.pace), (9, true, ReplyPace::Slow));
    assert!(bytes[bulk.at..].starts_with(b"some data"));
}

#[test]
fn a_user_reads_by_the_thirtieth_of_forty_groups_where_they_are_looked_up() {
    /// The owner is in forty groups, of which a client can send sixteen.
    struct Forty;
    impl GroupSource for Forty {
        fn groups(&self, user: u32) -> std::io::Result<Option<Vec<u32>>> {
            Ok((user == 1001).then(|| (5000..5040).collect()))
        }
    }
    let mut client = Client::new();
    client.user = Some(1001);
    let mode = howdah_vfs::NewAttributes { group: Some(5029), ..howdah_vfs::NewAttributes::with_mode(0o640) };
    let (memory, file) =
        (&client.memory, client.memory.lookup(&Caller::ROOT, &client.memory.root(), name("file")));
    let file = file.expect("it").node.handle;
    memory
        .set_attributes(&Caller::ROOT, SetAttributes::new(&file, &mode, None), &mut Change::default())
        .expect("root may");
    let rules = || vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
    let exports =
        || Exports::new(vec![Export::new("/", 5, client.memory.clone(), rules())], [7; 16]).expect("one");
    let read = read::Arguments { node: FileHandle(&client.file), offset: 0, count: 9 };
    assert_eq!(client.status(read::PROCEDURE, &read), Some(Status::AccessDenied));
    client.service.set_exports(exports().with_groups(Some(Arc::new(UserGroups::new(Forty)))));
    assert!(client.service.any_waits(), "a look-up may wait");
    assert_eq!(client.status(read::PROCEDURE, &read), None);
    // A user that this host does not know has the groups that it sends.
    let other = Credentials::Sys(AuthSys::new(b"client", 1002, 1002, &[5029]));
    let (_, result) = client.send_as(other, read::PROCEDURE, &Encoder::to_vec(&read), None);
    assert_eq!(status(&result), None);
    client.service.set_exports(exports());
    assert!(!client.service.any_waits());
    assert_eq!(client.status(read::PROCEDURE, &read), Some(Status::AccessDenied));
}
