//! Out of descriptors, a call is refused before it changes anything, or done and answered: a client that is asked to try again
//! must not find its own node in the way. The only test of its process, which it leaves without descriptors.

mod common;

use std::fs::File;

use common::{Place, myself, places};
use howdah_store::local::{Options, SyncMode};
use howdah_vfs::{
    AddLink, Change, Create, CreateFile, FileSystem, FsError, MakeDirectory, MakeLink, MakeSpecial, Name,
    NewAttributes, Result, SpecialKind,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many descriptors are left when a call comes.
const LEFT: usize = 5;

type Call<'c> = &'c dyn Fn(Name<'_>, &mut Change) -> Result<()>;

/// All descriptors but so many.
fn all_but(left: usize) -> Vec<File> {
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    taken.truncate(taken.len() - left);
    taken
}

#[test]
fn a_call_is_done_and_answered_or_not_done() {
    let limit = getrlimit(Resource::Nofile);
    let lower = Rlimit { current: Some(200), maximum: limit.maximum };
    setrlimit(Resource::Nofile, lower).expect("it may be lowered");
    for under in places() {
        let place = Place::under(&under);
        for name in ["file", "other"] {
            std::fs::write(place.export().join(name), b"").expect("written");
        }
        for left in 0..=LEFT {
            let options = Options { sync: SyncMode::Sync, open_files: 100, ..place.options() };
            let fs = howdah_store::local::LocalFileSystem::open(&place.export(), options).expect("it opens");
            let (me, root) = (myself(), fs.root());
            let file =
                fs.lookup(&me, &root, Name::parse(b"file").expect("a name")).expect("there").node.handle;
            let new = NewAttributes::with_mode(0o755);
            let calls: [(&str, Call<'_>); 5] = [
                ("create", &|name, change| {
                    fs.create(&me, CreateFile::new(&root, name, &Create::Guarded(new)), change).map(drop)
                }),
                ("mkdir", &|name, change| {
                    fs.make_directory(&me, MakeDirectory::new(&root, name, &new), change).map(drop)
                }),
                ("symlink", &|name, change| {
                    fs.make_link(&me, MakeLink::new(&root, name, b"there", &new), change).map(drop)
                }),
                ("fifo", &|name, change| {
                    fs.make_special(&me, MakeSpecial::new(&root, name, SpecialKind::Fifo, &new), change)
                        .map(drop)
                }),
                ("link", &|name, change| fs.link(&me, AddLink::new(&file, &root, name), change).map(drop)),
            ];
            for (what, call) in calls {
                let text = format!("{what}-{left}");
                let taken = all_but(left);
                let outcome = call(Name::parse(text.as_bytes()).expect("a name"), &mut Change::default());
                drop(taken);
                let is_there = std::fs::symlink_metadata(place.export().join(&text)).is_ok();
                match outcome {
                    Ok(()) => assert!(is_there, "{text}: answered and not done"),
                    Err(error) => {
                        assert_eq!(error, FsError::Delay, "{text}");
                        assert!(!is_there, "{text} on {}: done and refused", under.display());
                    }
                }
            }
        }
    }
    setrlimit(Resource::Nofile, limit).expect("as it was");
}
