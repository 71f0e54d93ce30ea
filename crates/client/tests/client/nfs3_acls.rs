//! POSIX ACLs of a server with NFSv3, and of one without the program for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_client::connect::{ConnectOptions, connect};
use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    Acl, AclEntry, AclKind, AclSubject, Caller, Change, FileSystem, FsError, MakeDirectory, Name,
    NewAttributes, SetAcl,
};
use howdah_wire::nfsacl;

use crate::middleman::{Fate, Middleman};
use crate::served::{EXPORT, memory, serve, serve_at};

const ME: Caller = Caller::ROOT;

fn acl(named: u32) -> Acl {
    let entries = [
        (AclSubject::Owner, 7),
        (AclSubject::User(named), 5),
        (AclSubject::OwningGroup, 5),
        (AclSubject::Mask, 7),
        (AclSubject::Other, 0),
    ];
    Acl::new(entries.map(|(subject, rights)| AclEntry::new(subject, rights)).to_vec()).expect("a list")
}

#[test]
fn an_acl_of_a_directory_is_set_and_the_other_one_stays() {
    if !rustix::process::geteuid().is_root() {
        return skipped(Lack::Root, "only root acts as its callers");
    }
    let place = tempfile::tempdir().expect("a directory");
    let local = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
    if local.acls().is_none() {
        return skipped(Lack::Kernel, "the file system of temporary files has no ACLs");
    }
    let any = "127.0.0.1:0".parse().expect("an address");
    let served = serve_at(any, Arc::new(local), Default::default(), Some(place));
    let url = format!("nfs://{}{EXPORT}", served.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).expect("a mount");
    let (root, new) = (client.root(), NewAttributes::with_mode(0o750));
    let make = MakeDirectory::new(&root, Name::parse(b"directory").expect("a name"), &new);
    let directory = client.make_directory(&ME, make, &mut Change::default()).expect("made").handle;
    let acls = client.acls().expect("it may have some");
    let get = |kind| acls.get_acl(&ME, &directory, kind).expect("shown");
    let set = |kind, acl: Option<&Acl>| {
        let mut change = Change::default();
        acls.set_acl(&ME, SetAcl::new(&directory, kind, acl), &mut change).expect("set");
        change.after.expect("attributes").mode
    };
    assert_eq!((get(AclKind::Access), get(AclKind::Default)), (None, None));
    assert_eq!(set(AclKind::Default, Some(&acl(1001))), 0o750);
    assert_eq!((get(AclKind::Access), get(AclKind::Default)), (None, Some(acl(1001))));
    assert_eq!(set(AclKind::Access, Some(&acl(1002))), 0o770, "the mode shows the mask");
    assert_eq!((get(AclKind::Access), get(AclKind::Default)), (Some(acl(1002)), Some(acl(1001))));
    set(AclKind::Default, None);
    assert_eq!((get(AclKind::Access), get(AclKind::Default)), (Some(acl(1002)), None));
    assert_eq!(set(AclKind::Access, None), 0o770);
    assert_eq!(get(AclKind::Access), None);
}

#[test]
fn a_server_without_acls_is_asked_once() {
    let served = serve(memory());
    let middleman = Middleman::before(served.address);
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    middleman.judge(move |exchange| match exchange.program {
        nfsacl::PROGRAM => {
            counter.fetch_add(1, Ordering::Relaxed);
            Fate::Deny
        }
        _ => Fate::Pass,
    });
    let url = format!("nfs://{}{EXPORT}", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).expect("a mount");
    let acls = client.acls().expect("it may have some");
    for _ in 0..2 {
        assert_eq!(acls.get_acl(&ME, &client.root(), AclKind::Access), Err(FsError::NotSupported));
    }
    assert!(client.acls().is_none());
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
