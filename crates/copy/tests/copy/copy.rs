//! Copies between file systems in memory and local directories: what arrives, what is reported, what is refused.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_copy::{Compare, CopyOptions, CopyTarget, Existing, Item, Preserve, Side, Sparse, read_in_order};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_tune::flight::Expected;
use howdah_vfs::layer::Call;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Change, Data, NewAttributes, Node, ReadFile, Stability, WriteFile};

use crate::copying::random::{Random, seed};
use crate::copying::tree::{Files, ROOT, grow};
use crate::copying::trouble::{Awaiting, Counting, Dying, Elsewhere, Endless, Meddled, Meeting, Unsteady};
use crate::copying::{copier, copy, item, options, with_writer};

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

fn local() -> (tempfile::TempDir, Files) {
    let home = tempfile::tempdir().expect("a directory");
    let options = Options { sync: SyncMode::Async, ..Options::default() };
    let files = LocalFileSystem::open(home.path(), options).expect("opened");
    (home, Files(Arc::new(files)))
}

/// Copies a random tree from one to the other and compares.
fn round(from: &Files, to: &Files, random: &mut Random) {
    let top = from.directory(&from.root().handle, "top");
    grow(from, &top, 60, 1_000_000, random);
    let verify = random.below(2) == 0;
    let options = CopyOptions { verify, ..with_writer(random.below(2) == 0) };
    let (outcome, heard) = copy(from, top, to, "copy", options.clone());
    assert_eq!((outcome.figures.errors, outcome.stopped), (0, false), "{:#?}", heard.all());
    let copied = to.at("copy");
    let (expected, found) = (from.see(&top), to.see(&copied));
    for (path, seen) in &expected {
        assert_eq!(Some(seen), found.get(path), "{path}: {:#?}", heard.all());
    }
    assert_eq!(expected.len(), found.len(), "nothing else is there");
    assert!(verify == (outcome.figures.verified_files > 0));
    // Once more: all is there already.
    let (again, heard) = copy(from, from.at("top"), to, "copy", options);
    assert_eq!((again.figures.files, again.figures.errors), (0, 0), "{:#?}", heard.all());
    assert_eq!(to.see(&to.at("copy")), found);
}

#[test]
fn a_tree_arrives_whole_from_memory_to_memory() {
    let mut random = Random::new(seed("a_tree_arrives_whole_from_memory_to_memory"));
    for _ in 0..5 {
        round(&memory(), &memory(), &mut random);
    }
}

#[test]
fn a_tree_arrives_whole_from_and_to_a_local_directory() {
    let mut random = Random::new(seed("a_tree_arrives_whole_from_and_to_a_local_directory"));
    let (_home, from) = local();
    round(&from, &memory(), &mut random);
    let (_home, to) = local();
    round(&memory(), &to, &mut random);
}

#[test]
fn holes_stay_holes_and_the_size_is_right() {
    let (from, to) = (memory(), memory());
    let size = 3_000_000;
    let data = vec![(1 << 20, vec![1; 5000])];
    let file = from.file(&from.root().handle, "sparse", size, &data);
    let (outcome, _) = copy(&from, file, &to, "sparse", options());
    let copied = to.at("sparse");
    assert_eq!((copied.attributes.size, to.content(&copied)), (size, from.content(&file)));
    assert!(copied.attributes.used < 100_000, "{}", copied.attributes.used);
    assert!(outcome.figures.hole_bytes > 2_800_000);
    let dense = CopyOptions { sparse: Sparse::Never, ..options() };
    copy(&from, file, &to, "dense", dense);
    assert!(to.at("dense").attributes.used >= size);
}

