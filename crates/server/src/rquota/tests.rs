//! rquota as a client sees it: which file system a path leads to, and who may ask for whose quota.

use std::collections::HashSet;
use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, FileSystem, Handle, MakeDirectory, Name, NewAttributes, Quota, QuotaOwner, QuotaUse,
    Quotas, Result,
};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::rquota::getquota::{Arguments1, Arguments2, GROUP, PROCEDURE, Reply, USER};
use howdah_wire::rquota::{PROGRAM, QuotaPath, RemoteQuota, VERSION_1, VERSION_2, getactivequota};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::Transport;
use crate::calling::peer;
use crate::exports::{
    Anonymous, ClientRule, Export, Exports, SecurityFlavor, SecurityFlavors, Squash, TlsPolicy,
};
use crate::service::{Service, ServiceOptions};

/// Memory with quotas: of each owner, its id in files on the file system of the root, and 1,000 more on one that is mounted below.
struct WithQuotas {
    memory: MemoryFileSystem,
    mounted: HashSet<Handle>,
}

impl Layer for WithQuotas {
    fn inner(&self) -> &dyn FileSystem {
        &self.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.memory)
    }

    fn quotas(&self) -> Option<&dyn Quotas> {
        Some(self)
    }
}

impl Quotas for WithQuotas {
    fn quota(&self, node: &Handle, owner: QuotaOwner) -> Result<Option<Quota>> {
        let (id, kind) = match owner {
            QuotaOwner::User(user) => (user, 0),
            QuotaOwner::Group(group) => (group, 100_000),
        };
        let more = if self.mounted.contains(node) { 1_000 } else { 0 };
        let files = QuotaUse { used: u64::from(id) + kind + more, ..QuotaUse::default() };
        Ok((id != 7).then_some(Quota { files, ..Quota::default() }))
    }
}

/// A file system with `deep`, below which another one is mounted with a directory `down`.
fn file_system() -> Arc<WithQuotas> {
    let memory = MemoryFileSystem::new();
    let make = |above: &Handle, name: &[u8]| {
        let (name, new) = (Name::parse(name).expect("a name"), NewAttributes::with_mode(0o700));
        let made = memory.make_directory(
            &Caller::ROOT,
            MakeDirectory::new(above, name, &new),
            &mut Change::default(),
        );
        made.expect("made").handle
    };
    let deep = make(&memory.root(), b"deep");
    let below = make(&deep, b"below");
    let down = make(&below, b"down");
    Arc::new(WithQuotas { memory, mounted: [below, down].into() })
}

fn service(exports: Vec<Export>) -> Service {
    let options = ServiceOptions { quotas: true, ..ServiceOptions::default() };
    Service::with_options(Exports::new(exports, [1; 16]).expect("exports"), options)
}

fn one(squash: Squash) -> Service {
    let anonymous = Anonymous { user: 99, group: 98 };
    let rule = ClientRule { squash, anonymous, ..ClientRule::default() };
    service(vec![Export::new("/srv", 1, file_system(), vec![rule])])
}

/// Asks as this user, of group 100 and these groups, from a port that anybody may use.
fn ask(service: &Service, user: u32, (version, procedure): (u32, u32), arguments: &impl Encode) -> Reply {
    let credentials = Credentials::Sys(AuthSys::new(b"client", user, 100, &[200]));
    let header = CallHeader { xid: 7, program: PROGRAM, version, procedure, credentials };
    let mut message = Encoder::to_vec(&header);
    arguments.encode(&mut Encoder::new(&mut message));
    let peer = peer("192.0.2.9:40000", "192.0.2.1:2049", Transport::Udp);
    let reply = service.answer(&peer, &message).expect("an answer");
    let mut decoder = Decoder::new(&reply);
    let header = ReplyHeader::decode(&mut decoder).expect("a header");
    assert_eq!(header.outcome, Ok(Accepted::Success));
    let reply = Reply::decode(&mut decoder).expect("a result");
    decoder.finish("result").expect("nothing more");
    reply
}

fn of(service: &Service, caller: u32, path: &str, kind: u32, id: u32) -> Reply {
    let arguments = Arguments2 { path: QuotaPath(path.as_bytes()), kind, id };
    ask(service, caller, (VERSION_2, PROCEDURE), &arguments)
}

