//! What the other procedures answer, well and refused.

use howdah_vfs::FileSystem;
use howdah_wire::nfs3::*;

use super::client::{Client, OWNER, at, decoded};
use crate::Transport;

fn attributes(client: &Client, node: &[u8]) -> Attributes {
    let result = client.call(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(node) });
    decoded::<getattr::Reply>(&result).expect("attributes").attributes
}

fn mode(mode: u32) -> NewAttributes {
    NewAttributes { mode: Some(mode), ..NewAttributes::default() }
}

#[test]
fn getattr_tells_what_a_node_is() {
    let client = Client::new();
    for (node, kind, permissions) in [
        (&client.root, FileType::Directory, 0o777),
        (&client.file, FileType::Regular, 0o644),
        (&client.directory, FileType::Directory, 0o755),
    ] {
        let attributes = attributes(&client, node);
        assert_eq!((attributes.kind, attributes.mode, attributes.user), (kind, permissions, OWNER));
    }
    assert_eq!(attributes(&client, &client.file).size, 12);
    assert_eq!(attributes(&client, &client.link).kind, FileType::SymbolicLink);
}

#[test]
fn setattr_sets_and_guards() {
    let client = Client::new();
    let node = FileHandle(&client.file);
    let arguments = setattr::Arguments { node, new: mode(0o4711), guard: None };
    let result = client.call(setattr::PROCEDURE, &arguments);
    let change = decoded::<setattr::Reply>(&result).expect("set").node;
    let after = change.after.expect("after");
    assert_eq!(after.mode, 0o4711);
    assert_eq!(after, attributes(&client, &client.file));
    assert!(change.before.expect("before").changed < after.changed);

    let old = Some(change.before.expect("before").changed);
    let arguments = setattr::Arguments { guard: old, new: mode(0o600), node };
    let result = client.call(setattr::PROCEDURE, &arguments);
    let refused = decoded::<setattr::Reply>(&result).expect_err("it changed meanwhile");
    assert_eq!(refused.status, Status::NotSynchronised);
    assert_eq!(refused.detail.after, Some(after));
    let arguments = setattr::Arguments { guard: Some(after.changed), new: mode(0o600), node };
    assert_eq!(client.status(setattr::PROCEDURE, &arguments), None);

    let time = Time { seconds: 1 << 31, nanoseconds: 5 };
    let new = NewAttributes {
        size: Some(5),
        accessed: SetTime::ClientTime(time),
        modified: SetTime::ServerTime,
        ..NewAttributes::default()
    };
    assert_eq!(client.status(setattr::PROCEDURE, &setattr::Arguments { node, new, guard: None }), None);
    let after = attributes(&client, &client.file);
    assert_eq!((after.size, after.accessed), (5, time));
    let new = NewAttributes { user: Some(u32::MAX), ..NewAttributes::default() };
    let arguments = setattr::Arguments { node, new, guard: None };
    assert_eq!(client.status(setattr::PROCEDURE, &arguments), Some(Status::Invalid));
}

#[test]
fn a_stranger_may_not() {
    let mut client = Client::new();
    client.user = Some(OWNER + 1);
    let node = FileHandle(&client.file);
    let arguments = setattr::Arguments { node, new: mode(0o777), guard: None };
    let result = client.call(setattr::PROCEDURE, &arguments);
    let refused = decoded::<setattr::Reply>(&result).expect_err("not the owner");
    assert_eq!(refused.status, Status::NotPermitted);
    assert!(refused.detail.after.is_some(), "a refusal has attributes too");
    let object = at(&client.directory, b"new");
    let result = client.call(mkdir::PROCEDURE, &mkdir::Arguments { object, new: mode(0o755) });
    let refused = decoded::<mkdir::Reply>(&result).expect_err("not writable");
    assert_eq!(refused.status, Status::AccessDenied);
    assert!(refused.detail.after.is_some());
    let result = client.call(access::PROCEDURE, &access::Arguments { node, wanted: 0xffff_ffff });
    assert_eq!(decoded::<access::Reply>(&result).expect("rights").granted, 0x01, "read only");
}