#[test]
fn holes_of_a_local_file_are_not_read() {
    let (home, inner) = local();
    let size = (1 << 30) + 5000;
    let data = [vec![1; 5000], vec![2; 7], vec![3; 5000]];
    let sparse = std::fs::File::create(home.path().join("sparse")).expect("created");
    for (at, data) in [0, (512 << 20) + 11, 1 << 30].into_iter().zip(&data) {
        sparse.write_all_at(data, at).expect("written");
    }
    for (one_writer, name) in [(false, "f"), (true, "g")] {
        let counting = Arc::new(Counting { inner: Arc::clone(&inner.0), reads: AtomicI64::new(0) });
        let (from, to) = (Files(Arc::clone(&counting) as _), memory());
        let (outcome, heard) = copy(&from, from.at("sparse"), &to, name, with_writer(one_writer));
        assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
        assert_eq!(outcome.figures.copied_bytes, size);
        assert!(counting.reads.load(Ordering::Relaxed) <= 3, "{:?} reads", counting.reads);
        let copied = to.at(name);
        assert_eq!(copied.attributes.size, size);
        assert!(copied.attributes.used < 200_000, "{}", copied.attributes.used);
        for (at, data) in [0, (512 << 20) + 11, 1 << 30].into_iter().zip(&data) {
            let mut found = Vec::new();
            to.0.read(ROOT, ReadFile::new(&copied.handle, at, data.len()), &mut found).expect("read");
            assert_eq!(&found, data, "at {at}");
        }
    }
}

#[test]
fn zeros_that_are_stored_stay_stored_unless_asked() {
    let (from, to) = (memory(), memory());
    let file = from.file(&from.root().handle, "zeros", 1 << 20, &[(0, vec![0; 1 << 20])]);
    copy(&from, file, &to, "auto", options());
    assert_eq!(to.at("auto").attributes.used, 1 << 20);
    copy(&from, file, &to, "always", CopyOptions { sparse: Sparse::Always, ..options() });
    let holes = to.at("always");
    assert_eq!((holes.attributes.used, holes.attributes.size), (0, 1 << 20));
}

#[test]
fn what_is_there_is_replaced_kept_or_compared_as_asked() {
    let (from, to) = (memory(), memory());
    let new = from.file(&from.root().handle, "f", 3, &[(0, b"new".to_vec())]);
    from.set_time(&new.handle, 1000, 0);
    let put_old = || {
        let _ = to.0.remove(
            ROOT,
            &to.root().handle,
            howdah_vfs::Name::parse(b"f").expect("a name"),
            &mut Default::default(),
        );
        let old = to.file(&to.root().handle, "f", 3, &[(0, b"old".to_vec())]);
        to.set_time(&old.handle, 1000, 0);
        old
    };
    let content = |options: CopyOptions| {
        put_old();
        let (outcome, heard) = copy(&from, from.at("f"), &to, "f", options);
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        String::from_utf8(to.content(&to.at("f"))).expect("text")
    };
    assert_eq!(content(options()), "old", "equal size and time is the same");
    assert_eq!(content(CopyOptions { compare: Compare::Content, ..options() }), "new");
    assert_eq!(content(CopyOptions { existing: Existing::Replace, ..options() }), "new");
    assert_eq!(content(CopyOptions { existing: Existing::Keep, ..options() }), "old");
    from.set_time(&new.handle, 999, 0);
    assert_eq!(content(CopyOptions { existing: Existing::ReplaceOlder, ..options() }), "old");
    assert_eq!(content(options()), "new");
    from.set_time(&new.handle, 1001, 0);
    assert_eq!(content(CopyOptions { existing: Existing::ReplaceOlder, ..options() }), "new");
}

/// A directory with `a` and `b`, two names of a file that changed at second 1000.
fn two_names() -> (Files, Node) {
    let from = memory();
    let top = from.directory(&from.root().handle, "top");
    let file = from.file(&top.handle, "a", 3, &[(0, b"new".to_vec())]);
    from.set_time(&file.handle, 1000, 0);
    from.link(&file.handle, &top.handle, "b");
    (from, top)
}

