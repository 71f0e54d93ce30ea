//! Copies that are made once more: into directories that their owner may not write, and to file systems with coarse times.

use std::sync::Arc;

use howdah_copy::{Copier, CopyOptions, CopyTarget, Event, Existing, Item, Outcome, Preserve, Side};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, Change, FileKind, Name, NewAttributes, Node};

use crate::copying;
use crate::copying::options;
use crate::copying::tree::{Files, ROOT};
use crate::copying::trouble::{Busy, Coarse, Mounted};

/// An ordinary user.
const USER: u32 = 1000;

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

/// Copies as the user. What it reports goes to `on_event`.
fn copy_as_user(
    from: &Files,
    node: Node,
    to: &Files,
    options: CopyOptions,
    on_event: impl Fn(&str, &Copier) + Send + Sync + 'static,
) -> (Outcome, Vec<String>) {
    let heard: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let (record, cell) = (Arc::clone(&heard), Arc::new(std::sync::OnceLock::<Arc<Copier>>::new()));
    let copier = Arc::clone(&cell);
    let observer = move |event: &Event<'_>| {
        let text = format!("{event:?}");
        if let Some(copier) = copier.get() {
            on_event(&text, copier);
        }
        record.lock().expect("nobody panics").push(text);
    };
    let caller = Caller::new(USER, USER);
    let side = Side::new(Arc::clone(&to.0), caller);
    let copier = Arc::new(Copier::new(side, options, Arc::new(observer)));
    let _ = cell.set(Arc::clone(&copier));
    let item = Item {
        source: Arc::new(Side::new(Arc::clone(&from.0), ROOT.clone())),
        node,
        target: CopyTarget::Entry { directory: to.root().handle, name: b"copy".to_vec() },
        path: b"source".to_vec(),
        directory_path: b"/there".to_vec(),
        id: 7,
    };
    let outcome = copier.run(vec![item]);
    let heard = heard.lock().expect("nobody panics").clone();
    (outcome, heard)
}

fn mirror() -> CopyOptions {
    CopyOptions { delete: true, umask: 0, ..options() }
}

fn own(files: &Files, node: &Node, mode: u32) {
    let new = NewAttributes { user: Some(USER), group: Some(USER), ..NewAttributes::with_mode(mode) };
    files.set(&node.handle, new);
}

/// All directories below a node, and itself.
fn directories(files: &Files, top: Node) -> Vec<Node> {
    let mut all = vec![top];
    let mut at = 0;
    while let Some(directory) = all.get(at).copied() {
        let below = files.names(&directory.handle);
        let nodes = below.iter().map(|name| files.look(&directory.handle, name).expect("listed"));
        all.extend(nodes.filter(|node| node.attributes.kind == FileKind::Directory));
        at += 1;
    }
    all
}

/// A source of directories with this mode, and a destination that belongs to the user.
fn read_only_tree(mode: u32) -> (Files, Node, Files) {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    let sub = from.directory(&source.handle, "sub");
    let deep = from.directory(&sub.handle, "deep");
    for directory in [&source, &sub, &deep] {
        from.file(&directory.handle, "file", 3, &[(0, b"old".to_vec())]);
        from.file(&directory.handle, "gone", 3, &[(0, b"old".to_vec())]);
        from.symbolic_link(&directory.handle, "link", "old");
    }
    for directory in [&source, &sub, &deep] {
        from.set(&directory.handle, NewAttributes::with_mode(mode));
    }
    own(&to, &to.root(), 0o755);
    let source = from.at("source");
    (from, source, to)
}

/// Changes something of every kind in each directory of a source.
fn change_all(from: &Files, source: Node) {
    for directory in directories(from, source) {
        let at = &directory.handle;
        for gone in ["gone", "link", "file"] {
            let name = Name::parse(gone.as_bytes()).expect("a name");
            from.0.remove(ROOT, at, name, &mut Change::default()).expect("removed");
        }
        let file = from.file(at, "file", 5, &[(0, b"newer".to_vec())]);
        from.link(&file.handle, at, "linked");
        from.symbolic_link(at, "link", "new");
        from.fifo(at, "fifo");
        let made = from.directory(at, "made");
        from.file(&made.handle, "x", 1, &[(0, b"x".to_vec())]);
    }
}

