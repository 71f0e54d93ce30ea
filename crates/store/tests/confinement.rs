//! No name, link or race leads out of the export.

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileKind, FileSystem, FsError, Handle, Name, NewAttributes,
    ReadFile, Stability, WriteFile,
};

/// How long an attacker races against the server.
const RACE: Duration = Duration::from_millis(400);

/// How long at most, until the server gets to the file at least once.
const LONGEST_RACE: Duration = Duration::from_secs(20);

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

#[test]
fn links_are_answered_and_not_followed() {
    with_and_without_privilege("links_are_answered_and_not_followed", |under| {
        let place = Place::under(under);
        std::fs::write(place.outside().join("secret"), b"secret").expect("writes");
        symlink(place.outside().join("secret"), place.export().join("link")).expect("links");
        symlink(place.outside(), place.export().join("way")).expect("links");
        let fs = place.open();
        let link = fs.lookup(&me(), &fs.root(), name("link")).expect("LOOKUP").node;
        assert_eq!(link.attributes.kind, FileKind::SymbolicLink);
        let read = fs.read(&me(), ReadFile::new(&link.handle, 0, 10), &mut Vec::new());
        assert_eq!(read.err(), Some(FsError::Invalid));
        let how = Create::Unchecked(NewAttributes::with_size(0));
        let made = fs.create(&me(), CreateFile::new(&fs.root(), name("link"), &how), &mut Change::default());
        assert_eq!(made.err(), Some(FsError::Exists));
        let way = fs.lookup(&me(), &fs.root(), name("way")).expect("LOOKUP").node.handle;
        assert_eq!(fs.lookup(&me(), &way, name("secret")).err(), Some(FsError::NotDirectory));
        let written = fs.write(
            &me(),
            WriteFile::new(&link.handle, 0, Data::Bytes(b"x"), Stability::Unstable),
            &mut Change::default(),
        );
        assert_eq!(written.err(), Some(FsError::Invalid));
        assert_eq!(std::fs::read(place.outside().join("secret")).expect("reads"), b"secret");
    });
}

/// Swaps a directory of the export and a link to the outside, over and over.
fn swap(export: &Path, outside: &Path, stop: &AtomicBool) {
    let (name, kept) = (export.join("swapped"), export.join("kept"));
    while !stop.load(Ordering::Relaxed) {
        std::fs::rename(&name, &kept).expect("the directory goes");
        symlink(outside, &name).expect("the link comes");
        std::fs::remove_file(&name).expect("the link goes");
        std::fs::rename(&kept, &name).expect("the directory comes");
    }
}

#[test]
fn a_race_of_links_and_directories_leads_nowhere() {
    with_and_without_privilege("a_race_of_links_and_directories_leads_nowhere", |under| {
        let place = Place::under(under);
        std::fs::create_dir(place.export().join("swapped")).expect("a directory");
        std::fs::write(place.export().join("swapped/file"), b"inside").expect("writes");
        std::fs::write(place.outside().join("file"), b"outside").expect("writes");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (export, outside) = (place.export(), place.outside());
            let stop = &stop;
            scope.spawn(move || swap(&export, &outside, stop));
            let start = Instant::now();
            let mut reads = 0;
            while start.elapsed() < RACE || (reads == 0 && start.elapsed() < LONGEST_RACE) {
                // A new one each time: its cache is empty, so each handle is opened anew.
                let fs = place.open();
                for _ in 0..50 {
                    reads += usize::from(read_through(&fs, &fs.root()));
                }
            }
            stop.store(true, Ordering::Relaxed);
            assert!(reads > 0, "the race was won at least once");
        });
        assert_eq!(std::fs::read_dir(place.outside()).expect("lists").count(), 1, "nothing was made outside");
    });
}

/// One walk to the file: whether it was met. If it was, it is the one inside.
fn read_through(fs: &dyn FileSystem, root: &Handle) -> bool {
    let Ok(directory) = fs.lookup(&me(), root, name("swapped")) else { return false };
    let how = Create::Unchecked(NewAttributes::with_mode(0o644));
    let _ =
        fs.create(&me(), CreateFile::new(&directory.node.handle, name("made"), &how), &mut Change::default());
    let Ok(file) = fs.lookup(&me(), &directory.node.handle, name("file")) else { return false };
    let mut buffer = Vec::new();
    match fs.read(&me(), ReadFile::new(&file.node.handle, 0, 100), &mut buffer) {
        Ok(_) => {
            assert_eq!(buffer, b"inside");
            true
        }
        Err(_) => false,
    }
}
