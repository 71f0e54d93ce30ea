//! Rules for clients that show a certificate: a client without one, wherever from, is refused.

use std::sync::Arc;

use howdah_vfs::GroupList;
use howdah_wire::mount::{self, DirectoryPath, mnt};
use howdah_wire::nfs3::*;

use super::client::{Client, OWNER, at, decoded};
use crate::Peer;
use crate::calling::{call, certificate, shows};
use crate::exports::{
    Anonymous, ClientRule, Clients, Export, Exports, GroupSource, Squash, UserAccount, UserGroups,
};

fn rule(clients: &str) -> ClientRule {
    ClientRule { clients: Clients::Certificate(clients.parse().expect("a pattern")), ..ClientRule::default() }
}

#[test]
fn a_rule_for_a_certificate_is_for_whoever_shows_it() {
    let mut client = Client::with_rules(vec![rule("cert:backup.example")]);
    let file = client.file.clone();
    let getattr = getattr::Arguments { node: FileHandle(&file) };
    let refused = Some(Status::AccessDenied);
    assert_eq!(client.status(getattr::PROCEDURE, &getattr), refused, "in the clear");
    for (name, expected) in
        [(None, refused), (Some("other.example"), refused), (Some("backup.example"), None)]
    {
        shows(&mut client.peer, name.map(|name| certificate(name, None)));
        assert_eq!(client.status(getattr::PROCEDURE, &getattr), expected, "{name:?}");
    }
}

#[test]
fn a_mount_in_the_clear_gives_a_handle_and_over_tls_the_rules_hold() {
    let mut client = Client::with_rules(vec![rule("cert:backup.example")]);
    let mounted = |peer: &Peer, path: &[u8]| {
        let what = (mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE);
        let arguments = mnt::Arguments { path: DirectoryPath(path) };
        let (_, result) = call(&client.service, peer, what, &arguments).expect("an answer");
        decoded::<mnt::Reply<'_>>(&result).map(drop)
    };
    let mut peer = client.peer.clone();
    assert_eq!(mounted(&peer, b"/"), Ok(()));
    assert_eq!(mounted(&peer, b"/absent"), Err(mount::Status::NotFound));
    for (name, expected) in [("other.example", Err(mount::Status::AccessDenied)), ("backup.example", Ok(()))]
    {
        shows(&mut peer, Some(certificate(name, None)));
        assert_eq!(mounted(&peer, b"/"), expected, "{name}");
    }
    client.peer = peer;
}

#[test]
fn files_belong_to_the_user_whom_the_certificate_names() {
    /// Knows one user.
    struct One;
    impl GroupSource for One {
        fn groups(&self, _: u32) -> std::io::Result<Option<Vec<u32>>> {
            Ok(None)
        }

        fn account(&self, name: &str) -> std::io::Result<Option<UserAccount>> {
            let user = match name {
                "ann@example.org" => 1234,
                "root@example.org" => 0,
                _ => return Ok(None),
            };
            Ok(Some(UserAccount { user, group: 1235, groups: GroupList::new([1235, 1236]) }))
        }
    }
    let anonymous = Anonymous { user: 77, group: 78 };
    let certified = ClientRule { squash: Squash::Certificate, anonymous, ..ClientRule::default() };
    let mut client = Client::with_rules(vec![]);
    let export = || Export::new("/", 5, client.memory.clone(), vec![certified.clone()]);
    let exports = |export| Exports::new(vec![export], [7; 16]).expect("one");
    client.service.set_exports(exports(export().with_accounts(Some(Arc::new(UserGroups::new(One))))));
    assert!(client.service.any_waits(), "a look-up may wait");
    for (number, (user, shown, expected)) in [
        (Some(0), Some(certificate("a", Some("ann@example.org"))), (1234, 1235)),
        (Some(OWNER), Some(certificate("a", Some("ann@example.org"))), (1234, 1235)),
        (None, Some(certificate("a", Some("ann@example.org"))), (1234, 1235)),
        (Some(0), Some(certificate("a", Some("root@example.org"))), (77, 78)),
        (Some(OWNER), Some(certificate("a", Some("nobody@example.org"))), (77, 78)),
        (Some(OWNER), Some(certificate("a", None)), (77, 78)),
        (Some(OWNER), None, (77, 78)),
    ]
    .into_iter()
    .enumerate()
    {
        client.user = user;
        shows(&mut client.peer, shown);
        let name = format!("file{number}");
        let how = create::How::Guarded(NewAttributes::default());
        let object = at(&client.root, name.as_bytes());
        let result = client.call(create::PROCEDURE, &create::Arguments { object, how });
        let made = decoded::<create::Reply>(&result).expect("made").attributes.expect("attributes");
        assert_eq!((made.user, made.group), expected, "{name}");
    }
    client.service.set_exports(exports(Export::new("/", 5, client.memory.clone(), vec![])));
    assert!(!client.service.any_waits());
}
