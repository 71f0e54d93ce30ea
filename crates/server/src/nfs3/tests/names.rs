//! Every procedure that takes a name, with names that are none (RFC 1813 3.2).

use howdah_wire::nfs3::*;
use howdah_wire::xdr::{Encode, Encoder};

use super::client::{Client, at, decoded, status};

const LONGEST: &[u8] = &[b'x'; 255];
const TOO_LONG: &[u8] = &[b'x'; 256];

/// A call of each procedure with this name, and what it answers to `.` and to `..`.
#[allow(clippy::type_complexity)]
fn every_name<'a>(
    client: &'a Client,
    name: &'a [u8],
) -> Vec<(&'static str, u32, Vec<u8>, [Option<Status>; 2])> {
    use Status::{Exists, Invalid};
    fn row(
        procedure: u32,
        text: &'static str,
        arguments: impl Encode,
        dots: [Option<Status>; 2],
    ) -> (&'static str, u32, Vec<u8>, [Option<Status>; 2]) {
        (text, procedure, Encoder::to_vec(&arguments), dots)
    }
    let (object, good, new) = (at(&client.root, name), at(&client.root, b"good"), NewAttributes::default());
    let (here, none, known) = ([Some(Exists); 2], [Some(Invalid); 2], FileHandle(&client.file));
    let how = create::How::Unchecked(new);
    vec![
        row(lookup::PROCEDURE, "LOOKUP", lookup::Arguments { object }, [None; 2]),
        row(create::PROCEDURE, "CREATE", create::Arguments { object, how }, here),
        row(mkdir::PROCEDURE, "MKDIR", mkdir::Arguments { object, new }, here),
        row(symlink::PROCEDURE, "SYMLINK", symlink::Arguments { object, new, target: b"t" }, here),
        row(mknod::PROCEDURE, "MKNOD", mknod::Arguments { object, what: mknod::What::Socket(new) }, here),
        row(link::PROCEDURE, "LINK", link::Arguments { node: known, link: object }, here),
        row(remove::PROCEDURE, "REMOVE", remove::Arguments { object }, none),
        row(rmdir::PROCEDURE, "RMDIR", rmdir::Arguments { object }, [Some(Invalid), Some(Exists)]),
        row(rename::PROCEDURE, "RENAME from", rename::Arguments { from: object, to: good }, none),
        row(
            rename::PROCEDURE,
            "RENAME to",
            rename::Arguments { from: at(&client.root, b"file"), to: object },
            none,
        ),
    ]
}

#[test]
fn what_is_no_name_is_refused_by_every_procedure() {
    let client = Client::new();
    for (name, expected) in [
        (&b""[..], Status::AccessDenied),
        (b"/", Status::AccessDenied),
        (b"/etc/passwd", Status::AccessDenied),
        (b"a/b", Status::AccessDenied),
        (b"directory/", Status::AccessDenied),
        (b"../file", Status::AccessDenied),
        (b"file\0", Status::AccessDenied),
        (b"\0", Status::AccessDenied),
        (TOO_LONG, Status::NameTooLong),
        (&[b'x'; 4096], Status::NameTooLong),
    ] {
        for (procedure_name, procedure, arguments, _) in every_name(&client, name) {
            let (_, result) = client.send(procedure, &arguments, None);
            assert_eq!(status(&result), Some(expected), "{procedure_name} of {}", name.escape_ascii());
        }
    }
    let listed = client.call(
        readdir::PROCEDURE,
        &readdir::Arguments { directory: FileHandle(&client.root), cookie: 0, verifier: [0; 8], count: 4096 },
    );
    let listed = decoded::<readdir::Reply>(&listed).expect("a listing").entries.count();
    assert_eq!(listed, 5, "., .., file, directory, link: nothing was made and nothing removed");
}

#[test]
fn dot_and_dot_dot_mean_something_to_lookup_only() {
    let client = Client::new();
    for (position, name) in [&b"."[..], b".."].into_iter().enumerate() {
        for (procedure_name, procedure, arguments, dots) in every_name(&client, name) {
            let (_, result) = client.send(procedure, &arguments, None);
            assert_eq!(status(&result), dots[position], "{procedure_name} of {}", name.escape_ascii());
        }
    }
}

#[test]
fn lookup_of_dots_stays_inside_the_export() {
    let client = Client::new();
    for (directory, name, expected) in [
        (&client.directory, &b"."[..], &client.directory),
        (&client.directory, b"..", &client.root),
        (&client.root, b".", &client.root),
        (&client.root, b"..", &client.root),
    ] {
        let result = client.call(lookup::PROCEDURE, &lookup::Arguments { object: at(directory, name) });
        let found = decoded::<lookup::Reply>(&result).expect("found");
        assert_eq!(found.node.0, expected.as_slice(), "{}", name.escape_ascii());
        assert_eq!(found.attributes.expect("attributes").kind, FileType::Directory);
        assert!(found.directory.is_some());
    }
    for name in [&b"."[..], b".."] {
        let arguments = lookup::Arguments { object: at(&client.file, name) };
        assert_eq!(client.status(lookup::PROCEDURE, &arguments), Some(Status::NotDirectory));
    }
}

#[test]
fn every_other_byte_is_part_of_a_name() {
    let client = Client::new();
    for name in [LONGEST, b" ", b"\n", b"\xff\xfe", b"...", b"a\\b", "na\u{ef}ve".as_bytes()] {
        let how = create::How::Guarded(NewAttributes::default());
        let object = at(&client.root, name);
        let text = name.escape_ascii();
        assert_eq!(client.status(create::PROCEDURE, &create::Arguments { object, how }), None, "{text}");
        assert_eq!(client.status(lookup::PROCEDURE, &lookup::Arguments { object }), None, "{text}");
        assert_eq!(client.status(remove::PROCEDURE, &remove::Arguments { object }), None, "{text}");
    }
}