/// A directory `copy` that has a file of this name already.
fn one_there(name: &str, content: &[u8], seconds: i64) -> Files {
    let to = memory();
    let there = to.directory(&to.root().handle, "copy");
    let file = to.file(&there.handle, name, content.len() as u64, &[(0, content.to_vec())]);
    to.set_time(&file.handle, seconds, 0);
    to
}

#[test]
fn no_name_is_linked_to_a_stranger_that_stays() {
    for (existing, seconds) in [(Existing::Keep, 1000), (Existing::Keep, 999), (Existing::ReplaceOlder, 1001)]
    {
        let (from, top) = two_names();
        let to = one_there("a", b"old", seconds);
        let options = CopyOptions { existing, jobs: Some(1), ..options() };
        let (outcome, heard) = copy(&from, top, &to, "copy", options);
        assert_eq!((outcome.figures.errors, outcome.figures.kept), (0, 1), "{:?}", heard.all());
        let (a, b) = (to.at("copy/a"), to.at("copy/b"));
        assert_eq!(to.content(&a), b"old");
        // Equal size and time is the same.
        let is_stranger = seconds != 1000;
        assert_eq!(to.content(&b) == b"new", is_stranger, "{existing:?} {seconds}");
        assert_eq!(a.attributes.file != b.attributes.file, is_stranger, "{existing:?} {seconds}");
    }
}

#[test]
fn a_name_that_is_newer_there_is_not_replaced_by_a_link() {
    for name in ["a", "b"] {
        let (from, top) = two_names();
        let to = one_there(name, b"newer", 1001);
        let options = CopyOptions { existing: Existing::ReplaceOlder, jobs: Some(1), ..options() };
        let (outcome, heard) = copy(&from, top, &to, "copy", options);
        assert_eq!((outcome.figures.files, outcome.figures.kept), (1, 1), "{:?}", heard.all());
        assert_eq!(to.content(&to.at(&format!("copy/{name}"))), b"newer", "{:?}", heard.all());
    }
}

#[test]
fn a_stranger_of_the_same_number_on_another_file_system_is_no_name_of_a_copy() {
    let (from, inner) = (memory(), memory());
    let top = from.directory(&from.root().handle, "top");
    let file = from.file(&top.handle, "a", 3, &[(0, b"new".to_vec())]);
    from.link(&file.handle, &top.handle, "b");
    let there = inner.directory(&inner.root().handle, "copy");
    inner.file(&there.handle, "b", 8, &[(0, b"stranger".to_vec())]);
    let to = Files(Arc::new(Elsewhere { inner: Arc::clone(&inner.0), name: b"b", as_number_of: b"a" }));
    let (outcome, heard) = copy(&from, top, &to, "copy", CopyOptions { jobs: Some(1), ..options() });
    assert_eq!((outcome.figures.files, outcome.figures.errors), (2, 0), "{:?}", heard.all());
    assert_eq!(inner.content(&inner.at("copy/b")), b"new");
}

#[test]
fn of_items_that_become_one_directory_each_finds_what_those_before_it_made() {
    // The second and third are there in this order of age, and all of one size.
    let ages = [1000, 1002, 1001];
    for (existing, stays) in [(Existing::Keep, 0), (Existing::ReplaceOlder, 1), (Existing::ReplaceChanged, 2)]
    {
        for is_content in [false, true] {
            let (from, to) = (memory(), memory());
            let items = ages.iter().enumerate().map(|(number, &age)| {
                let top = from.directory(&from.root().handle, &format!("top{number}"));
                for file in 0..20 {
                    let file = from.file(&top.handle, &format!("{file}"), 1, &[(0, vec![number as u8])]);
                    from.set_time(&file.handle, age, 0);
                }
                let target = match is_content {
                    true => CopyTarget::Directory(to.root()),
                    false => CopyTarget::Entry { directory: to.root().handle, name: b"copy".to_vec() },
                };
                Item { target, id: number as u64, ..item(&from, top, &to, "copy") }
            });
            let items = items.collect();
            let (copier, heard) = copier(&to, CopyOptions { existing, ..options() });
            let figures = copier.run(items).figures;
            assert_eq!((figures.errors, figures.found_all), (0, 1), "{:?}", heard.all());
            let top = if is_content { to.root() } else { to.at("copy") };
            for file in 0..20 {
                let file = to.look(&top.handle, &format!("{file}")).expect("copied");
                assert_eq!(to.content(&file), [stays], "{existing:?} {:?}", heard.all());
            }
        }
    }
}