#[test]
fn an_ordinary_user_copies_into_own_read_only_directories_again() {
    for mode in [0o555, 0o500, 0o400, 0o311, 0o100, 0o000] {
        for keeps_modes in [true, false] {
            let (from, source, to) = read_only_tree(mode);
            let preserve = Preserve { mode: keeps_modes, ..Preserve::default() };
            let options = || CopyOptions { preserve, ..mirror() };
            let (outcome, heard) = copy_as_user(&from, source, &to, options(), |_, _| {});
            assert_eq!(outcome.figures.errors, 0, "{mode:o}: {heard:#?}");
            let copied = to.at("copy");
            let before = directories(&to, copied);
            if !keeps_modes {
                before.iter().for_each(|node| to.set(&node.handle, NewAttributes::with_mode(mode)));
            }
            change_all(&from, source);
            let (outcome, heard) = copy_as_user(&from, source, &to, options(), |_, _| {});
            assert_eq!(outcome.figures.errors, 0, "{mode:o}: {heard:#?}");
            let names = |files: &Files, top: Node| files.see(&top).into_keys().collect::<Vec<_>>();
            assert_eq!(names(&to, copied), names(&from, source), "{mode:o}");
            for node in before {
                let now = to.0.attributes(ROOT, &node.handle).expect("there");
                assert_eq!(now.mode, mode, "{keeps_modes}: {heard:#?}");
            }
        }
    }
}

#[test]
fn a_copy_that_is_stopped_gives_directories_their_modes_back() {
    let (from, source, to) = read_only_tree(0o555);
    let preserve = Preserve { mode: false, ..Preserve::default() };
    let options = || CopyOptions { preserve, jobs: Some(1), ..mirror() };
    let (outcome, heard) = copy_as_user(&from, source, &to, options(), |_, _| {});
    assert_eq!(outcome.figures.errors, 0, "{heard:#?}");
    let before = directories(&to, to.at("copy"));
    before.iter().for_each(|node| to.set(&node.handle, NewAttributes::with_mode(0o555)));
    change_all(&from, source);
    let (outcome, heard) = copy_as_user(&from, source, &to, options(), |event, copier| {
        if event.starts_with("Copied") {
            copier.stop_sign().set();
        }
    });
    assert!(outcome.stopped && outcome.figures.files > 0, "{heard:#?}");
    for node in before {
        assert_eq!(to.0.attributes(ROOT, &node.handle).expect("there").mode, 0o555);
    }
}

#[test]
fn directories_of_others_keep_their_modes() {
    let (from, source, to) = read_only_tree(0o755);
    let there = to.directory(&to.root().handle, "copy");
    to.set(&there.handle, NewAttributes { user: Some(7), ..NewAttributes::with_mode(0o555) });
    let (outcome, heard) = copy_as_user(&from, source, &to, mirror(), |_, _| {});
    assert!(outcome.figures.errors > 0 && outcome.figures.files == 0, "{heard:#?}");
    assert_eq!(to.at("copy").attributes.mode, 0o555);
    assert!(to.names(&there.handle).is_empty());
}

#[test]
fn a_copy_to_a_file_system_with_coarse_times_is_made_once() {
    const SECOND: u64 = 1_000_000_000;
    for (step, says) in [
        (SECOND, 1),
        (SECOND, SECOND as u32),
        (2 * SECOND, 2 * SECOND as u32),
        (10_000_000, 1),
        (1000, 1),
        (100, 1),
    ] {
        let (from, to) = (memory(), memory());
        let source = from.directory(&from.root().handle, "source");
        for number in 0..20_u32 {
            let file = from.file(&source.handle, &format!("{number}"), 3, &[(0, b"old".to_vec())]);
            from.set_time(&file.handle, 1_000_000 + i64::from(number), 47_474_747 * (number % 20) + number);
        }
        let fifo = from.fifo(&source.handle, "fifo");
        from.set_time(&fifo.handle, 1_000_001, 123_456_789);
        let coarse = Files(Arc::new(Coarse { inner: Arc::clone(&to.0), step, says }));
        let (outcome, heard) = copying::copy(&from, source, &coarse, "copy", options());
        assert_eq!((outcome.figures.files, outcome.figures.errors), (20, 0), "{step}: {:?}", heard.all());
        let (again, heard) = copying::copy(&from, source, &coarse, "copy", options());
        assert_eq!((again.figures.files, again.figures.kept), (0, 21), "{step}: {:?}", heard.all());
        // A change of a later time is copied, also of the same size.
        let changed = from.look(&source.handle, "7").expect("there");
        from.overwrite(&changed.handle, b"new");
        from.set_time(&changed.handle, 1_000_010, 5);
        let (third, heard) = copying::copy(&from, source, &coarse, "copy", options());
        assert_eq!((third.figures.files, third.figures.errors), (1, 0), "{step}: {:?}", heard.all());
    }
}

#[test]
fn names_of_one_symbolic_link_stay_one() {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    let link = from.symbolic_link(&source.handle, "a", "target");
    from.set_time(&link.handle, 1_000_000, 0);
    for name in ["b", "c", "d"] {
        from.link(&link.handle, &source.handle, name);
    }
    // One whose other names lie outside.
    let other = from.symbolic_link(&source.handle, "other", "elsewhere");
    from.link(&other.handle, &from.root().handle, "outside");
    for run in ["new", "again"] {
        let (planned, _) =
            copying::copy(&from, source, &to, "copy", CopyOptions { dry_run: true, ..options() });
        let (outcome, heard) = copying::copy(&from, source, &to, "copy", options());
        assert_eq!(outcome.figures.errors, 0, "{run}: {:?}", heard.all());
        assert_eq!(from.see(&source), to.see(&to.at("copy")), "{run}: {:?}", heard.all());
        let made = (outcome.figures.symbolic_links, outcome.figures.hard_links);
        assert_eq!(made, if run == "new" { (2, 3) } else { (0, 0) }, "{run}: {:?}", heard.all());
        assert_eq!((planned.figures.symbolic_links, planned.figures.hard_links), made, "{run}");
    }
}

