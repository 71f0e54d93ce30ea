//! A new node's mode with the umask of its maker (RFC 8275).

use std::path::Path;
use std::sync::Arc;

use howdah_store::local::{LocalFileSystem, Options};
use howdah_wire::nfs4::attributes::{
    Attributes, MODE, MODE_UMASK, ModeAndMask, Permissions, SUPPATTR_EXCLCREAT, SUPPORTED_ATTRS, Values,
};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{
    Bitmap, Name, StateId, Status, Time, Verifier, create, getattr, lookup, putfh, setattr, verify,
};
use rustix::fs::{XattrFlags, setxattr};
use rustix::io::Errno;

use super::client::{Client, put, service, service_of, step};

fn with_mask(mode: u32, mask: u32) -> Attributes<'static> {
    let mode_and_mask = Some(ModeAndMask { mode, mask });
    Attributes {
        permissions: Permissions { mode_and_mask, ..Permissions::default() },
        ..Attributes::default()
    }
}

/// The mode of what has a name.
fn mode(client: &mut Client, directory: &[u8], name: &str) -> u32 {
    let look = step(lookup::OPERATION, &lookup::Arguments { name: Name(name.as_bytes()) });
    let wanted = Bitmap::of(&[MODE, MODE_UMASK]);
    let mut answer =
        client.call(&[put(directory), look, step(getattr::OPERATION, &getattr::Arguments { wanted })]);
    answer.skip(putfh::OPERATION).expect("put");
    answer.skip(lookup::OPERATION).expect("it is there");
    let reply = answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes;
    assert_eq!(reply.attributes, Bitmap::of(&[MODE]), "the other cannot be read");
    reply.decode_all().expect("attributes").permissions.mode.expect("an answer")
}

/// Makes files in each way that takes attributes, and a directory: the mode that all of them have.
fn made(client: &mut Client, directory: &[u8], asked: &Attributes<'_>) -> Result<u32, Status> {
    let mut buffer = Vec::new();
    let values = Values::of(asked, &mut buffer);
    let mut modes = Vec::new();
    for (name, how) in [
        ("unchecked", How::Unchecked(values)),
        ("guarded", How::Guarded(values)),
        ("exclusive", How::ExclusiveWith(Verifier([1; 8]), values)),
    ] {
        client.open(directory, name, "owner", (ACCESS_BOTH, DENY_NONE), Some(how))?;
        modes.push(mode(client, directory, name));
    }
    let (node, name) = (create::NewNode::Directory, Name(b"directory"));
    let arguments = create::Arguments { node, name, attributes: values };
    let answer = client.call(&[put(directory), step(create::OPERATION, &arguments)]);
    assert_eq!(answer.status, Status::OK);
    modes.push(mode(client, directory, "directory"));
    assert!(modes.iter().all(|mode| *mode == modes[0]), "{modes:?}");
    Ok(modes[0])
}

#[test]
fn a_umask_cuts_the_mode_of_what_is_made() {
    for (asked, wanted) in [((0o777, 0o022), 0o755), ((0o640, 0o077), 0o600), ((0o666, 0), 0o666)] {
        let mut client = Client::new(&service(&["/"]), "client");
        let root = client.handle(&[]).expect("the root");
        assert_eq!(made(&mut client, &root, &with_mask(asked.0, asked.1)), Ok(wanted));
    }
}

#[test]
fn what_is_no_umask_is_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let mut twice = with_mask(0o666, 0o022);
    twice.permissions.mode = Some(0o600);
    for asked in [twice, with_mask(0o666, 0o1022), with_mask(0o10_666, 0o022)] {
        assert_eq!(made(&mut client, &root, &asked), Err(Status::INVAL), "{:?}", asked.permissions);
    }
    // It is an attribute of what is made, and of nothing that is there.
    let mut buffer = Vec::new();
    let attributes = Values::of(&with_mask(0o666, 0o022), &mut buffer);
    let set = setattr::Arguments { state: StateId::ANONYMOUS, attributes };
    assert_eq!(client.call(&[put(&root), step(setattr::OPERATION, &set)]).status, Status::INVAL);
    let same = verify::Arguments { attributes };
    assert_eq!(client.call(&[put(&root), step(verify::OPERATION, &same)]).status, Status::INVAL);
}

