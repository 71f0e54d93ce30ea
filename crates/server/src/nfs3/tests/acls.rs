//! NFSACL as a client of it sees it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;

use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options, with_server_rights};
use howdah_vfs::{Caller, FileSystem, Handle, Name};
use howdah_wire::nfs3::{FileHandle, Status};
use howdah_wire::nfsacl::{AclEntryOnWire, AclOnWire, AclSelection, PROGRAM, VERSION, getacl, setacl};
use howdah_wire::rpc::{Accepted, AuthStatus, AuthSys, CallHeader, Credentials, Denied, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use super::client::{Client, OWNER, decoded, status};
use crate::calling::peer;
use crate::exports::{ClientRule, Export, Exports, SecurityFlavor, SecurityFlavors, Squash};
use crate::service::Service;
use crate::{Peer, Transport};

/// A call, and what came of it.
fn ask(
    (service, peer): (&Service, &Peer),
    user: u32,
    procedure: u32,
    arguments: &impl Encode,
) -> (Result<Accepted, Denied>, Vec<u8>) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let credentials = Credentials::Sys(AuthSys::new(b"client", user, user, &[]));
    let xid = CALLS.fetch_add(1, Ordering::Relaxed);
    let header = CallHeader { xid, program: PROGRAM, version: VERSION, procedure, credentials };
    let mut message = Encoder::to_vec(&header);
    arguments.encode(&mut Encoder::new(&mut message));
    let reply = service.answer(peer, &message).expect("an answer");
    let mut decoder = Decoder::new(&reply);
    let header = ReplyHeader::decode(&mut decoder).expect("a reply");
    (header.outcome, decoder.rest().to_vec())
}

/// Tag, id, rights.
type Numbers = (u32, u32, u32);

/// A local directory that is served, with the handles of itself and of a file.
struct Served {
    _place: tempfile::TempDir,
    service: Service,
    peer: Peer,
    directory: Vec<u8>,
    file: Vec<u8>,
}

/// What GETACL answers: the selection, then the count and the entries of each ACL.
type Shown = (u32, [(u32, Vec<Numbers>); 2]);

impl Served {
    /// `None` where a server cannot act as its callers, or the file system has no ACLs.
    fn new(read_only: bool) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skipped(Lack::Root, "only root acts as its callers");
            return None;
        }
        let place = tempfile::tempdir().expect("a directory");
        fs::write(place.path().join("file"), b"data").expect("written");
        for (name, mode) in [(".", 0o750), ("file", 0o640)] {
            let path = place.path().join(name);
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("chmod");
            chown(&path, Some(OWNER), Some(2000)).expect("chown");
        }
        let local = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        if local.acls().is_none() {
            skipped(Lack::Kernel, "the file system of temporary files has no ACLs");
            return None;
        }
        let name = Name::parse(b"file").expect("a name");
        let file = local.lookup(&Caller::ROOT, &local.root(), name).expect("it is there").node.handle;
        let root = local.root();
        let rule = ClientRule { squash: Squash::None, read_only, ..ClientRule::default() };
        let export = Export::new("/", 1, Arc::new(local), vec![rule]);
        let service = Service::new(Exports::new(vec![export], [7; 16]).expect("one"));
        let peer = peer("192.0.2.9:700", "192.0.2.1:2049", Transport::Tcp);
        let [directory, file] = [root, file].map(|handle| seal(&service, &handle));
        Some(Self { _place: place, service, peer, directory, file })
    }

    fn path(&self) -> &Path {
        self._place.path()
    }

    fn get(&self, node: &[u8], selection: u32) -> Result<Shown, Status> {
        let arguments = getacl::Arguments { node: FileHandle(node), selection: AclSelection(selection) };
        let (outcome, result) = ask((&self.service, &self.peer), 4711, getacl::PROCEDURE, &arguments);
        assert_eq!(outcome, Ok(Accepted::Success));
        let mut decoder = Decoder::new(&result);
        let answer = getacl::Reply::decode(&mut decoder).expect("a result");
        decoder.finish("result").expect("nothing more");
        let shown = |acl: &AclOnWire<'_>| {
            (acl.count, acl.entries.iter().map(|entry| (entry.tag, entry.id, entry.rights)).collect())
        };
        answer
            .map(|answer| {
                assert!(answer.attributes.is_some());
                (answer.selection.0, [shown(&answer.access), shown(&answer.default)])
            })
            .map_err(|refused| refused.status)
    }

    fn set(&self, user: u32, node: &[u8], selection: u32, acls: [&[Numbers]; 2]) -> Result<(), Status> {
        let entry = |&(tag, id, rights): &Numbers| AclEntryOnWire { tag, id, rights };
        let lists = acls.map(|acl| acl.iter().map(entry).collect::<Vec<_>>());
        let [access, default] =
            [0, 1].map(|i| AclOnWire { count: lists[i].len() as u32, entries: Array::of(&lists[i]) });
        let (node, selection) = (FileHandle(node), AclSelection(selection));
        let arguments = setacl::Arguments { node, selection, access, default };
        let (outcome, result) = ask((&self.service, &self.peer), user, setacl::PROCEDURE, &arguments);
        assert_eq!(outcome, Ok(Accepted::Success));
        status(&result).map_or(Ok(()), Err)
    }
}

