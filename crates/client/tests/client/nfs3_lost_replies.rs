//! Replies that are lost: the server did what was asked, the client sends the call again, and a server that remembers nothing
//! runs it a second time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    AddLink, Caller, Change, Create, CreateFile, FileSystem, FsError, Guard, Handle, MakeDirectory, MakeLink,
    MakeSpecial, Name, NewAttributes, Node, Result, SetAttributes, SetTime, SpecialKind, Timestamp,
};
use howdah_wire::nfs3;

use crate::middleman::{Fate, Middleman};
use crate::served::{EXPORT, Served, memory, serve};

const ME: Caller = Caller::ROOT;

/// A client of two servers that know nothing of each other's calls: the other one gets what is sent again.
struct Stage {
    fs: Arc<MemoryFileSystem>,
    client: Arc<dyn Remote>,
    middleman: Middleman,
    servers: [Served; 2],
    losses: AtomicUsize,
    lost: Arc<AtomicBool>,
}

impl Stage {
    fn new() -> Self {
        let fs = memory();
        let servers = [(); 2].map(|()| serve(Arc::clone(&fs) as Arc<dyn FileSystem>));
        let middleman = Middleman::before(servers[0].address);
        let url = format!("nfs://{}{EXPORT}", middleman.address).parse().expect("a URL");
        let client = connect(&url, &ConnectOptions::default()).expect("a mount");
        Self { fs, client, middleman, servers, losses: AtomicUsize::new(0), lost: Arc::default() }
    }

    /// The reply to the next call of this procedure is lost. In between, `meanwhile` happens.
    fn lose(&self, procedure: u32, meanwhile: impl FnOnce(&MemoryFileSystem) + Send + 'static) {
        let losses = self.losses.fetch_add(1, Ordering::Relaxed);
        self.middleman.lead_to(self.servers[(losses + 1) % 2].address);
        self.lost.store(false, Ordering::Relaxed);
        let (lost, fs) = (Arc::clone(&self.lost), Arc::clone(&self.fs));
        let mut meanwhile = Some(meanwhile);
        self.middleman.judge(move |exchange| match &mut meanwhile {
            Some(_) if (exchange.program, exchange.procedure) == (nfs3::PROGRAM, procedure) => {
                lost.store(true, Ordering::Relaxed);
                meanwhile.take().expect("there").call(&fs)
            }
            _ => Fate::Pass,
        });
    }

    fn root(&self) -> Handle {
        self.client.root()
    }

    fn file(&self, text: &str) -> Node {
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        self.client
            .create(&ME, CreateFile::new(&self.root(), name(text), &how), &mut Change::default())
            .expect("a file")
    }

    /// What was to be lost was lost.
    fn check<T>(&self, outcome: Result<T>) -> Result<T> {
        assert!(self.lost.load(Ordering::Relaxed), "no reply was lost");
        outcome
    }
}

trait Meanwhile {
    fn call(self, fs: &MemoryFileSystem) -> Fate;
}