/// macOS sets it, in each of these ways.
#[test]
fn a_time_of_creation_that_a_client_sets_is_left_out_and_the_rest_is_set() {
    let mut client = Client::new(&service(&["/"]), "client");
    let root = client.handle(&[]).expect("the root");
    let mut asked = Attributes::default();
    asked.times.created = Some(Time { seconds: 1, nanoseconds: 0 });
    asked.permissions.mode = Some(0o640);
    assert_eq!(made(&mut client, &root, &asked), Ok(0o640));
    let mut buffer = Vec::new();
    let attributes = Values::of(&asked, &mut buffer);
    let set = setattr::Arguments { state: StateId::ANONYMOUS, attributes };
    let file = client.handle(&["guarded"]).expect("the file");
    let mut answer = client.call(&[put(&file), step(setattr::OPERATION, &set)]);
    answer.skip(putfh::OPERATION).expect("put");
    let reply = answer.take::<setattr::Success>(setattr::OPERATION);
    assert_eq!(reply.attributes_set, Bitmap::of(&[MODE]));
}

#[test]
fn the_first_minor_version_has_no_umask() {
    for (minor_version, has) in [(1, false), (2, true)] {
        let mut client = Client::new(&service(&["/"]), "client");
        client.minor_version = minor_version;
        let root = client.handle(&[]).expect("the root");
        let wanted = Bitmap::of(&[SUPPORTED_ATTRS, SUPPATTR_EXCLCREAT]);
        let look = step(getattr::OPERATION, &getattr::Arguments { wanted });
        let mut answer = client.call(&[put(&root), look]);
        answer.skip(putfh::OPERATION).expect("put");
        let reply = answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes;
        let support = reply.decode_all().expect("attributes").support;
        for supported in [support.attributes, support.exclusive_attributes] {
            assert_eq!(supported.expect("an answer").contains(MODE_UMASK), has, "4.{minor_version}");
        }
        let refused = if has { Ok(0o640) } else { Err(Status::ATTRNOTSUPP) };
        assert_eq!(made(&mut client, &root, &with_mask(0o660, 0o027)), refused);
    }
}

/// Gives a directory a default ACL: everything for the owner and the group, nothing for others.
fn set_default_acl(directory: &Path) -> Result<(), Errno> {
    let entry = |tag: u16, permissions: u16| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &u32::MAX.to_le_bytes()].concat()
    };
    // Version 2; the owner, the group, others.
    let acl = [2_u32.to_le_bytes().to_vec(), entry(1, 7), entry(4, 7), entry(0x20, 0)].concat();
    setxattr(directory, "system.posix_acl_default", &acl, XattrFlags::empty())
}

#[test]
fn a_default_acl_takes_the_place_of_the_umask() {
    let place = tempfile::tempdir().expect("a directory");
    let [plain, shared] = ["plain", "shared"].map(|name| place.path().join(name));
    for directory in [&plain, &shared] {
        std::fs::create_dir(directory).expect("made");
        std::fs::set_permissions(directory, std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .expect("chmod");
    }
    if set_default_acl(&shared) == Err(Errno::OPNOTSUPP) {
        return; // The file system of temporary files has no ACLs.
    }
    let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
    let mut client = Client::new(&service_of(Arc::new(fs)), "client");
    client.user = rustix::process::geteuid().as_raw();
    for (name, wanted) in [("plain", 0o755), ("shared", 0o770)] {
        let directory = client.handle(&[name]).expect("it is there");
        assert_eq!(made(&mut client, &directory, &with_mask(0o777, 0o022)), Ok(wanted), "{name}");
    }
}