fn files(reply: Reply) -> Option<u32> {
    match reply {
        Reply::Quota(RemoteQuota { files, is_active: true, .. }) => Some(files),
        _ => None,
    }
}

#[test]
fn a_path_leads_to_the_file_system_that_it_is_on() {
    let service = service(vec![
        Export::new("/srv", 1, file_system(), vec![ClientRule::default()]),
        Export::new("/srv/deep/other", 2, Arc::new(MemoryFileSystem::new()), vec![ClientRule::default()]),
    ]);
    for (path, expected) in [
        ("/srv", Some(5)),
        ("/srv/", Some(5)),
        ("/srv/deep", Some(5)),
        ("/srv/deep/below", Some(1005)),
        ("/srv/deep/below/down", Some(1005)),
        ("/srv/deep/below/absent/down", Some(1005)),
        ("/srv/deep/../..", Some(5)),
        ("/srv/deep/other", None),
        ("/absent", None),
        ("/", None),
        ("", None),
    ] {
        let path_ = QuotaPath(path.as_bytes());
        let answer = of(&service, 5, path, USER, 5);
        assert_eq!(files(answer), expected, "{path}");
        assert_eq!(expected.is_none(), answer == Reply::NoQuota, "{path}");
        for procedure in [PROCEDURE, getactivequota::PROCEDURE] {
            let first = Arguments1 { path: path_, user: 5 };
            assert_eq!(ask(&service, 5, (VERSION_1, procedure), &first), answer, "{path}");
        }
    }
    assert_eq!(of(&service, 7, "/srv", USER, 7), Reply::NoQuota);
    assert_eq!(of(&service, 5, "/srv", 2, 5), Reply::NoQuota, "a kind that is not known");
}

#[test]
fn users_see_their_own_quotas_and_a_clients_root_all() {
    let service = one(Squash::Root);
    let not_permitted = |caller, kind, id| of(&service, caller, "/srv", kind, id) == Reply::NotPermitted;
    let seen = |caller, kind, id| files(of(&service, caller, "/srv", kind, id));
    assert_eq!(seen(5, USER, 5), Some(5));
    assert!(not_permitted(5, USER, 6) && not_permitted(5, USER, 0));
    assert_eq!((seen(5, GROUP, 100), seen(5, GROUP, 200)), (Some(100_100), Some(100_200)));
    assert!(not_permitted(5, GROUP, 300));
    assert_eq!((seen(0, USER, 6), seen(0, GROUP, 300)), (Some(6), Some(100_300)));
    assert_eq!(seen(0, USER, 0), Some(99), "as whom root acts");
}

#[test]
fn callers_who_act_as_another_user_see_the_quota_of_that_one() {
    let service = one(Squash::All);
    let seen = |caller, kind, id| files(of(&service, caller, "/srv", kind, id));
    assert_eq!((seen(5, USER, 5), seen(0, USER, 0)), (Some(99), Some(99)));
    assert_eq!(seen(5, GROUP, 200), Some(100_098));
    assert_eq!(of(&service, 0, "/srv", USER, 5), Reply::NotPermitted, "it is nobody, too");
}

#[test]
fn what_calls_may_not_see_they_may_not_see_by_quotas() {
    let sec = SecurityFlavors::new([SecurityFlavor::Krb5]).expect("a flavor");
    let kerberos = ClientRule { sec, ..ClientRule::default() };
    let service = service(vec![
        Export::new("/nobody", 1, file_system(), Vec::new()),
        Export::new("/tls", 2, file_system(), vec![ClientRule::default()]).with_tls(TlsPolicy::Required),
        Export::new("/kerberos", 3, file_system(), vec![kerberos]),
        Export::new("/gone", 4, file_system(), vec![ClientRule::default()]).with_gone(Some("gone".into())),
    ]);
    for path in ["/nobody", "/tls", "/kerberos"] {
        assert_eq!(of(&service, 5, path, USER, 5), Reply::NotPermitted, "{path}");
    }
    assert_eq!(of(&service, 5, "/gone", USER, 5), Reply::NoQuota);
}