#[test]
fn what_is_not_preserved_is_as_for_a_new_file() {
    let (from, to) = (memory(), memory());
    let file = from.file(&from.root().handle, "f", 0, &[]);
    from.set(&file.handle, NewAttributes::with_mode(0o4777));
    let again = from.look(&from.root().handle, "f").expect("there");
    from.link(&file.handle, &from.root().handle, "g");
    let preserve = Preserve { times: false, mode: false, owner: false, links: false, ..Preserve::default() };
    copy(&from, again, &to, "f", CopyOptions { preserve, umask: 0o027, ..options() });
    let copied = to.at("f").attributes;
    assert_eq!(copied.mode, 0o750);
    assert_ne!(copied.modified, again.attributes.modified);
}

#[test]
fn a_mode_that_is_not_preserved_is_that_of_new_directories_alone() {
    let (from, to) = (memory(), memory());
    let top = from.directory(&from.root().handle, "top");
    from.directory(&top.handle, "new");
    let there = to.directory(&to.root().handle, "copy");
    to.set(&there.handle, NewAttributes::with_mode(0o700));
    let preserve = Preserve { mode: false, ..Preserve::default() };
    let options = CopyOptions { preserve, umask: 0o027, ..options() };
    copy(&from, top, &to, "copy", options);
    assert_eq!((to.at("copy").attributes.mode, to.at("copy/new").attributes.mode), (0o700, 0o750));
}

#[test]
fn owners_are_given_if_asked() {
    let (from, to) = (memory(), memory());
    let file = from.file(&from.root().handle, "f", 0, &[]);
    let owner = NewAttributes { user: Some(7), group: Some(8), ..NewAttributes::with_mode(0o4755) };
    from.set(&file.handle, owner);
    let facts = |preserve: Preserve| {
        let options = CopyOptions { preserve, existing: Existing::Replace, ..options() };
        copy(&from, from.at("f"), &to, "f", options);
        let copied = to.at("f").attributes;
        (copied.user, copied.group, copied.mode)
    };
    assert_eq!(facts(Preserve { owner: true, ..Preserve::default() }), (7, 8, 0o4755));
    assert_eq!(facts(Preserve::default()), (0, 0, 0o755), "set-id of another owner is not kept");
}

#[test]
fn a_directory_is_not_copied_into_itself_by_way_of_a_server() {
    let here = memory();
    let outer = here.directory(&here.root().handle, "outer");
    let inner = here.directory(&outer.handle, "inner");
    here.file(&outer.handle, "file", 3, &[(0, b"new".to_vec())]);
    // Without end, but for this one.
    let there = Files(Arc::new(Dying { inner: Arc::clone(&here.0), left: 1000.into() }));
    let (copier, heard) = copier(&there, options());
    let mut into_itself = item(&here, outer, &there, "x");
    into_itself.target = CopyTarget::Entry { directory: inner.handle, name: b"x".to_vec() };
    assert_eq!(copier.run(vec![into_itself]).figures.errors, 1, "{:?}", heard.all());
    assert!(heard.has("into itself"), "{:?}", heard.all());
}