#[test]
fn lookup_finds_and_refuses() {
    let client = Client::new();
    let result = client.call(lookup::PROCEDURE, &lookup::Arguments { object: at(&client.root, b"file") });
    let found = decoded::<lookup::Reply>(&result).expect("found");
    assert_eq!(found.node.0, client.file);
    assert_eq!(found.attributes, Some(attributes(&client, &client.file)));
    assert_eq!(found.directory, Some(attributes(&client, &client.root)));
    let result = client.call(lookup::PROCEDURE, &lookup::Arguments { object: at(&client.root, b"nothing") });
    let refused = decoded::<lookup::Reply>(&result).expect_err("nothing there");
    assert_eq!(refused.status, Status::NotFound);
    assert_eq!(refused.detail, Some(attributes(&client, &client.root)));
    let arguments = lookup::Arguments { object: at(&client.file, b"x") };
    assert_eq!(client.status(lookup::PROCEDURE, &arguments), Some(Status::NotDirectory));
}

#[test]
fn readlink_reads_links_only() {
    let client = Client::new();
    let result = client.call(readlink::PROCEDURE, &readlink::Arguments { link: FileHandle(&client.link) });
    let read = decoded::<readlink::Reply>(&result).expect("a link");
    assert_eq!(read.target, b"over/there");
    assert_eq!(read.attributes.expect("attributes").kind, FileType::SymbolicLink);
    let result = client.call(readlink::PROCEDURE, &readlink::Arguments { link: FileHandle(&client.file) });
    assert_eq!(decoded::<readlink::Reply>(&result).expect_err("a file").status, Status::Invalid);
}

#[test]
fn create_knows_three_ways() {
    let client = Client::new();
    let (old, new) = (at(&client.root, b"file"), at(&client.root, b"new"));
    let status = |object, how| client.status(create::PROCEDURE, &create::Arguments { object, how });
    let size = NewAttributes { size: Some(0), ..NewAttributes::default() };
    assert_eq!(status(old, create::How::Guarded(mode(0o600))), Some(Status::Exists));
    assert_eq!(status(old, create::How::Exclusive([1; 8])), Some(Status::Exists));
    assert_eq!(status(old, create::How::Unchecked(NewAttributes::default())), None);
    assert_eq!(attributes(&client, &client.file).size, 12, "it was there, and is as it was");
    assert_eq!(status(old, create::How::Unchecked(size)), None);
    assert_eq!(attributes(&client, &client.file).size, 0, "cut as asked");

    let result = client
        .call(create::PROCEDURE, &create::Arguments { object: new, how: create::How::Exclusive([1; 8]) });
    let made = decoded::<create::Reply>(&result).expect("made");
    let handle = made.node.expect("a handle").0.to_vec();
    assert!(made.directory.before.is_some() && made.directory.after.is_some());
    let again = client
        .call(create::PROCEDURE, &create::Arguments { object: new, how: create::How::Exclusive([1; 8]) });
    let again = decoded::<create::Reply>(&again).expect("the same call once more");
    assert_eq!(again.node.expect("a handle").0, handle);
    assert_eq!(status(new, create::How::Exclusive([2; 8])), Some(Status::Exists));
    let late = SetTime::ClientTime(Time { seconds: 0, nanoseconds: 1_000_000_000 });
    let bad = NewAttributes { modified: late, ..NewAttributes::default() };
    assert_eq!(status(at(&client.root, b"bad"), create::How::Guarded(bad)), Some(Status::Invalid));
}

#[test]
fn of_two_clients_with_one_verifier_one_made_the_file() {
    let mut client = Client::new();
    let object = at(&client.root, b"lock").directory.0.to_vec();
    let ask = |client: &Client| {
        let object = at(&object, b"lock");
        client.status(create::PROCEDURE, &create::Arguments { object, how: create::How::Exclusive([1; 8]) })
    };
    let (first, second) = ("192.0.2.7:700", "192.0.2.8:700");
    for round in 0..3 {
        for (address, expected) in [(first, None), (second, Some(Status::Exists)), (first, None)] {
            client.peer.ends.client = address.parse().expect("an address");
            assert_eq!(ask(&client), expected, "{address} in round {round}");
        }
        // Another file of the name, which the other may make.
        let remove = remove::Arguments { object: at(&object, b"lock") };
        assert_eq!(client.status(remove::PROCEDURE, &remove), None);
        client.peer.ends.client = second.parse().expect("an address");
        assert_eq!(ask(&client), None, "the other makes it now");
        assert_eq!(client.status(remove::PROCEDURE, &remove), None);
    }
}

