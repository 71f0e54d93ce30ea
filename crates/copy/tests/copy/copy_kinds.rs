//! Mirrors of trees in which a name is of another kind than before.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use howdah_copy::{CopyOptions, Fate, Outcome, Pattern, Patterns, StopSign};
use howdah_vfs::layer::{Call, ReadOnly};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Change, DeviceNumber, FileKind, MakeSpecial, Name, NewAttributes, Node, SpecialKind};

use crate::copying::tree::{Files, ROOT};
use crate::copying::trouble::{Crowded, Living, Restored};
use crate::copying::{Heard, copier, copy, item, options};

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

/// What a name can be.
const KINDS: [&str; 9] =
    ["directory", "empty directory", "file", "another name", "link", "fifo", "socket", "character", "block"];

/// Puts something of a kind into a directory under the name `x`.
fn put(files: &Files, directory: &Node, kind: &str) {
    let parent = &directory.handle;
    let special = |kind| {
        let (name, new) = (Name::parse(b"x").expect("a name"), NewAttributes::with_mode(0o600));
        files
            .0
            .make_special(ROOT, MakeSpecial::new(parent, name, kind, &new), &mut Change::default())
            .expect("made")
    };
    let device = DeviceNumber { major: 1, minor: 3 };
    let node = match kind {
        "directory" => {
            let top = files.directory(parent, "x");
            let sub = files.directory(&top.handle, "sub");
            files.file(&sub.handle, "deep", 5, &[(0, b"below".to_vec())]);
            files.symbolic_link(&top.handle, "out", "../../outside");
            top
        }
        "empty directory" => files.directory(parent, "x"),
        "file" => files.file(parent, "x", 4, &[(0, b"data".to_vec())]),
        "another name" => {
            let first = files.file(parent, "first", 5, &[(0, b"both!".to_vec())]);
            files.link(&first.handle, parent, "x");
            first
        }
        "link" => files.symbolic_link(parent, "x", "../outside"),
        "fifo" => files.fifo(parent, "x"),
        "socket" => special(SpecialKind::Socket),
        "character" => special(SpecialKind::CharacterDevice(device)),
        _ => special(SpecialKind::BlockDevice(device)),
    };
    files.set_time(&node.handle, 1_000_000, 0);
}

fn mirror() -> CopyOptions {
    CopyOptions { delete: true, ..options() }
}

struct Trees {
    from: Files,
    source: Node,
    to: Files,
}

/// A source in which `x` is of one kind, and its copy in which it is of another.
fn trees(new: &str, old: &str) -> Trees {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    put(&from, &source, new);
    let copied = to.directory(&to.root().handle, "copy");
    put(&to, &copied, old);
    if old == "directory" && !new.ends_with("directory") {
        // What an interrupted copy left: no other one resumes it.
        to.file(&to.at("copy/x/sub").handle, ".x.howdah-partial-0123456789abcdef", 1, &[]);
    }
    let outside = to.directory(&to.root().handle, "outside");
    to.file(&outside.handle, "deep", 6, &[(0, b"stays!".to_vec())]);
    Trees { from, source, to }
}

impl Trees {
    fn copy(&self, options: CopyOptions) -> (Outcome, Heard) {
        copy(&self.from, self.source, &self.to, "copy", options)
    }

    fn dry(&self, options: CopyOptions) -> (Outcome, Heard) {
        let to = Files(Arc::new(ReadOnly::around(Arc::clone(&self.to.0))));
        copy(&self.from, self.source, &to, "copy", CopyOptions { dry_run: true, ..options })
    }

    /// Whether the copy is as its source.
    fn is_equal(&self) -> bool {
        self.from.see(&self.source) == self.to.see(&self.to.at("copy"))
    }
}

#[test]
fn a_mirror_becomes_equal_whatever_a_name_was() {
    for (new, old) in KINDS.iter().flat_map(|new| KINDS.iter().map(move |old| (new, old))) {
        let trees = trees(new, old);
        let before = trees.to.see(&trees.to.root());
        let (planned, heard) = trees.dry(mirror());
        assert_eq!(planned.figures.errors, 0, "{old} to {new}: {:?}", heard.all());
        assert_eq!(trees.to.see(&trees.to.root()), before, "{old} to {new}: a dry run changes nothing");
        let (done, heard) = trees.copy(mirror());
        assert_eq!(done.figures.errors, 0, "{old} to {new}: {:?}", heard.all());
        assert!(trees.is_equal(), "{old} to {new}: {:?}", heard.all());
        assert_eq!(planned.figures.removed, done.figures.removed, "{old} to {new}: {:?}", heard.all());
        assert_eq!(trees.to.content(&trees.to.at("outside/deep")), b"stays!", "{old} to {new}");
        let (again, heard) = trees.copy(mirror());
        let changes = again.figures.files + again.figures.removed + again.figures.errors;
        assert_eq!(changes, 0, "{old} to {new}: {:?}", heard.all());
    }
}

