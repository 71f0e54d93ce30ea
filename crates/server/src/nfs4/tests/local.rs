//! Files of a directory of this host: removed while they are open, and beneath other file systems.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Attributes, Caller, Entry, FileSystem, Handle, ListDirectory, Listing, Node, Result as FsResult,
};
use howdah_wire::nfs4::attributes::{FILEID, FSID, MOUNTED_ON_FILEID, SIZE, Values};
use howdah_wire::nfs4::open::{ACCESS_BOTH, ACCESS_READ, DENY_NONE, How};
use howdah_wire::nfs4::{
    Bitmap, Name, Status, Verifier, close, getattr, lookup, putfh, putrootfh, read, readdir, remove,
};

use super::client::{Client, put, service, service_of, step, walk};
use crate::service::Service;

fn served(place: &Path) -> Arc<Service> {
    service_of(Arc::new(LocalFileSystem::open(place, Options::default()).expect("it opens")))
}

#[test]
fn a_file_that_is_removed_while_it_is_open_is_served_until_it_is_closed() {
    type Way = fn(&Path, &mut Client, &[u8]);
    let ways: [(&str, Way); 3] = [
        ("removed here", |place, _, _| std::fs::remove_file(place.join("f")).expect("removed")),
        ("replaced here", |place, _, _| {
            std::fs::write(place.join("new"), b"new").expect("written");
            std::fs::rename(place.join("new"), place.join("f")).expect("moved");
        }),
        ("removed by a client", |_, client, root| {
            let arguments = remove::Arguments { name: Name(b"f") };
            assert_eq!(client.call(&[put(root), step(remove::OPERATION, &arguments)]).status, Status::OK);
        }),
    ];
    for (way, lose) in ways {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::write(place.path().join("f"), b"data").expect("written");
        let service = served(place.path());
        let [mut client, mut other] = ["client", "other"].map(|name| Client::new(&service, name));
        let root = client.handle(&[]).expect("the root");
        let (state, file) = client.open(&root, "f", "owner", (ACCESS_READ, DENY_NONE), None).expect(way);
        lose(place.path(), &mut other, &root);
        let arguments = read::Arguments { state, offset: 0, count: 100 };
        let mut answer = client.call(&[put(&file), step(read::OPERATION, &arguments)]);
        answer.skip(putfh::OPERATION).expect("put");
        assert_eq!(answer.take::<read::Success<'_>>(read::OPERATION).data, b"data", "{way}");
        let look = step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[SIZE]) });
        let arguments = close::Arguments { sequence: 0, state };
        let closing = [put(&file), look.clone(), step(close::OPERATION, &arguments)];
        assert_eq!(client.call(&closing).status, Status::OK, "{way}");
        assert_eq!(client.call(&[put(&file), look]).status, Status::STALE, "{way}");
    }
}

#[test]
fn a_file_that_is_refused_its_attributes_is_not_made() {
    let place = tempfile::tempdir().expect("a directory");
    let services = [("a directory", served(place.path())), ("memory", service(&["/"]))];
    for (kind, service) in services {
        let mut client = Client::new(&service, "client");
        let root = client.handle(&[]).expect("the root");
        let bytes = u64::MAX.to_be_bytes();
        let too_big = Values { attributes: Bitmap::of(&[SIZE]), has_unknown: false, bytes: &bytes };
        for how in [How::ExclusiveWith(Verifier([1; 8]), too_big), How::Guarded(too_big)] {
            let opened = client.open(&root, "f", "owner", (ACCESS_BOTH, DENY_NONE), Some(how));
            assert!(opened.is_err(), "{kind}");
            assert!(client.handle(&["f"]).is_err(), "{kind}: it is there");
        }
    }
}

/// Another file system at `sub`, whose root has the number of the export's root.
struct Mounted {
    inner: LocalFileSystem,
    root: Handle,
}

impl Mounted {
    fn of(&self, node: &Node) -> Attributes {
        let file = self.inner.attributes(&Caller::ROOT, &self.inner.root()).expect("it is there").file;
        match node.handle == self.root {
            true => Attributes { file_system: 99, file, ..node.attributes },
            false => node.attributes,
        }
    }
}

impl Layer for Mounted {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> FsResult<T>) -> FsResult<T> {
        run(&self.inner)
    }

    fn is_junction(&self, directory: &Handle) -> bool {
        *directory == self.root
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> FsResult<Attributes> {
        let attributes = self.inner.attributes(caller, node)?;
        Ok(self.of(&Node { handle: *node, attributes }))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> FsResult<Listing> {
        self.inner.read_directory(caller, list, &mut |entry| {
            let node = entry.node.map(|node| Node { attributes: self.of(node), ..*node });
            sink(Entry { node: node.as_ref(), ..entry })
        })
    }
}

/// A client takes two directories of one number on one file system for one: `find` then reports a loop.
#[test]
fn what_the_root_of_another_file_system_covers_has_a_number_of_its_own() {
    const WANTED: Bitmap = Bitmap::of(&[FSID, FILEID, MOUNTED_ON_FILEID]);
    let place = tempfile::tempdir().expect("a directory");
    for name in ["sub", "plain"] {
        std::fs::create_dir(place.path().join(name)).expect("made");
    }
    let inner = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
    let name = howdah_vfs::Name::parse(b"sub").expect("a name");
    let root = inner.lookup(&Caller::ROOT, &inner.root(), name).expect("LOOKUP").node.handle;
    let service = service_of(Arc::new(Mounted { inner, root }));
    let mut client = Client::new(&service, "client");
    let mut look = |names: &[&str]| {
        let mut steps = walk(names);
        steps.push(step(getattr::OPERATION, &getattr::Arguments { wanted: WANTED }));
        let mut answer = client.call(&steps);
        answer.skip(putrootfh::OPERATION).expect("the root");
        names.iter().for_each(|_| answer.skip(lookup::OPERATION).expect("found"));
        let found: getattr::Success<'_> = answer.take(getattr::OPERATION);
        let found = found.attributes.decode_all().expect("attributes").identity;
        (found.file_system, found.file.expect("a number"), found.mounted_on_file.expect("too"))
    };
    let [root, sub, plain] = [&[][..], &["sub"], &["plain"]].map(&mut look);
    assert!(sub.0 != root.0 && plain.0 == root.0 && sub.1 == root.1);
    assert!(sub.2 >= 1 << 63 && ![root.1, root.2, plain.1].contains(&sub.2), "{sub:?}");
    assert_eq!(plain.1, plain.2);
    let zero = Verifier([0; 8]);
    let wish = readdir::Arguments { cookie: 0, verifier: zero, name_count: 0, count: 4_096, wanted: WANTED };
    let mut answer = client.call(&[walk(&[]).remove(0), step(readdir::OPERATION, &wish)]);
    answer.skip(putrootfh::OPERATION).expect("the root");
    let listing: readdir::Success<'_> = answer.take(readdir::OPERATION);
    for entry in listing.entries {
        let found = entry.attributes.decode_all().expect("attributes").identity;
        let looked = if entry.name.0 == b"sub" { sub } else { plain };
        assert_eq!(
            (found.file_system, found.file, found.mounted_on_file),
            (looked.0, Some(looked.1), Some(looked.2))
        );
    }
}