#[test]
fn an_unfinished_copy_of_a_source_that_was_moved_into_it_is_copied_as_all_else() {
    let (here, there) = (memory(), memory());
    let outer = here.directory(&here.root().handle, "outer");
    let old = here.directory(&outer.handle, "old");
    here.file(&old.handle, "file", 3, &[(0, b"old".to_vec())]);
    let mark = format!(".howdah-copy-{:016x}", item(&here, outer, &there, "x").id);
    here.file(&old.handle, &mark, 0, &[]);
    let restored = here.file(&outer.handle, &mark, 0, &[]);
    // What restored it kept its time of change, as the interrupted copy at the destination has it.
    let unfinished = there.directory(&there.root().handle, "x");
    let first = there.file(&unfinished.handle, &mark, 0, &[]);
    for (files, mark) in [(&here, restored), (&there, first)] {
        files.set_time(&mark.handle, 1_000_000, 0);
    }
    let (outcome, heard) = copy(&here, outer, &there, "x", options());
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert_eq!(there.names(&there.at("x").handle), ["old"]);
    assert_eq!(there.names(&there.at("x/old").handle), ["file"]);
}

#[test]
fn a_directory_is_not_copied_into_itself_nor_without_being_asked() {
    let files = memory();
    let outer = files.directory(&files.root().handle, "outer");
    let inner = files.directory(&outer.handle, "inner");
    let (copier, heard) = copier(&files, options());
    let mut into_itself = item(&files, outer, &files, "x");
    into_itself.target = CopyTarget::Entry { directory: inner.handle, name: b"x".to_vec() };
    assert_eq!(copier.run(vec![into_itself]).figures.errors, 1);
    assert!(heard.has("into itself"), "{:?}", heard.all());
    let (outcome, heard) = copy(&files, outer, &memory(), "x", CopyOptions { recursive: false, ..options() });
    assert_eq!(outcome.figures.errors, 1);
    assert!(heard.has("add -r to copy directories"));
    let file = files.file(&files.root().handle, "f", 1, &[]);
    let (_, heard) = copy(&files, file, &files, "f", options());
    assert!(heard.has("the same file"), "{:?}", heard.all());
}

#[test]
fn the_same_numbers_at_two_servers_are_two_files() {
    let to = memory();
    let sources = ["one", "two"].map(|content| {
        let from = memory();
        let x = from.file(&from.root().handle, "x", 3, &[(0, content.as_bytes().to_vec())]);
        from.link(&x.handle, &from.root().handle, "y");
        from
    });
    let numbered = |mut node: howdah_vfs::Node| {
        node.attributes.file_system = to.root().attributes.file_system;
        node
    };
    let items = sources.iter().zip(["1", "2"]).flat_map(|(from, number)| {
        ["x", "y"].map(|name| item(from, numbered(from.at(name)), &to, &format!("{name}{number}")))
    });
    let (copier, heard) = copier(&to, CopyOptions { jobs: Some(1), ..options() });
    let figures = copier.run(items.collect()).figures;
    assert_eq!((figures.errors, figures.files, figures.hard_links), (0, 2, 2), "{:?}", heard.all());
    let facts = |name: &str| (to.content(&to.at(name)), to.at(name).attributes.file);
    assert_eq!((facts("x1"), facts("x2")), (facts("y1"), facts("y2")));
    assert_eq!((&facts("x1").0[..], &facts("x2").0[..]), (&b"one"[..], &b"two"[..]));
    // Nor is a directory of another server the destination.
    let root = numbered(sources[0].root());
    assert_eq!(root.attributes.file, to.root().attributes.file);
    let (outcome, heard) = copy(&sources[0], root, &to, "all", options());
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
}

#[test]
fn one_failure_is_told_and_the_rest_is_copied() {
    let (from, to) = (memory(), memory());
    let top = from.directory(&from.root().handle, "top");
    for called in ["a", "b", "c"] {
        from.file(&top.handle, called, 3, &[(0, b"abc".to_vec())]);
    }
    let there = to.directory(&to.root().handle, "copy");
    to.directory(&there.handle, "b");
    let (outcome, heard) = copy(&from, top, &to, "copy", options());
    assert_eq!((outcome.figures.errors, outcome.figures.files), (1, 2));
    assert!(heard.has("failed cannot replace /there/copy/b: a directory is in the way"), "{:?}", heard.all());
    assert_eq!(to.names(&there.handle), ["a", "b", "c"]);
}

