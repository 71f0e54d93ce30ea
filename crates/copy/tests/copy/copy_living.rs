//! Copies of trees in which something lives: files that grow, that are written again, and that go.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use howdah_copy::CopyOptions;
use howdah_vfs::layer::Call;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Change, Data, Handle, Name, NewAttributes, Node, Stability, WriteFile};

use crate::copying::tree::{Files, ROOT};
use crate::copying::trouble::{Living, Meddled, Restored};
use crate::copying::{copy, options};

/// More than a block, and worth a journal.
const LARGE: usize = 300_000;

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn write(files: &Files, node: &Handle, at: u64, data: &[u8]) {
    let change = &mut Change::default();
    files
        .0
        .write(ROOT, WriteFile::new(node, at, Data::Bytes(data), Stability::FileSync), change)
        .expect("written");
}

fn remove(files: &Files, directory: &Handle, text: &str) {
    files.0.remove(ROOT, directory, name(text), &mut Change::default()).expect("removed");
}

/// The same files, to which `change` happens after each call of a kind.
fn living(files: &Files, call: Call, change: impl Fn() + Send + Sync + 'static) -> Files {
    Files(Arc::new(Living { inner: Arc::clone(&files.0), call, change: Box::new(change) }))
}

/// A source with a file `log` of so many bytes, and a copy that has a name too many.
fn with_log(size: usize) -> (Files, Node, Node, Files) {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    let log = from.file(&source.handle, "log", size as u64, &[(0, vec![b'a'; size])]);
    from.set_time(&log.handle, 1_000_000, 0);
    let copied = to.directory(&to.root().handle, "copy");
    to.file(&copied.handle, "old", 1, &[]);
    (from, source, log, to)
}

fn mirror() -> CopyOptions {
    CopyOptions { delete: true, ..options() }
}

#[test]
fn a_file_that_grows_has_what_was_there_when_it_was_opened() {
    for (size, verify) in [(1000, false), (1000, true), (LARGE, false), (LARGE, true), (0, false)] {
        let (from, source, log, to) = with_log(size);
        let (end, files) = (AtomicU64::new(size as u64), from.clone());
        let growing = living(&from, if size == 0 { Call::ReadDirectory } else { Call::Read }, move || {
            write(&files, &log.handle, end.fetch_add(10, Ordering::Relaxed), b"more lines");
        });
        let (outcome, heard) = copy(&growing, source, &to, "copy", CopyOptions { verify, ..mirror() });
        assert_eq!((outcome.figures.errors, outcome.figures.files), (0, 1), "{size}: {:?}", heard.all());
        let copied = to.at("copy/log");
        let (content, whole) = (to.content(&copied), from.content(&from.at("source/log")));
        assert!(content.len() >= size && whole.starts_with(&content), "{size}");
        // The empty one grows when it is listed.
        let grew = (u64::from(size > 0), size > 0);
        assert_eq!((outcome.figures.grown, heard.has("grown log")), grew, "{size}: {:?}", heard.all());
        assert_eq!(outcome.figures.removed, 1, "{size}: {:?}", heard.all());
        // When it is quiet the rest comes.
        let (outcome, heard) = copy(&from, source, &to, "copy", mirror());
        assert_eq!((outcome.figures.errors, outcome.figures.grown), (0, 0), "{size}: {:?}", heard.all());
        assert!(to.content(&to.at("copy/log")) == from.content(&from.at("source/log")), "{size}");
    }
}

#[test]
fn a_file_that_is_cut_and_written_again_is_not_mixed() {
    let (from, source, log, to) = with_log(LARGE);
    let files = from.clone();
    // No other call sees it half done.
    let rewritten = Files(Arc::new(Meddled {
        inner: Arc::clone(&from.0),
        call: Call::Read,
        before: false,
        meddle: Box::new(move || {
            files.set(&log.handle, NewAttributes::with_size(0));
            write(&files, &log.handle, 0, &vec![b'b'; 2 * LARGE]);
        }),
        is_done: Mutex::new(false),
    }));
    let (outcome, heard) = copy(&rewritten, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.grown), (0, 0), "{:?}", heard.all());
    let content = to.content(&to.at("copy/log"));
    assert!(content == vec![b'b'; 2 * LARGE], "{} bytes", content.len());
}

#[test]
fn a_file_that_never_rests_is_an_error_and_hinders_no_deletion() {
    let (from, source, log, to) = with_log(1000);
    let (turn, files) = (AtomicU64::new(0), from.clone());
    let restless = living(&from, Call::Read, move || {
        write(&files, &log.handle, 0, turn.fetch_add(1, Ordering::Relaxed).to_string().as_bytes());
    });
    let (outcome, heard) = copy(&restless, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (1, 1), "{:?}", heard.all());
    assert!(heard.has("it was changed while it was copied"), "{:?}", heard.all());
    assert_eq!(to.names(&to.at("copy").handle), [""; 0]);
}