#[test]
fn nodes_of_every_kind_are_made() {
    let mut client = Client::new();
    client.user = Some(0);
    let new = mode(0o640);
    let device = Device { major: 8, minor: 300 };
    for (name, what, kind) in [
        (&b"fifo"[..], mknod::What::Fifo(new), FileType::Fifo),
        (b"socket", mknod::What::Socket(new), FileType::Socket),
        (b"block", mknod::What::BlockDevice(new, device), FileType::BlockDevice),
        (b"character", mknod::What::CharacterDevice(new, device), FileType::CharacterDevice),
    ] {
        let object = at(&client.root, name);
        let result = client.call(mknod::PROCEDURE, &mknod::Arguments { object, what });
        let made = decoded::<mknod::Reply>(&result).expect("made").attributes.expect("attributes");
        let number =
            if name.starts_with(b"bl") || name.starts_with(b"ch") { device } else { Device::default() };
        assert_eq!((made.kind, made.mode, made.device), (kind, 0o640, number));
        let again = client.status(mknod::PROCEDURE, &mknod::Arguments { object, what });
        assert_eq!(again, Some(Status::Exists));
    }
    for kind in [FileType::Regular, FileType::Directory, FileType::SymbolicLink] {
        let arguments = mknod::Arguments { object: at(&client.root, b"odd"), what: mknod::What::Other(kind) };
        assert_eq!(client.status(mknod::PROCEDURE, &arguments), Some(Status::BadType));
    }
    let object = at(&client.directory, b"inner");
    let result = client.call(mkdir::PROCEDURE, &mkdir::Arguments { object, new: mode(0o1750) });
    let made = decoded::<mkdir::Reply>(&result).expect("made");
    assert_eq!(made.attributes.expect("attributes").mode, 0o1750);
    assert_eq!(made.directory.after, Some(attributes(&client, &client.directory)));
}

#[test]
fn a_link_points_anywhere_but_nowhere() {
    let client = Client::new();
    for (name, target, expected) in [
        (&b"a"[..], &b"/etc/passwd"[..], None),
        (b"b", b"../../..", None),
        (b"c", b"\xff\x01", None),
        (b"d", &[b'x'; 4095], None),
        (b"e", &[b'x'; 4096], Some(Status::NameTooLong)),
        (b"f", b"", Some(Status::Invalid)),
        (b"g", b"a\0b", Some(Status::Invalid)),
    ] {
        let arguments = symlink::Arguments { object: at(&client.root, name), new: mode(0o777), target };
        let result = client.call(symlink::PROCEDURE, &arguments);
        let reply = decoded::<symlink::Reply>(&result);
        assert_eq!(reply.map_err(|refused| refused.status).err(), expected, "{}", target.escape_ascii());
        if let Ok(made) = reply {
            let link = made.node.expect("a handle");
            let result = client.call(readlink::PROCEDURE, &readlink::Arguments { link });
            assert_eq!(decoded::<readlink::Reply>(&result).expect("a link").target, target);
        }
    }
}

#[test]
fn names_go_and_their_directory_tells() {
    let client = Client::new();
    for (procedure, name, expected) in [
        (remove::PROCEDURE, &b"nothing"[..], Some(Status::NotFound)),
        (rmdir::PROCEDURE, b"nothing", Some(Status::NotFound)),
        (rmdir::PROCEDURE, b"file", Some(Status::NotDirectory)),
        (remove::PROCEDURE, b"file", None),
        (rmdir::PROCEDURE, b"directory", None),
        (remove::PROCEDURE, b"link", None),
        (remove::PROCEDURE, b"link", Some(Status::NotFound)),
    ] {
        // The two have the same arguments and the same answer.
        let result = client.call(procedure, &remove::Arguments { object: at(&client.root, name) });
        let (status, change) = match decoded::<remove::Reply>(&result) {
            Ok(success) => (None, success.directory),
            Err(refused) => (Some(refused.status), refused.detail),
        };
        assert_eq!(status, expected, "{}", name.escape_ascii());
        assert_eq!(change.after, Some(attributes(&client, &client.root)));
    }
}

