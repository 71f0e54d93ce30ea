//! The tree above the exports, and names in them.

use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs4::attributes::{FILEID, FSID, MOUNTED_ON_FILEID, TYPE};
use howdah_wire::nfs4::{
    Bitmap, FileType, Name, Status, Verifier, create, getattr, lookup, lookupp, putrootfh, readdir, secinfo,
};

use super::client::{Client, bare, put, service, step, walk};
use crate::calling::{certificate, shows};
use crate::exports::{ClientRule, Clients, Export, Exports};

const WANTED: Bitmap = Bitmap::of(&[TYPE, FSID, FILEID, MOUNTED_ON_FILEID]);

fn identity(client: &mut Client, names: &[&str]) -> (FileType, u64, u64, u64) {
    let mut steps = walk(names);
    steps.push(step(getattr::OPERATION, &getattr::Arguments { wanted: WANTED }));
    let mut answer = client.call(&steps);
    answer.skip(putrootfh::OPERATION).expect("the root");
    names.iter().for_each(|_| answer.skip(lookup::OPERATION).expect("found"));
    let found: getattr::Success<'_> = answer.take(getattr::OPERATION);
    let identity = found.attributes.decode_all().expect("attributes").identity;
    let system = identity.file_system.expect("a file system").major;
    (
        identity.kind.expect("a kind"),
        system,
        identity.file.expect("a number"),
        identity.mounted_on_file.expect("too"),
    )
}

fn list(client: &mut Client, names: &[&str], count: u32) -> Vec<String> {
    let (mut found, mut cookie) = (Vec::new(), 0);
    loop {
        let wish =
            readdir::Arguments { cookie, verifier: Verifier([0; 8]), name_count: 0, count, wanted: WANTED };
        let mut steps = walk(names);
        steps.push(step(readdir::OPERATION, &wish));
        let mut answer = client.call(&steps);
        answer.skip(putrootfh::OPERATION).expect("the root");
        names.iter().for_each(|_| answer.skip(lookup::OPERATION).expect("found"));
        let listing: readdir::Success<'_> = answer.take(readdir::OPERATION);
        for entry in listing.entries {
            assert!(entry.cookie > 2);
            found.push(String::from_utf8_lossy(entry.name.0).into_owned());
            cookie = entry.cookie;
        }
        if listing.end {
            return found;
        }
    }
}

#[test]
fn every_export_is_reached_from_the_root_with_its_own_number() {
    let mut client = Client::new(&service(&["/srv/one", "/srv/two"]), "client");
    assert_eq!(list(&mut client, &[], 4096), ["srv"]);
    assert_eq!(list(&mut client, &["srv"], 4096), ["one", "two"]);
    assert_eq!(list(&mut client, &["srv"], 120), ["one", "two"], "one at a time");
    let root = identity(&mut client, &[]);
    let [one, two] = ["one", "two"].map(|name| identity(&mut client, &["srv", name]));
    assert_eq!((root.0, root.2), (FileType::Directory, root.3));
    assert!(root.1 != one.1 && one.1 != two.1, "three file systems");
    assert_ne!(one.2, one.3, "the number of what the export covers is another");
    let mut steps = walk(&["srv", "one"]);
    steps.extend([bare(lookupp::OPERATION), bare(lookupp::OPERATION), bare(lookupp::OPERATION)]);
    let answer = client.call(&steps);
    assert_eq!((answer.status, answer.results), (Status::NOENT, 7), "nothing is above the root");
}

#[test]
fn an_export_named_by_a_slash_is_the_root() {
    let mut client = Client::new(&service(&["/", "/more"]), "client");
    let (root, more) = (identity(&mut client, &[]), identity(&mut client, &["more"]));
    assert_ne!(root.1, more.1, "another export in its root");
}

#[test]
fn pseudo_directories_cannot_be_changed() {
    let mut client = Client::new(&service(&["/srv/one"]), "client");
    let srv = client.handle(&["srv"]).expect("it leads on");
    let arguments = create::Arguments {
        node: create::NewNode::Directory,
        name: Name(b"new"),
        attributes: Default::default(),
    };
    assert_eq!(client.call(&[put(&srv), step(create::OPERATION, &arguments)]).status, Status::ROFS);
    let root = client.handle(&["srv", "one"]).expect("an export");
    assert_eq!(client.call(&[put(&root), step(create::OPERATION, &arguments)]).status, Status::OK);
    assert_eq!(list(&mut client, &["srv", "one"], 4096), ["new"], "neither . nor ..");
}

#[test]
fn names_that_are_none_are_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    for (name, status) in [
        (&b"."[..], Status::BADNAME),
        (b"..", Status::BADNAME),
        (b"a/b", Status::BADNAME),
        (b"", Status::INVAL),
        (&[b'n'; 256], Status::NAMETOOLONG),
        (&[b'n'; 5000], Status::NAMETOOLONG),
        (b"none", Status::NOENT),
    ] {
        let lookup = step(lookup::OPERATION, &lookup::Arguments { name: Name(name) });
        assert_eq!(client.call(&[bare(putrootfh::OPERATION), lookup]).status, status, "{name:?}");
    }
    let lookup = step(lookup::OPERATION, &lookup::Arguments { name: Name(b"x") });
    assert_eq!(client.call(&[lookup]).status, Status::NOFILEHANDLE);
}

#[test]
fn secinfo_uses_the_current_node_up() {
    let mut client = Client::new(&service(&["/srv/one"]), "client");
    let secinfo = step(secinfo::OPERATION, &secinfo::Arguments { name: Name(b"srv") });
    let steps = [bare(putrootfh::OPERATION), secinfo, bare(howdah_wire::nfs4::getfh::OPERATION)];
    assert_eq!(client.call(&steps).status, Status::NOFILEHANDLE);
}

#[test]
fn forged_handles_open_nothing() {
    let mut client = Client::new(&service(&["/srv/one"]), "client");
    for path in [&["srv"][..], &["srv", "one"]] {
        let mut handle = client.handle(path).expect("a handle");
        *handle.last_mut().expect("bytes") ^= 1;
        assert_eq!(client.call(&[put(&handle)]).status, Status::STALE);
        assert_eq!(client.call(&[put(b"no handle")]).status, Status::BADHANDLE);
    }
}

#[test]
fn an_export_for_clients_with_a_certificate_is_hidden_from_others() {
    let service = service(&["/a", "/b"]);
    let mut client = Client::new(&service, "client");
    let inside = client.handle(&["b"]).expect("before the rules change");
    let rule = |clients: &str| ClientRule {
        clients: Clients::Certificate(clients.parse().expect("a pattern")),
        ..ClientRule::default()
    };
    let export = |name, id, rule| Export::new(name, id, Arc::new(MemoryFileSystem::new()), vec![rule]);
    let exports = vec![export("/a", 1, ClientRule::default()), export("/b", 2, rule("cert:client.example"))];
    service.set_exports(Exports::new(exports, [7; 16]).expect("two"));
    let got = |client: &mut Client| {
        let status = client.call(&[put(&inside)]).status;
        (list(client, &[], 4096), status)
    };
    let (one, two) = (vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(got(&mut client), (one.clone(), Status::ACCESS));
    for (shown, expected) in [
        (None, (one.clone(), Status::ACCESS)),
        (Some("other.example"), (one, Status::ACCESS)),
        (Some("client.example"), (two, Status::OK)),
    ] {
        let mut peer = client.peer.clone();
        shows(&mut peer, shown.map(|name| certificate(name, None)));
        let name = format!("client {shown:?}");
        assert_eq!(got(&mut Client::at(&service, &name, peer)), expected, "{shown:?}");
    }
}