#[test]
fn without_a_mirror_nothing_is_removed_with_what_is_in_it() {
    for (new, old) in KINDS.iter().flat_map(|new| KINDS.iter().map(move |old| (new, old))) {
        for keep in [false, true] {
            let existing = if keep { howdah_copy::Existing::Keep } else { howdah_copy::Existing::default() };
            let trees = trees(new, old);
            let (outcome, heard) = trees.copy(CopyOptions { existing, ..options() });
            assert_eq!(outcome.figures.removed, 0, "{:?}", heard.all());
            let (is, was) = (trees.to.at("copy/x").attributes.kind, *old);
            if was == "directory" {
                assert_eq!(is, FileKind::Directory, "{old} to {new}: {:?}", heard.all());
                assert_eq!(trees.to.content(&trees.to.at("copy/x/sub/deep")), b"below");
            }
        }
    }
}

#[test]
fn what_a_pattern_leaves_out_keeps_the_directory_that_is_in_the_way() {
    let trees = trees("file", "directory");
    trees.to.file(&trees.to.at("copy/x").handle, "kept.o", 1, &[]);
    let mut patterns = Patterns::new();
    patterns.push(Fate::Exclude, Pattern::parse(b"*.o").expect("a pattern"));
    let (outcome, heard) = trees.copy(CopyOptions { patterns, ..mirror() });
    assert_eq!(outcome.figures.errors, 1, "{:?}", heard.all());
    assert!(heard.has("cannot replace /there/copy/x: a directory is in the way"), "{:?}", heard.all());
    assert_eq!(trees.to.names(&trees.to.at("copy/x").handle), ["kept.o"]);
    assert_eq!(trees.to.names(&trees.to.at("copy").handle), ["x"], "no partial file is left");
}

#[test]
fn what_was_named_is_not_removed() {
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    to.file(&to.root().handle, "copy", 1, &[]);
    let (outcome, heard) = copy(&from, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (1, 0), "{:?}", heard.all());
    assert_eq!(to.at("copy").attributes.kind, FileKind::Regular);
}

#[test]
fn what_is_in_the_way_stays_if_the_directory_in_its_place_cannot_be_listed() {
    let Trees { from, source, to } = trees("directory", "file");
    let listings = AtomicI64::new(0);
    let knows = move |call| call != Call::ReadDirectory || listings.fetch_add(1, Ordering::Relaxed) == 0;
    let from = Files(Arc::new(Restored { inner: from.0, knows: Box::new(knows) }));
    let (outcome, heard) = copy(&from, source, &to, "copy", mirror());
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (1, 0), "{:?}", heard.all());
    assert_eq!(to.content(&to.at("copy/x")), b"data", "{:?}", heard.all());
}

#[test]
fn a_copy_that_is_stopped_while_it_makes_way_reports_nothing_in_the_way() {
    let trees = trees("file", "directory");
    let sub = trees.to.at("copy/x/sub");
    (0..9).for_each(|number| _ = trees.to.file(&sub.handle, &format!("{number}"), 1, &[]));
    let sign = Arc::new(OnceLock::<StopSign>::new());
    let change = {
        let sign = Arc::clone(&sign);
        Box::new(move || _ = sign.get().map(StopSign::set))
    };
    let to = Files(Arc::new(Living { inner: Arc::clone(&trees.to.0), call: Call::Remove, change }));
    let (copier, heard) = copier(&to, CopyOptions { jobs: Some(1), ..mirror() });
    let _ = sign.set(copier.stop_sign());
    let outcome = copier.run(vec![item(&trees.from, trees.source, &to, "copy")]);
    assert!(outcome.stopped && outcome.figures.errors == 0, "{:?}", heard.all());
    assert_eq!(outcome.figures.removed, 1, "{:?}", heard.all());
}

#[test]
fn no_more_are_removed_at_the_same_time_however_many_make_way() {
    const JOBS: usize = 4;
    let (from, to) = (memory(), memory());
    let source = from.directory(&from.root().handle, "source");
    let there = to.directory(&to.root().handle, "copy");
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        from.file(&source.handle, name, 4, &[(0, b"data".to_vec())]);
        let way = to.directory(&there.handle, name);
        (0..50).for_each(|number| _ = to.file(&way.handle, &format!("{number}"), 1, &[]));
    }
    let crowded = Arc::new(Crowded { inner: to.0, now: AtomicI64::new(0), most: AtomicI64::new(0) });
    let to = Files(Arc::clone(&crowded) as _);
    let (outcome, heard) = copy(&from, source, &to, "copy", CopyOptions { jobs: Some(JOBS), ..mirror() });
    assert_eq!((outcome.figures.errors, outcome.figures.removed), (0, 8 * 51), "{:?}", heard.all());
    let most = crowded.most.load(Ordering::SeqCst);
    assert!(most < 2 * JOBS as i64, "{most} at the same time");
}