#[test]
fn rename_and_link_tell_of_both_sides() {
    let client = Client::new();
    let (from, to) = (at(&client.root, b"file"), at(&client.directory, b"moved"));
    let result = client.call(link::PROCEDURE, &link::Arguments { node: FileHandle(&client.file), link: to });
    let linked = decoded::<link::Reply>(&result).expect("linked");
    assert_eq!(linked.node.expect("attributes").links, 2);
    assert_eq!(linked.directory.after, Some(attributes(&client, &client.directory)));
    let result = client.call(link::PROCEDURE, &link::Arguments { node: FileHandle(&client.file), link: to });
    let refused = decoded::<link::Reply>(&result).expect_err("it is there");
    assert_eq!(refused.status, Status::Exists);
    assert!(refused.detail.node.is_some() && refused.detail.directory.after.is_some());

    let other = at(&client.directory, b"other");
    let result = client.call(rename::PROCEDURE, &rename::Arguments { from, to: other });
    let directories = decoded::<rename::Reply>(&result).expect("renamed");
    assert_eq!(directories.from.after, Some(attributes(&client, &client.root)));
    assert_eq!(directories.to.after, Some(attributes(&client, &client.directory)));
    let result = client.call(rename::PROCEDURE, &rename::Arguments { from, to: other });
    let refused = decoded::<rename::Reply>(&result).expect_err("it is gone");
    assert_eq!(refused.status, Status::NotFound);
    assert!(refused.detail.from.after.is_some() && refused.detail.to.after.is_some());
    let arguments = link::Arguments { node: FileHandle(&client.directory), link: at(&client.root, b"no") };
    assert!(client.status(link::PROCEDURE, &arguments).is_some(), "directories have one name");
}

#[test]
fn the_file_system_is_described_as_it_is() {
    let mut client = Client::new();
    let node = FileHandle(&client.file.clone());
    let result = client.call(fsstat::PROCEDURE, &fsstat::Arguments { node });
    let full = decoded::<fsstat::Reply>(&result).expect("figures");
    assert!(full.available_bytes <= full.free_bytes && full.free_bytes <= full.total_bytes);
    assert!(full.attributes.is_some());

    let limits = client.memory.limits(&howdah_vfs::Caller::ROOT, &client.memory.root()).expect("limits");
    let result = client.call(fsinfo::PROCEDURE, &fsinfo::Arguments { node });
    let info = decoded::<fsinfo::Reply>(&result).expect("info");
    assert_eq!((info.read_max, info.write_max, info.directory_preferred), (1 << 20, 1 << 20, 64 << 10));
    assert_eq!(info.largest_file, limits.largest_file);
    assert_eq!(info.time_step, Time { seconds: 0, nanoseconds: limits.time_step_nanoseconds });
    assert_eq!(info.properties, 0x1b, "links of both kinds, homogeneous, times can be set");
    client.peer.transport = Transport::Udp;
    let result = client.call(fsinfo::PROCEDURE, &fsinfo::Arguments { node });
    let info = decoded::<fsinfo::Reply>(&result).expect("info");
    // Whatever packets this host sends there.
    assert!((8 << 10..=32 << 10).contains(&info.read_max), "{info:?}");
    assert_eq!((info.write_max, info.directory_preferred), (info.read_max, 8 << 10));

    let result = client.call(pathconf::PROCEDURE, &pathconf::Arguments { node });
    let paths = decoded::<pathconf::Reply>(&result).expect("limits");
    assert_eq!((paths.most_links, paths.longest_name), (limits.most_links, limits.longest_name));
    assert!(paths.refuses_long_names && paths.case_preserving && !paths.case_insensitive);
}
