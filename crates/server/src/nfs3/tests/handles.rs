//! Every procedure with handles that lead nowhere.

use howdah_vfs::{Caller, Change, FileSystem, Handle};
use howdah_wire::nfs3::*;
use howdah_wire::xdr::{Encode, Encoder};

use super::client::{Client, at, name, status};
use crate::exports::Exports;
use crate::handle::HandleKey;

/// Each procedure that takes a handle, called with this one.
pub fn every_procedure(handle: &[u8]) -> Vec<(&'static str, u32, Vec<u8>)> {
    fn row(name: &'static str, procedure: u32, arguments: impl Encode) -> (&'static str, u32, Vec<u8>) {
        (name, procedure, Encoder::to_vec(&arguments))
    }
    let (node, new, object) = (FileHandle(handle), NewAttributes::default(), at(handle, b"new"));
    let (directory, cookie, verifier, count) = (node, 0, [0; 8], 4096);
    let stability = write::Stability::Unstable;
    vec![
        row("GETATTR", getattr::PROCEDURE, getattr::Arguments { node }),
        row("SETATTR", setattr::PROCEDURE, setattr::Arguments { node, new, guard: None }),
        row("LOOKUP", lookup::PROCEDURE, lookup::Arguments { object }),
        row("ACCESS", access::PROCEDURE, access::Arguments { node, wanted: 0x3f }),
        row("READLINK", readlink::PROCEDURE, readlink::Arguments { link: node }),
        row("READ", read::PROCEDURE, read::Arguments { node, offset: 0, count }),
        row("WRITE", write::PROCEDURE, write::Arguments { node, offset: 0, count: 1, stability, data: b"x" }),
        row("CREATE", create::PROCEDURE, create::Arguments { object, how: create::How::Guarded(new) }),
        row("MKDIR", mkdir::PROCEDURE, mkdir::Arguments { object, new }),
        row("SYMLINK", symlink::PROCEDURE, symlink::Arguments { object, new, target: b"t" }),
        row("MKNOD", mknod::PROCEDURE, mknod::Arguments { object, what: mknod::What::Fifo(new) }),
        row("REMOVE", remove::PROCEDURE, remove::Arguments { object }),
        row("RMDIR", rmdir::PROCEDURE, rmdir::Arguments { object }),
        row("RENAME", rename::PROCEDURE, rename::Arguments { from: object, to: object }),
        row("LINK", link::PROCEDURE, link::Arguments { node, link: object }),
        row("READDIR", readdir::PROCEDURE, readdir::Arguments { directory, cookie, verifier, count }),
        row(
            "READDIRPLUS",
            readdirplus::PROCEDURE,
            readdirplus::Arguments { directory, cookie, verifier, name_count: count, count },
        ),
        row("FSSTAT", fsstat::PROCEDURE, fsstat::Arguments { node }),
        row("FSINFO", fsinfo::PROCEDURE, fsinfo::Arguments { node }),
        row("PATHCONF", pathconf::PROCEDURE, pathconf::Arguments { node }),
        row("COMMIT", commit::PROCEDURE, commit::Arguments { node, offset: 0, count: 0 }),
    ]
}

fn refused(client: &Client, handle: &[u8], expected: Status) {
    for (name, procedure, arguments) in every_procedure(handle) {
        let (_, result) = client.send(procedure, &arguments, None);
        assert_eq!(status(&result), Some(expected), "{name}");
    }
}

#[test]
fn a_handle_we_never_gave_out_is_stale() {
    let client = Client::new();
    let mut forged = client.file.clone();
    *forged.last_mut().expect("bytes") ^= 1;
    refused(&client, &forged, Status::Stale);
    for bytes in [&[][..], &[1], &[255; 13]] {
        refused(&client, bytes, Status::BadHandle);
    }
    // Perhaps of another key, or of another server.
    for bytes in [&[0; 14][..], &[255; 64], &client.file[..20]] {
        refused(&client, bytes, Status::Stale);
    }
}

#[test]
fn handles_of_a_lost_key_are_stale() {
    let client = Client::new();
    let other_key = HandleKey::new([8; 16]);
    for length in [1, 16, Handle::EXPORTABLE_MAX] {
        let sealed = other_key.seal(1, &Handle::new(&vec![0; length]).expect("short enough"));
        refused(&client, sealed.as_wire().0, Status::Stale);
    }
}

#[test]
fn a_handle_of_an_export_that_is_gone_is_stale() {
    let client = Client::new();
    client.service.set_exports(Exports::new(Vec::new(), [7; 16]).expect("no exports"));
    refused(&client, &client.file, Status::Stale);
}

#[test]
fn a_handle_of_a_node_that_is_gone_is_stale() {
    let client = Client::new();
    let (memory, root) = (&client.memory, client.memory.root());
    memory
        .remove_directory(&Caller::ROOT, &root, name("directory"), &mut Change::default())
        .expect("removed");
    refused(&client, &client.directory, Status::Stale);
}

#[test]
fn a_handle_of_ours_that_the_file_system_does_not_know_is_refused_by_it() {
    let client = Client::new();
    let strange = client.seal(&Handle::new(b"?").expect("short"));
    refused(&client, &strange, Status::BadHandle);
}

#[test]
fn two_handles_are_both_judged() {
    let client = Client::new();
    let (good, bad) = (at(&client.root, b"file"), at(&[9; 30], b"file"));
    for (from, to) in [(good, bad), (bad, good)] {
        let arguments = rename::Arguments { from, to };
        assert_eq!(client.status(rename::PROCEDURE, &arguments), Some(Status::Stale));
    }
    let arguments = link::Arguments { node: FileHandle(&client.file), link: bad };
    assert_eq!(client.status(link::PROCEDURE, &arguments), Some(Status::Stale));
}