fn seal(service: &Service, handle: &Handle) -> Vec<u8> {
    let exports = service.exports();
    exports.seal(exports.iter().next().expect("one"), handle).as_wire().0.to_vec()
}

const NAMED: [Numbers; 5] = [(1, 0, 6), (2, 1001, 5), (4, 0, 4), (0x10, 0, 7), (0x20, 0, 0)];

#[test]
fn a_mode_is_shown_as_four_entries() {
    let Some(served) = Served::new(false) else { return };
    let of_mode = |mode: [u32; 3]| {
        let [owner, group, other] = mode;
        vec![(1, OWNER, owner), (4, 2000, group), (0x10, 0, group), (0x20, 0, other)]
    };
    let nothing = || (0, Vec::new());
    assert_eq!(served.get(&served.file, 3), Ok((3, [(4, of_mode([6, 4, 0])), nothing()])));
    // A count alone, and a default ACL that is not there, with and without the access ACL.
    assert_eq!(served.get(&served.file, 2), Ok((2, [(4, Vec::new()), nothing()])));
    assert_eq!(served.get(&served.directory, 0xc), Ok((0xc, [nothing(), nothing()])));
    assert_eq!(served.get(&served.directory, 0xf), Ok((0xf, [(4, of_mode([7, 5, 0])), nothing()])));
    assert_eq!(served.get(&served.directory, 0), Ok((0, [nothing(), nothing()])));
    assert_eq!(served.get(&served.directory, 0x10), Err(Status::Invalid));
}

#[test]
fn acls_are_set_and_shown() {
    let Some(served) = Served::new(false) else { return };
    // In no order, and with ids and bits that mean nothing.
    let sent = [(0x20, 7, 0), (0x10, 9, 0xff), (2, 1001, 5), (4, 3, 4), (1, 3, 6)];
    assert_eq!(served.set(OWNER, &served.file, 1, [&sent, &[]]), Ok(()));
    let shown = vec![(1, OWNER, 6), (2, 1001, 5), (4, 2000, 4), (0x10, 0, 7), (0x20, 0, 0)];
    assert_eq!(served.get(&served.file, 1), Ok((1, [(5, shown), (0, Vec::new())])));
    // This thread acts as the caller of the last call.
    let (file, mut mode) = (served.path().join("file"), 0);
    let mut look = || mode = fs::metadata(&file).expect("there").permissions().mode();
    with_server_rights(&mut look).expect("root again");
    assert_eq!(mode & 0o777, 0o670, "the group's bits show the mask");

    // The default ACL has a flag in both directions, and stays when the access ACL is set alone.
    let default = NAMED.map(|(tag, id, rights)| (tag | 0x1000, id, rights));
    let directory = &served.directory;
    assert_eq!(served.set(OWNER, directory, 5, [&NAMED, &default]), Ok(()));
    assert_eq!(served.set(OWNER, directory, 1, [&NAMED[..], &[]]), Ok(()));
    assert_eq!(served.set(OWNER, directory, 0, [&[], &[]]), Ok(()));
    let (_, [access, shown]) = served.get(directory, 0xf).expect("shown");
    assert_eq!((access.0, shown.0), (5, 5));
    assert_eq!(shown.1[1], (0x1002, 1001, 5));
    // Without entries it goes, and the access ACL stays.
    assert_eq!(served.set(OWNER, directory, 4, [&[], &[]]), Ok(()));
    let (_, [access, shown]) = served.get(directory, 0xa).expect("shown");
    assert_eq!((access.0, shown.0), (5, 0));
    // A default ACL alone, over an access ACL that the mode says.
    let four = [(1, 0, 7), (4, 0, 5), (0x10, 0, 5), (0x20, 0, 0)];
    assert_eq!(served.set(OWNER, directory, 5, [&four, &default]), Ok(()));
    let (_, [access, shown]) = served.get(directory, 0xf).expect("shown");
    assert_eq!((access.0, shown.0), (4, 5));
    // The mask of a minimal list is no mask: chmod changes the group's rights, not a limit of them.
    let mut chmod = || fs::set_permissions(served.path(), PermissionsExt::from_mode(0o770)).expect("chmod");
    with_server_rights(&mut chmod).expect("root again");
    let (_, [access, _]) = served.get(directory, 1).expect("shown");
    assert_eq!(access.1[1], (4, 2000, 7));
}