#[test]
fn each_block_is_read_once_wherever_it_goes() {
    let inner = memory();
    inner.file(&inner.root().handle, "f", 5 * 64 * 1024, &[(0, vec![1; 5 * 64 * 1024])]);
    let counting = |inner| Arc::new(Counting { inner, reads: AtomicI64::new(0) });
    let (from, to) = (counting(inner.0), Files(counting(memory().0)));
    let source = Files(Arc::clone(&from) as _);
    let (outcome, heard) = copy(&source, source.at("f"), &to, "f", with_writer(false));
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
    assert_eq!(from.reads.load(Ordering::Relaxed), 5);
}

#[test]
fn a_small_file_that_changes_while_it_is_read_is_begun_anew() {
    let (home, inner) = local();
    let path = home.path().join("f");
    std::fs::write(&path, vec![b'o'; 20_000]).expect("written");
    inner.set_time(&inner.at("f").handle, 1000, 0);
    let overwrite = move || {
        let file = std::fs::File::options().write(true).open(&path).expect("there");
        std::os::unix::fs::FileExt::write_all_at(&file, &[b'n'; 10_000], 0).expect("written");
    };
    let (meddle, is_done) = (Box::new(overwrite), Mutex::new(false));
    let from = Meddled { inner: Arc::clone(&inner.0), call: Call::Read, before: false, meddle, is_done };
    let (from, to) = (Files(Arc::new(from)), memory());
    let (outcome, heard) = copy(&from, from.at("f"), &to, "f", options());
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
    assert!(to.content(&to.at("f")) == inner.content(&inner.at("f")), "no half of it is the old one");
    assert_eq!(to.at("f").attributes.modified, inner.at("f").attributes.modified);
}

#[test]
fn what_was_empty_when_it_was_listed_has_what_it_has_by_then() {
    let inner = memory();
    let top = inner.directory(&inner.root().handle, "top");
    let log = inner.file(&top.handle, "log", 0, &[]);
    let logging = inner.clone();
    let meddle = Box::new(move || {
        let change = &mut Change::default();
        let written = logging.0.write(
            ROOT,
            WriteFile::new(&log.handle, 0, Data::Bytes(b"a line"), Stability::FileSync),
            change,
        );
        assert_eq!(written.expect("written").count, 6);
        logging.set_time(&log.handle, 1000, 0);
    });
    let (call, is_done) = (Call::ReadDirectory, Mutex::new(false));
    let from = Files(Arc::new(Meddled { inner: Arc::clone(&inner.0), call, before: false, meddle, is_done }));
    let to = memory();
    let (outcome, heard) = copy(&from, top, &to, "copy", options());
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
    let copied = to.at("copy/log");
    assert_eq!((&to.content(&copied)[..], copied.attributes.modified.seconds), (&b"a line"[..], 1000));
}

/// A file of several blocks in a directory that changes, and then cannot be looked at so many times.
fn unsteady(refusals: i64) -> (Files, Files) {
    let inner = memory();
    let top = inner.directory(&inner.root().handle, "top");
    let file = inner.file(&top.handle, "a", 200_000, &[(0, vec![1; 200_000])]);
    inner.link(&file.handle, &top.handle, "b");
    let changed = inner.clone();
    let change = Box::new(move || changed.set_time(&file.handle, 1000, 0));
    let (is_changed, refusals) = (AtomicBool::new(false), AtomicI64::new(refusals));
    let from = Unsteady { inner: Arc::clone(&inner.0), change, is_changed, refusals };
    (Files(Arc::new(from)), inner)
}

