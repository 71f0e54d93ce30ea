//! Extended attributes.

use howdah_wire::nfs4::attributes::{CHANGE, Values, XATTR_SUPPORT};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{
    Bitmap, ChangeInfo, Name, Status, XattrValue, access, getattr, getxattr, listxattrs, operation, putfh,
    removexattr, setxattr,
};

use super::client::{Answer, Client, Step, put, service, step};

fn set(how: u32, name: &[u8], value: &[u8]) -> Step {
    let arguments = setxattr::Arguments { how, name: Name(name), value: XattrValue(value) };
    step(setxattr::OPERATION, &arguments)
}

fn get(name: &[u8]) -> Step {
    step(getxattr::OPERATION, &getxattr::Arguments { name: Name(name) })
}

fn remove(name: &[u8]) -> Step {
    step(removexattr::OPERATION, &removexattr::Arguments { name: Name(name) })
}

fn list(cookie: u64, count: u32) -> Step {
    step(listxattrs::OPERATION, &listxattrs::Arguments { cookie, count })
}

fn on(client: &mut Client, node: &[u8], operation: Step) -> Answer {
    let mut answer = client.call(&[put(node), operation]);
    answer.skip(putfh::OPERATION).expect("put");
    answer
}

fn value(client: &mut Client, node: &[u8], name: &[u8]) -> Result<Vec<u8>, Status> {
    let mut answer = on(client, node, get(name));
    Ok(answer.result::<getxattr::Success<'_>>(getxattr::OPERATION)?.value.0.to_vec())
}

fn file(client: &mut Client) -> Vec<u8> {
    let root = client.handle(&[]).expect("the root");
    let how = Some(How::Unchecked(Values::default()));
    client.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how).expect("made").1
}

fn change(client: &mut Client, node: &[u8]) -> u64 {
    let wanted = Bitmap::of(&[CHANGE]);
    let mut answer = on(client, node, step(getattr::OPERATION, &getattr::Arguments { wanted }));
    let values = answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes;
    values.decode_all().expect("attributes").content.change.expect("an answer")
}

#[test]
fn what_is_set_is_there_until_it_is_removed() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (file, root) = (file(&mut client), client.handle(&[]).expect("the root"));
    for node in [&file, &root] {
        assert_eq!(value(&mut client, node, b"name"), Err(Status::NOXATTR));
        let refused = on(&mut client, node, set(setxattr::REPLACE, b"name", b"1"));
        assert_eq!(refused.status, Status::NOXATTR);
        let before = change(&mut client, node);
        let mut answer = on(&mut client, node, set(setxattr::CREATE, b"name", b"12345"));
        let change_info = answer.take::<setxattr::Success>(setxattr::OPERATION).node;
        let after = change(&mut client, node);
        assert_eq!(change_info, ChangeInfo { atomic: true, before, after });
        assert!(after > before);
        assert_eq!(on(&mut client, node, set(setxattr::CREATE, b"name", b"2")).status, Status::EXIST);
        assert_eq!(value(&mut client, node, b"name").as_deref(), Ok(&b"12345"[..]));
        let mut answer = on(&mut client, node, remove(b"name"));
        let change_info = answer.take::<removexattr::Success>(removexattr::OPERATION).node;
        assert_eq!((change_info.before, change_info.after), (after, change(&mut client, node)));
        assert_eq!(on(&mut client, node, remove(b"name")).status, Status::NOXATTR);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    let file = file(&mut client);
    for (name, status) in [
        (&b""[..], Status::INVAL),
        (b"a\0b", Status::INVAL),
        (&[b'x'; 251], Status::NAMETOOLONG),
        (&[b'x'; 300], Status::NAMETOOLONG),
    ] {
        assert_eq!(on(&mut client, &file, set(setxattr::EITHER, name, b"1")).status, status);
        assert_eq!(value(&mut client, &file, name), Err(status));
        assert_eq!(on(&mut client, &file, remove(name)).status, status);
    }
    assert_eq!(on(&mut client, &file, set(3, b"name", b"1")).status, Status::INVAL);
    let large = vec![7; (64 << 10) + 1];
    assert_eq!(on(&mut client, &file, set(setxattr::EITHER, b"name", &large)).status, Status::XATTR2BIG);
    assert_eq!(on(&mut client, &file, set(setxattr::EITHER, b"name", &large[1..])).status, Status::OK);
    // The reply would be kept, and is too large for that.
    assert_eq!(value(&mut client, &file, b"name").err(), Some(Status::REP_TOO_BIG_TO_CACHE));
}

#[test]
fn names_are_listed_in_pages() {
    let mut client = Client::new(&service(&["/"]), "client");
    let file = file(&mut client);
    let mut names: Vec<_> = (0..20).map(|number| format!("name {number:02}").into_bytes()).collect();
    for name in &names {
        assert_eq!(on(&mut client, &file, set(setxattr::CREATE, name, b"")).status, Status::OK);
    }
    // Each takes 4 bytes of length and 8 of name: 3 fit between the cookie, their number, and whether that is all.
    let (mut seen, mut cookie, mut pages) = (Vec::new(), 0, 0);
    loop {
        let mut answer = on(&mut client, &file, list(cookie, 8 + 4 + 3 * 12 + 4 + 11));
        let page: listxattrs::Success<'_> = answer.take(listxattrs::OPERATION);
        seen.extend(page.names.iter().map(|name| name.0.to_vec()));
        (cookie, pages) = (page.cookie, pages + 1);
        if page.end {
            break;
        }
    }
    seen.sort();
    names.sort();
    assert_eq!((seen, pages), (names, 7));
    for too_few in [0, 15, 16 + 11] {
        assert_eq!(on(&mut client, &file, list(0, too_few)).status, Status::TOOSMALL);
    }
}

#[test]
fn support_and_rights_are_told() {
    let mut client = Client::new(&service(&["/export"]), "client");
    let (pseudo, root) =
        (client.handle(&[]).expect("a root"), client.handle(&["export"]).expect("an export"));
    let wanted = Bitmap::of(&[XATTR_SUPPORT]);
    let all = access::READ_XATTRS | access::WRITE_XATTRS | access::LIST_XATTRS;
    for (node, has) in [(&pseudo, false), (&root, true)] {
        let mut answer = on(&mut client, node, step(getattr::OPERATION, &getattr::Arguments { wanted }));
        let values = answer.take::<getattr::Success<'_>>(getattr::OPERATION).attributes;
        assert_eq!(values.decode_all().expect("attributes").support.extended_attributes, Some(has));
        for wanted in [all, all | access::READ, access::WRITE_XATTRS] {
            let mut answer = on(&mut client, node, step(access::OPERATION, &access::Arguments { wanted }));
            let reply: access::Success = answer.take(access::OPERATION);
            let known = if has { wanted } else { wanted & access::READ };
            assert_eq!((reply.supported, reply.granted), (known, known));
        }
        let status = if has { Status::NOXATTR } else { Status::NOTSUPP };
        assert_eq!(value(&mut client, node, b"name"), Err(status));
    }
    client.minor_version = 1;
    let mut answer = on(&mut client, &root, step(access::OPERATION, &access::Arguments { wanted: all }));
    assert_eq!(answer.take::<access::Success>(access::OPERATION).supported, 0);
    let mut answer = on(&mut client, &root, get(b"name"));
    assert_eq!(answer.status_of(operation::ILLEGAL), Status::OP_ILLEGAL);
}