#[test]
fn who_may_not_set_an_acl_is_refused() {
    let Some(served) = Served::new(false) else { return };
    assert_eq!(served.set(1001, &served.file, 1, [&NAMED, &[]]), Err(Status::NotPermitted));
    assert_eq!(served.set(0, &served.file, 1, [&NAMED, &[]]), Ok(()), "root is not squashed here");
    assert_eq!(served.set(OWNER, &served.file, 4, [&[], &NAMED]), Err(Status::AccessDenied), "no directory");
    for senseless in [&NAMED[1..], &[(1, 0, 9), (4, 0, 4), (0x20, 0, 0)], &[(3, 0, 4)]] {
        assert_eq!(served.set(OWNER, &served.file, 1, [senseless, &[]]), Err(Status::Invalid));
    }
    assert_eq!(served.set(OWNER, &served.file, 0x100, [&NAMED, &[]]), Err(Status::Invalid));
}

#[test]
fn acls_of_a_read_only_export_are_shown_and_not_set() {
    let Some(served) = Served::new(true) else { return };
    assert_eq!(served.set(OWNER, &served.file, 1, [&NAMED, &[]]), Err(Status::ReadOnly));
    assert!(served.get(&served.file, 1).is_ok());
}

#[test]
fn an_export_without_acls_shows_the_mode_and_sets_none() {
    let client = Client::new();
    let (node, selection) = (FileHandle(&client.file), AclSelection::ALL);
    let from = (&client.service, &client.peer);
    let (_, result) = ask(from, OWNER, getacl::PROCEDURE, &getacl::Arguments { node, selection });
    let answer: getacl::Reply<'_> = decoded(&result);
    let shown = answer.expect("shown");
    let entries: Vec<_> = shown.access.entries.iter().map(|entry| (entry.tag, entry.rights)).collect();
    assert_eq!(entries, [(1, 6), (4, 4), (0x10, 4), (0x20, 4)]);
    assert_eq!(shown.default.count, 0);
    let acl = AclOnWire { count: 0, entries: Array::default() };
    let arguments = setacl::Arguments { node, selection, access: acl, default: acl };
    let (_, result) = ask(from, OWNER, setacl::PROCEDURE, &arguments);
    assert_eq!(status(&result), Some(Status::NotSupported));
}

/// GETACL has the number of GETATTR, which clients may send of the root while they mount.
#[test]
fn a_flavor_that_is_not_taken_is_refused_at_the_root_too() {
    let sec = SecurityFlavors::new([SecurityFlavor::Krb5]).expect("some");
    let client = Client::with_rules(vec![ClientRule { sec, ..ClientRule::default() }]);
    let arguments = getacl::Arguments { node: FileHandle(&client.root), selection: AclSelection::ACCESS };
    let (outcome, _) = ask((&client.service, &client.peer), OWNER, getacl::PROCEDURE, &arguments);
    assert_eq!(outcome, Err(Denied::Authentication(AuthStatus::TooWeak)));
    let (outcome, _) = ask((&client.service, &client.peer), OWNER, 0, &());
    assert_eq!(outcome, Ok(Accepted::Success));
}