impl<F: FnOnce(&MemoryFileSystem)> Meanwhile for F {
    fn call(self, fs: &MemoryFileSystem) -> Fate {
        self(fs);
        Fate::Lose
    }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn change() -> Change {
    Change::default()
}

#[test]
fn a_name_that_was_removed_is_gone() {
    let stage = Stage::new();
    stage.file("f");
    stage.lose(nfs3::remove::PROCEDURE, |_| {});
    let mut change_seen = change();
    let removed = stage.check(stage.client.remove(&ME, &stage.root(), name("f"), &mut change_seen));
    assert_eq!(removed, Ok(()));
    assert!(change_seen.after.is_some(), "the refusal of the second run tells of the directory too");
    assert_eq!(change_seen.before, None, "what it saw before may be what the first run left");
    let again = stage.client.remove(&ME, &stage.root(), name("f"), &mut change());
    assert_eq!(again, Err(FsError::NotFound), "what is sent once is believed");
}

#[test]
fn a_directory_that_was_removed_is_gone() {
    let stage = Stage::new();
    let new = NewAttributes::with_mode(0o700);
    stage
        .client
        .make_directory(&ME, MakeDirectory::new(&stage.root(), name("d"), &new), &mut change())
        .expect("a directory");
    stage.lose(nfs3::rmdir::PROCEDURE, |_| {});
    let removed = stage.client.remove_directory(&ME, &stage.root(), name("d"), &mut change());
    assert_eq!(stage.check(removed), Ok(()));
}

#[test]
fn a_node_that_was_renamed_has_its_name() {
    let stage = Stage::new();
    let root = stage.root();
    stage.file("old");
    stage.lose(nfs3::rename::PROCEDURE, |_| {});
    let rename = |from, to| {
        stage.client.rename(&ME, (&root, name(from)), (&root, name(to)), (&mut change(), &mut change()))
    };
    assert_eq!(stage.check(rename("old", "new")), Ok(()));
    assert!(stage.client.lookup(&ME, &root, name("new")).is_ok());
    assert_eq!(rename("old", "new"), Err(FsError::NotFound));
}

#[test]
fn what_had_the_new_name_before_was_not_renamed() {
    let stage = Stage::new();
    let root = stage.root();
    stage.file("there");
    // As if its directory had been changed for long since.
    let modified = SetTime::To(Timestamp { seconds: i64::from(u32::MAX), nanoseconds: 0 });
    let times = NewAttributes { modified, ..NewAttributes::default() };
    stage.client.set_attributes(&ME, SetAttributes::new(&root, &times, None), &mut change()).expect("times");
    stage.lose(nfs3::rename::PROCEDURE, |_| {});
    let names = ((&root, name("gone")), (&root, name("there")));
    let renamed = stage.client.rename(&ME, names.0, names.1, (&mut change(), &mut change()));
    assert_eq!(stage.check(renamed), Err(FsError::NotFound));
}

#[test]
fn a_directory_that_was_made_is_ours() {
    let stage = Stage::new();
    let root = stage.root();
    let new = NewAttributes::with_mode(0o700);
    stage.lose(nfs3::mkdir::PROCEDURE, |_| {});
    let made = stage.check(stage.client.make_directory(
        &ME,
        MakeDirectory::new(&root, name("d"), &new),
        &mut change(),
    ));
    let found = stage.client.lookup(&ME, &root, name("d")).expect("it is there");
    assert_eq!(made, Ok(found.node));
    let again = stage.client.make_directory(&ME, MakeDirectory::new(&root, name("d"), &new), &mut change());
    assert_eq!(again, Err(FsError::Exists));
}

#[test]
fn a_directory_in_which_something_happened_meanwhile_is_not_taken_for_ours() {
    let stage = Stage::new();
    let (root, new) = (stage.root(), NewAttributes::with_mode(0o700));
    let old = Timestamp { seconds: 1000, nanoseconds: 0 };
    stage.lose(nfs3::mkdir::PROCEDURE, move |fs| {
        let node = fs.lookup(&ME, &fs.root(), name("d")).expect("it was made").node.handle;
        let times = NewAttributes { modified: howdah_vfs::SetTime::To(old), ..NewAttributes::default() };
        fs.set_attributes(&ME, SetAttributes::new(&node, &times, None), &mut change()).expect("old times");
    });
    let made = stage.check(stage.client.make_directory(
        &ME,
        MakeDirectory::new(&root, name("d"), &new),
        &mut change(),
    ));
    assert_eq!(made, Err(FsError::Exists));
}

#[test]
fn links_and_special_files_that_were_made_are_ours() {
    let stage = Stage::new();
    let (root, new) = (stage.root(), NewAttributes::with_mode(0o600));
    stage.lose(nfs3::symlink::PROCEDURE, |_| {});
    let link = stage.client.make_link(&ME, MakeLink::new(&root, name("l"), b"there", &new), &mut change());
    assert!(stage.check(link).is_ok());
    stage.lose(nfs3::mknod::PROCEDURE, |_| {});
    let pipe = stage.client.make_special(
        &ME,
        MakeSpecial::new(&root, name("p"), SpecialKind::Fifo, &new),
        &mut change(),
    );
    assert!(stage.check(pipe).is_ok());
}

#[test]
fn a_link_is_ours_only_if_it_names_the_node() {
    let stage = Stage::new();
    let (root, file) = (stage.root(), stage.file("f").handle);
    stage.lose(nfs3::link::PROCEDURE, |_| {});
    let linked = stage.check(stage.client.link(&ME, AddLink::new(&file, &root, name("l")), &mut change()));
    assert_eq!(linked.map(|attributes| attributes.links), Ok(2));
    stage.lose(nfs3::link::PROCEDURE, |fs| {
        // Somebody else's lock stands where ours stood.
        fs.remove(&ME, &fs.root(), name("m"), &mut change()).expect("it was made");
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        fs.create(&ME, CreateFile::new(&fs.root(), name("m"), &how), &mut change()).expect("another file");
    });
    let linked = stage.check(stage.client.link(&ME, AddLink::new(&file, &root, name("m")), &mut change()));
    assert_eq!(linked, Err(FsError::Exists));
}

#[test]
fn a_guarded_create_stays_refused_and_an_exclusive_one_finds_its_file() {
    let stage = Stage::new();
    let root = stage.root();
    stage.lose(nfs3::create::PROCEDURE, |_| {});
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let made = stage.check(stage.client.create(&ME, CreateFile::new(&root, name("g"), &how), &mut change()));
    assert_eq!(made, Err(FsError::Exists));
    stage.lose(nfs3::create::PROCEDURE, |_| {});
    let made = stage.check(stage.client.create(
        &ME,
        CreateFile::new(&root, name("e"), &Create::Exclusive([5; 8])),
        &mut change(),
    ));
    assert!(made.is_ok());
}

#[test]
fn a_guarded_setattr_that_went_well_is_not_refused() {
    let stage = Stage::new();
    let file = stage.file("f");
    stage.lose(nfs3::setattr::PROCEDURE, |_| {});
    let (guard, new) = (Some(Guard::from(&file.attributes)), NewAttributes::with_mode(0o640));
    let set = stage.client.set_attributes(&ME, SetAttributes::new(&file.handle, &new, guard), &mut change());
    assert_eq!(stage.check(set), Ok(()));
    let set = stage.client.set_attributes(&ME, SetAttributes::new(&file.handle, &new, guard), &mut change());
    assert_eq!(set, Err(FsError::NotSynchronised));
}