#[test]
fn other_names_of_a_link_are_not_linked_to_a_stranger_that_is_kept() {
    for kept in ["a", "b"] {
        let (from, to) = (memory(), memory());
        let source = from.directory(&from.root().handle, "source");
        let link = from.symbolic_link(&source.handle, "a", "target");
        from.link(&link.handle, &source.handle, "b");
        let there = to.directory(&to.root().handle, "copy");
        to.symbolic_link(&there.handle, kept, "elsewhere");
        let options = CopyOptions { existing: Existing::Keep, ..options() };
        let (outcome, heard) = copying::copy(&from, source, &to, "copy", options);
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        for name in ["a", "b"] {
            let mut target = Vec::new();
            let node = to.look(&there.handle, name).expect("there");
            to.0.read_link(ROOT, &node.handle, &mut target).expect("a link");
            let wanted: &[u8] = if name == kept { b"elsewhere" } else { b"target" };
            assert_eq!(target, wanted, "{name}: {:?}", heard.all());
        }
    }
}

#[test]
fn a_mount_point_that_is_in_the_way_is_called_that() {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    from.file(&source.handle, "a", 1, &[(0, b"a".to_vec())]);
    let there = to.directory(&to.root().handle, "copy");
    let busy = to.directory(&there.handle, "busy");
    let mounted = Mounted { inner: Arc::clone(&to.0), root: busy.handle };
    let mounted = Files(Arc::new(Busy { inner: Arc::new(mounted) }));
    let (outcome, heard) =
        copying::copy(&from, source, &mounted, "copy", CopyOptions { delete: true, ..options() });
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (1, 0), "{:?}", heard.all());
    assert!(heard.has("cannot delete /there/copy/busy: something is mounted there"), "{:?}", heard.all());
}

#[test]
fn what_cannot_be_removed_below_a_mount_point_is_not_called_one() {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    from.file(&source.handle, "a", 1, &[(0, b"a".to_vec())]);
    let there = to.directory(&to.root().handle, "copy");
    let top = to.directory(&there.handle, "mounted");
    let inner = to.directory(&top.handle, "inner");
    let mounted = Arc::new(Mounted { inner: Arc::clone(&to.0), root: top.handle });
    let mounted = Mounted { inner: mounted, root: inner.handle };
    let busy = Files(Arc::new(Busy { inner: Arc::new(mounted) }));
    let (outcome, heard) =
        copying::copy(&from, source, &busy, "copy", CopyOptions { delete: true, ..options() });
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (1, 0), "{:?}", heard.all());
    let message = "cannot delete /there/copy/mounted/inner: permission denied";
    assert!(heard.has(message) && !heard.has("something is mounted"), "{:?}", heard.all());
}

#[test]
fn what_is_safe_when_a_disk_is_full_is_not_sent_again() {
    const SIZE: u64 = 2_000_000;
    let (mut resumed, mut left) = (0, 0);
    // The disk is full at each of these.
    for room in (100_000..SIZE + 200_000).step_by(100_000) {
        let from = memory();
        let file = from.file(&from.root().handle, "f", SIZE, &[(0, vec![7; SIZE as usize])]);
        let full = MemoryOptions { budget: Some(room + 40_000), ..MemoryOptions::default() };
        let to = Files(Arc::new(MemoryFileSystem::with_options(full)));
        to.file(&to.root().handle, "ballast", 20_000, &[(0, vec![1; 20_000])]);
        let (outcome, heard) = copying::copy(&from, file, &to, "f", options());
        let mut names = to.names(&to.root().handle);
        names.retain(|name| name != "ballast");
        if outcome.figures.errors == 0 {
            assert_eq!(names, ["f"], "{room}");
            continue;
        }
        let is_left = heard.has("run the same command again to resume");
        assert_eq!(names.len(), if is_left { 2 } else { 0 }, "{room}: {names:?} {:?}", heard.all());
        left += usize::from(is_left);
        if is_left {
            let ballast = Name::parse(b"ballast").expect("a name");
            to.0.remove(ROOT, &to.root().handle, ballast, &mut Change::default()).expect("removed");
            let (again, said) = copying::copy(&from, file, &to, "f", options());
            assert!(again.figures.resumed_bytes > 0, "{room}: {:?} {:?}", heard.all(), said.all());
            resumed += 1;
        }
    }
    assert!(left >= 15, "{left} times something was left");
    assert_eq!(resumed, left);
}