#[test]
fn what_changes_and_cannot_be_looked_at_again_is_told() {
    let (from, _) = unsteady(i64::MAX);
    let (outcome, heard) =
        copy(&from, from.at("top/a"), &memory(), "a", CopyOptions { jobs: Some(1), ..options() });
    assert_eq!((outcome.figures.files, outcome.figures.errors), (0, 1), "{:?}", heard.all());
    assert!(heard.has("failed cannot check a"), "{:?}", heard.all());
}

#[test]
fn names_that_wait_for_what_cannot_be_looked_up_are_copied() {
    let ((from, inner), to) = (unsteady(2), memory());
    let options = CopyOptions { jobs: Some(1), ..options() };
    let (outcome, heard) = copy(&from, from.at("top"), &to, "copy", options);
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 1), "{:?}", heard.all());
    let names = to.names(&to.at("copy").handle);
    assert_eq!(names.len(), 1, "{names:?}");
    let copied = to.at(&format!("copy/{}", names[0]));
    assert!(to.content(&copied) == inner.content(&inner.at("top/a")));
    assert_eq!(to.at("copy").attributes.mode, 0o755, "the directory is completed");
}

#[test]
fn a_rate_cap_is_kept() {
    let (from, to) = (memory(), memory());
    let file = from.file(&from.root().handle, "f", 1 << 20, &[(0, vec![1; 1 << 20])]);
    let start = std::time::Instant::now();
    copy(&from, file, &to, "f", CopyOptions { rate: Some(4 << 20), ..options() });
    assert!(start.elapsed().as_millis() >= 190, "{:?}", start.elapsed());
}

#[test]
fn a_file_is_read_in_order_by_many() {
    let files = memory();
    let mut random = Random::new(1);
    let bytes = random.bytes(5_500_000);
    let file = files.file(&files.root().handle, "f", bytes.len() as u64, &[(0, bytes.clone())]);
    let side = Side::new(Arc::clone(&files.0), ROOT.clone());
    for jobs in [Some(1), Some(3), Some(12), None] {
        let mut got = Vec::new();
        let mut sink = |part: &[u8]| {
            got.extend_from_slice(part);
            Ok(())
        };
        assert_eq!(read_in_order(&side, &file, (jobs, None), &mut sink).expect("read"), bytes.len() as u64);
        assert!(got == bytes);
    }
    let mut full = |_: &[u8]| Err(std::io::ErrorKind::BrokenPipe.into());
    assert!(read_in_order(&side, &file, (Some(4), None), &mut full).is_err());
}

#[test]
fn as_many_reads_as_are_expected_are_on_their_way_before_the_first_is_answered() {
    const AT_ONCE: usize = 8;
    let bytes = vec![7; AT_ONCE << 20];
    let files = memory();
    let file = files.file(&files.root().handle, "f", bytes.len() as u64, &[(0, bytes)]);
    let meeting = Arc::new(Meeting {
        inner: Arc::clone(&files.0),
        call: Call::Read,
        alone: 0,
        together: AT_ONCE,
        seen: Mutex::default(),
        all_there: std::sync::Condvar::new(),
        missed: AtomicBool::new(false),
    });
    let expected =
        Expected { bytes_per_second: 10 * (AT_ONCE << 20) as u64, latency: Duration::from_millis(100) };
    let side = Side::new(Arc::clone(&meeting) as _, ROOT.clone());
    let read = read_in_order(&side, &file, (None, Some(expected)), &mut |_| Ok(()));
    assert_eq!(read.expect("read"), (AT_ONCE << 20) as u64);
    assert!(!meeting.missed.load(Ordering::Relaxed));
}

#[test]
fn the_data_of_a_new_file_does_not_wait_for_the_limits_of_its_source() {
    let files = memory();
    let file = files.file(&files.root().handle, "f", 3, &[(0, b"abc".to_vec())]);
    let source = awaiting(&files, Call::Limits, (Call::Read, 1));
    let (from, to) = (Files(Arc::clone(&source) as _), memory());
    copy(&from, file, &to, "f", options());
    assert_eq!(to.content(&to.at("f")), b"abc");
    assert!(!source.missed.load(Ordering::Relaxed));
}