#[test]
fn what_is_gone_since_it_was_listed_is_counted_and_hinders_nothing() {
    for kind in ["small", "large", "linked", "link", "directory"] {
        let (from, source, _, to) = with_log(1000);
        let at = &source.handle;
        match kind {
            "small" => _ = from.file(at, "going", 10, &[(0, b"0123456789".to_vec())]),
            "large" => _ = from.file(at, "going", LARGE as u64, &[(0, vec![1; LARGE])]),
            "linked" => {
                let first = from.file(at, "going", 10, &[(0, b"0123456789".to_vec())]);
                from.link(&first.handle, at, "stays");
                from.link(&first.handle, &from.root().handle, "elsewhere");
            }
            "link" => _ = from.symbolic_link(at, "going", "log"),
            _ => _ = from.directory(at, "going"),
        }
        let (handle, files, done) = (source.handle, from.clone(), Mutex::new(false));
        let living = living(&from, Call::ReadDirectory, move || {
            if !std::mem::replace(&mut *done.lock().expect("nobody panics"), true) {
                let change = &mut Change::default();
                let _ = files.0.remove(ROOT, &handle, name("going"), change);
                let _ = files.0.remove_directory(ROOT, &handle, name("going"), change);
            }
        });
        let (outcome, heard) = copy(&living, source, &to, "copy", mirror());
        assert_eq!(outcome.figures.errors, 0, "{kind}: {:?}", heard.all());
        // A file that has another name is there still.
        let vanished = u64::from(kind != "linked");
        assert_eq!(outcome.figures.vanished, vanished, "{kind}: {:?}", heard.all());
        assert_eq!(heard.has("vanished going"), vanished == 1, "{kind}: {:?}", heard.all());
        assert_eq!(to.names(&to.at("copy").handle), from.names(&source.handle), "{kind}: {:?}", heard.all());
    }
}

#[test]
fn what_was_replaced_since_it_was_listed_is_copied_as_it_is_now() {
    for size in [10, LARGE] {
        let (from, source, _, to) = with_log(size);
        let (handle, files, done) = (source.handle, from.clone(), Mutex::new(false));
        let rotated = living(&from, Call::ReadDirectory, move || {
            if !std::mem::replace(&mut *done.lock().expect("nobody panics"), true) {
                remove(&files, &handle, "log");
                files.file(&handle, "log", 3, &[(0, b"new".to_vec())]);
            }
        });
        let (outcome, heard) = copy(&rotated, source, &to, "copy", mirror());
        assert_eq!((outcome.figures.errors, outcome.figures.vanished), (0, 0), "{:?}", heard.all());
        assert_eq!(to.content(&to.at("copy/log")), b"new");
    }
}

#[test]
fn a_directory_that_was_replaced_since_it_was_listed_is_copied_as_it_is_now() {
    let (from, source, _, to) = with_log(10);
    let old = from.directory(&source.handle, "data");
    from.file(&old.handle, "old", 3, &[(0, b"old".to_vec())]);
    let (handle, files, done) = (source.handle, from.clone(), Mutex::new(false));
    let replaced = living(&from, Call::ReadDirectory, move || {
        if !std::mem::replace(&mut *done.lock().expect("nobody panics"), true) {
            remove(&files, &old.handle, "old");
            let change = &mut Change::default();
            files.0.remove_directory(ROOT, &handle, name("data"), change).expect("removed");
            let new = files.directory(&handle, "data");
            files.file(&new.handle, "new", 3, &[(0, b"new".to_vec())]);
        }
    });
    let (outcome, heard) = copy(&replaced, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.vanished), (0, 0), "{:?}", heard.all());
    assert_eq!(from.see(&source), to.see(&to.at("copy")), "{:?}", heard.all());
}

/// A server that comes back with another key knows no handle any more: then nothing shows what the source has.
#[test]
fn a_directory_whose_name_cannot_be_looked_up_has_not_vanished() {
    let (from, source, _, to) = with_log(10);
    remove(&from, &source.handle, "log");
    let data = from.directory(&source.handle, "data");
    from.file(&data.handle, "file", 3, &[(0, b"new".to_vec())]);
    let listings = AtomicU64::new(0);
    let knows = move |call| match call {
        Call::ReadDirectory => listings.fetch_add(1, Ordering::Relaxed) == 0,
        _ => listings.load(Ordering::Relaxed) == 0,
    };
    let restored = Files(Arc::new(Restored { inner: Arc::clone(&from.0), knows: Box::new(knows) }));
    let (outcome, heard) = copy(&restored, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.vanished), (1, 0), "{:?}", heard.all());
    assert!(heard.has("cannot look up copy/data") && heard.has("nothing was deleted"), "{:?}", heard.all());
    assert_eq!(
        (outcome.figures.removed, to.names(&to.at("copy").handle)),
        (0, vec!["data".into(), "old".into()])
    );
}

/// Reads of one file fail from the 20th on, as if it was gone, so many times.
fn forgetting(from: &Files, times: u64) -> Files {
    let reads = AtomicU64::new(0);
    let knows =
        move |call| call != Call::Read || !(20..20 + times).contains(&reads.fetch_add(1, Ordering::Relaxed));
    Files(Arc::new(Restored { inner: Arc::clone(&from.0), knows: Box::new(knows) }))
}

#[test]
fn a_large_file_that_is_still_there_is_resumed_though_its_handle_was_refused() {
    for is_named in [true, false] {
        let (from, source, log, to) = with_log(10 * LARGE);
        let options = || CopyOptions { jobs: Some(1), ..options() };
        let node = if is_named { from.at("source/log") } else { source };
        let (outcome, heard) = copy(&forgetting(&from, 1), node, &to, "new", options());
        // What is named has no directory in which it could be looked up.
        assert_eq!(outcome.figures.errors, u64::from(is_named), "{:?}", heard.all());
        if is_named {
            assert!(heard.has("run the same command again to resume"), "{:?}", heard.all());
            let (again, heard) = copy(&from, node, &to, "new", options());
            assert_eq!((again.figures.errors, again.figures.resumed_files), (0, 1), "{:?}", heard.all());
        } else {
            assert_eq!(outcome.figures.resumed_files, 1, "{:?}", heard.all());
        }
        let copied = to.at(if is_named { "new" } else { "new/log" });
        assert!(to.content(&copied) == from.content(&log));
        assert!(is_named || to.names(&to.at("new").handle) == ["log"], "{:?}", heard.all());
    }
}
