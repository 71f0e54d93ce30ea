//! From a URL to a file system by NFSv4.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Detail, FileKind, FsError, ListDirectory, MakeDirectory, MakeLink,
    Name, NewAttributes, XattrName,
};
use howdah_wire::mount;

use crate::middleman::Middleman;
use crate::served::{Served, serve_memory};

const ME: Caller = Caller::ROOT;

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

/// A server with `/export/a/b/file` and the symbolic link `/export/a/link`.
fn with_tree() -> Served {
    let served = serve_memory();
    let client = served.client("version=4");
    let (new, change) = (NewAttributes::with_mode(0o755), &mut Change::default());
    let root = client.root();
    let a =
        client.make_directory(&ME, MakeDirectory::new(&root, name("a"), &new), change).expect("made").handle;
    let b = client.make_directory(&ME, MakeDirectory::new(&a, name("b"), &new), change).expect("made").handle;
    client.make_link(&ME, MakeLink::new(&a, name("link"), b"b", &new), change).expect("made");
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    client.create(&ME, CreateFile::new(&b, name("file"), &how), change).expect("made");
    served
}

fn opened(served: &Served, path: &str, query: &str) -> Arc<dyn Remote> {
    let url = served.url(path, query);
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{url}: {error}"))
}

#[test]
fn a_server_tells_itself_from_others_however_it_is_named() {
    let (one, other) = (with_tree(), with_tree());
    let identity = |client: &dyn Remote| client.server_identity().map(str::to_owned);
    let [a, b, c] = [(&one, "/export"), (&one, "/export/a"), (&other, "/export")]
        .map(|(served, path)| identity(&*opened(served, path, "version=4.2")));
    assert!(a.is_some() && a == b && a != c, "{a:?} {b:?} {c:?}");
    let url = format!("nfs://localhost:{}/export?version=4.2", one.address.port());
    let by_name = connect(&url.parse().expect("a URL"), &ConnectOptions::default());
    assert_eq!(identity(&*by_name.unwrap_or_else(|error| panic!("{error}"))), a);
    assert_eq!(identity(&*opened(&one, "/export", "version=3")), None);
}

#[test]
fn extended_attributes_below_a_root_without_are_found_when_the_file_system_is_met() {
    let served = with_tree();
    let listed = |client: &dyn Remote| {
        let root = client.root();
        let list = ListDirectory::new(&root, 0, Detail::Nodes);
        client.read_directory(&ME, list, &mut |_| ControlFlow::Continue(())).expect("listed");
    };
    let looked_up = |client: &dyn Remote| {
        client.lookup(&ME, &client.root(), name("export")).expect("found");
    };
    for (what, meet) in [("listed", &listed as &dyn Fn(&dyn Remote)), ("looked up", &looked_up)] {
        let client = opened(&served, "/", "version=4.2");
        assert!(client.xattrs().is_none() && client.may_get_xattrs(), "the root of all");
        meet(&*client);
        let export = client.lookup(&ME, &client.root(), name("export")).expect("found").node.handle;
        let (xattrs, key) = (client.xattrs().expect(what), XattrName::parse(b"key").expect("a name"));
        let mut value = Vec::new();
        assert_eq!(xattrs.get_xattr(&ME, &export, key, &mut value), Err(FsError::NoXattr), "{what}");
        let refused = xattrs.get_xattr(&ME, &client.root(), key, &mut value);
        assert_eq!(refused, Err(FsError::NotSupported), "{what}");
    }
}

#[test]
fn the_last_directory_of_the_path_is_the_root() {
    let served = with_tree();
    for (path, below, first) in [
        ("/", &[][..], None),
        ("/export", &[], None),
        ("//export//a/", &[], None),
        ("/export/a/b/file", &["file"], Some(Ok(FileKind::Regular))),
        ("/export/a/b/file/x", &["file", "x"], Some(Ok(FileKind::Regular))),
        ("/export/a/link/x", &["link", "x"], Some(Ok(FileKind::SymbolicLink))),
        ("/export/a/new/file", &["new", "file"], Some(Err(FsError::NotFound))),
        ("/elsewhere", &["elsewhere"], Some(Err(FsError::NotFound))),
    ] {
        let client = opened(&served, path, "version=4.1");
        let left: Vec<_> = client.below_root().iter().map(|name| String::from_utf8_lossy(name)).collect();
        assert_eq!(left, below, "{path}");
        let found = client.first_below_at_connect().map(|found| found.map(|node| node.attributes.kind));
        assert_eq!(found, first, "{path}");
        let root = client.root_at_connect().expect("it was looked at");
        assert_eq!((root.handle, root.attributes.kind), (client.root(), FileKind::Directory), "{path}");
        assert_eq!(client.parent(&ME, &client.root()).expect("the root itself").node.handle, client.root());
    }
}

#[test]
fn a_path_may_have_more_names_than_fit_one_compound() {
    let served = serve_memory();
    let client = served.client("version=4");
    let new = NewAttributes::with_mode(0o755);
    let (mut directory, mut path) = (client.root(), "/export".to_owned());
    for depth in 0..50 {
        let part = format!("d{depth}");
        let make = MakeDirectory::new(&directory, name(&part), &new);
        directory = client.make_directory(&ME, make, &mut Change::default()).expect("made").handle;
        path = format!("{path}/{part}");
    }
    let deep = opened(&served, &path, "version=4");
    assert_eq!((deep.root(), deep.below_root().len()), (directory, 0));
}

#[test]
fn the_version_is_the_one_that_was_asked_for() {
    let served = serve_memory();
    for (query, protocol) in
        [("", "NFSv3"), ("version=3", "NFSv3"), ("version=4", "NFSv4.2"), ("version=4.1", "NFSv4.1")]
    {
        assert_eq!(opened(&served, "/export", query).protocol(), protocol, "{query}");
    }
}

#[test]
fn a_server_without_mount_is_spoken_to_by_nfs4_unless_the_url_says_otherwise() {
    let served = serve_memory();
    let between = Middleman::before(served.address);
    between.deny(mount::PROGRAM);
    // Nothing listens at this port any more.
    let portmap_port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("free").port();
    let connected = |query: &str| {
        let url =
            format!("nfs://127.0.0.1:{}/export?{query}", between.address.port()).parse().expect("a URL");
        connect(&url, &ConnectOptions { portmap_port, ..ConnectOptions::default() })
    };
    assert_eq!(connected("").expect("connected").protocol(), "NFSv4.2");
    let error = connected("version=3").err().expect("there is no MOUNT").to_string();
    assert!(error.contains("MOUNT"), "{error}");
}

#[test]
fn what_cannot_be_is_said() {
    let served = serve_memory();
    let refused = |query: &str| {
        let url = served.url("/export", query);
        connect(&url, &ConnectOptions::default()).err().expect("refused").to_string()
    };
    let error = refused("version=4&proto=udp");
    assert!(error.contains("proto=udp"), "{error}");
}