#[test]
fn the_partial_name_is_looked_up_while_the_last_commit_is_under_way() {
    let from = memory();
    let bytes = vec![7; 300_000];
    let file = from.file(&from.root().handle, "f", bytes.len() as u64, &[(0, bytes.clone())]);
    // What is there, what an earlier copy left, and its journal are looked up before.
    let files = memory();
    let destination = awaiting(&files, Call::Commit, (Call::Lookup, 4));
    let to = Files(Arc::clone(&destination) as _);
    let mut options = options();
    options.tuning.commit_bytes = (1 << 30, 1 << 30);
    copy(&from, file, &to, "f", options);
    assert!(files.content(&files.at("f")) == bytes);
    assert!(!destination.missed.load(Ordering::Relaxed));
}

fn awaiting(files: &Files, held: Call, until: (Call, usize)) -> Arc<Awaiting> {
    let (seen, changed, missed) = Default::default();
    Arc::new(Awaiting { inner: Arc::clone(&files.0), held, until, seen, changed, missed })
}

#[test]
fn attributes_of_a_full_tree_are_final_even_where_nothing_may_be_written() {
    let (from, to) = (memory(), memory());
    let top = from.directory(&from.root().handle, "top");
    from.file(&top.handle, "f", 0, &[]);
    from.set(&top.handle, NewAttributes::with_mode(0o555));
    from.set_time(&top.handle, 12345, 678_000_000);
    copy(&from, from.at("top"), &to, "copy", options());
    let copied = to.at("copy").attributes;
    assert_eq!((copied.mode, copied.modified.seconds), (0o555, 12345));
    assert!(to.0.attributes(ROOT, &to.root().handle).is_ok());
}

#[test]
fn a_tree_without_an_end_is_refused() {
    for (is_new, why) in [(false, "shows it within itself"), (true, "too deep")] {
        let from = Files(Arc::new(MemoryFileSystem::new()));
        let top = from.directory(&from.root().handle, "top");
        from.directory(&top.handle, "again");
        from.file(&top.handle, "file", 3, &[(0, b"abc".to_vec())]);
        let from = Files(Arc::new(Endless { inner: Arc::clone(&from.0), is_new }));
        let to = Files(Arc::new(MemoryFileSystem::new()));
        let (outcome, heard) = copy(&from, from.at("top"), &to, "copy", options());
        assert_eq!(outcome.figures.errors, 1, "{:?}", heard.all().last());
        assert!(heard.has(why), "{:?}", heard.all().last());
        assert_eq!(to.content(&to.at("copy/file")), b"abc", "what else is there is copied");
    }
}

#[test]
fn items_that_are_named_are_begun_at_the_same_time() {
    const AT_ONCE: usize = 4;
    let from = memory();
    let names: Vec<String> = (0..=AT_ONCE).map(|number| format!("file {number}")).collect();
    let items = |to: &Files| -> Vec<Item> {
        let file = |name: &String| from.file(&from.root().handle, name, 3, &[(0, b"abc".to_vec())]);
        names.iter().map(|name| item(&from, file(name), to, name)).collect()
    };
    // The first alone shows how the destination is.
    let meeting = Arc::new(Meeting {
        inner: Arc::new(MemoryFileSystem::new()),
        call: Call::Limits,
        alone: 1,
        together: AT_ONCE,
        seen: Mutex::default(),
        all_there: std::sync::Condvar::new(),
        missed: AtomicBool::new(false),
    });
    let to = Files(Arc::clone(&meeting) as _);
    let (copier, heard) = copier(&to, CopyOptions { jobs: Some(AT_ONCE), ..options() });
    let outcome = copier.run(items(&to));
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1 + AT_ONCE as u64, 0), "{:?}", heard.all());
    assert!(!meeting.missed.load(Ordering::Relaxed), "they were begun one after the other");
}
