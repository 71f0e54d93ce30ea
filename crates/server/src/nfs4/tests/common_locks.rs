//! Which locks calls take on their whole way, from the event that brings them to the reply in the socket.

use std::io::Write;
use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::{self, DirectoryName};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{Bitmap, Name, Stability, getattr, lookup, read, write};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials};
use howdah_wire::xdr::{Decoder, Encode, Encoder};

use super::client::{Answer, Client, put, service_of, step};
use super::scheduling::{record, reply, shared};
use crate::connection::tests::connected;
use crate::locks::taken_by;
use crate::worker::Worker;

/// Those of one connection, of a few connections out of many, and of one thread.
const OWN: [&str; 5] = [
    "connection/inbox.rs",
    "connection/outbox.rs",
    "connection/securing.rs",
    "connections.rs get",
    "copies.rs look",
];

fn nfs3_call(procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    let credentials = Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]));
    let (program, version) = (nfs3::PROGRAM, nfs3::VERSION);
    let mut call = Encoder::to_vec(&CallHeader { xid: 1, program, version, procedure, credentials });
    arguments.encode(&mut Encoder::new(&mut call));
    call
}

#[test]
fn reads_writes_and_questions_take_no_lock_that_all_connections_share() {
    let service = service_of(Arc::new(MemoryFileSystem::new()));
    let mut client = Client::new(&service, "client");
    client.user = 0;
    let root = client.handle(&[]).expect("the root");
    let make = Some(How::Unchecked(Default::default()));
    let opened = client.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), make);
    let (state, file) = opened.expect("made");
    let node = nfs3::FileHandle(&file);
    let mut calls = vec![
        ("GETATTR", nfs3_call(nfs3::getattr::PROCEDURE, &nfs3::getattr::Arguments { node })),
        ("LOOKUP", {
            let object = DirectoryName { directory: nfs3::FileHandle(&root), name: b"file" };
            nfs3_call(nfs3::lookup::PROCEDURE, &nfs3::lookup::Arguments { object })
        }),
        ("READ", nfs3_call(nfs3::read::PROCEDURE, &nfs3::read::Arguments { node, offset: 0, count: 100 })),
        ("WRITE", {
            let (offset, count, stability) = (0, 4, nfs3::write::Stability::Unstable);
            let arguments = nfs3::write::Arguments { node, offset, count, stability, data: b"data" };
            nfs3_call(nfs3::write::PROCEDURE, &arguments)
        }),
    ];
    let attributes = step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::NONE });
    let find = step(lookup::OPERATION, &lookup::Arguments { name: Name(b"file") });
    let reads = step(read::OPERATION, &read::Arguments { state, offset: 0, count: 100 });
    let (offset, stability) = (0, Stability::Unstable);
    let writes = step(write::OPERATION, &write::Arguments { state, offset, stability, data: b"data" });
    for (name, node, work) in [
        ("GETATTR of 4.1", &file, attributes.clone()),
        ("LOOKUP of 4.1", &root, find),
        ("READ of 4.1", &file, reads),
        ("WRITE of 4.1", &file, writes),
    ] {
        client.sequence += 1;
        let first = client.sequence_step(0, client.sequence);
        calls.push((name, client.message(&[first, put(node), work, attributes.clone()])));
    }
    drop(client);
    let shared = shared(service);
    let (stream, mut socket) = connected();
    shared.add(stream).expect("taken in");
    let mut worker = Worker::new(Arc::clone(&shared));
    // Whatever is made once is made by the first.
    let calls = calls[..1].iter().cloned().chain(calls.iter().cloned());
    for (name, call) in calls {
        socket.write_all(&record(&call)).expect("sending");
        let ready = shared.poller.wait().expect("a poller").expect("an event");
        let taken = taken_by(|| worker.on_ready(ready));
        let reply = reply(&mut socket);
        let has_operations = name.contains(' ');
        let status = if has_operations { Answer::of(&reply).status.0 } else { status(&reply) };
        assert_eq!(status, 0, "{name}");
        let is_common = |function: &&String| !OWN.iter().any(|own| function.contains(own));
        let common: Vec<&String> = taken.keys().filter(is_common).collect();
        assert!(common.is_empty(), "{name}: {common:?}");
        assert!(
            taken.keys().any(|function| function.contains("inbox.rs next")),
            "they are counted: {taken:?}"
        );
    }
}

/// Where locks are that [`taken_by`] does not count, and why calls that it counts do not share them.
const UNCOUNTED: [(&str, &str); 11] = [
    ("server/src/exports/groups.rs", "only where groups are looked up"),
    ("server/src/held_replies.rs", "for replies that a cap holds"),
    ("server/src/exports/host_directory.rs", "only while the name of a client is looked up"),
    ("server/src/outgoing/due_queue.rs", "for calls of clients"),
    ("server/src/parked.rs", "for dear calls of clients that had more than their share"),
    ("server/src/spare.rs", "for long replies that are signed or encrypted"),
    ("server/src/states/returns.rs", "while delegations are asked for back"),
    ("state/src/sessions/slots.rs", "a lock for each slot"),
    ("state/src/sessions/table.rs", "by session"),
    ("state/src/states/io_rights.rs", "by stateid"),
    ("rpc/src/server/buffer.rs", "each worker has its own buffer for small records"),
];

#[test]
fn all_other_locks_are_known() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut found = Vec::new();
    for part in ["server/src", "state/src", "rpc/src/server"] {
        let mut directories = vec![format!("{crates}/{part}")];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory).expect("source") {
                let path = entry.expect("source").path();
                let name = path.to_str().expect("a name").to_owned();
                if path.is_dir() {
                    directories.push(name);
                } else if has_lock(&std::fs::read_to_string(&path).expect("source")) {
                    found.push(name.trim_start_matches(crates).trim_start_matches('/').to_owned());
                }
            }
        }
    }
    found.retain(|file| !file.contains("/tests") && file != "server/src/locks.rs");
    found.sort();
    let mut known = UNCOUNTED.map(|(file, _)| file.to_owned());
    known.sort();
    assert_eq!(found, known);
}

/// Whether a file imports a lock that is not counted.
fn has_lock(source: &str) -> bool {
    let imports = source.split(';').filter_map(|statement| statement.rsplit_once("use "));
    let mut imports = imports.map(|(_, import)| import);
    imports.any(|import| {
        let is_foreign = import.starts_with("std::sync::") || import.starts_with("parking_lot::");
        is_foreign && (import.contains("Mutex") || import.contains("RwLock"))
    })
}

/// That of a result of NFSv3.
fn status(reply: &[u8]) -> u32 {
    let mut decoder = Decoder::new(reply);
    <howdah_wire::rpc::ReplyHeader as howdah_wire::xdr::Decode>::decode(&mut decoder).expect("a reply");
    decoder.u32("status").expect("a status")
}
